"""Streams of bytes to documents: split, glued, padded, too long, never ending."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.crcl import CRCLCommandInstance, FramingError, GetStatus, Message, MessageStream, decode, encode

FIRST = encode(CRCLCommandInstance(GetStatus(1)))
SECOND = encode(CRCLCommandInstance(Message(2, "</CRCLCommandInstance> & <!-- ]]>")), indent=" ").strip()
BARE = encode(CRCLCommandInstance(GetStatus(3)), declaration=False)

TRICKY = [
    b"<CRCLStatus/>",
    b"<CRCLStatus />",
    b"<CRCLStatus a='>' b=\"/>\" c='</CRCLStatus>'>x</CRCLStatus >",
    b"<CRCLStatus><!-- </CRCLStatus> --></CRCLStatus>",
    b"<CRCLStatus><!-->--> </CRCLStatus>",
    b"<CRCLStatus><![CDATA[</CRCLStatus>]]]]><![CDATA[>]]></CRCLStatus>",
    b"<CRCLStatus><?x </CRCLStatus>?></CRCLStatus\n>",
    b"<CRCLStatus><CRCLStatus/><CRCLStatus a='/'></CRCLStatus><CRCLStatuses></CRCLStatuses></CRCLStatus>",
    b"<!-- <a> --><?pi <b>?><CRCLStatus></CRCLStatus>",
    b"<?xml version='1.0'?>\0 <?xml version='1.0'?>\n<CRCLStatus></CRCLStatus>",
]


def pieces(data: bytes, size: int) -> list[bytes]:
    stream = MessageStream()
    found = [document for at in range(0, len(data), size) for document in stream.feed(data[at : at + size])]
    assert stream.pending == 0
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
@pytest.mark.parametrize("between", [b"", b"\0", b"\r\n \0\0\t", b"\xef\xbb\xbf"])
def test_any_split_and_any_padding(size, between):
    found = pieces(between.join([FIRST, SECOND, BARE, SECOND, FIRST]), size)
    assert [decode(document) for document in found] == [decode(d) for d in (FIRST, SECOND, BARE, SECOND, FIRST)]


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("document", TRICKY, ids=range(len(TRICKY)))
def test_end_tags_that_are_none(document, size):
    assert pieces(document + BARE + document, size) == [document, BARE, document]


@given(
    st.lists(st.sampled_from([FIRST, SECOND, BARE, *TRICKY]), max_size=6), st.lists(st.integers(0, 3000), max_size=9)
)
def test_cuts_do_not_matter(documents, cuts):
    data = b"\0".join(documents)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    stream = MessageStream()
    found = [document for a, b in pairwise(places) for document in stream.feed(data[a:b])]
    assert found == documents


@pytest.mark.parametrize(
    "garbage",
    [b"hello", b"</CRCLStatus>", b"<!DOCTYPE x>", b"<1>", b"< a>", b"<![CDATA[x]]>", b"<" + b"x" * 200, b"\xff"],
)
def test_garbage_ends_the_stream_after_what_was_whole(garbage):
    stream = MessageStream()
    documents = stream.feed(FIRST + garbage + BARE)
    assert next(documents) == FIRST
    with pytest.raises(FramingError, match="no message begins with"):
        next(documents)
    with pytest.raises(FramingError):
        list(stream.feed(BARE))
    assert stream.pending == 0


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"GET / HTTP/1.1", "'GET ' (allowed: an XML element)"),
        (b"\x16\x03\x01\x02", "the bytes 16 03 01 02 (allowed: an XML element)"),
        (b"<1>", "'<1>'"),
    ],
)
def test_an_unreadable_beginning_is_shown_as_a_reader_would_write_it(data, shown):
    with pytest.raises(FramingError) as told:
        list(MessageStream().feed(data))
    assert str(told.value) == f"no message begins with {shown}"


def test_unfinished_documents_are_held_up_to_a_limit():
    stream = MessageStream(max_bytes=500)
    assert list(stream.feed(FIRST * 10)) == [FIRST] * 10  # the limit is one document's
    assert list(stream.feed(BARE[:-1])) == []
    assert stream.pending == len(BARE) - 1
    assert list(stream.feed(BARE[-1:])) == [BARE]
    with pytest.raises(FramingError, match="more than 500 bytes"):
        list(stream.feed(b"<CRCLStatus>" + b"x" * 600))


def test_a_document_that_is_too_long_is_refused_though_it_is_whole():
    with pytest.raises(FramingError, match="allowed: 50"):
        list(MessageStream(max_bytes=50).feed(FIRST))


@pytest.mark.parametrize(
    "begin", [b"<a>", b"<a b='", b"<!--", b"<a><![CDATA[", b"<a", b"<a>" + b"<a>" * 1000, b"<?xml", b"<a></a", b" " * 9]
)
def test_cost_grows_with_the_length_only(begin):
    def seconds(count: int) -> float:
        stream = MessageStream(max_bytes=10**9)
        list(stream.feed(begin))
        start = time.process_time()
        for _ in range(count):
            list(stream.feed(b" <b "))
        return time.process_time() - start

    short, long = min(seconds(4000) for _ in range(3)), min(seconds(32000) for _ in range(2))
    assert long < 24 * short  # 8 times would be linear, 64 times quadratic
