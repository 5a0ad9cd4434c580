"""The ROVI paper's sparse stereo: it works where it should, and fails as the paper saw."""

import numpy as np
import pytest

pytest.importorskip("cv2")

from tests.perception.stereo import painted_cube
from tests.perception.stereo.painted_cube import TASK, painted, picture

from cellwright.core.errors import UnknownName
from cellwright.perception.pose_measurement import MeasurementStatus
from cellwright.perception.stereo import sparse_stereo
from cellwright.perception.stereo.sparse_paper import PaperSparseStereo, match_corners
from cellwright.perception.stereo.sparse_projection import project
from cellwright.perception.stereo.sparse_silhouette import cube_corners


@pytest.fixture(autouse=True)
def bright(monkeypatch):
    """The project's cube is white in its pictures, its plate is not."""
    monkeypatch.setitem(painted_cube.COLOURS, "white", (240, 240, 240))


@pytest.mark.parametrize("place", [(0.30, 1.05, 0.3), (0.40, 1.03, 0.4), (0.60, 1.01, 0.6)])
def test_a_white_top_is_measured_within_the_papers_limits(place):
    found = PaperSparseStereo(TASK).measure(*painted(place, "white"))
    assert found.status is MeasurementStatus.FOUND
    assert np.hypot(*(found.pose_in_world.position[:2] - place[:2])) < 0.011
    assert found.pose_in_world.rpy[2] == pytest.approx(place[2], abs=np.radians(10))
    assert found.pose_in_world.position[2] == 0.75


def top_in(side, place):
    return project(picture(side), cube_corners(np.array([*place, 0.08]), 0.75)[0][1::2])


def test_nearest_corners_are_the_wrong_ones_at_a_roll_of_a_tenth_although_all_are_seen_exactly():
    """The disparity of the top is about its width: along a row, the nearest corner is that of the other side."""
    assert match_corners(top_in("left", (0.40, 1.03, 0.4)), top_in("right", (0.40, 1.03, 0.4))) == [0, 1, 2, 3]
    place = (0.10, 1.00, 0.1)
    left, right = top_in("left", place), top_in("right", place)
    assert match_corners(left, right) != [0, 1, 2, 3]
    found = PaperSparseStereo(TASK).measure(*painted(place, "white"))
    is_good = (
        found.pose_in_world is not None
        and np.hypot(*(found.pose_in_world.position[:2] - place[:2])) < 0.011
        and abs(found.pose_in_world.rpy[2] - place[2]) < np.radians(10)
    )
    assert not is_good


def test_a_cube_that_is_not_white_has_no_corners():
    found = PaperSparseStereo(TASK).measure(*painted((0.4, 1.03, 0.4), "red"))
    assert (found.status, found.pose_in_world) == (MeasurementStatus.NOT_SEEN, None)
    assert "0 of 4 corners" in found.reason


def test_a_missing_picture_is_a_bad_pair():
    assert PaperSparseStereo(TASK).measure(None, picture("right")).status is MeasurementStatus.BAD_PAIR


def test_methods_are_found_by_name():
    assert isinstance(sparse_stereo("paper", TASK), PaperSparseStereo)
    assert sparse_stereo("fast", TASK).measure(None, None).status is MeasurementStatus.BAD_PAIR
    with pytest.raises(UnknownName, match="fast"):
        sparse_stereo("quick", TASK)
