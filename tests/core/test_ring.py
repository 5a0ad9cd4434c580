"""The kinematic ring: a program in world coordinates survives a moved base and a changed tool."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core import KinematicRing, Pose

poses = st.builds(
    lambda xyz, rpy: Pose.from_xyz_rpy(xyz, rpy),
    st.tuples(*[st.floats(-2, 2)] * 3),
    st.tuples(*[st.floats(-3, 3)] * 3),
)
rings = st.builds(KinematicRing, poses, poses, poses)


def close(a, b):
    return a.is_close(b, tolerance_m=1e-12, tolerance_rad=1e-13)


@given(rings, poses)
def test_the_ring_closes_in_both_directions(ring, pose):
    assert close(ring.tool_in_world(ring.flange_for_tool(pose)), pose)
    assert close(ring.part_in_world(ring.flange_for_part(pose)), pose)
    assert close(ring.flange_for_tool(ring.tool_in_world(pose)), pose)
    assert close(ring.flange_for_part(ring.part_in_world(pose)), pose)


@given(rings, poses, poses, poses)
def test_a_world_target_is_reached_from_another_base_and_with_another_tool(ring, target, base, tool):
    moved = ring.with_base(base)
    assert close(moved.tool_in_world(moved.flange_for_tool(target)), target)
    assert close(moved.part_in_world(moved.flange_for_part(target)), target)
    changed = ring.with_tool(tool)
    assert close(changed.tool_in_world(changed.flange_for_tool(target)), target)
    held = changed.holding(ring.pose_part_in_tool)
    assert close(held.part_in_world(held.flange_for_part(target)), target)


@given(rings, poses, poses)
def test_each_change_touches_one_transform(ring, flange, base):
    moved = ring.with_base(base)
    shift = base @ ring.pose_base_in_world.inverse()
    assert close(moved.tool_in_world(flange), shift @ ring.tool_in_world(flange))
    assert moved.pose_tool_in_flange is ring.pose_tool_in_flange
    assert moved.pose_part_in_tool is ring.pose_part_in_tool


def test_a_new_tool_holds_nothing():
    ring = KinematicRing(Pose.identity()).holding(Pose.from_xyz_rpy((0, 0, 0.1)))
    fresh = ring.with_tool(Pose.from_xyz_rpy((0, 0, 0.2)))
    assert close(fresh.part_in_world(Pose.identity()), fresh.tool_in_world(Pose.identity()))


def test_figures_of_a_simple_chain():
    ring = KinematicRing(
        Pose.from_xyz_rpy((1, 0, 0.5), (0, 0, np.pi)),  # the base faces backwards
        Pose.from_xyz_rpy((0, 0, 0.1)),
        Pose.from_xyz_rpy((0, 0, 0.02)),
    )
    flange = Pose.from_xyz_rpy((0.4, 0.1, 0.3), (np.pi, 0, 0))  # points down
    assert ring.tool_in_world(flange).position == pytest.approx([0.6, -0.1, 0.7])
    assert ring.part_in_world(flange).position == pytest.approx([0.6, -0.1, 0.68])
