"""Comparison of two results: what changed, and which conditions differ."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.core.errors import BadInput
from cellwright.core.results import Result

__all__ = ["MetricChange", "ResultComparison", "compare_results", "read_result"]


@dataclass(frozen=True)
class MetricChange:
    """One metric in both results; None where one of them lacks it."""

    metric: str
    first: float | None
    second: float | None

    @property
    def difference(self) -> float | None:
        """Second minus first."""
        return None if self.first is None or self.second is None else self.second - self.first


@dataclass(frozen=True)
class ResultComparison:
    """Every metric of either result, and the differences in their conditions."""

    changes: list[MetricChange]
    circumstances: dict[str, tuple[str, str]]

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data, for other programs."""
        return {
            "changes": {
                c.metric: {"first": c.first, "second": c.second, "difference": c.difference} for c in self.changes
            },
            "circumstances": {name: list(pair) for name, pair in self.circumstances.items()},
        }


def compare_results(first: Result, second: Result) -> ResultComparison:
    """Compares metric by metric; results of different experiments are refused."""
    if first.name != second.name:
        raise BadInput(f"cannot compare '{first.name}' with '{second.name}': different experiments")
    names = list(dict.fromkeys([*first.metrics, *second.metrics]))
    pairs = {"seed": (str(first.seed), str(second.seed)), "quick": (str(first.quick), str(second.quick))}
    for package in dict.fromkeys([*first.versions, *second.versions]):
        pairs[package] = (first.versions.get(package, "-"), second.versions.get(package, "-"))
    return ResultComparison(
        [MetricChange(name, first.metrics.get(name), second.metrics.get(name)) for name in names],
        {name: pair for name, pair in pairs.items() if pair[0] != pair[1]},
    )


def read_result(path: Path) -> Result:
    """Returns a saved result: its JSON file, or the folder that holds it."""
    file = path / "result.json" if path.is_dir() else path
    try:
        return Result.from_dict(json.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise BadInput(f"cannot read result {file}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{file} is not a result of an experiment or a bench: {type(error).__name__}: {error}") from None
