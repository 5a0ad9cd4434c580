"""Errors of external planners."""

from __future__ import annotations

from cellwright.core.errors import JobFailed

__all__ = ["PlannerFailed"]


class PlannerFailed(JobFailed):
    """A planner crashed, ran out of memory or gave an answer that is no plan; that proves nothing about the request."""

    def __init__(self, planner: str, why: str) -> None:
        super().__init__(f"planner {planner}: {why}")
        self.planner = planner
        self.why = why
