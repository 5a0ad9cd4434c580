"""Boxes for finished kits: a kit is done when it also stands in one."""

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.judge import judge_kit, score_run
from cellwright.judge.boxes import boxes_of
from cellwright.judge.kit import IN_BOX
from cellwright.judge.support import geoms_of
from cellwright.orders import DESIGNS
from cellwright.sim import World

M2L1, TRAY = DESIGNS.get("kit_m2l1"), "m2l1_tray_2"
BOX = Pose.from_xyz_rpy([0.65, -0.522, 0.894], [0, 0, np.pi / 2])


@pytest.fixture(scope="module")
def world():
    return World(load_cell("kitting").model_copy(update={"settle_s": 0.0}), 0)


def item(world, tray=TRAY):
    return {item.name: item for item in judge_kit(world, tray, M2L1).items}[IN_BOX]


def test_boxes_with_trays_drawn_in_them_are_supplies(world):
    boxes = boxes_of(world)
    assert (set(boxes.supplies), set(boxes.outlets)) == ({"m2l1_tray_box", "s2l2_tray_box"}, {"kit_box"})
    assert boxes.placement(world, TRAY, boxes.supplies).stands


@pytest.mark.parametrize(
    ("pose", "passed", "reason"),
    [
        (Pose.from_xyz_rpy([0.0, -0.65, 0.89]), False, "0.662 m from kit_box"),
        (BOX, True, "in kit_box, "),
        (BOX @ Pose.from_xyz_rpy([0, 0, 0.02]), False, "in kit_box, 20.0 mm above its place"),
        (BOX @ Pose.from_xyz_rpy([0, 0, -0.0035]), False, "in kit_box, 3.5 mm below its place"),
        (BOX @ Pose.from_xyz_rpy([0, 0, 0.0172]), False, "in kit_box, 17.2 mm above its place"),  # on another kit
        (BOX @ Pose.from_xyz_rpy([0.0, 0.108, 0.02], [0.1, 0.0, 0.0]), False, "0.110 m from kit_box"),  # half out
    ],
)
def test_a_tray_stands_in_its_box_or_the_verdict_says_where_it_is(world, pose, passed, reason):
    world.place(TRAY, pose)
    assert item(world).passed is passed
    assert reason in item(world).reason
    assert not judge_kit(world, TRAY, M2L1).done, "it is empty"


def test_a_tray_that_is_tilted_in_its_box_is_not_level(world):
    for tilt_rad, level in ((0.03, True), (0.06, False)):
        world.place(TRAY, BOX @ Pose.from_xyz_rpy([0, 0, 0.002], [tilt_rad, 0, 0]))
        found = {item.name: item for item in judge_kit(world, TRAY, M2L1).items}
        assert (found["level"].passed, found[IN_BOX].passed) == (level, True)
    assert found["level"].reason == "tilted by 3.4 deg (limit 2 deg)"


def test_a_tool_that_lies_on_a_kit_in_its_box_spoils_it(world):
    world.place(TRAY, BOX)
    assert extras(world) == "nothing extra"
    tool = world.loose_tools["tray_vacuum"]
    lowest_m = min(world.data.geom_xpos[g, 2] - world.model.geom_rbound[g] for g in geoms_of(world, tool.bodies))
    for _ in range(400):  # down, a quarter of a millimetre at a time, until it touches
        world.data.qpos[tool.qpos : tool.qpos + 2] = BOX.position[:2]
        world.data.qpos[tool.qpos + 2] += BOX.position[2] + 0.017 - lowest_m - 0.00025
        lowest_m = BOX.position[2] + 0.017
        world.place(TRAY, BOX)
        if extras(world) != "nothing extra":
            break
    assert extras(world) == "tray_vacuum on the tray"


def extras(world):
    return {item.name: item for item in judge_kit(world, TRAY, M2L1).items}["extras"].reason


def test_it_is_worth_points_and_a_tray_that_is_gone_has_none(world):
    world.place(TRAY, BOX)
    kits = [judge_kit(world, tray, M2L1) for tray in (TRAY, "no_tray")]
    lines = {line.name: line for line in score_run(kits, [], [], 10.0, par_s=20, limit_s=30).items}
    assert (lines[f"{TRAY}/{IN_BOX}"].points, lines[f"{TRAY}/{IN_BOX}"].most) == (2.0, 2.0)
    assert (lines[f"no_tray/{IN_BOX}"].points, lines[f"no_tray/{IN_BOX}"].reason) == (0.0, "the tray is not there")
