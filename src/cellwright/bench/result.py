"""What a bench gives: numbers with names, and what they should be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cellwright import __version__
from cellwright.core.errors import JobFailed
from cellwright.core.registry import Registry
from cellwright.lab.versions import versions

__all__ = ["BENCHES", "Bench", "BenchResult", "Conditions", "Measurement", "MeasurementFailed", "run_bench"]


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
class BenchResult:
    """A measurement with what it depends on."""

    name: str
    seed: int
    versions: Mapping[str, str]
    metrics: Mapping[str, float]
    targets: Mapping[str, Mapping[str, float]]

    @property
    def failed(self) -> list[str]:
        """The metrics that miss their target; one that is not a number misses it."""
        return [name for name in self.targets if not self.meets_target(name)]

    def meets_target(self, name: str) -> bool:
        """Whether a metric is within its target; one without a target always is."""
        target, value = self.targets.get(name, {}), self.metrics[name]
        return all((value >= limit) if bound == "min" else (value <= limit) for bound, limit in target.items())

    def as_dict(self) -> dict[str, Any]:
        """The form in which results are printed and saved."""
        return {
            "name": self.name,
            "seed": self.seed,
            "versions": dict(self.versions),
            "metrics": dict(self.metrics),
            "targets": {name: dict(target) for name, target in self.targets.items()},
            "failed": self.failed,
        }


Bench = Callable[[Conditions], Measurement]

BENCHES: Registry[Bench] = Registry("bench", "cellwright.benches")


def run_bench(name: str, conditions: Conditions) -> BenchResult:
    """Makes a measurement by its registered name.

    Raises:
        MeasurementFailed: when it could not be made.
    """
    measured = BENCHES.get(name)(conditions)
    targets = {metric: target for metric, target in measured.targets.items() if metric in measured.metrics}
    return BenchResult(
        name, conditions.seed, {"cellwright": __version__, **versions()}, dict(measured.metrics), targets
    )
