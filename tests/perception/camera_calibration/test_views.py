"""Tests for patterns that are found in pictures."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from cellwright.catalogue.printed import CALIBRATION_BOARD, CALIBRATION_TAGS, PrintedFigures
from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.perception.camera_calibration import BoardFinder, Intrinsics, TagFinder, locate_camera, tag_corners_m
from cellwright.perception.picture import Picture

FOCAL, SIZE = 800.0, (800, 600)
MATRIX = np.array([[FOCAL, 0, SIZE[0] / 2], [0, FOCAL, SIZE[1] / 2], [0, 0, 1.0]])
KNOWN = Intrinsics(SIZE, MATRIX, np.zeros(5))
DOWN = Pose.from_xyz_rpy([0.02, -0.03, 0.9], np.radians([180 + 12, 9, 15]))  # a pattern before a camera
FINE = 24  # pixels of a module in the sheet that is warped
OVER = 4  # samples along each axis of a pixel


def _paint(canvas: np.ndarray, figures: PrintedFigures, pose_in_camera: Pose) -> None:
    """Paints a plate into a picture of four times the resolution, by the plane's homography."""
    modules = np.array([[0 if m == "#" else 230 for m in row] for row in figures.rows], np.uint8)
    sheet = np.kron(modules, np.ones((FINE, FINE), np.uint8))
    high, wide = (n * figures.module_m for n in modules.shape)
    z = figures.size_m[2] / 2
    corners = pose_in_camera.apply(
        [(-wide / 2, high / 2, z), (wide / 2, high / 2, z), (wide / 2, -high / 2, z), (-wide / 2, -high / 2, z)]
    )
    to = OVER * KNOWN.project(corners) - 0.5
    h, w = sheet.shape
    of = np.array([(0, 0), (w, 0), (w, h), (0, h)], np.float32) - 0.5
    warp = cv2.getPerspectiveTransform(of.astype(np.float32), to.astype(np.float32))
    size = canvas.shape[1], canvas.shape[0]
    inside = cv2.warpPerspective(np.full(sheet.shape, 255, np.uint8), warp, size) > 127
    canvas[inside] = cv2.warpPerspective(sheet, warp, size, flags=cv2.INTER_AREA)[inside]


def _picture(*plates: tuple[PrintedFigures, Pose], noise_sd: float = 0.007) -> Picture:
    canvas = np.full((SIZE[1] * OVER, SIZE[0] * OVER), 150, np.uint8)
    for figures, pose in plates:
        _paint(canvas, figures, pose)
    grey = canvas.reshape(SIZE[1], OVER, SIZE[0], OVER).mean(axis=(1, 3))
    grey = grey + np.random.default_rng(0).normal(0, 255 * noise_sd, grey.shape)
    pixels = np.repeat(np.clip(np.round(grey), 0, 255).astype(np.uint8)[:, :, None], 3, axis=2)
    return Picture(
        source="eye", time_s=0.0, pixels=pixels, matrix=MATRIX, distortion=np.zeros(5),
        pose_camera_in_world=Pose.identity(), size_px=SIZE,
    )  # fmt: skip


def test_the_drawn_patterns_are_those_of_the_dictionaries() -> None:
    from cv2 import aruco

    board = aruco.CharucoBoard((8, 6), 8.0, 6.0, aruco.getPredefinedDictionary(aruco.DICT_4X4_50))
    ours = np.array([[m == "." for m in row] for row in CALIBRATION_BOARD.rows])
    assert (ours == (board.generateImage((64, 48), marginSize=0, borderBits=1) > 127)).all()
    tags = aruco.getPredefinedDictionary(aruco.DICT_APRILTAG_36H11)
    for number, figures in CALIBRATION_TAGS.items():
        inner = np.array([[m == "." for m in row] for row in figures.rows])[1:-1, 1:-1]
        assert (inner == (aruco.generateImageMarker(tags, number, 8) > 127)).all()


@pytest.mark.parametrize("noise_sd", [0.007, 0.09])
def test_corners_of_a_board_are_found_to_a_fraction_of_a_pixel(noise_sd: float) -> None:
    finder = BoardFinder(CALIBRATION_BOARD)
    view = finder.find(_picture((CALIBRATION_BOARD, DOWN), noise_sd=noise_sd))
    assert len(view.numbers) == 35
    off = view.pixels - KNOWN.project(DOWN.apply(view.points_m))
    assert np.abs(off.mean(axis=0)).max() < 0.05  # half a pixel, if its middle were taken for its corner
    assert np.sqrt((off**2).mean()) < (0.06 if noise_sd < 0.01 else 0.2)


