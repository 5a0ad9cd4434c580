"""The rotation formulas, against each other and against numpy's own linear algebra."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cellwright.core import rotation

components = st.lists(st.floats(-1, 1), min_size=4, max_size=4).map(np.array)
quaternions = components.filter(lambda q: np.linalg.norm(q) > 1e-3).map(rotation.normalised)
directions = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(np.array)
directions = directions.filter(lambda v: np.linalg.norm(v) > 1e-3).map(lambda v: v / np.linalg.norm(v))
angles = st.one_of(
    st.floats(0, np.pi),
    st.floats(0, 1e-3),
    st.floats(0, 1e-7).map(lambda small: np.pi - small),
    st.sampled_from([0.0, 1e-300, 1e-12, 0.99e-4, 1e-4, 1.01e-4, np.pi]),
)


def cross_matrix(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def power_series(matrix, first):
    """The sum of first! matrix^n / (n + first)!: the definitions that the closed forms must agree with."""
    total, term = np.eye(3), np.eye(3)
    for n in range(1, 30):
        term = term @ matrix / (n + first)
        total = total + term
    return total


@given(components.filter(lambda q: np.linalg.norm(q) > 1e-3))
def test_normalised_has_unit_length_and_one_sign(q):
    unit = rotation.normalised(q)
    assert np.linalg.norm(unit) == pytest.approx(1, abs=1e-15)
    assert unit[0] >= 0
    assert unit.tolist() == rotation.normalised(-q).tolist()


@given(quaternions)
def test_normalising_twice_changes_no_bit(q):
    assert rotation.normalised(q).tobytes() == q.tobytes()


@pytest.mark.parametrize("half_turn", [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0.6, -0.8], [-0.0, -0.0, 0, 1]])
def test_a_half_turn_has_one_sign_whatever_the_last_bit_of_w(half_turn):
    q = np.array(half_turn, float)
    expected = rotation.normalised(q).tobytes()
    for w in (0.0, -0.0, 1e-17, -1e-17):
        for sign in (1, -1):
            nearby = sign * q
            nearby[0] = w
            assert rotation.normalised(nearby).tobytes() == expected


@pytest.mark.parametrize(
    "bad", [[0, 0, 0, 0], [np.nan, 0, 0, 1], [np.inf, 0, 0, 0], [1e-13, 0, 0, 0], [1, 0, 0], [[1, 0, 0, 0]]]
)
def test_what_is_no_rotation_is_refused(bad):
    with pytest.raises(ValueError, match=r"not a rotation|has 4 numbers"):
        rotation.normalised(np.array(bad, float))


@given(quaternions, quaternions, quaternions)
def test_multiplication_is_associative_and_matches_matrices(a, b, c):
    left = rotation.multiply(rotation.multiply(a, b), c)
    right = rotation.multiply(a, rotation.multiply(b, c))
    assert left == pytest.approx(right, abs=1e-14)
    matrix = rotation.matrix_from_quaternion(a) @ rotation.matrix_from_quaternion(b)
    assert rotation.matrix_from_quaternion(rotation.multiply(a, b)) == pytest.approx(matrix, abs=1e-14)


@given(quaternions, directions)
def test_rotate_matches_the_matrix(q, v):
    assert rotation.rotate(q, v) == pytest.approx(rotation.matrix_from_quaternion(q) @ v, abs=1e-14)


@given(quaternions)
@example(np.array([0.0, 1.0, 0.0, 0.0]))
@example(np.array([0.0, 0.0, 1.0, 0.0]))
@example(np.array([0.0, 0.0, 0.0, 1.0]))
@example(np.array([1.0, 0.0, 0.0, 0.0]))
def test_matrix_round_trip(q):
    m = rotation.matrix_from_quaternion(q)
    assert m @ m.T == pytest.approx(np.eye(3), abs=1e-14)
    assert np.linalg.det(m) == pytest.approx(1)
    assert rotation.angle_between(rotation.quaternion_from_matrix(m), q) < 1e-14


@pytest.mark.parametrize(
    "bad", [np.diag([1.0, 1, -1]), np.eye(3) * 1.01, np.zeros((3, 3)), np.eye(4), np.full((3, 3), np.nan)]
)
def test_mirrored_scaled_or_misshapen_matrices_are_refused(bad):
    with pytest.raises(ValueError, match="not a rotation: matrix"):
        rotation.quaternion_from_matrix(bad)


@given(directions, angles)
def test_vector_round_trip_and_the_power_series(axis, angle):
    q = rotation.quaternion_from_vector(axis * angle)
    assert rotation.matrix_from_quaternion(q) == pytest.approx(power_series(cross_matrix(axis * angle), 0), abs=1e-12)
    back = rotation.vector_from_quaternion(q)
    assert np.linalg.norm(back) <= np.pi + 1e-15
    assert rotation.angle_between(rotation.quaternion_from_vector(back), q) < 1e-14
    if angle < np.pi - 1e-9:  # at a half turn v and -v are the same rotation
        assert back == pytest.approx(axis * angle, rel=1e-9, abs=1e-15)


@given(directions, angles)
def test_left_jacobian_matches_the_power_series(axis, angle):
    series = power_series(cross_matrix(axis * angle), 1)
    assert rotation.left_jacobian(axis * angle) == pytest.approx(series, abs=1e-13)


@given(st.floats(-np.pi, np.pi), st.floats(-np.pi / 2, np.pi / 2), st.floats(-np.pi, np.pi))
@example(0.4, np.pi / 2, -1.0)
@example(0.4, -np.pi / 2, -1.0)
@example(0.4, np.pi / 2 - 2e-9, -1.0)
@example(-3.0, -np.pi / 2 + 1e-7, 2.0)
def test_rpy_round_trip_also_near_gimbal_lock(roll, pitch, yaw):
    q = rotation.quaternion_from_rpy(np.array([roll, pitch, yaw]))
    back = rotation.rpy_from_matrix(rotation.matrix_from_quaternion(q))
    assert abs(back[1]) <= np.pi / 2
    assert rotation.angle_between(rotation.quaternion_from_rpy(back), q) < 2e-9
    if abs(pitch) < 1.5:
        assert rotation.quaternion_from_rpy(back) == pytest.approx(
            q * np.sign(q @ rotation.quaternion_from_rpy(back)), abs=1e-14
        )


def test_rpy_is_about_fixed_axes_and_has_no_roll_at_gimbal_lock():
    roll_then_yaw = rotation.matrix_from_quaternion(rotation.quaternion_from_rpy(np.array([np.pi / 2, 0, np.pi / 2])))
    assert roll_then_yaw @ [0, 1, 0] == pytest.approx([0, 0, 1])  # y rolls up to z, where yaw leaves it
    locked = rotation.matrix_from_quaternion(rotation.quaternion_from_rpy(np.array([0.3, np.pi / 2, 0.5])))
    assert rotation.rpy_from_matrix(locked) == pytest.approx([0.0, np.pi / 2, 0.2])


@given(quaternions, directions, angles)
def test_angle_between_measures_the_turn(q, axis, angle):
    turned = rotation.multiply(q, rotation.quaternion_from_vector(axis * angle))
    assert rotation.angle_between(q, turned) == pytest.approx(angle, rel=1e-9, abs=3e-16)
    assert rotation.angle_between(q, -turned) == pytest.approx(angle, rel=1e-9, abs=3e-16)
