"""Results of benches and experiments: named metrics, their targets, and what they depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cellwright.core.errors import JobFailed

__all__ = ["Measurement", "MeasurementConditions", "MeasurementFailed", "Result"]

INTERVAL_ENDINGS = ("_low", "_high", "_n")


class MeasurementFailed(JobFailed):
    """Raised when the measurement itself could not be made; poor figures are no failure."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what} could not be measured: {why}")


@dataclass(frozen=True)
class MeasurementConditions:
    """The conditions of a measurement.

    Attributes:
        seed: Root of all randomness.
        quick: Fewer repetitions: the same metrics with less certainty, for trying out.
        say: Called with a line when a part of the work begins, or to say something else.
        progress: Called with how many are done, and of how many; less than before begins another count.
    """

    seed: int = 0
    quick: bool = False
    say: Callable[[str], None] = lambda _text: None
    progress: Callable[[int, int], None] = lambda _done, _total: None


@dataclass(frozen=True)
class Measurement:
    """Metrics by dotted name, and for some of them `{"min": x}` or `{"max": x}`."""

    metrics: Mapping[str, float]
    targets: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Result:
    """A measurement with what it depends on.

    Attributes:
        paper: Published values of some of the metrics, to be read beside them; not a target.
        quick: Whether it was made with fewer repetitions, and so is not to be compared with a full one.
        ranges: Least and largest value of each metric, when `metrics` are medians of several runs.
        runs: The number of these runs.
    """

    name: str
    seed: int
    versions: Mapping[str, str]
    metrics: Mapping[str, float]
    targets: Mapping[str, Mapping[str, float]]
    paper: Mapping[str, float] = field(default_factory=dict)
    quick: bool = False
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    runs: int = 1

    @classmethod
    def of(
        cls,
        name: str,
        measured: Measurement,
        conditions: MeasurementConditions,
        versions: Mapping[str, str],
        paper: Mapping[str, float] | None = None,
    ) -> Result:
        """Makes a result from a measurement, without targets and published figures of what was not measured."""
        metrics = dict(measured.metrics)
        targets = {metric: target for metric, target in measured.targets.items() if metric in metrics}
        figures = {metric: figure for metric, figure in (paper or {}).items() if metric in metrics}
        return cls(
            name=name,
            seed=conditions.seed,
            versions=versions,
            metrics=metrics,
            targets=targets,
            paper=figures,
            quick=conditions.quick,
        )

    @classmethod
    def median_of(cls, results: Sequence[Result]) -> Result:
        """Takes the median of every metric that all runs have, so that neither a fast nor a slow hour is published."""
        first = results[0]
        values = {name: [run.metrics[name] for run in results if name in run.metrics] for name in first.metrics}
        values = {name: found for name, found in values.items() if len(found) == len(results)}
        metrics = {name: float(np.median(found)) for name, found in values.items()}
        ranges = (
            {name: (float(np.min(found)), float(np.max(found))) for name, found in values.items()}
            if len(results) > 1
            else {}
        )
        targets = {name: target for name, target in first.targets.items() if name in metrics}
        return replace(first, metrics=metrics, targets=targets, ranges=ranges, runs=len(results))

    @property
    def failed(self) -> list[str]:
        """The metrics that miss their target; one that is not a number misses it."""
        return [name for name in self.targets if not self.meets_target(name)]

    def meets_target(self, name: str) -> bool:
        """Returns whether a metric is within its target; one without a target always is."""
        target, value = self.targets.get(name, {}), self.metrics[name]
        return all((value >= limit) if bound == "min" else (value <= limit) for bound, limit in target.items())

    def interval(self, name: str) -> tuple[float, float, float] | None:
        """Returns the ends of a metric's 95 % interval, and of how many values it is; what is not known is NaN.

        They are metrics themselves: of `success`, `success_low`, `success_high` and `success_n`.
        """
        ends = [self.metrics.get(f"{name}{ending}", float("nan")) for ending in INTERVAL_ENDINGS]
        return (ends[0], ends[1], ends[2]) if np.isfinite(ends).any() else None

    @property
    def shown(self) -> list[str]:
        """The metrics that have a line of their own: not those that tell the interval of another one."""
        besides = {f"{name}{ending}" for name in self.metrics if self.interval(name) for ending in INTERVAL_ENDINGS}
        return [name for name in self.metrics if name not in besides or name in self.targets or name in self.paper]

    def target_text(self, name: str) -> str:
        """Returns a metric's target as readable text; empty when it has none."""
        target = self.targets.get(name, {})
        return ", ".join(f"{'>=' if bound == 'min' else '<='} {limit:g}" for bound, limit in target.items())

    def as_dict(self) -> dict[str, Any]:
        """Returns the form in which results are printed and saved."""
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
        if self.runs > 1:
            made["runs"] = self.runs
            made["ranges"] = {name: list(ends) for name, ends in self.ranges.items()}
        return made

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Result:
        """Makes a result from what `as_dict` gave; missing or wrong entries raise `KeyError` or `TypeError`."""
        metrics = {str(name): _number(value) for name, value in data["metrics"].items()}
        targets = {str(name): dict(bounds) for name, bounds in data["targets"].items() if name in metrics}
        return cls(
            name=str(data["name"]),
            seed=int(data["seed"]),
            versions=dict(data["versions"]),
            metrics=metrics,
            targets=targets,
            paper=dict(data.get("paper", {})),
            quick=bool(data.get("quick", False)),
            ranges={str(name): (_number(low), _number(high)) for name, (low, high) in data.get("ranges", {}).items()},
            runs=int(data.get("runs", 1)),
        )


def _number(value: Any) -> float:
    """Reads a number back from JSON, which cannot represent NaN."""
    return float("nan") if value is None else float(value)
