"""Paths that take long to solve: the same in slices, and what cannot be is refused before it is solved."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from cellwright.catalogue import ROBOTS
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.core.slices import at_once
from cellwright.motion import ArmKinematics, LineMove, LineSpeed, PosePath, ThroughMove, Unreachable
from cellwright.motion.closed_form import WORTH_COMPILING

FANUC = ArmKinematics(ROBOTS.get("lr_mate_200id"))
START = np.array(FANUC.arm.home_rad, float)
TOOL = Pose.from_xyz_rpy((0.0, 0.0, 0.15))
HERE = FANUC.forward(START) @ TOOL


def shifted(x=0.0, y=0.0, z=0.0) -> Pose:
    return Pose(HERE.position + np.array([x, y, z]), HERE.quaternion)


def slices_of(work):
    """The result, and the processor's time that each slice took."""
    took_s = []
    while True:
        begin_s = time.thread_time()
        try:
            next(work)
        except StopIteration as end:
            return end.value, [*took_s, time.thread_time() - begin_s]
        took_s.append(time.thread_time() - begin_s)


def test_a_line_and_a_way_through_poses_are_the_same_in_slices():
    line, took_s = slices_of(LineMove.in_slices(FANUC, START, shifted(0, 0.2, -0.2), LineSpeed(), TOOL))
    whole = LineMove(FANUC, START, shifted(0, 0.2, -0.2), LineSpeed(), tool=TOOL)
    assert len(took_s) > 1
    assert max(took_s) < 0.05
    assert line.duration_s == whole.duration_s
    assert (line.path.spline.rows == whole.path.spline.rows).all()
    poses = [shifted(y=0.1), shifted(x=-0.1, y=0.1), shifted(x=-0.1)]
    way, took_s = slices_of(ThroughMove.in_slices(FANUC, START, poses, LineSpeed(), 0.02, TOOL))
    whole = ThroughMove(FANUC, START, poses, LineSpeed(), 0.02, tool=TOOL)
    assert way.duration_s == whole.duration_s
    assert (way.path.rows == whole.path.rows).all()
    assert len(took_s) > 10
    assert max(took_s) < 0.05  # some milliseconds each


def test_a_line_to_where_the_arm_never_gets_costs_the_look_at_one_pose(monkeypatch):
    def never(*_):
        raise AssertionError("the line was sampled")

    monkeypatch.setattr(ArmKinematics, "nearest_along", never)
    for away_m in (3.0, 3000.0, 1e9):
        with pytest.raises(Unreachable, match=r"out of reach, .* m from its first joint \(allowed: 0\.83 m\)"):
            LineMove(FANUC, START, shifted(x=away_m), LineSpeed(), tool=TOOL)
    turned = HERE @ Pose.from_xyz_rpy((0.0, 0.0, 0.0), (0.0, 3.0, 0.0))
    with pytest.raises(Unreachable):  # as near as before, and the wrist cannot
        LineMove(FANUC, START, turned, LineSpeed(), tool=TOOL)


def test_an_arm_without_a_closed_form_is_not_searched_for_what_is_beyond_it():
    joints = tuple(
        replace(j, origin_rpy_rad=tuple(v + 0.1 * i for i, v in enumerate(j.origin_rpy_rad))) for j in FANUC.arm.joints
    )
    crooked = ArmKinematics(replace(FANUC.arm, name="crooked", joints=joints))
    assert crooked.method == "numerical"
    start = np.array(FANUC.arm.home_rad, float)
    begin_s = time.thread_time()
    with pytest.raises(Unreachable, match="out of reach, "):
        LineMove(crooked, start, Pose.from_xyz_rpy((300.0, 0.0, 300.0)), LineSpeed())
    assert time.thread_time() - begin_s < 0.02  # a search takes longer


def screw(turn_rad: float, way_m: float = 0.01):
    def pose_at(fraction: float) -> Pose:
        turned = HERE @ Pose.from_xyz_rpy((0.0, 0.0, way_m * fraction), (0.0, 0.0, turn_rad * fraction))
        return turned @ TOOL.inverse()

    return PosePath.in_slices(FANUC, START, pose_at, way_m, turn_rad, "screw")


def test_a_course_of_too_many_pieces_is_refused_before_it_is_solved():
    with pytest.raises(BadInput, match=r"turns by 3000 rad \(allowed: 40 m and 200 rad\)"):
        next(screw(3000.0))


def test_a_joint_that_would_jump_by_a_turn_ends_the_search():
    kinematics = ArmKinematics(ROBOTS.get("sia20f"))
    start = np.array(kinematics.arm.home_rad, float)
    here = kinematics.forward(start)
    turned = lambda share: here @ Pose.from_xyz_rpy((0, 0, 0), (0, 0, 30.0 * share))  # noqa: E731
    with pytest.raises(JobFailed, match=r"joint_7 would have to swing by 3.. deg at once"):
        at_once(PosePath.in_slices(kinematics, start, turned, 0.0, 30.0, "screw"))


def test_looking_at_ends_never_loads_the_compiled_kernel():
    kinematics = ArmKinematics(ROBOTS.get("ur5"))
    near = np.array(kinematics.arm.home_rad, float)
    pose = kinematics.forward(near)
    for _ in range(WORTH_COMPILING + 10):  # loading it holds up whoever shares the process
        kinematics.require_reachable(pose, near)
    assert kinematics._closed_form._kernel is None
