"""Corrections fitted to pairs: detectors come right with both methods, robots find each other, poses go both ways."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core import Pose
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.messages import Detections
from cellwright.perception.calibration import (
    CalibratedRobot,
    Calibration,
    FittedPose,
    RegistrationPoint,
    corrected_detections,
    register_detector,
    register_robots,
    touched_surface,
)

SEEN = np.array([[0.1, -1.35, 0.916], [0.5, -1.35, 0.916], [0.1, -0.95, 0.916], [0.55, -0.9, 0.916]])
shifts = st.tuples(*[st.floats(-0.01, 0.01)] * 3)
tilts = st.tuples(*[st.floats(-0.01, 0.01)] * 3)
small_poses = st.builds(Pose.from_xyz_rpy, shifts, tilts)
table_poses = st.builds(
    Pose.from_xyz_rpy,
    st.tuples(st.floats(0.0, 0.6), st.floats(-1.4, -0.8), st.floats(0.9, 1.0)),
    st.tuples(st.just(0.0), st.just(0.0), st.floats(-3, 3)),
)


@given(small_poses, st.floats(0.99, 1.01), table_poses)
def test_a_detector_that_is_off_by_a_transform_is_right_everywhere(error, scale, reported):
    """A camera that is shifted, turned, tilted with its table and hangs at another height."""
    registered = register_detector(SEEN, error.apply(scale * SEEN), source="eye", target="arm")
    true = error @ Pose(scale * reported.position, reported.quaternion)
    found = registered.detector.corrected(reported)
    assert found.is_close(true, tolerance_m=2e-8, tolerance_rad=2e-8)
    assert registered.detector.reported(true).is_close(reported, tolerance_m=2e-8, tolerance_rad=2e-8)
    assert registered.detector.residual_m < 1e-8


@given(st.lists(shifts, min_size=4, max_size=4), st.sampled_from(["eqn1", "rigid_eqn1"]))
def test_both_methods_are_exact_where_the_robot_touched(offsets, method):
    """The files have nine digits of a metre."""
    touched = SEEN + 0.3 * np.array(offsets)
    registered = register_detector(SEEN, touched, source="eye", target="arm", method=method)
    for seen, true, kept in zip(SEEN, touched, registered.fit.kept, strict=True):
        if kept:
            found = registered.detector.corrected(Pose.from_xyz_rpy(seen))
            assert found.position == pytest.approx(true, abs=1e-8)


def test_a_transform_serves_better_between_the_points_than_offsets_alone():
    """Under a turn of 0.3 degrees offsets grow with the distance, which the mean of offsets does not."""
    error = Pose.from_xyz_rpy([0, 0, 0], [0, 0, np.radians(0.3)])
    grid = [Pose.from_xyz_rpy([x, y, 0.916]) for x in np.linspace(0.1, 0.5, 9) for y in np.linspace(-1.3, -0.95, 9)]

    def worst(method):
        detector = register_detector(SEEN, error.apply(SEEN), source="eye", target="arm", method=method).detector
        return max(detector.corrected(pose).distance_m(error @ pose) for pose in grid)

    assert worst("rigid_eqn1") < 1e-7
    assert 2e-4 < worst("eqn1") < 2e-3


def test_a_wrong_mark_is_not_used_and_says_why():
    touched = SEEN + [0.003, 0.001, 0.0]
    touched[1, 0] += 0.04
    registered = register_detector(SEEN, touched, ("a", "b", "c", "d"), source="eye", target="arm")
    assert len(registered.detector.points) == 3
    assert [pair.name for pair in registered.pairs.pairs if pair.rejected] == ["b"]
    with pytest.raises(BadInput, match="collinear"):
        register_detector([[0.1 * k, 0.0, 0.9] for k in range(4)], touched, source="eye", target="arm")


@given(st.builds(Pose.from_xyz_rpy, st.tuples(*[st.floats(-2, 2)] * 3), st.tuples(*[st.floats(-3, 3)] * 3)))
def test_robots_that_touch_the_same_marks_know_each_other(other_in_world):
    base = Pose.from_xyz_rpy([-0.169, -1.14, 0.934])
    registered = register_robots(
        base.inverse().apply(SEEN), other_in_world.inverse().apply(SEEN), robot="fanuc", other="motoman"
    )
    assert (other_in_world @ registered.transform.pose.pose).is_close(base, tolerance_m=1e-7, tolerance_rad=1e-7)
    assert registered.pairs.source == "fanuc"
    assert registered.transform.residual_m < 1e-8


@given(small_poses, small_poses, table_poses, st.lists(shifts, min_size=4, max_size=4))
def test_what_is_commanded_brings_the_tool_where_it_is_to_be(base_error, tool, goal, offsets):
    points = tuple(
        RegistrationPoint(at_m=(x, y), offset_m=offset)
        for (x, y), offset in zip([(0.2, -0.3), (0.7, -0.3), (0.2, 0.3), (0.7, 0.3)], offsets, strict=True)
    )
    base = FittedPose.of(Pose.from_xyz_rpy([-0.169, -1.14, 0.934]) @ base_error)
    robot = CalibratedRobot(base=base, tool=FittedPose.of(tool), points=points)
    assert robot.in_world(robot.in_base(goal)).is_close(goal, tolerance_m=1e-11, tolerance_rad=1e-9)
    plain = CalibratedRobot(base=base)
    assert plain.in_world(Pose.identity()).is_close(base.pose)


def test_a_frame_is_corrected_row_by_row_and_says_how_sure_it_is():
    touched = SEEN + [0.004, -0.002, 0.001]
    touched[0, 0] += 0.001
    detector = register_detector(SEEN, touched, source="eye", target="arm").detector
    calibration = Calibration(cell="aprs", detectors={"eye": detector})
    frame = Detections(
        1.0,
        1,
        "eye",
        frame="world",
        skus=("gear", "tray"),
        positions=SEEN[2:],
        quaternions=np.array([[1.0, 0, 0, 0]] * 2),
        variances=np.array([[1e-7, 1e-7, np.inf, np.inf, np.inf, 1e-5]] * 2),
        scores=np.ones(2),
    )
    taken = corrected_detections(calibration, "eye", frame)
    assert taken.positions == pytest.approx(touched[2:], abs=1e-8)
    assert taken.variances[0] == pytest.approx([1e-7 + detector.residual_m**2] * 2 + [np.inf] * 3 + [1e-5])
    assert detector.residual_m > 1e-5
    assert frame.positions.tolist() == SEEN[2:].tolist()  # the message itself stays
    assert corrected_detections(calibration, "other", frame) is frame
    assert calibration.corrected("other", Pose.identity()).is_close(Pose.identity())


def test_a_surface_is_as_high_and_tilted_as_it_was_touched():
    true = Pose.from_xyz_rpy([0.2, -1.1, 0.92], np.radians([0.3, -0.2, 0.0]))
    touched = true.apply([[-0.2, -0.2, 0], [0.2, -0.2, 0], [0.2, 0.2, 0], [-0.2, 0.25, 0]])
    surface = touched_surface(touched)
    for x, y, z in touched:
        assert surface.height_at((x, y)) == pytest.approx(z, abs=1e-8)
    assert surface.tilt_deg == pytest.approx((0.3, -0.2), abs=1e-5)


def test_the_base_of_a_robot_is_the_fitted_one_or_the_drawn_one():
    fitted, drawn = Pose.from_xyz_rpy([0.001, 0.0, 0.9]), {"b": Pose.from_xyz_rpy([0.0, 1.0, 0.9])}
    calibration = Calibration(cell="aprs", robots={"a": CalibratedRobot(base=FittedPose.of(fitted))})
    assert calibration.base_of("a", drawn).is_close(fitted)
    assert calibration.base_of("b", drawn).is_close(drawn["b"])
    with pytest.raises(UnknownName, match="unknown robot 'c'"):
        calibration.base_of("c", drawn)
