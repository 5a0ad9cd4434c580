"""Projection, sums over silhouettes, and the evidence of shadows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("cv2")

import cv2
from tests.perception.stereo.painted_cube import SIZE_PX, TASK, painted, picture

from cellwright.perception.stereo.sparse_evidence import PlateEvidence, learn_plate, plate_evidence
from cellwright.perception.stereo.sparse_projection import project, rays
from cellwright.perception.stereo.sparse_silhouette import SilhouetteView, cube_corners

small = st.floats(-0.05, 0.05)


@settings(max_examples=40, deadline=None)
@given(st.tuples(small, small, small, small, small), st.floats(100, 700), st.floats(100, 700))
def test_a_point_along_a_ray_is_seen_where_the_ray_began(distortion, column, row):
    camera = picture("left", distortion=np.array(distortion))
    way = rays(camera, [[column, row]])
    point = camera.pose_camera_in_world.position + 0.9 * way
    assert project(camera, point) == pytest.approx(np.array([[column, row]]), abs=0.01)


def test_points_behind_a_camera_are_not_seen():
    camera = picture("left")
    behind = camera.pose_camera_in_world.apply([0, 0, -1.0])
    assert np.isnan(project(camera, behind)).all()


@settings(max_examples=25, deadline=None)
@given(st.floats(0.2, 0.6), st.floats(0.98, 1.12), st.floats(0, 1.6), st.floats(0.05, 0.1))
def test_the_sum_of_a_ramp_over_a_silhouette_is_its_area_times_the_value_at_its_centroid(x, y, yaw, edge_m):
    camera = picture("left")
    ramp = np.tile(np.arange(SIZE_PX // 2, dtype=np.float32) + 0.5, (SIZE_PX // 2, 1))
    view = SilhouetteView(camera, PlateEvidence(ramp, (0, 0), 1.0, 4.0))
    corners = cube_corners(np.array([x, y, yaw, edge_m]), 0.75)
    total, area, whole = view.sums(corners)
    outline = cv2.convexHull(np.float32(project(camera, corners[0]) / 2)).reshape(-1, 2).astype(float)
    a, b = outline, np.roll(outline, -1, axis=0)
    cross = a[:, 0] * b[:, 1] - b[:, 0] * a[:, 1]
    centroid = ((a + b) * cross[:, None]).sum(axis=0) / (3 * cross.sum())
    assert area[0] == whole[0] == pytest.approx(abs(cross.sum()) / 2, rel=0.02)
    assert total[0] / area[0] == pytest.approx(centroid[0], abs=0.15)


def test_a_silhouette_that_is_half_out_of_the_picture_has_half_its_area_in_it():
    camera = picture("left")
    nats = np.ones((SIZE_PX // 2, SIZE_PX // 2), np.float32)
    corners = cube_corners(np.array([0.44, 1.03, 0.0, 0.08]), 0.75)
    middle = project(camera, corners[0])[:, 0].mean()
    shifted = replace(camera, matrix=camera.matrix - [[0, 0, middle], [0, 0, 0], [0, 0, 0]])
    total, area, whole = SilhouetteView(shifted, PlateEvidence(nats, (0, 0), 1.0, 4.0)).sums(corners)
    assert area[0] / whole[0] == pytest.approx(0.5, abs=0.03)
    assert total[0] == pytest.approx(area[0])


def test_shadows_that_come_and_go_are_no_evidence_and_a_cube_is():
    before = [(0.15, 0.95), (0.28, 0.95), (0.28, 1.15), (0.15, 1.15)]
    after = [(0.50, 0.95), (0.63, 0.95), (0.63, 1.15), (0.50, 1.15)]
    reference, now = painted(shadow=before)[0], painted((0.4, 1.05, 0.3), "grey", after)[0]
    evidence = plate_evidence(now, TASK, learn_plate(reference, TASK, is_empty=True))

    def told(x, y, z=0.75):
        column, row = (project(now, [[x, y, z]])[0] - evidence.origin_px) / evidence.binning
        return evidence.nats[int(row), int(column)]

    assert max(told(x, y) for x in (0.2, 0.25, 0.55, 0.6, 0.1, 0.7) for y in (1.0, 1.05, 1.1)) < -2
    assert min(told(0.4, 1.05, 0.83), told(0.42, 1.06, 0.83)) > 2
