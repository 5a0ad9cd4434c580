"""Sparse stereo, the fast method: poses of painted cubes, and a named status for every bad input."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("cv2")

from tests.perception.stereo.painted_cube import COLOURS, SIZE_PX, TASK, painted, picture

from cellwright.core.pose import Pose
from cellwright.perception.pose_measurement import MeasurementStatus
from cellwright.perception.stereo.sparse_fast import FastSparseStereo

ARM_BEFORE = [(0.15, 0.9), (0.28, 0.9), (0.30, 1.15), (0.2, 1.15)]
ARM_AFTER = [(0.30, 0.9), (0.45, 0.9), (0.42, 1.19), (0.34, 1.19)]
PLACE = (0.37, 1.05, 0.3)


@pytest.fixture(scope="module")
def method() -> FastSparseStereo:
    return FastSparseStereo(TASK, painted(shadow=ARM_BEFORE))


@pytest.fixture(scope="module")
def pair():
    return painted(PLACE, "wood", ARM_AFTER)


def off(found, place) -> tuple[float, float]:
    """Returns how far a measurement is from a place: metres, degrees modulo 90."""
    xyz, yaw = found.pose_in_world.position, found.pose_in_world.rpy[2] - place[2]
    return float(np.hypot(*(xyz[:2] - place[:2]))), float(np.degrees(abs((yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4)))


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("sd", [0, 30])
def test_a_cube_of_any_colour_is_measured_although_the_arms_shadow_moved_onto_it(method, colour, sd):
    reference = method if not sd else FastSparseStereo(TASK, painted(shadow=ARM_BEFORE, sd=sd, seed=1))
    found = reference.measure(*painted(PLACE, colour, ARM_AFTER, sd=sd, seed=2))
    assert found.status is MeasurementStatus.FOUND
    distance_m, angle_deg = off(found, PLACE)
    assert distance_m < (0.004 if sd else 0.001)
    assert angle_deg < (3.0 if sd else 0.5)
    assert found.pose_in_world.position[2] == pytest.approx(0.79)
    assert np.isinf(found.variances[2:5]).all()


@pytest.mark.parametrize("place", [(0.10, 1.00, 0.1), (0.62, 1.12, -0.7), (0.44, 0.97, 0.0), (0.5, 1.1, 0.78)])
def test_places_and_turns_all_over_the_plate_are_measured(method, place):
    found = method.measure(*painted(place, "grey"))
    distance_m, angle_deg = off(found, place)
    assert (found.status, distance_m < 0.0015, angle_deg < 0.6) == (MeasurementStatus.FOUND, True, True)
    assert abs(found.pose_in_world.rpy[2]) <= np.pi / 4 + 1e-9


def test_without_a_reference_the_cube_is_measured_at_half_the_quality(method, pair):
    alone, with_reference = FastSparseStereo(TASK).measure(*pair), method.measure(*pair)
    distance_m, angle_deg = off(alone, PLACE)
    assert (distance_m < 0.001, angle_deg < 0.5) == (True, True)
    assert alone.quality <= 0.5 < with_reference.quality


@pytest.mark.parametrize("edge_m", [0.06, 0.08, 0.10])
def test_an_edge_that_is_not_known_is_measured_with_the_pose(edge_m):
    unknown = FastSparseStereo(replace(TASK, edge_m=None), painted(shadow=ARM_BEFORE))
    found = unknown.measure(*painted(PLACE, "red", ARM_AFTER, edge_m))
    distance_m, angle_deg = off(found, PLACE)
    assert (distance_m < 0.0015, angle_deg < 0.6) == (True, True)
    assert found.pose_in_world.position[2] == pytest.approx(0.75 + edge_m / 2, abs=0.0008)


def test_noise_makes_the_variances_larger_and_the_quality_smaller(method, pair):
    clear = method.measure(*pair)
    noisy = FastSparseStereo(TASK, painted(shadow=ARM_BEFORE, sd=40, seed=1)).measure(
        *painted(PLACE, "wood", ARM_AFTER, sd=40, seed=2)
    )
    assert (noisy.variances[[0, 1, 5]] > 2 * clear.variances[[0, 1, 5]]).all()
    assert noisy.quality < clear.quality


def bad_pairs(left, right):
    """Returns name -> left and right picture, status and words of the reason."""
    nothing, white = np.zeros_like(left.pixels), np.full_like(left.pixels, 255)
    not_numbers = np.where(np.eye(3) > 0, np.nan, left.matrix)
    aside = Pose.from_xyz_rpy((0, 0, 0), (0, 0, np.pi)) @ left.pose_camera_in_world
    return {
        "black": (replace(left, pixels=nothing), right, "bad picture", "black"),
        "saturated": (left, replace(right, pixels=white), "bad picture", "saturated"),
        "empty": (replace(left, pixels=nothing[:0]), right, "bad picture", "empty"),
        "wrong size": (replace(left, pixels=left.pixels[:400], size_px=(800, 800)), right, "bad picture", "800 x 400"),
        "two sizes": (replace(left, pixels=left.pixels[:400]), right, "bad pair", "sizes"),
        "grey": (replace(left, pixels=left.pixels[..., 0]), right, "bad picture", "shape"),
        "no numbers": (replace(left, matrix=not_numbers), right, "bad picture", "not numbers"),
        "left missing": (None, right, "bad pair", "left picture is missing"),
        "right missing": (left, None, "bad pair", "right picture is missing"),
        "swapped": (right, left, "bad pair", "swapped"),
        "two moments": (left, replace(right, time_s=1.2), "bad pair", "two moments"),
        "one camera twice": (left, left, "bad pair", ""),
        "looks elsewhere": (
            replace(left, pose_camera_in_world=aside),
            replace(
                right, pose_camera_in_world=Pose.from_xyz_rpy((0, 0, 0), (0, 0, np.pi)) @ right.pose_camera_in_world
            ),
            "not seen",
            "not in view",
        ),
    }


@pytest.mark.parametrize("name", bad_pairs(picture("left"), picture("right")))
def test_a_bad_input_has_a_status_and_a_reason_and_no_pose(method, pair, name):
    left, right, status, words = bad_pairs(*pair)[name]
    found = method.measure(left, right)
    assert (found.status, found.pose_in_world) == (status, None)
    assert words in found.reason


def test_an_empty_plate_is_told_with_and_without_a_reference(method):
    for one in (method, FastSparseStereo(TASK)):
        for sd in (0, 20):
            found = one.measure(*painted(shadow=ARM_AFTER, sd=sd, seed=4))
            assert (found.status, found.pose_in_world) == (MeasurementStatus.NOT_SEEN, None)


def test_pictures_that_were_exchanged_although_the_cameras_were_not_are_never_taken_for_good(method, pair):
    left, right = pair
    found = method.measure(replace(left, pixels=right.pixels), replace(right, pixels=left.pixels))
    assert found.status is not MeasurementStatus.FOUND


def test_a_cube_beyond_the_edge_of_a_picture_is_poor(method):
    found = method.measure(*painted((0.0, 1.19, 0.3), "red"))
    assert found.status is not MeasurementStatus.FOUND


@pytest.mark.parametrize("edge_m", [0.04, 0.13])
def test_a_cube_of_another_size_is_poor(method, edge_m):
    found = method.measure(*painted(PLACE, "red", edge_m=edge_m))
    assert found.status is not MeasurementStatus.FOUND
    assert found.reason


def test_a_bad_reference_is_told_as_such(pair):
    left, right = pair
    missing = FastSparseStereo(TASK, (left, None)).measure(*pair)
    black = FastSparseStereo(TASK, (replace(left, pixels=np.zeros_like(left.pixels)), right)).measure(*pair)
    assert missing.status is MeasurementStatus.BAD_PAIR
    assert black.status is MeasurementStatus.BAD_PICTURE
    assert all(found.reason.startswith("the reference: ") for found in (missing, black))


def test_the_same_pictures_give_the_same_numbers(method, pair):
    a, b = method.measure(*pair), method.measure(*pair)
    assert a.pose_in_world.position.tolist() == b.pose_in_world.position.tolist()
    assert pair[0].pixels.shape == (SIZE_PX, SIZE_PX, 3)
