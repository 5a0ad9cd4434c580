"""Gears in kits that no robot has set down there: touched where detectors tell no height, and only there, once."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

from cellwright.catalogue import part_of_sku, seated_pose
from cellwright.cells import load_cell
from cellwright.cells.actual import PoseErrorCfg
from cellwright.core.pose import Pose
from cellwright.execution import ExecutionSettings, RecoveryMode, strange_parts
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.outcome import KitReport, SlotReport
from cellwright.execution.strange_parts import StrangeParts
from cellwright.execution.surface_heights import FeltSurface, SurfaceHeights
from cellwright.knowledge import BelievedPart, BelievedSlot
from cellwright.lab import Lab
from cellwright.trials import RunCfg, TrialStatus, run_order

from .conftest import SKUS, small_kit

MEDIUM, CUBE = "sku_part_medium_gear", part_of_sku("sku_cube").sku
PLACES = {"slot_1": 0.0, "slot_2": 0.1}
SET_BY_HAND = ("medium_gear_1", "large_gear_1")


class Believed:
    """Two slots, each with a part."""

    def __init__(self, sku=MEDIUM):
        self.sku = sku

    def slots_of_kit(self, _kit, _design):
        return [BelievedSlot(name, self.sku, Pose.from_xyz_rpy([x, 0.0, 0.0])) for name, x in PLACES.items()]

    def part(self, name):
        return BelievedPart(name, self.sku, Pose.from_xyz_rpy([PLACES[f"slot_{name[-1]}"], 0.0, 0.0]).matrix, 0.0)


class Worker:
    held = ""

    def __init__(self, name="fanuc", surfaces=()):
        self.name, self.busy, self.withdrawn = name, asyncio.Lock(), 0
        self.heights = SurfaceHeights(surfaces)

    async def withdraw(self):
        self.withdrawn += 1


@pytest.fixture
def touched(monkeypatch):
    """Part by part what is felt of it; what was touched is kept in `at`."""

    def make(felt_m, *, unmeasured=("height", "tilt"), sku=MEDIUM, in_reach=True, seated=None):
        rows = tuple(
            SlotReport(slot=slot, wanted=sku, sku=sku, part=f"gear_{slot[-1]}", filled=True, unmeasured=unmeasured)
            for slot in PLACES
        )
        at = []

        async def rim_height_m(_worker, _gear, seat_m):
            at.append(float(seat_m[0]))
            height_m = felt_m[len(at) - 1]
            if isinstance(height_m, Exception):
                raise height_m
            return height_m

        def kit_reports(_belief, _designs, _since_s, _settings, felt):
            fine = tuple(row for row in rows if row.part not in felt)
            return (KitReport("kit", "design", fine),)

        monkeypatch.setattr(strange_parts, "rim_height_m", rim_height_m)
        monkeypatch.setattr(strange_parts, "kit_reports", kit_reports)
        monkeypatch.setattr(strange_parts, "reaches", lambda _believed, _robot, _point: in_reach)
        strange = StrangeParts(SimpleNamespace(state=Believed(sku)), ExecutionSettings(), dict(seated or {}))
        return strange, at

    return make


def feel(strange, worker=None):
    return asyncio.run(strange.feel([worker or Worker()], {"kit": None}, 0.0))


def test_one_that_something_is_met_beside_is_not_in_its_seat_and_each_is_touched_once(touched):
    strange, at = touched([0.011, 0.0])
    worker = Worker()
    assert feel(strange, worker)
    assert (at, worker.withdrawn) == ([0.0, 0.1], 1)
    assert strange.felt == {"gear_1": "stands 11.0 mm too high beside its peg, by touch"}
    assert strange.seated == {"gear_2": "kit/slot_2"}
    assert not feel(strange)
    assert len(at) == 2


def test_what_a_robot_has_set_down_there_is_not_touched_and_elsewhere_it_is(touched):
    strange, at = touched([0.0], seated={"gear_1": "kit/slot_1", "gear_2": "another_kit/slot_2"})
    assert not feel(strange)
    assert at == [0.1]
    strange.felt["gear_1"] = "stands too high"
    strange.note_seated("gear_1", "kit", None)
    assert not strange.felt, "it was taken out and set down again"


@pytest.mark.parametrize("options", [{"unmeasured": ()}, {"sku": CUBE}, {"in_reach": False}], ids=str)
def test_nothing_is_touched_where_heights_are_measured_no_robot_reaches_or_it_is_no_gear(touched, options):
    strange, at = touched([], **options)
    assert not feel(strange)
    assert not at


def test_what_cannot_be_touched_is_told(touched):
    blocked = StepFailed(FailureKind.ARM, "the straight way of fanuc is blocked: tool touches board")
    strange, _ = touched([blocked, None])
    assert not feel(strange)
    assert strange.notes == [f"gear_1 in slot_1 of kit could not be touched: {blocked}"]


def test_the_table_is_touched_before_the_first_gear_on_it_and_not_again(touched, monkeypatch):
    strange, at = touched([0.0, 0.0])
    table = FeltSurface("table", 0.9, np.array([-0.3, -0.3]), np.array([0.3, 0.3]))
    order = []

    async def touch_table(worker, point):
        order.append(len(at))
        worker.heights.at(point).note(point, 0.004)

    monkeypatch.setattr(strange_parts, "touch_table", touch_table)
    assert not feel(strange, Worker(surfaces=[table]))
    assert (order, len(at)) == ([0], 2)


@pytest.mark.slow
def test_a_gear_that_stands_on_its_head_in_a_kit_does_not_make_it_done():
    with Lab(load_cell("aprs"), seed=11) as lab:
        tray = lab.world.pose_of("fanuc_kit_m2l1")
        lab.world.place("large_gear_1", tray @ Pose.from_xyz_rpy([0.0, -0.04, 0.06], [3.141592653589793, 0.0, 0.0]))
        lab.advance(2.5)
        report = run_order(lab, [small_kit("ml")], RunCfg(("fanuc",), ExecutionSettings(recovery=RecoveryMode.NONE)))
    assert report.status is TrialStatus.PARTIAL
    assert "too high beside its peg, by touch" in report.reason


@pytest.mark.slow
@pytest.mark.parametrize("table_m", [0.004, -0.004])
@pytest.mark.parametrize("on_its_head", [False, True])
def test_on_a_table_that_is_not_as_high_as_drawn_gears_are_felt_as_they_are(table_m, on_its_head):
    """Without the table's height, seated gears on a table that is 4 mm higher are taken for gears on their heads."""
    drawn = load_cell("aprs")
    actual = drawn.actual.model_copy(update={"table": PoseErrorCfg(z_m=table_m)})
    with Lab(drawn.model_copy(update={"actual": actual}), seed=11) as lab:
        tray = lab.world.object("fanuc_kit_m2l1").figures
        slots = {part: next(s for s in tray.slots if s.accepts == SKUS[part[0]]) for part in SET_BY_HAND}
        for part, slot in slots.items():
            seat = seated_pose(tray, slot, lab.world.object(part).figures)
            if on_its_head and part == "large_gear_1":
                seat = (
                    Pose.from_xyz_rpy([0.0, 0.0, 0.04]) @ seat @ Pose.from_xyz_rpy([0.0, 0.0, 0.0], [np.pi, 0.0, 0.0])
                )
            lab.world.place(part, lab.world.pose_of("fanuc_kit_m2l1") @ Pose.from_xyz_rpy([0.0, 0.0, 0.002]) @ seat)
        lab.advance(2.5)
        report = run_order(lab, [small_kit("ml")], RunCfg(("fanuc",), ExecutionSettings(recovery=RecoveryMode.NONE)))
    assert report.status is (TrialStatus.PARTIAL if on_its_head else TrialStatus.DONE), report.reason
    assert on_its_head or "too high beside its peg" not in report.reason
