from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.cells import RobotTargetCfg
from cellwright.core.pose import Pose
from cellwright.hybrid.target_frame import TargetFrame

numbers = st.floats(-3.0, 3.0)
poses = st.builds(Pose.from_xyz_rpy, st.tuples(numbers, numbers, numbers), st.tuples(numbers, numbers, numbers))


@given(poses, poses, poses, st.booleans())
def test_what_is_told_is_what_is_heard(frame, pose, tool, at_flange):
    target = TargetFrame(frame, at_flange)
    there_and_back = target.heard(target.told(pose, tool), tool)
    assert there_and_back.distance_m(pose) < 1e-9
    assert there_and_back.angle_rad(pose) < 1e-6
    back_and_there = target.told(target.heard(pose, tool), tool)
    assert back_and_there.distance_m(pose) < 1e-9


@given(poses, poses)
def test_a_frame_at_the_base_and_the_tool_change_nothing(pose, tool):
    assert TargetFrame.of(RobotTargetCfg(at="a:1")).told(pose, tool).distance_m(pose) < 1e-9


def test_a_frame_that_is_moved_and_turned_at_the_flange():
    cfg = RobotTargetCfg(at="a:1", point="flange", frame={"xyz_m": (1.0, 0.0, 0.0), "rpy_deg": (0.0, 0.0, 90.0)})
    tool = Pose.from_xyz_rpy((0.0, 0.0, 0.2))
    told = TargetFrame.of(cfg).told(Pose.from_xyz_rpy((1.5, 0.0, 0.5)), tool)
    assert told.position == pytest.approx([0.0, -0.5, 0.3])
    assert told.rpy == pytest.approx([0.0, 0.0, -np.pi / 2])
