"""Offsets in a configuration: read, checked, and refused where they cannot be meant."""

import pytest

from cellwright.core import Pose
from cellwright.core.config import validate
from cellwright.core.errors import BadInput
from cellwright.core.registration_points import OffsetsCfg

TABLE_1 = [
    {"at_m": [0.5359, 0.1577], "offset_m": [0.0, 0.005, 0.0]},
    {"at_m": [0.7231, -0.4003], "offset_m": [-0.009, -0.007, 0.0]},
    {"at_m": [0.5238, -0.1067], "offset_m": [-0.004, 0.0, 0.0]},
    {"at_m": [0.7473, 0.1554], "offset_m": [0.005, 0.0, 0.0]},
]


def test_the_papers_table_goes_both_ways_at_its_points_and_between_them():
    table = validate({"points": TABLE_1}, OffsetsCfg, "mine").table
    for row in TABLE_1:
        reported = Pose.from_xyz_rpy([*row["at_m"], 0.9])
        true = Pose.from_xyz_rpy(reported.position + row["offset_m"])
        assert table.corrected(reported).is_close(true, tolerance_m=1e-15)
        assert table.reported(true).is_close(reported, tolerance_m=1e-12)
    for x in range(500, 780, 20):
        for y in range(-420, 190, 20):
            true = Pose.from_xyz_rpy([x / 1e3, y / 1e3, 0.9])
            assert table.corrected(table.reported(true)).distance_m(true) < 1e-12  # 1e-9 mm


def changed(row, **keys):
    return [TABLE_1[k] | (keys if k == row else {}) for k in range(4)]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([], "1 or more entries"),
        (TABLE_1[:2], "too few registration points"),
        (changed(1, at_m=[0.5359, 0.1577]), "repeated registration points: 1 and 2"),
        ([row | {"at_m": [0.1 * k, 0.2 * k]} for k, row in enumerate(TABLE_1)], "collinear"),
        (changed(0, at_m=[535.9, 157.7]), "units mixed up.*write metres"),
        (changed(0, offset_m=[0.0, 5.0, 0.0]), "units mixed up.*write metres"),
        (changed(0, offset_m=[0.0, float("nan"), 0.0]), "not a finite number"),
        (changed(0, turn_deg=[0.0, 0.0, 90.0]), "a correction is a small turn"),
        (changed(0, at_m=[0.527, -0.1067], offset_m=[0.1, 0.0, 0.0]), "cannot be inverted"),
    ],
)
def test_offsets_that_cannot_be_meant_are_refused(points, message):
    with pytest.raises(BadInput, match=message):
        validate({"points": points}, OffsetsCfg, "mine")
