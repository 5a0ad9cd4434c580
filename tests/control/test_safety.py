"""The safety controller, and digital signals."""

from typing import Any

import numpy as np
import pytest

from cellwright.cells import Cell
from cellwright.control import MotionStopped, NotReady, RobotState
from cellwright.core.errors import BadInput, ConfigError, UnknownName
from cellwright.core.messages import IoState, SafetyStatus

from .conftest import BENCH

ARM = BENCH["robots"]["arm"]


def zone(robot: str, x_m: float, **keys: Any) -> dict[str, Any]:
    """Two metres wide around a robot."""
    return {"robots": [robot], "pose": {"xyz_m": [x_m, 0, 0]}, "size_m": [2, 2, 2], **keys}


SAFETY = {
    "zones": {"front": zone("arm", 0), "back": zone("other", 3)},
    "inputs": {
        "gate_front": {"kind": "gate", "zones": ["front"]},
        "curtain_back": {"kind": "light_curtain", "zones": ["back"], "category": "Normal"},
        "stop_button": {"kind": "e_stop", "zones": ["front", "back"], "category": "Immediate"},
    },
}
TWO = {"robots": {"arm": ARM, "other": {**ARM, "base": {"xyz_m": [3, 0, 0]}}}, "safety": SAFETY}
REACH_RAD = np.radians([60, 30, -20, 40, -40, 90])


@pytest.fixture
def lab(open_lab):
    return open_lab(**TWO)


@pytest.fixture
def told(lab):
    messages = []
    lab.bus.subscribe("/safety/status", lambda _, m: messages.append(m), subscriber="test")
    return messages


async def both_move(lab, opened: str) -> dict[str, str]:
    """Both arms move, a guard opens on the way: what became of each."""
    tasks = {name: lab.loop.create_task(arm.move_joints(REACH_RAD)) for name, arm in lab.robots.items()}
    await lab.clock.sleep(0.2)
    lab.safety.set_input(opened, False)
    ends = {}
    for name, task in tasks.items():
        try:
            await task
            ends[name] = "done"
        except MotionStopped as error:
            ends[name] = f"{error.category.value}: {error.reason}"
    return ends


def test_a_gate_stops_the_robots_of_its_zone_alone(lab, told):
    ends = lab.perform(both_move(lab, "gate_front"))
    assert ends == {"arm": "Fast: gate 'gate_front' opened, zone 'front'", "other": "done"}
    assert lab.robots["arm"].state is RobotState.STOPPED
    assert [(type(m), m.stop_category, m.zones_entered) for m in told] == [(SafetyStatus, "Fast", ("front",))]
    assert told[0].time_s == pytest.approx(0.2, abs=0.01)


def test_an_emergency_stop_stops_all(lab, told):
    ends = lab.perform(both_move(lab, "stop_button"))
    assert {name: end.split(":")[0] for name, end in ends.items()} == {"arm": "Immediate", "other": "Immediate"}
    assert (told[-1].stop_category, told[-1].zones_entered) == ("Immediate", ("back", "front"))


def test_a_stop_is_latched_until_guards_are_closed_and_somebody_resets(lab, told):
    lab.safety.set_input("gate_front", False)
    arm, other = lab.robots["arm"], lab.robots["other"]
    lab.perform(other.move_home())
    with pytest.raises(NotReady, match="arm is locked by safety and needs a reset: gate 'gate_front' opened"):
        lab.perform(arm.move_home())
    with pytest.raises(NotReady, match="safety cannot be reset: gate_front open"):
        lab.safety.reset()
    lab.safety.set_input("gate_front", True)
    with pytest.raises(NotReady, match="locked by safety"):
        lab.perform(arm.move_home())
    lab.safety.reset()
    assert arm.state is RobotState.IDLE
    lab.perform(arm.move_home())
    assert (told[-1].stop_category, told[-1].zones_entered) == ("", ())
    assert [m.sequence for m in told] == [0, 1]


def test_the_hardest_stop_is_the_one_in_force(lab):
    lab.safety.set_input("curtain_back", False)
    assert lab.safety.status.stop_category == "Normal"
    lab.safety.set_input("stop_button", False)
    assert lab.safety.status.stop_category == "Immediate"
    assert lab.safety.inputs == {"gate_front": True, "curtain_back": False, "stop_button": False}


def test_no_reset_while_a_robot_is_still_stopping(lab):
    async def work() -> None:
        task = lab.loop.create_task(lab.robots["other"].move_joints(REACH_RAD))
        await lab.clock.sleep(0.2)
        lab.safety.set_input("curtain_back", False)
        lab.safety.set_input("curtain_back", True)
        with pytest.raises(NotReady, match="cannot be reset: other is still stopping"):
            lab.safety.reset()
        with pytest.raises(MotionStopped):
            await task
        lab.safety.reset()

    lab.perform(work())


