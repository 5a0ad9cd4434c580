"""What a bench or an experiment gives: numbers with names, what they should be, and what they depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cellwright.core.errors import JobFailed

__all__ = ["Conditions", "Measurement", "MeasurementFailed", "Result"]


class MeasurementFailed(JobFailed):
    """The measurement itself could not be made; poor figures are no failure."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what} could not be measured: {why}")


@dataclass(frozen=True)
class Conditions:
    """How to measure.

    Attributes:
        seed: Root of all randomness.
        quick: Fewer repetitions: the same metrics with less certainty, for trying out.
        say: Told what is going on.
    """

    seed: int = 0
    quick: bool = False
    say: Callable[[str], None] = lambda _text: None


@dataclass(frozen=True)
class Measurement:
    """Metrics by dotted name, and for some of them `{"min": x}` or `{"max": x}`."""

    metrics: Mapping[str, float]
    targets: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """A measurement with what it depends on.

    Attributes:
        paper: What a publication gives for some of the metrics, to be read beside them; not a target.
        quick: Whether it was made with fewer repetitions, and so is not to be compared with a full one.
    """

    name: str
    seed: int
    versions: Mapping[str, str]
    metrics: Mapping[str, float]
    targets: Mapping[str, Mapping[str, float]]
    paper: Mapping[str, float] = field(default_factory=dict)
    quick: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        measured: Measurement,
        conditions: Conditions,
        versions: Mapping[str, str],
        paper: Mapping[str, float] | None = None,
    ) -> Result:
        """From a measurement; targets and published figures of what was not measured are left out."""
        metrics = dict(measured.metrics)
        targets = {metric: target for metric, target in measured.targets.items() if metric in metrics}
        figures = {metric: figure for metric, figure in (paper or {}).items() if metric in metrics}
        return cls(name, conditions.seed, versions, metrics, targets, figures, conditions.quick)

    @property
    def failed(self) -> list[str]:
        """The metrics that miss their target; one that is not a number misses it."""
        return [name for name in self.targets if not self.meets_target(name)]

    def meets_target(self, name: str) -> bool:
        """Whether a metric is within its target; one without a target always is."""
        target, value = self.targets.get(name, {}), self.metrics[name]
        return all((value >= limit) if bound == "min" else (value <= limit) for bound, limit in target.items())

    def target_text(self, name: str) -> str:
        """A metric's target as a person reads it; empty when it has none."""
        target = self.targets.get(name, {})
        return ", ".join(f"{'>=' if bound == 'min' else '<='} {limit:g}" for bound, limit in target.items())

    def as_dict(self) -> dict[str, Any]:
        """The form in which results are printed and saved."""
        made: dict[str, Any] = {
            "name": self.name,
            "seed": self.seed,
            "versions": dict(self.versions),
            "metrics": dict(self.metrics),
            "targets": {name: dict(target) for name, target in self.targets.items()},
            "failed": self.failed,
        }
        if self.paper:
            made["paper"] = dict(self.paper)
        if self.quick:
            made["quick"] = True
        return made

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Result:
        """The result that `as_dict` made; what is missing or of another kind raises `KeyError` or `TypeError`."""
        numbers = data["metrics"].items()
        metrics = {str(name): float("nan") if value is None else float(value) for name, value in numbers}
        targets = {str(name): dict(bounds) for name, bounds in data["targets"].items() if name in metrics}
        paper = dict(data.get("paper", {}))
        quick = bool(data.get("quick", False))
        return cls(str(data["name"]), int(data["seed"]), dict(data["versions"]), metrics, targets, paper, quick)
