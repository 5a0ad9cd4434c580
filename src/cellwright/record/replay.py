"""Replay of a log's messages, so that perception and monitors can be developed without the cell."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cellwright.core import Bus
from cellwright.core.errors import OutOfRange
from cellwright.core.messages import Message
from cellwright.record.log import Log, LogEntry

__all__ = ["ReplaySummary", "paced", "replay"]

MAX_SPEED = 1e6


@dataclass(frozen=True)
class ReplaySummary:
    """The result of a replay.

    Attributes:
        published: Messages handed on.
        skipped: Messages of types that this process has no class for, which cannot go over a bus.
    """

    published: int
    skipped: int


def paced(
    log: Log,
    speed: float = 0.0,
    *,
    topics: Iterable[str] | None = None,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> Iterator[LogEntry]:
    """Yields the messages of a log in the order of time, each when its time has come.

    Args:
        log: The log to replay.
        speed: Simulated seconds for one of the wall clock; 0 waits for nothing.
        topics: The topics to replay; None means all.
        sleep: Waits a number of seconds.
        now: The clock of the waiting, in seconds.
    """
    if not 0 <= speed <= MAX_SPEED:
        raise OutOfRange("replay speed", speed, 0, MAX_SPEED, "x")
    start_s, start_ns = now(), log.span_ns[0]
    for entry in log.entries(topics):
        if speed > 0:
            # Waiting for moments since the start, not for intervals, keeps errors from adding up.
            ahead_s = (entry.time_ns - start_ns) / 1e9 / speed - (now() - start_s)
            if ahead_s > 0:
                sleep(ahead_s)
        yield entry


def replay(
    log: Log,
    target: Bus | Callable[[str, Any], None],
    speed: float = 0.0,
    *,
    topics: Iterable[str] | None = None,
    sleep: Callable[[float], None] = time.sleep,
    now: Callable[[], float] = time.monotonic,
) -> ReplaySummary:
    """Publishes the messages of a log again.

    Args:
        log: The log to replay.
        target: A bus, whose rules hold as ever (truth reaches only judge and recorder), or a function of topic and
            message.
        speed: As for `paced`, like the other arguments.
        topics: Likewise.
        sleep: Likewise.
        now: Likewise.
    """
    published = skipped = 0
    for topic, _, message in paced(log, speed, topics=topics, sleep=sleep, now=now):
        if not isinstance(target, Bus):
            target(topic, message)
        elif isinstance(message, Message):
            target.publish(topic, message)
        else:
            skipped += 1
            continue
        published += 1
    return ReplaySummary(published, skipped)
