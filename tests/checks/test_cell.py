"""The conformance check of cells: silent about a good one, clear about a bad one."""

from __future__ import annotations

import pytest

from cellwright.cells import Cell
from cellwright.checks.cell import check_cell
from cellwright.core.errors import ConfigError
from cellwright.sensors import SENSORS, JointStateSensor

BENCH = {
    "name": "bench",
    "title": "One arm, one tray",
    "robots": {
        "arm": {
            "model": "lr_mate_200id",
            "base": {"xyz_m": [-0.169, -1.140, 0.934]},
            "tool": "aprs_fanuc_gripper",
            "home_deg": [0, 0, 0, 0, -90, 0],
        }
    },
    "fixtures": {
        "floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}},
        "cart": {"model": "fanuc_cart", "pose": {"xyz_m": [0.04, -1.16, 0]}},
    },
    "trays": {"tray": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.2, -1.0, 0.916]}}},
    "parts": {"gear": {"model": "medium_gear", "slot": "tray/slot_1"}},
    "sensors": [{"type": "joint_state", "robot": "arm", "rate_hz": 50}],
}


def findings(**changes) -> dict[str, tuple[bool, str]]:
    return {f.check: (f.ok, f.detail) for f in check_cell(Cell.model_validate(BENCH | changes))}


def test_good_cell_has_nothing_wrong():
    found = findings()
    assert all(ok for ok, _ in found.values()), found
    assert list(found) == [
        "builds",
        "mass",
        "inertia",
        "comes to rest",
        "contacts at rest",
        "energy at rest",
        "bases",
        "trays lie flat",
        "grasp medium_gear",
        "reach",
        "sensor arm joint_state",
    ]


@pytest.mark.parametrize("z_m", [-0.02, 0.02])
def test_a_table_that_is_higher_or_lower_than_drawn_is_no_mistake_of_the_base_that_is_drawn_on_it(z_m):
    found = findings(actual={"table": {"z_m": z_m, "x_m": 0.01, "roll_deg": 0.5}}, fidelity="kinematic")
    assert found["bases"] == (True, "all stand on something, 0.0 mm off at most")
    assert found["trays lie flat"][0]


def test_part_that_falls_is_found():
    ok, detail = findings(parts={"gear": {"model": "medium_gear", "pose": {"xyz_m": [0.2, -1.3, 1.0]}}})[
        "comes to rest"
    ]
    assert (ok, detail) == (False, "'gear' went 84.0 mm down from where it was put")


def test_mobile_robot_in_the_air_or_on_its_side_is_found():
    arena = {"name": "a", "title": "A", "fixtures": {"floor": BENCH["fixtures"]["floor"]}}
    for pose, wrong in (
        ({"xyz_m": [0, 0, 0.03]}, {"comes to rest": "'r' went 30.1 mm down from where it was put"}),
        ({"xyz_m": [0, 0, 0.06], "rpy_deg": [180, 0, 0]}, {"drives": "not on its wheels: r"}),
    ):
        cell = Cell.model_validate(arena | {"mobiles": {"r": {"model": "epuck", "pose": pose}}})
        found = {f.check: f for f in check_cell(cell) if not f.ok}
        assert wrong.items() <= {check: finding.detail for check, finding in found.items()}.items()
        assert all(finding.remedy for finding in found.values())


def test_kinematic_cell_says_that_nothing_falls_in_it():
    hanging = {"gear": {"model": "medium_gear", "pose": {"xyz_m": [0.2, -1.3, 1.0]}}}
    assert findings(parts=hanging, fidelity="kinematic")["comes to rest"] == (
        True,
        "not looked at: in a kinematic cell nothing falls",
    )


def test_reach_is_that_of_the_tools_that_a_robot_changes():
    arm = {key: value for key, value in BENCH["robots"]["arm"].items() if key != "tool"} | {"changer": "tool_changer"}
    changes = {
        "robots": {"arm": arm},
        "tools": {"hand": {"model": "pincher", "holder": "holder"}},
        "sensors": [],
        "fidelity": "kinematic",
    }
    for x_m, expected in (
        (0.25, (True, "5 grasp points, of which arm 5; 1 tools in their holders")),
        (2.0, (False, "out of reach: hand in holder")),
    ):
        holder = {"model": "tool_holder", "pose": {"xyz_m": [x_m, -1.35, 0.916]}}
        assert findings(**changes, fixtures=BENCH["fixtures"] | {"holder": holder})["reach"] == expected


def test_part_that_does_not_come_to_rest_is_found():
    falling = {"gear": {"model": "medium_gear", "pose": {"xyz_m": [0.2, -1.3, 2.5]}}}
    ok, detail = findings(parts=falling, settle_s=0.3)["comes to rest"]
    assert not ok
    assert detail.startswith("still moving after 0.3 s: ")
    assert "gear" in detail


def test_what_stirs_by_itself_is_found(monkeypatch):
    """Fingers that are not told where they are go to where they are told."""
    monkeypatch.setattr("cellwright.sim.world.World._take_home_poses", lambda world: None)
    ok, detail = findings()["energy at rest"]
    assert not ok
    assert "('arm/" in detail


def test_what_is_pressed_in_is_found(monkeypatch):
    monkeypatch.setattr("cellwright.checks.cell_physics.DEEPEST_M", 1e-6)
    ok, detail = findings()["contacts at rest"]
    assert not ok
    assert "overlap by" in detail


def test_what_no_robot_reaches_is_found():
    ok, detail = findings(
        trays={"tray": {"model": "medium_gear_tray", "pose": {"xyz_m": [2.0, 0.0, 0.0]}}}, fidelity="kinematic"
    )["reach"]
    assert not ok
    places = "gear, tray/slot_1, tray/slot_2, tray/slot_3, tray/slot_4"
    assert detail == f"out of reach: {places}; of gear, the nearest base is that of arm, 2.61 m away"


def test_sensor_that_breaks_the_contract_is_found(monkeypatch):
    class Slovenly(JointStateSensor):
        topic = "no_slash"

    monkeypatch.setitem(SENSORS._entries, "slovenly", Slovenly)
    line = {"type": "slovenly", "robot": "arm", "rate_hz": 50}
    ok, detail = findings(sensors=[line], fidelity="kinematic")["sensor arm slovenly"]
    assert (ok, detail) == (False, "its topic 'no_slash' does not start with '/'")


def test_cell_that_cannot_be_built_is_an_error():
    twice = {"a": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.2, -1.0, 0.916]}}}
    twice["b"] = {"model": "small_gear_tray", "pose": {"xyz_m": [0.22, -1.0, 0.916]}}
    with pytest.raises(ConfigError, match=r"bench: trays.a.pose: 'a' and 'b' overlap by \d+"):
        findings(trays=twice, parts={})
