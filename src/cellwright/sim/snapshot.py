"""Exact copies of a moment, kept in memory."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

__all__ = ["Snapshot", "copy_data"]


@dataclass(frozen=True)
class Snapshot:
    """A moment of a world: everything that decides what happens next, down to the last bit.

    MuJoCo's own state vector leaves out which islands sleep, so the whole MjData is copied.
    """

    tick: int
    model: Any
    data: Any
    streams: dict[str, Any]


def copy_data(data: Any) -> Any:
    """A bit-exact copy of an MjData."""
    return copy(data)
