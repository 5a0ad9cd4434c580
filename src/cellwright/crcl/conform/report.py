"""The results of the checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cellwright.crcl.conform.check import Check, CheckVerdict
from cellwright.crcl.conform.evidence import Exchange

__all__ = ["CheckResult", "ConformReport"]


@dataclass(frozen=True)
class CheckResult:
    """One check, its verdict, why, what went over the wire, and new kinds of mistakes in statuses that came."""

    check: Check
    verdict: CheckVerdict
    reason: str
    evidence: Sequence[Exchange] = ()
    took_s: float = 0.0
    findings: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """Returns it for JSON."""
        return {
            "name": self.check.name,
            "area": self.check.area,
            "clause": self.check.clause,
            "does": self.check.does,
            "verdict": self.verdict.value,
            "reason": self.reason,
            "took_s": round(self.took_s, 6),
            "findings": list(self.findings),
            "evidence": [asdict(exchange) for exchange in self.evidence],
        }


@dataclass(frozen=True)
class ConformReport:
    """All results.

    Attributes:
        peer: Which server.
        results: In the order of the checks.
        ended: How the session was closed, or why it could not be.
        took_s: The whole time.
        restored: Whether settings are as they were before.
        findings: What was wrong with statuses that were read all the same, each kind once.
    """

    peer: str
    results: Sequence[CheckResult]
    ended: str
    took_s: float
    restored: str = ""
    findings: Sequence[str] = ()

    def named(self, verdict: CheckVerdict) -> list[str]:
        """Returns the names of the checks with that verdict."""
        return [result.check.name for result in self.results if result.verdict is verdict]

    @property
    def conforms(self) -> bool:
        """Whether something was tried, nothing failed, and every status was what the schema allows."""
        return bool(self.named(CheckVerdict.PASS)) and not self.named(CheckVerdict.FAIL) and not self.findings

    @property
    def complete(self) -> bool:
        """Whether nothing was skipped."""
        return not self.named(CheckVerdict.SKIPPED)

    @property
    def counts(self) -> dict[str, int]:
        """The number of checks by verdict."""
        return {verdict.value: len(self.named(verdict)) for verdict in CheckVerdict}

    def as_dict(self) -> dict[str, Any]:
        """Returns it for JSON."""
        return {
            "peer": self.peer,
            "conforms": self.conforms,
            "complete": self.complete,
            "counts": self.counts,
            "ended": self.ended,
            "restored": self.restored,
            "findings": list(self.findings),
            "took_s": round(self.took_s, 3),
            "checks": [result.as_dict() for result in self.results],
        }
