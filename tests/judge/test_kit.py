"""The one definition of done, by the true state."""

import json

import numpy as np
import pytest

from cellwright.core.errors import BadInput, OutOfRange
from cellwright.core.messages import Verdict
from cellwright.core.pose import Pose
from cellwright.judge import CollisionEvent, Points, judge_kit, score_run
from cellwright.judge.drops import DropEvent
from cellwright.orders import DESIGNS, KitDesign

TRAY, DESIGN = "fanuc_kit_m2l1", DESIGNS.get("kit_m2l1")
RIGHT = {"slot_1": "medium_gear_1", "slot_2": "medium_gear_2", "slot_3": "large_gear_1"}


def failed(verdict):
    return [item.name for item in verdict.items if not item.passed]


def test_a_full_kit_is_done(stand):
    stand.fill(RIGHT)
    verdict = judge_kit(stand.world, TRAY, DESIGN)
    assert verdict.done, verdict.reason
    slots = ["slot_1", "slot_2", "slot_3"]
    items = ["tray", *slots, "extras", "tool clear", "level", "at rest", "on its table"]
    assert [item.name for item in verdict.items] == items
    assert verdict.reason == "complete: 3 parts seated"
    assert json.loads(json.dumps(verdict.as_dict()))["done"] is True


def test_an_empty_kit_is_not(stand):
    verdict = judge_kit(stand.world, TRAY, DESIGN)
    assert failed(verdict) == ["slot_1", "slot_2", "slot_3"]
    assert verdict.reason.startswith("slot_1: the slot is empty; slot_2:")


def test_a_wrong_part_is_named(stand):
    stand.fill({**RIGHT, "slot_1": "small_gear_1"})
    verdict = judge_kit(stand.world, TRAY, DESIGN)
    assert failed(verdict) == ["slot_1"]
    assert "small_gear_1 is a sku_part_small_gear, wanted is a sku_part_medium_gear" in verdict.reason


def test_an_extra_part_spoils_a_full_kit(stand):
    """In a slot that the design leaves free, on the tray between the slots, or on top of another gear."""
    stand.fill(RIGHT)
    middle = stand.world.pose_of(TRAY) @ Pose.from_xyz_rpy([0.0, 0.018, 0.0175])
    stand.world.place("small_gear_1", middle)
    stand.lab.advance(0.6)
    verdict = judge_kit(stand.world, TRAY, DESIGN)
    assert "extras: small_gear_1 on the tray" in verdict.reason
    smaller = KitDesign.of("half", DESIGN.tray_sku, {"sku_part_medium_gear": 1})
    stand.world.place("small_gear_1", Pose.from_xyz_rpy([2, 2, 0.0]))
    assert judge_kit(stand.world, TRAY, smaller).reason == "extras: large_gear_1, medium_gear_2 on the tray"


def test_a_part_on_a_seated_one_and_two_in_a_slot_spoil_it(stand):
    stand.fill(RIGHT)
    on_it = stand.world.pose_of("medium_gear_1") @ Pose.from_xyz_rpy([0.0, 0.0, 0.036])
    stand.world.place("medium_gear_3", on_it)
    stand.lab.advance(0.3)
    verdict = judge_kit(stand.world, TRAY, DESIGN)
    assert (failed(verdict), verdict.reason) == (["extras"], "extras: medium_gear_3 on the tray")
    stand.world.place("medium_gear_3", Pose.from_xyz_rpy([2, 2, 0.0]))
    seat = stand.world.pose_of("large_gear_1")
    stand.world.place("large_gear_1", seat @ Pose.from_xyz_rpy([0.0, 0.0, 0.045]))
    stand.world.place("small_gear_1", seat @ Pose.from_xyz_rpy([0.0, 0.0, 0.001]))
    stand.lab.advance(0.6)
    verdict = judge_kit(stand.world, TRAY, DESIGN)
    assert failed(verdict) == ["slot_3", "extras"]
    assert "slot_3: small_gear_1 is a sku_part_small_gear" in verdict.reason


def test_a_part_beside_the_tray_or_high_above_it_is_no_extra(stand):
    stand.fill(RIGHT)
    tray = stand.world.pose_of(TRAY)
    stand.world.place("small_gear_1", tray @ Pose.from_xyz_rpy([0.105, 0.0, 0.0005]))
    stand.world.place("small_gear_2", tray @ Pose.from_xyz_rpy([0.0, 0.0, 0.3]))
    assert judge_kit(stand.world, TRAY, DESIGN).done


def test_a_tilted_part_is_not_seated(stand):
    stand.fill(RIGHT)
    pose = stand.world.pose_of("large_gear_1")
    stand.world.place("large_gear_1", pose @ Pose.from_xyz_rpy([0, 0, 0.004], [np.radians(5), 0, 0]))
    verdict = judge_kit(stand.world, TRAY, DESIGN)
    assert failed(verdict) == ["slot_3"]
    assert "tilted by 5.0 deg" in verdict.reason
    assert verdict.items[3].right_part


def test_a_tool_that_is_still_there_is_not_clear(stand):
    stand.fill(RIGHT)

    async def go(z_m):
        pose = stand.world.pose_of("medium_gear_2")
        await stand.arm.move_tool(Pose.from_xyz_rpy(pose.apply([0, 0, 0.027 + z_m]), [np.pi, 0, 0]), 0.6)

    stand.lab.perform(go(0.05))
    assert judge_kit(stand.world, TRAY, DESIGN).done, "50 mm above the parts a tool is clear"
    stand.lab.perform(go(0.0))
    verdict = judge_kit(stand.world, TRAY, DESIGN)
    assert failed(verdict) == ["tool clear"]
    assert "fanuc's tool is " in verdict.reason


