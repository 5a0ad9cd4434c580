"""What the battery found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cellwright.crcl.conform.check import Check, Verdict
from cellwright.crcl.conform.evidence import Exchange

__all__ = ["CheckResult", "ConformReport"]


@dataclass(frozen=True)
class CheckResult:
    """One check, its verdict, why, and what went over the wire."""

    check: Check
    verdict: Verdict
    reason: str
    evidence: Sequence[Exchange] = ()
    took_s: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.check.name,
            "area": self.check.area,
            "clause": self.check.clause,
            "does": self.check.does,
            "verdict": self.verdict.value,
            "reason": self.reason,
            "took_s": round(self.took_s, 6),
            "evidence": [asdict(exchange) for exchange in self.evidence],
        }


@dataclass(frozen=True)
class ConformReport:
    """All results.

    Attributes:
        peer: Which server.
        results: In the order of the battery.
        ended: How the session was closed, or why it could not be.
        took_s: The whole time.
    """

    peer: str
    results: Sequence[CheckResult]
    ended: str
    took_s: float

    def named(self, verdict: Verdict) -> list[str]:
        """The names of the checks with that verdict."""
        return [result.check.name for result in self.results if result.verdict is verdict]

    @property
    def conforms(self) -> bool:
        """Whether nothing failed, and something was tried."""
        return bool(self.named(Verdict.PASS)) and not self.named(Verdict.FAIL)

    @property
    def counts(self) -> dict[str, int]:
        """How many checks had which verdict."""
        return {verdict.value: len(self.named(verdict)) for verdict in Verdict}

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "peer": self.peer,
            "conforms": self.conforms,
            "counts": self.counts,
            "ended": self.ended,
            "took_s": round(self.took_s, 3),
            "checks": [result.as_dict() for result in self.results],
        }
