"""A kind of fault of the user's own: the file of the guide, wherever faults are named."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from cellwright.core.errors import BadInput, ConfigError
from cellwright.core.plugins import load_plugin
from cellwright.core.pose import Pose
from cellwright.judge import FAULTS, DetectorFault, Fault, FaultCfg, FaultScheduler, parse_fault
from cellwright.judge.faults.validation import check_fault
from cellwright.trials.cfg import read_trial, trial_json_schema

GUIDE = Path(__file__).parents[3] / "docs/guide/faults.md"
LEVEL = [0, 0, -9.81]
TRIAL = """trial: t
cell: ship.yaml
orders: [{order: kit_m2l1}]
faults: ["tilt:at=4,for_s=2,deg=5", {kind: tilt, during: "transfer:2"}]
"""


@pytest.fixture
def own_kinds():
    """Forgets the kinds of a test."""
    before = dict(FAULTS._entries)
    yield
    FAULTS._entries.clear()
    FAULTS._entries.update(before)


@pytest.fixture
def tilt(tmp_path, own_kinds):
    """The plugin of the guide, beside a cell that names it."""
    section = GUIDE.read_text(encoding="utf-8").partition("## Your own fault kind")[2]
    (tmp_path / "tilt.py").write_text(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], encoding="utf-8")
    aprs = (Path(__file__).parents[3] / "src/cellwright/cells/aprs.yaml").read_text(encoding="utf-8")
    (tmp_path / "ship.yaml").write_text(aprs + "plugins: [tilt.py]\n", encoding="utf-8")
    return tmp_path / "tilt.py"


@pytest.fixture
def spin(tmp_path, own_kinds):
    """The instant fault of the guide, imported."""
    section = GUIDE.read_text(encoding="utf-8").partition("### A fault that moves something")[2]
    (tmp_path / "spin.py").write_text(re.search(r"```python\n(.*?)```", section, re.DOTALL)[1], encoding="utf-8")
    load_plugin(tmp_path / "spin.py")


def gravity(stand):
    return stand.world.model.opt.gravity.tolist()


def test_it_is_applied_while_it_lasts_and_told_when_it_is_over(stand, tilt):
    load_plugin(tilt)
    faults = stand.at("start", "tilt:at=0.1,for_s=0.3,deg=5")
    stand.lab.advance(0.2)
    np.testing.assert_allclose(gravity(stand), [-9.81 * np.sin(np.radians(5)), 0, -9.81 * np.cos(np.radians(5))])
    stand.lab.advance(0.5)
    assert gravity(stand) == LEVEL
    assert [event.detail for event in faults.events] == ["the floor leans by 5 deg for 0.3 s", "over"]


def test_of_two_at_once_the_one_that_lasts_longer_stays_applied(stand, tilt):
    load_plugin(tilt)
    stand.at("start", "tilt:at=0.1,for_s=0.5,deg=5", "tilt:at=0.2,for_s=0.1,deg=2")
    stand.lab.advance(0.45)
    assert gravity(stand)[0] == pytest.approx(-9.81 * np.sin(np.radians(5)))
    stand.lab.advance(0.3)
    assert gravity(stand) == LEVEL


def test_it_ends_with_the_run(stand, tilt):
    load_plugin(tilt)
    faults = stand.at("start", "tilt:at=0.1")
    stand.lab.advance(0.2)
    assert gravity(stand) != LEVEL
    faults.stop()
    assert gravity(stand) == LEVEL


def test_snapshots_keep_what_is_changed(stand, tilt):
    load_plugin(tilt)
    faults = stand.at("start", "tilt:at=0.1,for_s=0.3")
    before = stand.lab.snapshot()
    stand.lab.advance(0.2)
    during, ends = stand.lab.snapshot(), []
    stand.lab.restore(before)
    assert gravity(stand) == LEVEL
    for _ in range(2):
        stand.lab.restore(during)
        assert gravity(stand) != LEVEL
        stand.lab.advance(0.4)
        assert gravity(stand) == LEVEL
        ends.append(stand.world.data.qpos.tobytes())
    assert ends[0] == ends[1]
    assert [event.detail for event in faults.events][-1] == "over"


def test_a_world_that_is_built_anew_stays_changed(shelf, tilt):
    load_plugin(tilt)
    world, stepper, bus, hand_monitor = shelf
    specs = ["tilt:at=0.1,for_s=1", "remove:part=gear_2,at=0.3"]
    faults = FaultScheduler(world, stepper, bus, hand_monitor, [parse_fault(spec) for spec in specs])
    stepper.advance(world.clock.ticks(0.5))
    assert "gear_2" not in world.objects
    assert world.model.opt.gravity[0] < -0.5
    stepper.advance(world.clock.ticks(1.5))
    assert world.model.opt.gravity.tolist() == LEVEL
    assert faults.pending == ()


def test_a_tray_is_moved_at_once_with_what_lies_in_it(stand, spin):
    tray, gear = "fanuc_kit_m2l1", "medium_gear_1"
    stand.at("start")
    stand.fill({"slot_1": gear})
    before, in_tray = stand.world.pose_of(tray), stand.world.pose_of(tray).inverse() @ stand.world.pose_of(gear)
    moment = stand.lab.snapshot()
    stand.close()
    faults = [parse_fault(f"spin:tray={tray},at=0,deg=5")]
    lab = stand.lab
    stand.scheduler = FaultScheduler(lab.world, lab.stepper, lab.bus, stand.hand_monitor, faults, lab.sensors)
    lab.advance(0.5)
    after = stand.world.pose_of(tray)
    assert np.degrees(before.angle_rad(after)) == pytest.approx(5, abs=0.1)
    assert (after.inverse() @ stand.world.pose_of(gear)).is_close(in_tray, tolerance_m=0.0005, tolerance_rad=0.01)
    assert [event.detail for event in stand.scheduler.events] == [f"turned by 5 deg with {gear}"]
    stand.close()
    lab.restore(moment)
    there = stand.world.pose_of(gear)
    stand.world.place(tray, Pose(before.position + [0, 0, 0.3], before.quaternion))
    assert stand.world.pose_of(gear).is_close(there), "as the guide says, what lies in it stays"


def test_a_part_is_moved_at_once(stand, spin):
    faults = stand.at("start", "spin:part=large_gear_1,at=0,deg=20")
    before = stand.world.pose_of("large_gear_1")
    stand.lab.advance(0.1)
    assert np.degrees(before.angle_rad(stand.world.pose_of("large_gear_1"))) == pytest.approx(20, abs=0.5)
    assert (faults.events[0].subject, faults.events[0].detail) == ("large_gear_1", "turned by 20 deg")


def test_a_trial_file_may_name_it(tilt):
    (tilt.parent / "trial.yaml").write_text(TRIAL, encoding="utf-8")
    faults = read_trial(tilt.parent / "trial.yaml").faults
    assert [(fault.kind, fault.deg) for fault in faults] == [("tilt", 5.0), ("tilt", 3.0)]


def test_its_mistakes_in_a_trial_file_are_one_line_each(tilt):
    (tilt.parent / "trial.yaml").write_text(TRIAL.replace("deg=5", "dge=5"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"line 4: faults\.0: .*unknown key of tilt 'dge'; did you mean 'deg'"):
        read_trial(tilt.parent / "trial.yaml")


def test_without_its_plugin_it_is_unknown(own_kinds):
    with pytest.raises(BadInput, match=r"unknown kind of fault .tilt. \(available: blackout, blind, clock, drop"):
        parse_fault("tilt:at=1")


def test_editors_and_the_page_of_keys_know_it(tilt):
    load_plugin(tilt)
    keys = trial_json_schema()["$defs"]["TiltCfg"]
    assert keys["properties"]["kind"]["const"] == "tilt"
    assert keys["properties"]["deg"]["description"] == "How far, towards -x."
    assert "for_s" in keys["properties"]


def test_a_kinematic_cell_refuses_it(tilt, changed):
    from cellwright.sim import World

    load_plugin(tilt)
    with pytest.raises(BadInput, match="fault tilt needs a cell of fidelity 'physics'"):
        check_fault(parse_fault("tilt:at=1"), World(changed()), [])


def test_a_detector_may_lose_every_other_frame(stand, own_kinds):
    @FAULTS.register("flicker")
    class Flicker(DetectorFault):
        def change(self, fault_state, message):
            fault_state.memory["frames"] = fault_state.memory.get("frames", 0) + 1
            return message if fault_state.memory["frames"] % 2 else None

    counts = []
    for fault in ("flicker:at=2", "flicker:at=0,detector=detector_motoman"):
        seen = []
        faults = stand.at("start", fault)
        subscription = stand.lab.bus.subscribe(
            "/detector_motoman/detections", lambda _, message, seen=seen: seen.append(message), subscriber="tracker"
        )
        stand.lab.advance(1.02)
        stand.lab.bus.unsubscribe(subscription)
        counts.append(len(seen))
    assert counts[0] >= 8
    assert counts[1] == (counts[0] + 1) // 2
    assert faults.events[0].subject == "detector_motoman"


def test_a_fault_about_no_part_needs_none(own_kinds):
    """In a cell without parts, of mobile robots for instance."""
    from cellwright.cells import load_cell
    from cellwright.sim import World

    world = World(load_cell("epucks@one"))
    assert not world.objects

    class Wind(Fault):
        applies_to = ()

        def begin(self, fault_state):
            return "blows"

    FAULTS.add("wind", Wind)
    check_fault(parse_fault("wind:at=1"), world, [])
    with pytest.raises(BadInput, match="unknown part"):
        check_fault(parse_fault("remove:at=1"), world, [])


@pytest.mark.parametrize("thing", [lambda: None, FaultCfg, type("Odd", (Fault,), {"Cfg": None})])
def test_what_is_no_fault_is_one_line(own_kinds, thing):
    FAULTS.add("odd", thing)
    with pytest.raises(BadInput, match="kind of fault 'odd' should be a subclass of Fault with a FaultCfg as its Cfg"):
        parse_fault("odd:at=1")


class Broken(Fault):
    """Begins as its test says."""

    applies_to = ()
    begins = staticmethod(lambda: 1 / 0)

    def begin(self, fault_state):
        return self.begins()


PLACE = r"test_own_kind\.py, line (\d+): kind of fault 'broken' fails"


def test_what_fails_in_its_code_is_one_line_with_file_line_and_time(stand, own_kinds):
    FAULTS.add("broken", Broken)
    stand.at("start", "broken:at=0.1")
    with pytest.raises(BadInput, match=rf"{PLACE} at 0\.1 s: ZeroDivisionError: division by zero") as caught:
        stand.lab.advance(0.2)
    assert len(str(caught.value).splitlines()) == 1
    assert f"line {Broken.begins.__code__.co_firstlineno}:" in str(caught.value)


def test_what_it_refuses_itself_is_told_with_the_place(stand, own_kinds):
    FAULTS.add("broken", type("Refuses", (Broken,), {"begins": lambda self: self.world.place("nut", None)}))
    stand.at("start", "broken:at=0")
    with pytest.raises(BadInput, match=rf"{PLACE} at 0\.02 s: .*unknown object 'nut'"):
        stand.lab.advance(0.1)


def test_words_that_are_none_are_refused_when_it_begins(stand, own_kinds):
    FAULTS.add("broken", type("Counts", (Broken,), {"begins": lambda self: 3, "__module__": __name__}))
    faults = stand.at("start", "broken:at=0")
    allowed = "begin returns int, but should return what was done in words, or None"
    with pytest.raises(BadInput, match=f"kind of fault 'broken' fails at 0.02 s: {allowed}"):
        stand.lab.advance(0.1)
    assert not faults.events


def test_a_detectors_message_of_another_type_is_refused(stand, own_kinds):
    @FAULTS.register("broken")
    class Texts(DetectorFault):
        def change(self, fault_state, message):
            return "nothing seen"

    stand.at("start", "broken:at=0")
    with pytest.raises(BadInput, match=rf"{PLACE} at .* s: change returns str, but should return Detections, or None"):
        stand.lab.advance(0.5)


@pytest.mark.parametrize("method", ["__init__", "check"])
def test_what_fails_before_the_run_is_one_line(stand, own_kinds, method):
    FAULTS.add("broken", type("Odd", (Broken,), {method: lambda *arguments: {}["speed"]}))
    with pytest.raises(BadInput, match=rf"{PLACE}: KeyError: 'speed'"):
        stand.at("start", "broken:at=0")


@pytest.mark.parametrize("targets", ['("objekt",)', '"object"', '("hand", 3)', "None"])
def test_what_it_cannot_be_about_is_refused_when_it_is_registered(tmp_path, own_kinds, targets):
    (tmp_path / "odd.py").write_text(
        f"from cellwright.judge import FAULTS, Fault\n\n@FAULTS.register('odd')\nclass Odd(Fault):\n"
        f"    applies_to = {targets}\n"
    )
    allowed = r"should be a tuple of 'object', 'hand', 'detector'"
    told = rf"odd\.py, line 4: class Odd: applies_to is {re.escape(targets)}, {allowed}"
    with pytest.raises(BadInput, match=told.replace('"', "'")):
        load_plugin(tmp_path / "odd.py")
    assert "odd" not in FAULTS
