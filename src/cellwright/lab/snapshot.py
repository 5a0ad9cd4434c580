"""A laboratory at one moment: the world and everything with a rate that looks at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cellwright.sim import Snapshot

__all__ = ["LabSnapshot"]


@dataclass(frozen=True)
class LabSnapshot:
    """All state that decides what happens next, to the last bit and the last message.

    Taken between motions: the state of coroutines is not part of it.
    """

    world: Snapshot
    schedule: Any
    truth: Any
    sensors: tuple[Any, ...]
