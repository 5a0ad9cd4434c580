"""The clock that executors wait by, and the steps of a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["AsyncClock", "JobStep"]


class AsyncClock(Protocol):
    """A clock to wait by: simulation time or real time."""

    @property
    def time_s(self) -> float:
        """The current time."""

    async def sleep(self, duration_s: float) -> None:
        """Waits."""


@dataclass
class JobStep:
    """One step of a job: what, when, how it ended."""

    name: str
    start_s: float
    end_s: float = float("nan")
    detail: str = ""
