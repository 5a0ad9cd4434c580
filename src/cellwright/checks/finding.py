"""One thing that a conformance check looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """One thing that was checked.

    Attributes:
        check: What.
        ok: Whether it is as it should be.
        detail: What was found, for people.
        values: The figures in it, for programs; the name ends in the unit.
        remedy: What to do about it, where it is not as it should be.
    """

    check: str
    ok: bool
    detail: str
    values: Mapping[str, float] = field(default_factory=dict)
    remedy: str = ""