def test_another_tray_or_none_is_told(stand):
    wrong = judge_kit(stand.world, "fanuc_kit_s2l2", DESIGN)
    assert "it is a sku_kit_s2l2_vessel, the kit needs a sku_kit_m2l1_vessel" in wrong.reason
    gone = judge_kit(stand.world, "no_tray", DESIGN)
    assert failed(gone) == ["tray", "slot_1", "slot_2", "slot_3", "on its table"]
    assert (gone.done, gone.reason) == (False, "the tray is not there"), "once is enough"
    larger = judge_kit(stand.world, TRAY, DESIGNS.get("kit_s2l2"))
    assert {item.name: item for item in larger.items}["slot_4"].reason == f"{TRAY} has no slot_4"
    assert "slot_4" in failed(larger)
    with pytest.raises(BadInput, match="'large_gear_1' is not a tray"):
        judge_kit(stand.world, "large_gear_1", DESIGN)


HIT = CollisionEvent(
    first="fanuc/tool/tool",
    second="fanuc_cart",
    start_s=1.0,
    end_s=1.2,
    force_n=30.0,
    depth_m=0.001,
    position_m=(0.0, 0.0, 0.9),
)
FALLEN = DropEvent(
    part="large_gear_1",
    robot="fanuc",
    time_s=2.0,
    opened=False,
    from_m=(0, 0, 1.0),
    end_m=(0, 0, 0.0),
    height_m=1.0,
    landed_on=("floor",),
    slot="",
    on_floor=True,
)
CAUGHT = DropEvent(
    part="large_gear_1",
    robot="fanuc",
    time_s=2.0,
    opened=False,
    from_m=(0, 0, 1.0),
    end_m=(0, 0, 0.9),
    height_m=0.1,
    landed_on=("fanuc_cart",),
    slot="",
    on_floor=False,
)


def test_a_score_says_why(stand):
    stand.fill(RIGHT)
    full = [judge_kit(stand.world, TRAY, DESIGN)]
    clean = score_run(full, [], [CAUGHT], 50.0, par_s=60, limit_s=300)
    assert clean.done
    assert clean.total == 1.0, "a part that fell within reach and was used after all costs only time"
    bad = score_run(full, [HIT], [FALLEN], 180.0, par_s=60, limit_s=300)
    assert bad.done
    lines = {item.name: item for item in bad.items}
    assert (lines["collisions"].points, lines["floor"].points, lines["time"].points) == (1.0, 1.0, 0.5)
    assert lines["collisions"].reason == "fanuc/tool/tool hit fanuc_cart at 1.00 s with 30.0 N"
    assert "fell 1000 mm onto floor" in lines["floor"].reason
    most = 3 * 3 + 5 + 2 + 2 + 1
    assert bad.total == pytest.approx((most - 1 - 1 - 0.5) / most)
    worst = {
        item.name: item.points for item in score_run(full, [HIT] * 9, [FALLEN] * 9, 400, par_s=60, limit_s=300).items
    }
    assert (worst["collisions"], worst["floor"], worst["time"]) == (0.0, 0.0, 0.0)


def test_a_score_is_done_when_all_kits_are_and_there_is_one(stand):
    stand.fill(RIGHT)
    full, gone = (judge_kit(stand.world, tray, DESIGN) for tray in (TRAY, "no_tray"))
    for kits, done in (([], False), ([full], True), ([full, gone], False), ([gone], False)):
        score = score_run(kits, [], [], 10.0, par_s=60, limit_s=300)
        lines = {item.name: item.points for item in score.items}
        assert (score.done, lines["time"]) == (done, float(done))
        assert lines.get("no_tray/tray") == (0.0 if gone in kits else None)


def test_a_part_that_is_there_but_not_seated_has_some_points(stand):
    stand.fill(RIGHT)
    pose = stand.world.pose_of("large_gear_1")
    stand.world.place("large_gear_1", pose @ Pose.from_xyz_rpy([0, 0, 0.004], [np.radians(5), 0, 0]))
    score = score_run([judge_kit(stand.world, TRAY, DESIGN)], [], [], 10.0, par_s=60, limit_s=300)
    lines = {item.name: item for item in score.items}
    assert not score.done
    assert lines[f"{TRAY}/slot_3"].points == 1.0
    assert lines[f"{TRAY}/slot_1"].points == 3.0
    assert lines["time"].reason == "not every kit is complete"
    message = score.message(5)
    assert isinstance(message, Verdict)
    assert message.TRUTH
    assert message.score == score.total
    assert dict(zip(message.items, message.passed, strict=True))[f"{TRAY}/slot_3"] is False
    assert json.loads(json.dumps(score.as_dict()))["items"][0]["passed"] is True


def test_points_and_times_can_be_set(stand):
    kits = [judge_kit(stand.world, TRAY, DESIGN)]
    tray = dict.fromkeys(("extras", "clear", "level", "rest", "table"), 0.0)
    only = Points(part=0, seated=0, collisions=4, collision=1, floor=0, time=0, **tray)
    assert score_run(kits, [HIT], [], 1.0, par_s=60, limit_s=300, points=only).total == 0.75
    with pytest.raises(OutOfRange):
        score_run(kits, [], [], 1.0, par_s=60, limit_s=50)
