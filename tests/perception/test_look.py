"""One look through a detector: its next frames, tracked; none that were under way before."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.errors import JobFailed
from cellwright.core.messages import Tracks
from cellwright.core.pose import Pose
from cellwright.lab import Lab
from cellwright.perception import look, nearest_track

KIT = "fanuc_kit_m2l1"


@pytest.fixture(scope="module")
def aprs():
    return load_cell("aprs").model_copy(update={"fidelity": "kinematic"})


def cell_with(aprs, **keys):
    sensors = tuple(line | (keys if "detector" in line["type"] else {}) for line in aprs.sensors)
    return aprs.model_copy(update={"sensors": sensors})


def test_trays_and_gears_are_seen_where_they_are(aprs):
    with Lab(aprs) as lab:
        tracks = lab.perform(look(lab.bus, lab.clock, "detector_fanuc"))
        for name in (KIT, "medium_gear_1"):
            item, pose = lab.world.object(name), lab.world.pose_of(name)
            found = nearest_track(tracks, item.sku, pose.position, 0.01)
            assert found is not None
            assert found.distance_m(pose) < 0.002


def test_frames_that_were_under_way_are_not_looked_at(aprs):
    """The detector is slow: when the tray is gone, frames that still show it keep coming."""
    with Lab(cell_with(aprs, delay_s=1.0)) as lab:
        lab.advance(2.0)
        before = lab.world.pose_of(KIT).position
        lab.world.place(KIT, Pose.from_xyz_rpy([5, 5, 0]))
        start_s = lab.clock.time_s
        tracks = lab.perform(look(lab.bus, lab.clock, "detector_fanuc"))
        assert nearest_track(tracks, lab.world.object(KIT).sku, before) is None
        assert lab.clock.time_s - start_s > 1.0


def test_a_detector_that_gives_no_frames(aprs):
    words = "nothing to see: /detector_fanuc/detections gave 0 of 5 frames in 60 s"
    with Lab(cell_with(aprs, dropout=0.999999)) as lab, pytest.raises(JobFailed, match=words):
        lab.perform(look(lab.bus, lab.clock, "detector_fanuc"))


def test_the_nearest_of_a_kind_in_the_plane():
    at = np.array([[0.1, 0.0, 0.5], [0.04, 0.0, 0.0], [0.0, 0.0, 0.0]])
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
    tracks = Tracks(
        0,
        0,
        "eye",
        identities=("a", "b", "c"),
        skus=("gear", "gear", "tray"),
        positions=at,
        quaternions=turns,
        variances=np.zeros((3, 6)),
        ages_s=np.zeros(3),
        slots=("",) * 3,
    )
    assert nearest_track(tracks, "gear", (0.0, 0.0, 0.0)).position[0] == 0.04
    assert nearest_track(tracks, "gear", (0.09, 0.0, 0.0)).position[2] == 0.5
    assert nearest_track(tracks, "gear", (0.0, 0.0, 0.0), within_m=0.03) is None
    assert nearest_track(tracks, "cube", (0.0, 0.0, 0.0)) is None
