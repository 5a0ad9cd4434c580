"""Packets and meshes come out as they went in."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.viewing.decoded import decoded_mesh

from cellwright.core.errors import BadInput
from cellwright.viewing.meshes import encode_mesh
from cellwright.viewing.packet import Blob, pack, unpack

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.one_of(TEXTS, st.integers(-(2**53), 2**53), st.booleans(), st.none())
POSITIONS = st.tuples(*[st.floats(-3.0, 3.0, width=32)] * 3)


@given(st.dictionaries(TEXTS.filter(lambda key: key != "kind"), VALUES, max_size=4), st.binary(max_size=40))
def test_a_packet_comes_out_as_it_went_in(header: dict[str, object], blob: bytes) -> None:
    packet = pack("rows", header, blob)
    assert unpack(packet) == ({"kind": "rows", **header}, blob)
    assert (len(packet) - len(blob)) % 4 == 0


@given(st.binary(max_size=30))
def test_other_bytes_are_no_packet_or_one_line(content: bytes) -> None:
    with contextlib.suppress(BadInput):
        assert unpack(content)[0]["kind"]


def test_a_packet_that_was_cut_within_its_header_is_told() -> None:
    with pytest.raises(BadInput, match="only its beginning"):
        unpack(pack("rows", {"events": [1, 2, 3]})[:-4])


@given(st.lists(POSITIONS, min_size=3, max_size=30), st.data())
def test_a_mesh_comes_out_as_it_went_in(positions: list[tuple[float, float, float]], data: st.DataObject) -> None:
    vertices = np.array(positions)
    number = st.integers(0, len(vertices) - 1)
    triangles = np.array(data.draw(st.lists(st.tuples(number, number, number), min_size=1, max_size=30)))
    normals = np.tile([0.0, 0.6, -0.8], (len(vertices), 1))
    blob = Blob()
    blob.add(b"before")
    found, found_normals, indices = decoded_mesh(encode_mesh(vertices, normals, triangles, blob), blob.as_bytes())
    assert (indices == triangles).all()
    assert np.abs(found - vertices).max() <= np.ptp(vertices, axis=0).max() / 65535 + 1e-12
    assert np.abs(found_normals - normals).max() <= 0.5 / 127 + 1e-12
