"""The axioms of rigid poses, and that a pose cannot be changed or chained wrongly."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cellwright.core import FramedPose, Pose, rotation
from cellwright.core.errors import FrameMismatch

numbers = st.floats(-10, 10)
positions = st.tuples(numbers, numbers, numbers)
turns = st.one_of(  # rotation vectors: any, tiny, and within a hair of a half turn
    st.tuples(*[st.floats(-1.8, 1.8)] * 3),
    st.tuples(*[st.floats(-1e-8, 1e-8)] * 3),
    st.floats(-1e-9, 1e-9).map(lambda e: (0.6 * (np.pi + e), 0.0, -0.8 * (np.pi + e))),
)
poses = st.builds(lambda xyz, turn: Pose(xyz, rotation.quaternion_from_vector(np.array(turn))), positions, turns)


@given(poses)
@example(Pose.identity())
@example(Pose.from_xyz_rpy((1, 2, 3), (np.pi, 0, 0)))
@example(Pose.from_xyz_rpy((1, 2, 3), (0, 0, -np.pi)))
@example(Pose.from_xyz_rpy((1, 2, 3), (1e-5, 0, 0)))
def test_exp_undoes_log(pose):
    twist = pose.log()
    assert np.linalg.norm(twist[3:]) <= np.pi + 1e-15
    assert Pose.exp(twist).is_close(pose, tolerance_m=1e-12, tolerance_rad=1e-13)


def test_exp_moves_along_a_screw():
    quarter = Pose.exp([1.0, 0.0, 0.0, 0.0, 0.0, np.pi / 2])  # drives forward while turning left: a quarter circle
    assert quarter.position == pytest.approx([2 / np.pi, 2 / np.pi, 0])
    assert quarter.rpy == pytest.approx([0, 0, np.pi / 2])


@given(poses, poses, poses)
def test_composition_is_associative(a, b, c):
    assert ((a @ b) @ c).is_close(a @ (b @ c), tolerance_m=1e-12, tolerance_rad=1e-13)


@given(poses)
def test_inverse_and_identity(pose):
    for product in (pose @ pose.inverse(), pose.inverse() @ pose):
        assert product.is_close(Pose.identity(), tolerance_m=1e-12, tolerance_rad=1e-13)
    assert (pose @ Pose.identity()).is_close(pose, tolerance_m=1e-15, tolerance_rad=1e-15)


@given(poses, poses, st.lists(positions, min_size=1, max_size=4))
def test_apply_and_composition_match_the_matrices(a, b, points):
    homogeneous = np.c_[points, np.ones(len(points))]
    assert (a @ b).apply(points) == pytest.approx((homogeneous @ (a.matrix @ b.matrix).T)[:, :3], abs=1e-12)
    assert a.apply(points[0]) == pytest.approx(a.apply(points)[0], abs=1e-14)
    assert a.apply(points[0]) == pytest.approx(a.rotation_matrix @ points[0] + a.position, abs=1e-14)


@given(poses)
def test_round_trips(pose):
    assert Pose.from_matrix(pose.matrix).is_close(pose, tolerance_m=0, tolerance_rad=1e-14)
    assert Pose.from_matrix(pose.matrix[:3]).is_close(pose, tolerance_m=0, tolerance_rad=1e-14)
    assert Pose.from_xyz_rpy(pose.position, pose.rpy).is_close(pose, tolerance_m=0, tolerance_rad=2e-9)
    again = Pose(pose.position, pose.quaternion)
    assert (again.position.tobytes(), again.quaternion.tobytes()) == (
        pose.position.tobytes(),
        pose.quaternion.tobytes(),
    )


@given(poses)
def test_of_the_two_quaternions_of_a_rotation_one_is_kept(pose):
    assert pose.quaternion[0] >= 0
    assert Pose(pose.position, -pose.quaternion).quaternion.tobytes() == pose.quaternion.tobytes()


@given(poses, poses)
def test_interpolation_starts_ends_and_halves(a, b):
    assert a.interpolate(b, 0).is_close(a, tolerance_m=1e-15, tolerance_rad=1e-15)
    assert a.interpolate(b, 1).is_close(b, tolerance_m=1e-14, tolerance_rad=1e-14)
    half = a.interpolate(b, 0.5)
    assert half.position == pytest.approx((a.position + b.position) / 2, abs=1e-14)
    assert half.angle_rad(a) == pytest.approx(a.angle_rad(b) / 2, abs=1e-13)
    assert half.angle_rad(b) == pytest.approx(a.angle_rad(b) / 2, abs=1e-13)


def test_interpolation_takes_the_shorter_way_round():
    a, b = Pose.from_xyz_rpy((0, 0, 0), (0, 0, 3.0)), Pose.from_xyz_rpy((2, 0, 0), (0, 0, -3.0))
    half = a.interpolate(b, 0.5)
    assert half.is_close(Pose.from_xyz_rpy((1, 0, 0), (0, 0, np.pi)))


def test_nearness_needs_both_place_and_direction():
    here = Pose.identity()
    assert here.distance_m(Pose.from_xyz_rpy((3, 4, 0))) == pytest.approx(5)
    assert here.angle_rad(Pose.from_xyz_rpy((3, 4, 0), (0, 0.25, 0))) == pytest.approx(0.25)
    assert not here.is_close(Pose.from_xyz_rpy((0.002, 0, 0)), tolerance_m=0.001, tolerance_rad=1)
    assert not here.is_close(Pose.from_xyz_rpy((0, 0, 0), (0, 0, 0.2)), tolerance_m=1, tolerance_rad=0.1)


@pytest.mark.parametrize("make", [lambda p: p, copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_neither_a_pose_nor_a_copy_of_it_can_be_changed(make):
    xyz = np.array([1.0, 2.0, 3.0])
    pose = make(Pose(xyz, np.array([1.0, 0, 0, 0])))
    xyz[0] = 99
    assert pose.position.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        pose.position[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        pose.quaternion[0] = 5
    with pytest.raises(FrozenInstanceError):
        pose.position = np.zeros(3)


@pytest.mark.parametrize("xyz", [(1, 2), (1, 2, np.nan), (np.inf, 0, 0), [[1, 2, 3]]])
def test_a_position_is_three_finite_numbers(xyz):
    with pytest.raises(ValueError, match="3 finite numbers"):
        Pose(xyz, (1, 0, 0, 0))


@pytest.mark.parametrize("matrix", [np.eye(3), np.eye(4)[:2], np.eye(5)])
def test_a_matrix_of_another_shape_is_refused(matrix):
    with pytest.raises(ValueError, match="4 x 4 or 3 x 4"):
        Pose.from_matrix(matrix)


def test_repr_is_short_and_in_plain_numbers():
    assert repr(Pose.from_xyz_rpy((0.1, 0, 1), (0, 0, 0.5))) == "Pose(xyz=[0.1, 0.0, 1.0], rpy=[0.0, 0.0, 0.5])"


def test_framed_poses_chain_when_the_frames_meet():
    base_in_world = FramedPose("base", "world", Pose.from_xyz_rpy((1, 0, 0), (0, 0, np.pi / 2)))
    tool_in_base = FramedPose("tool", "base", Pose.from_xyz_rpy((0.5, 0, 0)))
    tool_in_world = base_in_world @ tool_in_base
    assert (tool_in_world.child, tool_in_world.parent) == ("tool", "world")
    assert tool_in_world.pose.position == pytest.approx([1, 0.5, 0])
    world_in_tool = tool_in_world.inverse()
    assert (world_in_tool.child, world_in_tool.parent) == ("world", "tool")
    assert (world_in_tool @ base_in_world).child == "base"


def test_a_wrong_chain_names_both_frames():
    tool_in_base = FramedPose("tool", "base", Pose.identity())
    with pytest.raises(FrameMismatch, match=r"'tool'.*'base'"):
        tool_in_base @ tool_in_base
