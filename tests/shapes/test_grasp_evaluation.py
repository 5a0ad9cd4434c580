"""What is between a gripper's pads, against what geometry says."""

import numpy as np
import pytest

from cellwright.catalogue import TOOLS
from cellwright.core.pose import Pose
from cellwright.shapes.grasp_evaluation import evaluate_grasp, tool_down
from cellwright.shapes.mesh import cuboid, lathe

WSG, FANUC = TOOLS.get("wsg_50"), TOOLS.get("aprs_fanuc_gripper")
CONE = lathe([(0.03, 0.0), (0.01, 0.1)], 360)


@pytest.mark.parametrize("yaw_rad", [0.0, 0.3, np.pi / 2])
def test_a_box_is_as_wide_as_the_jaws_see_it(yaw_rad):
    box = cuboid([-0.01, -0.02, 0.0], [0.01, 0.02, 0.06])
    found = evaluate_grasp([box], FANUC, tool_down((0.0, 0.0, 0.03), yaw_rad))
    across_m = np.array([np.cos(yaw_rad), np.sin(yaw_rad)])
    along_m = np.array([-across_m[1], across_m[0]])
    edge = np.array([(x, y) for x in np.linspace(-0.01, 0.01, 401) for y in np.linspace(-0.02, 0.02, 401)])
    within = np.abs(edge @ along_m) <= FANUC.pad_size_m[1] / 2
    expected_m = float((edge[within] @ across_m).max())
    assert found.half_m == pytest.approx(expected_m, abs=1e-4)


def test_what_tapers_is_as_wide_as_at_the_tips_and_touches_only_there():
    found = evaluate_grasp([CONE], WSG, tool_down((0.0, 0.0, 0.05), 0.0))
    tips_m = 0.05 - WSG.pad_offset_m - WSG.pad_size_m[2] / 2
    assert found.half_m == pytest.approx(0.03 - 0.2 * tips_m, abs=1e-5)
    assert found.covered * found.band_m == pytest.approx(0.0005 / 0.2, abs=5e-4)  # as far as rubber gives way
    assert found.floor_gap_m == pytest.approx(tips_m)


def test_what_stands_beyond_the_open_fingers_does_not_count_and_what_is_under_them_does():
    peg = cuboid([-0.004, -0.02, 0.0], [0.004, 0.02, 0.06])
    for at_m, is_free in ((0.06, True), (0.014, False)):
        wall = cuboid([at_m, -0.02, 0.0], [at_m + 0.01, 0.02, 0.06])
        found = evaluate_grasp([peg, wall], FANUC, tool_down((0.0, 0.0, 0.04), 0.0))
        assert (found.clearance_m > 0) is is_free
        assert (found.problem(FANUC) == "") is is_free
        assert found.half_m == pytest.approx(0.004)


def test_from_the_side_the_palm_and_the_floor_are_looked_at():
    post = cuboid([-0.01, -0.01, 0.0], [0.01, 0.01, 0.3])
    side = Pose.from_matrix(np.column_stack([(0, -1, 0), (0, 0, -1), (1, 0, 0), (0.0, 0.0, 0.15)]))
    found = evaluate_grasp([post], WSG, side)
    assert found.problem(WSG) == ""
    assert found.half_m == pytest.approx(0.01)
    low = Pose(np.array([0.0, 0.0, 0.01]), side.quaternion)
    assert "below the floor" in evaluate_grasp([post], WSG, low).problem(WSG)