def test_a_board_that_is_partly_outside_has_the_corners_that_are_inside() -> None:
    aside = Pose([0.45, 0.0, 0.9], DOWN.quaternion)
    view = BoardFinder(CALIBRATION_BOARD).find(_picture((CALIBRATION_BOARD, aside)))
    assert 12 <= len(view.numbers) < 35
    assert np.abs(view.pixels - KNOWN.project(aside.apply(view.points_m))).max() < 0.5


def test_a_picture_without_board_says_so() -> None:
    view = BoardFinder(CALIBRATION_BOARD).find(_picture())
    assert not view.is_found
    assert view.reason == "the board is not in view of eye: 0 of its 35 corners"


def test_a_black_picture_says_so() -> None:
    dark = _picture()
    dark.pixels[:] = 0
    assert "black" in BoardFinder(CALIBRATION_BOARD).find(dark).reason
    assert "black" in TagFinder().find(dark, {0: np.zeros((4, 3))}).reason


PLACES = {0: (-0.25, -0.15), 1: (0.25, -0.16), 2: (0.24, 0.15), 3: (-0.26, 0.17), 4: (0.0, 0.02)}


def _tags(places: dict[int, tuple[float, float]], turn: float = 0.3) -> tuple[list, dict[int, np.ndarray]]:
    """Returns tags on a plane before the camera, and their corners in the frame of that plane."""
    plates, corners = [], {}
    for number, (x, y) in places.items():
        pose = Pose.from_xyz_rpy([x, y, 0], [0, 0, turn * number])
        plates.append((CALIBRATION_TAGS[number], DOWN @ pose))
        corners[number] = pose.apply(tag_corners_m(CALIBRATION_TAGS[number]))
    return plates, corners


@pytest.mark.parametrize("noise_sd", [0.007, 0.09])
def test_tags_at_known_places_tell_where_the_camera_is(noise_sd: float) -> None:
    plates, corners = _tags(PLACES)
    fit = locate_camera(TagFinder().find(_picture(*plates, noise_sd=noise_sd), corners), KNOWN)
    assert fit.count == 5
    assert fit.pose.distance_m(DOWN.inverse()) < 0.0025
    assert fit.pose.angle_rad(DOWN.inverse()) < np.radians(0.17)
    spots = np.array([(x, y, 0.0) for x in (-0.2, 0.0, 0.2) for y in (-0.1, 0.1)])
    off_px = KNOWN.project(fit.pose.inverse().apply(spots)) - KNOWN.project(DOWN.apply(spots))
    assert np.linalg.norm(off_px, axis=1).max() * 0.9 / FOCAL < 0.0003  # on the plate


def test_a_number_that_is_seen_twice_is_refused() -> None:
    plates, corners = _tags(PLACES)
    again = (CALIBRATION_TAGS[4], DOWN @ Pose.from_xyz_rpy([0.1, -0.1, 0]))
    view = TagFinder().find(_picture(*plates, again), corners)
    assert view.reason == "tag 4 is seen 2 times by eye: take one away"
    with pytest.raises(JobFailed, match="seen 2 times"):
        locate_camera(view, KNOWN)


def test_tags_on_a_line_are_refused() -> None:
    plates, corners = _tags({0: (-0.25, 0.0), 1: (0.0, 0.0), 2: (0.25, 0.0)}, turn=0.0)
    with pytest.raises(JobFailed, match=r"collinear tags in view of eye.*aside"):
        locate_camera(TagFinder().find(_picture(*plates), corners), KNOWN)


def test_two_tags_are_too_few() -> None:
    plates, corners = _tags({0: (-0.25, 0.0), 2: (0.25, 0.1)})
    with pytest.raises(JobFailed, match="too few tags in view of eye: 2"):
        locate_camera(TagFinder().find(_picture(*plates), corners), KNOWN)


def test_a_tag_that_is_elsewhere_than_drawn_is_named() -> None:
    plates, corners = _tags(PLACES)
    corners[2] = corners[2] + [0.03, 0.0, 0.0]
    with pytest.raises(JobFailed, match=r"contradict each other.*tag 2"):
        locate_camera(TagFinder().find(_picture(*plates), corners), KNOWN)
