"""Cameras as pinholes, and their lenses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.camera import Camera, LensError
from cellwright.core.pose import Pose

DOWN = Camera("down", Pose.from_xyz_rpy([0.3, -1.0, 2.0], [0, np.pi / 2, np.pi / 2]), 0.837)
angle = st.floats(-0.6, 0.6)
place = st.floats(-0.3, 0.3)


def test_a_camera_that_looks_down_has_y_of_the_cell_upwards_in_its_picture():
    (middle, right, up) = DOWN.pixels(np.array([[0.3, -1.0, 0.9], [0.4, -1.0, 0.9], [0.3, -0.9, 0.9]]))
    assert middle == pytest.approx([1024, 1024])
    assert right == pytest.approx([1024 + DOWN.focal_px * 0.1 / 1.1, 1024])
    assert up == pytest.approx([1024, 1024 - DOWN.focal_px * 0.1 / 1.1])


def test_its_angle_of_view_is_across_the_columns():
    half_m = 1.1 * np.tan(0.837 / 2)
    edge = np.array([[0.3 + half_m - 1e-6, -1.0, 0.9], [0.3 + half_m + 1e-6, -1.0, 0.9], [0.3, -1.0, 2.5]])
    assert DOWN.sees(edge).tolist() == [True, False, False]
    wide = Camera("wide", DOWN.pose_in_world, 0.837, (2000, 1000))
    assert wide.sees(np.array([[0.3, -1.0 + half_m * 0.6, 0.9]])).tolist() == [False]
    assert np.isnan(DOWN.pixels(edge[2:])).all()


def test_a_ball_is_seen_when_all_of_it_is_in_the_picture():
    half_m = 1.1 * np.tan(0.837 / 2)
    points = np.array([[0.3 + half_m - 0.03, -1.0, 0.9]] * 2 + [[0.3, -1.0, 1.95]] * 2)
    assert DOWN.sees(points, np.array([0.02, 0.04, 0.02, 0.04])).tolist() == [True, False, True, False]


@given(roll=angle, pitch=angle, yaw=st.floats(-3, 3), x=place, y=place, z=st.floats(0.5, 1.2))
def test_a_point_is_found_again_at_its_own_height(roll, pitch, yaw, x, y, z):
    pose = Pose.from_xyz_rpy([0, 0, 2.0], [roll, np.pi / 2 + pitch, yaw])
    camera = Camera("any", pose, 1.2)
    point = np.array([[x, y, z]])
    assert camera.on_plane(camera.pixels(point), z) == pytest.approx(point, abs=1e-9)


def test_a_line_of_sight_that_goes_up_meets_no_table():
    level = Camera("level", Pose.from_xyz_rpy([0, 0, 1.0]), 1.0)
    assert np.isnan(level.on_plane(np.array([[1024.0, 500.0]]), 0.5)).all()


def test_an_eye_without_a_camera_looks_straight_down_on_all_of_its_field():
    eye = Camera.straight_down((-0.2, -1.5), (0.8, -0.8))
    field = np.array([[-0.2, -1.5, 0.9], [0.8, -0.8, 0.9], [0.3, -1.1, 0.0]])
    assert eye.sees(field).all()
    aslant = (field - eye.pose_in_world.position)[:, :2] / (eye.pose_in_world.position[2] - field[:, 2:])
    assert np.abs(aslant).max() < 0.006
    assert Camera.straight_down((-100, -100), (100, 100)).sees(field).all()


EDGE = DOWN.pose_in_world.position + np.array([[1.1 * np.tan(0.837 / 2), 0.0, -1.1], [0.0, 0.0, -1.1]])


def test_a_lens_displaces_the_edge_by_its_figure_and_the_middle_not_at_all():
    bent = replace(DOWN, lens_error=LensError(4.0))
    assert bent.pixels(EDGE) - DOWN.pixels(EDGE) == pytest.approx(np.array([[4.0, 0.0], [0.0, 0.0]]), abs=1e-9)
    halfway = (EDGE[:1] + EDGE[1:]) / 2
    assert bent.pixels(halfway) - DOWN.pixels(halfway) == pytest.approx(np.array([[4.0 / 8, 0.0]]), abs=1e-9)
    shifted = replace(DOWN, lens_error=LensError(0.0, (3.0, -2.0)))
    assert shifted.pixels(EDGE) - DOWN.pixels(EDGE) == pytest.approx(np.array([[3.0, -2.0]] * 2), abs=1e-9)


@given(edge_px=st.floats(-60, 60), column=st.floats(-20, 20), row=st.floats(-20, 20), x=place, y=place)
def test_a_lens_error_that_is_known_is_taken_back(edge_px, column, row, x, y):
    bent = replace(DOWN, lens_error=LensError(edge_px, (column, row)))
    point = np.array([[0.3 + x, -1.0 + y, 0.9]])
    assert bent.on_plane(bent.pixels(point), 0.9) == pytest.approx(point, abs=1e-9)


@given(edge_px=st.floats(-60, 60), column=st.floats(-20, 20), x=place, y=place)
def test_a_point_seems_to_be_where_a_perfect_lens_would_show_it(edge_px, column, x, y):
    bent = replace(DOWN, lens_error=LensError(edge_px, (column, 0.0)))
    point = np.array([[0.3 + x, -1.0 + y, 0.9]])
    assert DOWN.pixels(bent.seeming(point)) == pytest.approx(bent.pixels(point), abs=1e-6)
    assert DOWN.seeming(point) is point
