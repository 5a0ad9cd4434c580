"""Whole runs in the cell where trays are carried and tools are changed, as the judge sees them."""

import numpy as np
import pytest

from cellwright.catalogue import seated_height_m
from cellwright.core.config import validate
from cellwright.core.pose import Pose
from cellwright.judge import parse_fault
from cellwright.judge.kit import IN_BOX
from cellwright.lab import Lab
from cellwright.orders import find_order
from cellwright.trials import RunCfg, TrialStatus, run_order, run_trial
from cellwright.trials.cfg import TrialCfg
from cellwright.trials.controllers import TRIAL_CONTROLLERS

pytestmark = pytest.mark.slow

TABLE, BOX = Pose.from_xyz_rpy([0.0, -0.65, 0.8905]), Pose.from_xyz_rpy([0.65, -0.522, 0.8945], [0, 0, np.pi / 2])
TRAY, PARTS = "m2l1_tray_2", ("medium_gear_1", "medium_gear_2", "large_gear_1")


def test_a_kit_that_is_pushed_while_it_is_built_ends_in_its_box():
    fault = "push:tray=m2l1_tray_2,on=medium*,after=place:1,by_mm=25/10,yaw_deg=5"
    with Lab.from_cell("kitting", seed=0) as lab:
        report = run_order(lab, [find_order("kit_m2l1")], RunCfg(faults=(parse_fault(fault),)))
    assert report.status is TrialStatus.DONE, report.reason
    (kit,) = report.kits
    assert (kit.tray, kit.items[-1].name, kit.items[-1].passed) == (TRAY, IN_BOX, True)
    assert report.hits == report.drops == ()
    (record,) = report.faults
    assert record.recovery.recoverable, record.recovery.reason
    assert len(record.recovery.plan.actions) == 14, "it goes on with the kit that was begun"


@pytest.mark.parametrize("goal", [TABLE, BOX])
def test_a_kit_that_is_claimed_is_judged_by_where_it_stands(goal, present):
    async def work(ports, orders):
        world = present().lab.world
        world.place(TRAY, goal)
        figures = world.objects[TRAY].figures
        for slot, part in zip(figures.slots, PARTS, strict=True):
            height_m = seated_height_m(figures, slot, world.objects[part].figures) + 0.0005
            world.place(part, world.pose_of(TRAY) @ Pose.from_xyz_rpy([*slot.xy_m, height_m]))
        await ports.clock.sleep(0.6)
        orders.submit("kit_m2l1")

    data = {"trial": "tried", "cell": "kitting", "time_limit_s": 5, "orders": [{"order": "kit_m2l1"}]}
    TRIAL_CONTROLLERS.add("test_claim", work)
    try:
        verdict = run_trial(validate(data, TrialCfg, "trial.yaml"), "test_claim", any_port=True)
    finally:
        del TRIAL_CONTROLLERS._entries["test_claim"]
    assert verdict.possible.recoverable
    assert verdict.done is (goal is BOX)
    assert verdict.false_done is (goal is TABLE)
    if goal is TABLE:
        (kit,) = verdict.orders[0].kits
        assert [item.name for item in kit.items if not item.passed] == [IN_BOX]
