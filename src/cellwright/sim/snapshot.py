"""Exact copies of a moment, kept in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Snapshot"]


@dataclass(frozen=True)
class Snapshot:
    """A moment of a world: everything that decides what happens next, down to the last bit.

    Attributes:
        tick: The clock.
        model: The model to which it belongs: it can be restored while the world has the same bodies.
        data: A copy of the whole MjData; MuJoCo's own state vector leaves out which islands sleep.
        streams: The random streams.
        components: Component -> its state.
    """

    tick: int
    model: Any
    data: Any
    streams: dict[str, Any]
    components: dict[str, Any]
