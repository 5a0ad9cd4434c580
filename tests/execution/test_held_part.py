"""Parts in the hand: shapes that planners carry, and grasps whose gripper is inclined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.catalogue import PARTS, TOOLS
from cellwright.core.pose import Pose
from cellwright.execution.held_part import at_every_turn, attached_part, is_round, pitched, turned
from cellwright.motion.grasps import GraspKind, find_grasps
from cellwright.shapes.part_shape import part_shape

WSG = TOOLS.get("wsg_50")
SIDES = {
    name: [grasp for grasp in find_grasps(PARTS.get(name), WSG, turns=24) if grasp.kind is GraspKind.SIDE]
    for name in ("bottle", "coffee_can", "milk_carton", "mug")
}


@pytest.mark.parametrize("name", ["coffee_can", "milk_carton", "mug"])
def test_the_cylinder_of_a_part_that_is_not_round_holds_it_in_every_grasp(name):
    """So one shape does for all turns of the part in the hand."""
    part = PARTS.get(name)
    held = attached_part(part, SIDES[name])
    points = np.concatenate([solid.vertices for solid in part_shape(part).solids])
    for grasp in SIDES[name]:
        inside = held.pose_in_tool.inverse().apply(grasp.pose_tcp.inverse().apply(points))
        assert np.hypot(inside[:, 0], inside[:, 1]).max() <= held.shape.radius_m + 1e-9
        assert np.abs(inside[:, 2]).max() <= held.shape.length_m / 2 + 1e-9


def test_only_what_looks_the_same_from_every_side_is_round():
    assert [is_round(PARTS.get(name)) for name in ("bottle", "small_gear", "mug", "milk_carton")] == [
        True, True, False, False,
    ]  # fmt: skip


@given(number=st.integers(0, 23), pitch_deg=st.floats(0.0, 80.0))
def test_an_inclined_gripper_holds_the_same_point_by_the_same_line_between_its_jaws(number, pitch_deg):
    grasp = SIDES["bottle"][number]
    inclined = pitched(grasp, float(np.radians(pitch_deg)))
    before, after = grasp.pose_tcp.rotation_matrix, inclined.pose_tcp.rotation_matrix
    assert inclined.pose_tcp.position == pytest.approx(grasp.pose_tcp.position)
    assert after[:, 0] == pytest.approx(before[:, 0], abs=1e-12), "the jaws close along the same line"
    assert after[2, 2] == pytest.approx(-np.sin(np.radians(pitch_deg)), abs=1e-12), "it comes from above"
    assert inclined.pose_retreat.position == pytest.approx(grasp.pose_retreat.position), "lifted straight up"
    way = inclined.pose_tcp.position - inclined.pose_approach.position
    assert way == pytest.approx(0.1 * after[:, 2], abs=1e-12), "it comes along its own axis"


def test_turns_are_even_about_the_own_axis():
    pose = Pose.from_xyz_rpy([0.7, 0.1, 0.75], [0, 0, 0.3])
    yaws = np.degrees([float((pose.inverse() @ one).rpy[2]) for one in turned(pose, 8)])
    assert np.sort(np.round(yaws % 360)) == pytest.approx(np.arange(0, 360, 45))
    assert all(one.position == pytest.approx(pose.position) for one in turned(pose, 8))


@pytest.mark.parametrize("name", ["coffee_can", "mug"])
def test_a_part_at_every_turn_holds_its_handle_wherever_it_points(name):
    part, about = PARTS.get(name), at_every_turn(PARTS.get(name))
    assert is_round(about)
    for x, y, z in np.concatenate([solid.vertices for solid in part_shape(part).solids]):
        assert np.hypot(x, y) <= about.outer_radius_m(z) + 1e-4


def test_a_knob_is_taken_at_every_turn_and_a_mug_by_its_body_is_not():
    assert find_grasps(at_every_turn(PARTS.get("coffee_can")), WSG)
    assert not find_grasps(at_every_turn(PARTS.get("mug")), WSG)
