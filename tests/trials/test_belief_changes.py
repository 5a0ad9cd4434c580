"""Changes of belief in a real cell: each thing that happens to a part is told once, and nothing else is."""

from __future__ import annotations

from collections import Counter

import pytest

from cellwright.cells import load_cell
from cellwright.core.messages import BeliefChange
from cellwright.drawings import Drawings
from cellwright.drawings.database import designs_for
from cellwright.drawings.workstation import workstation_of
from cellwright.judge import parse_fault
from cellwright.knowledge import Belief, Database, WorldModel, fill
from cellwright.lab import Lab
from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.perception import Tracker
from cellwright.trials.kitting_controller import expected_in
from cellwright.trials.run import RunCfg, run_order

SMALL = Order("small", (OrderLine(KitDesign.of("kit_m", "sku_kit_m2l1_vessel", {"sku_part_medium_gear": 1}), 1),))
pytestmark = pytest.mark.slow
FAULTS = (
    "push:at=2,part=small_gear_1,by_mm=60",
    "remove:at=3,part=small_gear_2",
    "blackout:at=4,for_s=3,detector=detector_motoman",
)


@pytest.fixture(scope="module")
def told() -> list[BeliefChange]:
    """The changes while a gear is put into a kit and other things happen beside it."""
    heard: list[BeliefChange] = []
    with Lab.from_cell("aprs", seed=2) as lab:
        lab.bus.declare("/belief/changes", BeliefChange)
        lab.bus.subscribe("/belief/changes", lambda _topic, change: heard.append(change), subscriber="test")
        report = run_order(lab, [SMALL], RunCfg(("fanuc",), faults=tuple(parse_fault(fault) for fault in FAULTS)))
    assert report.done, report.reason
    return heard


def of(told, subject):
    return [change.change for change in told if change.subject == subject]


def test_a_part_that_is_pushed_has_moved_once(told):
    out, moved = of(told, "small_gear_1")[:2]
    assert out == "out of its slot"
    assert moved.startswith("moved 0.0")
    assert 0.03 < float(moved.split()[1]) < 0.1
    assert Counter(change.split()[0] for change in of(told, "small_gear_1"))["moved"] == 1


def test_a_part_that_is_removed_is_missing_once(told):
    assert of(told, "small_gear_2") == ["missing"]


def test_what_a_blind_detector_sees_again_is_told_once_each(told):
    again = [change for change in told if change.change == "seen again" and change.evidence == "detector_motoman"]
    back = Counter(change.subject for change in again)
    assert len(back) > 5
    assert set(back.values()) == {1}


def test_the_gear_that_the_robot_took_has_moved_once_and_nothing_else_is_told(told):
    (part,) = {change.subject for change in told if change.change.startswith("in slot")}
    words = [change.split()[0] for change in of(told, part)]
    assert words.count("moved") == 1
    assert words.count("missing") == 0
    others = [change for change in told if change.change.split()[0] in ("moved", "turned", "missing", "new")]
    assert {change.subject for change in others} == {part, "small_gear_1", "small_gear_2"}


@pytest.mark.slow
def test_in_a_quiet_cell_nothing_is_told_in_a_minute():
    cell = load_cell("aprs").model_copy(update={"fidelity": "kinematic"})
    told: list[BeliefChange] = []
    with Lab(cell, seed=3) as lab:
        database = Database("sqlite://")
        fill(database, workstation_of(lab.cell), designs_for([]))
        belief = Belief(WorldModel(database), told.append)
        views = Drawings.of(lab.cell).views(["detector_fanuc", "detector_motoman"])
        tracker = Tracker(expected_in(belief.state), views=views)
        for name in views:
            lab.bus.subscribe(
                f"/{name}/detections", lambda _topic, frame: belief.take(tracker.take(frame)), subscriber="tracker"
            )
        lab.advance(60.0)
    assert [(change.subject, change.change) for change in told] == []
    assert len(belief.state.parts()) == 20
