"""Offsets of whole poses: exact at their points, within their hull between them, undone by their inverse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core import Pose, PoseOffsets
from cellwright.core.errors import BadInput

CORNERS = np.array([[0.0, 0.0], [0.6, 0.0], [0.0, 0.6], [0.6, 0.5]])
small = st.tuples(*[st.floats(-0.01, 0.01)] * 3)
turns = st.tuples(*[st.floats(-0.05, 0.05)] * 3)
poses = st.builds(
    Pose.from_xyz_rpy,
    st.tuples(st.floats(-0.2, 0.8), st.floats(-0.2, 0.8), st.floats(0.5, 1.5)),
    st.tuples(st.floats(-3, 3), st.floats(-1, 1), st.floats(-3, 3)),
)


@given(st.lists(small, min_size=4, max_size=4), st.lists(turns, min_size=4, max_size=4), poses)
def test_the_inverse_undoes_the_correction_of_a_pose(offsets, vectors, pose):
    table = PoseOffsets(CORNERS, offsets, vectors)
    assert table.corrected(table.reported(pose)).is_close(pose, tolerance_m=1e-12, tolerance_rad=1e-9)
    assert table.reported(table.corrected(pose)).is_close(pose, tolerance_m=1e-12, tolerance_rad=1e-9)


@given(st.lists(small, min_size=4, max_size=4), st.lists(turns, min_size=4, max_size=4), poses)
def test_offsets_stay_within_those_that_were_measured(offsets, vectors, pose):
    table = PoseOffsets(CORNERS, offsets, vectors)
    measured = np.hstack([offsets, vectors])
    got = table.offset_at(pose.position)
    assert (got <= measured.max(axis=0) + 1e-12).all()
    assert (got >= measured.min(axis=0) - 1e-12).all()
    for corner, own in zip(CORNERS, measured, strict=True):
        assert table.offset_at([*corner, 7.0]).tolist() == own.tolist()  # at any height


def test_a_turn_is_about_the_axes_of_the_parent_frame():
    quarter = PoseOffsets([[0.0, 0.0]], [[0.0, 0.0, 0.0]], [[0.0, 0.0, np.pi / 2]])
    tipped = Pose.from_xyz_rpy([1.0, 2.0, 3.0], [np.pi / 2, 0.0, 0.0])
    assert quarter.corrected(tipped).rpy == pytest.approx([np.pi / 2, 0.0, np.pi / 2])
    assert quarter.corrected(tipped).position == pytest.approx([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("points", "offsets", "vectors"),
    [
        ([[0.0]], [[0.0] * 3], [[0.0] * 3]),
        ([[0.0, 0.0]], [[0.0] * 3] * 2, [[0.0] * 3]),
        ([[0.0, 0.0]], [[0.0] * 2], [[0.0] * 3]),
        ([[0.0, 0.0]], [[np.nan] * 3], [[0.0] * 3]),
    ],
)
def test_tables_that_do_not_fit_are_refused(points, offsets, vectors):
    with pytest.raises(BadInput, match="offset"):
        PoseOffsets(points, offsets, vectors)
