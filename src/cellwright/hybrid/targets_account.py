"""The account of what was external, from when to when, for the notes of a report."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

__all__ = ["TargetsAccount"]

TO_THE_END = "the end"


@dataclass
class _Span:
    """A time for which something was external."""

    at: str
    begin_s: float
    is_shadowed: bool
    until: str = TO_THE_END

    def end(self, time_s: float, why: str = "") -> None:
        """Ends it, once."""
        if self.until == TO_THE_END:
            self.until = f"{time_s:.1f} s" + (f", {why}" if why else "")


class TargetsAccount:
    """Hears what is told of targets, and keeps what a reader of the report must know.

    Attributes:
        trouble: Target -> what is wrong with its link now; without those with which nothing is.
    """

    def __init__(self) -> None:
        self.trouble: dict[str, str] = {}
        self._spans: dict[str, list[_Span]] = {}
        self._unstopped: list[str] = []

    def hear(self, time_s: float, target: str, at: str, change: str, reason: str, *, is_shadowed: bool) -> None:
        """Takes in an event, as it is told."""
        spans = self._spans.get(target, [])
        if change in ("external", "simulated") and spans:
            spans[-1].end(time_s)
        if change == "external":
            self._spans[target] = [*spans, _Span(at, time_s, is_shadowed)]
        if change == "lost" and spans:
            spans[-1].end(time_s, "when it was lost")
        if change == "found" and spans:
            spans[-1].until = TO_THE_END
        if "WAS NOT STOPPED" in reason:
            self._unstopped.append(reason)
        if change == "lost" or reason.endswith("connecting again"):
            self.trouble[target] = reason
        elif change in ("external", "found", "simulated"):
            self.trouble.pop(target, None)

    def notes(self, robots: Collection[str]) -> list[str]:
        """Returns lines for a report: what was external when, how robots are judged, and which were not stopped."""
        lines = []
        for name, spans in self._spans.items():
            there = ", ".join(f"at {span.at} from {span.begin_s:.1f} s to {span.until}" for span in spans)
            judged = ""
            if name in robots:
                judged = "; what it did there is judged by its twin, which follows what it reported"
                if any(span.is_shadowed for span in spans):
                    judged = "; the verdict is on the simulated cell, where its shadow worked by itself"
            lines.append(f"{name} was {there}{judged}")
        return lines + self._unstopped
