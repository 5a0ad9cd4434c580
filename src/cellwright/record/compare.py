"""The comparison of two logs: equal, or their first difference."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.core.errors import OutOfRange
from cellwright.record.log import Log, RawEntry, read_log
from cellwright.record.values import fields_of, leaves_of

__all__ = ["Difference", "LogComparison", "Mismatch", "Sameness", "compare"]


class Sameness(Enum):
    """The degree to which two logs are equal."""

    IDENTICAL = "identical"
    """The same bytes."""
    EQUAL = "equal"
    """The same messages, within the tolerance if one was given; file or metadata may differ."""
    DIFFERENT = "different"


@dataclass(frozen=True)
class Mismatch:
    """Something about the logs as a whole that is not the same in both; None where one has nothing of the kind."""

    name: str
    a: str | int | None
    b: str | int | None


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The first place where the messages are not the same.

    Attributes:
        topic: The topic.
        time_ns: The time in log A (in B for a message that A does not have).
        number: The number of the message on the topic, from 0.
        field: The field; `message` when one log has none there, `type` when the types differ.
        index: The index in the field; empty for a single value.
        a: The value in A.
        b: The value in B.
    """

    topic: str
    time_ns: int
    number: int
    field: str
    index: tuple[int | str, ...]
    a: Any
    b: Any


@dataclass(frozen=True)
class LogComparison:
    """The result of a comparison.

    Attributes:
        sameness: The verdict, by the messages alone: two versions of a program may well give equal runs.
        first: The first difference; None when the messages are equal.
        topics: Topics that only one has, or with another number of messages.
        metadata: Entries, such as the seed, that are not the same.
    """

    sameness: Sameness
    first: Difference | None = None
    topics: tuple[Mismatch, ...] = ()
    metadata: tuple[Mismatch, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether the messages are the same."""
        return self.sameness is not Sameness.DIFFERENT


def compare(a: Log | Path | str, b: Log | Path | str, tolerance: float = 0.0) -> LogComparison:
    """Compares two logs message by message, the n-th of a topic with the n-th of the same topic.

    Args:
        a: A log or its file.
        b: Another.
        tolerance: The largest difference of floating-point numbers; times, whole numbers and texts must be the same.
    """
    if not 0 <= tolerance < float("inf"):
        raise OutOfRange("tolerance", tolerance, 0, 1e300)
    a, b = (log if isinstance(log, Log) else read_log(log) for log in (a, b))
    if _digest(a.path) == _digest(b.path):
        return LogComparison(Sameness.IDENTICAL)
    counts = [{name: topic.count for name, topic in log.topics.items()} for log in (a, b)]
    first = min(_differences(a, b, tolerance), key=lambda d: (d.time_ns, d.topic), default=None)
    return LogComparison(
        Sameness.EQUAL if first is None else Sameness.DIFFERENT,
        first,
        _mismatches(counts[0], counts[1]),
        _mismatches(a.metadata, b.metadata),
    )


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _mismatches(a: dict[str, Any], b: dict[str, Any]) -> tuple[Mismatch, ...]:
    return tuple(Mismatch(k, a.get(k), b.get(k)) for k in sorted({*a, *b}) if a.get(k) != b.get(k))


def _differences(a: Log, b: Log, tolerance: float) -> Iterator[Difference]:
    """Yields the first difference of every topic."""
    done: set[str] = set()
    for name in a.topics.keys() & b.topics.keys():
        left, right = a.topics[name], b.topics[name]
        if (left.type, left.definition.split()) != (right.type, right.definition.split()):
            done.add(name)
            yield Difference(
                topic=name,
                time_ns=min(left.first_ns, right.first_ns),
                number=0,
                field="type",
                index=(),
                a=left.type,
                b=right.type,
            )
    for number, left_entry, right_entry in _pairs(a, b):
        topic = (left_entry or right_entry).topic  # type: ignore[union-attr]
        if topic in done:
            continue
        difference = _difference(number, left_entry, right_entry, a, b, tolerance)
        if difference is not None:
            done.add(topic)
            yield difference


def _pairs(a: Log, b: Log) -> Iterator[tuple[int, RawEntry | None, RawEntry | None]]:
    """Yields the n-th message of a topic in A with the n-th in B; what has no partner comes at the end, with None."""
    waiting: dict[str, tuple[deque[RawEntry], deque[RawEntry]]] = {}
    numbers: dict[str, int] = {}
    streams = a.raw(), b.raw()
    ended = False
    while not ended:
        ended = True
        for side, stream in enumerate(streams):
            entry = next(stream, None)
            if entry is None:
                continue
            ended = False
            both = waiting.setdefault(entry.topic, (deque(), deque()))
            both[side].append(entry)
            if both[0] and both[1]:
                number = numbers[entry.topic] = numbers.get(entry.topic, -1) + 1
                yield number, both[0].popleft(), both[1].popleft()
    for topic, (left, right) in waiting.items():
        number = numbers.get(topic, -1) + 1
        if left:
            yield number, left[0], None
        elif right:
            yield number, None, right[0]


def _difference(
    number: int, left: RawEntry | None, right: RawEntry | None, a: Log, b: Log, tolerance: float
) -> Difference | None:
    if left is None or right is None:
        present: Any = left or right
        here = partial(Difference, topic=present.topic, time_ns=present.time_ns, number=number)
        a_has, b_has = (None if entry is None else "present" for entry in (left, right))
        return here(field="message", index=(), a=a_has, b=b_has)
    if left[:3] == right[:3] and left.data == right.data:
        return None
    here = partial(Difference, topic=left.topic, time_ns=left.time_ns, number=number)
    if left.time_ns != right.time_ns:
        return here(field="time_ns", index=(), a=left.time_ns, b=right.time_ns)
    values_a, values_b = fields_of(a.decode(left)), fields_of(b.decode(right))
    for field, value_a in values_a.items():
        value_b = values_b[field]
        if np.shape(value_a) != np.shape(value_b):
            return here(field=field, index=("shape",), a=np.shape(value_a), b=np.shape(value_b))
        found = _first_unequal(value_a, value_b, tolerance)
        if found is not None:
            index, unequal_a, unequal_b = found
            return here(field=field, index=index, a=unequal_a, b=unequal_b)
    return None


def _first_unequal(a: Any, b: Any, tolerance: float) -> tuple[tuple[int | str, ...], Any, Any] | None:
    """Returns index and values of the first unequal item of two fields of the same shape."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        same = a == b
        if a.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                same |= (np.abs(a - b) <= tolerance) | (np.isnan(a) & np.isnan(b))
        if same.all():
            return None
        where = tuple(int(i) for i in np.unravel_index(np.argmin(same), same.shape))
        return where, a[where].item(), b[where].item()
    for (index_a, x), (index_b, y) in zip_longest(leaves_of(a), leaves_of(b), fillvalue=((), None)):
        if not (x == y or (isinstance(x, float) and isinstance(y, float) and _close(x, y, tolerance))):
            return index_a or index_b, x, y
    return None


def _close(x: float, y: float, tolerance: float) -> bool:
    return abs(x - y) <= tolerance or (x != x and y != y)