def test_a_snapshot_remembers_guards_locks_and_signals(lab):
    arm = lab.robots["arm"]
    arm.io.add_input("part_present")
    lab.safety.set_input("gate_front", False)
    moment = lab.snapshot()
    lab.safety.set_input("gate_front", True)
    lab.safety.reset()
    arm.io.set_input("part_present", True)
    lab.restore(moment)
    assert lab.safety.inputs["gate_front"] is False
    assert lab.safety.status.zones_entered == ("front",)
    assert arm.state is RobotState.STOPPED
    assert not arm.io.read("part_present")
    with pytest.raises(NotReady, match="locked by safety"):
        lab.perform(arm.move_home())


def test_a_guard_is_a_digital_input_of_the_robots_that_it_stops(lab, told):
    arm, other = lab.robots["arm"], lab.robots["other"]
    assert arm.io.state().names == ("gate_front", "stop_button")
    assert other.io.state().names == ("curtain_back", "stop_button")
    assert all(arm.io.state().values)
    lab.safety.set_input("gate_front", False)
    assert not arm.io.read("gate_front")
    other.io.set_input("stop_button", False)  # wired to both
    assert not arm.io.read("stop_button")
    assert told[-1].zones_entered == ("back", "front")
    with pytest.raises(NotReady, match="e_stop 'stop_button' opened, zone 'back'"):
        lab.perform(other.move_home())


def test_a_guard_without_a_category_stops_as_its_zones_say(open_lab):
    zones = {"front": zone("arm", 0, category="Normal"), "back": zone("other", 3, category="Immediate")}
    lab = open_lab(**TWO | {"safety": {"zones": zones, "inputs": {"gate": {"kind": "gate", "zones": list(zones)}}}})
    ends = lab.perform(both_move(lab, "gate"))
    assert {name: end.split(":")[0] for name, end in ends.items()} == {"arm": "Normal", "other": "Immediate"}


def test_a_cell_without_the_section_has_no_safety_controller(open_lab):
    assert open_lab().safety is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"zones": {"front": zone("amr", 0)}}, r"safety\.zones\.front: unknown robot 'amr'; did you mean 'arm'"),
        ({"zones": {"front": zone("arm", 1.1)}}, r"safety\.zones\.front: arm stands outside its zone"),
        (
            {"zones": {"front": zone("arm", 0)}, "inputs": {"gate": {"kind": "gate", "zones": ["frnt"]}}},
            r"safety\.inputs\.gate\.zones: unknown zone 'frnt'; did you mean 'front'",
        ),
    ],
)
def test_zones_and_guards_that_do_not_fit_are_refused(open_lab, change, message):
    with pytest.raises(ConfigError, match=message):
        open_lab(safety=change)


def test_unknown_kinds_and_inputs_are_refused(lab):
    with pytest.raises(UnknownName, match="unknown safety input 'gate'"):
        lab.safety.set_input("gate", False)
    with pytest.raises(ValueError, match="e_stop"):
        Cell.model_validate(BENCH | {"safety": {"zones": {}, "inputs": {"x": {"kind": "door", "zones": []}}}})


def test_signals_are_told_when_they_change(lab):
    io, messages, heard = lab.robots["arm"].io, [], []
    lab.bus.subscribe("/arm/io", lambda _, m: messages.append(m), subscriber="test")
    io.add_input("part_present")
    io.add_output("lamp", True)
    io.on_change(lambda name, value: heard.append((name, value)))
    io.set_input("part_present", True)
    io.set_input("part_present", True)
    io.write("lamp", False)
    assert heard == [("part_present", True), ("lamp", False)]
    assert [type(m) for m in messages] == [IoState, IoState]
    told = dict(zip(messages[-1].names, messages[-1].values, strict=True))
    assert told == {"gate_front": True, "stop_button": True, "part_present": True, "lamp": False}
    assert io.read("part_present")
    assert not io.read("lamp")


def test_signals_that_do_not_exist_or_exist_twice(lab):
    io = lab.robots["arm"].io
    io.add_input("part_present")
    with pytest.raises(BadInput, match="arm has a signal 'part_present' already"):
        io.add_output("part_present")
    with pytest.raises(UnknownName, match="unknown output 'part_present'"):
        io.write("part_present", True)
    with pytest.raises(UnknownName, match="unknown signal 'lamp'"):
        io.read("lamp")
