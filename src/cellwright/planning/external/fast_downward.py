"""Fast Downward, from the package `up-fast-downward`; it is under the GPL and so stays in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from cellwright.core.errors import MissingExtra
from cellwright.planning.external.base import ExternalPlanner, PlannerFiles
from cellwright.planning.external.errors import PlannerFailed
from cellwright.planning.external.process import ProcessResult
from cellwright.planning.planner import TASK_PLANNERS

__all__ = ["FastDownward", "OptimalFastDownward", "package_folder"]

_UNSOLVABLE = (10, 11)  # by the translator, by the search
_OUT_OF_MEMORY = (20, 22, 24)


def package_folder(package: str) -> Path | None:
    """Returns the folder of an optional package, without importing it; None when it is not installed."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None


@TASK_PLANNERS.register("fast-downward")
@dataclass
class FastDownward(ExternalPlanner):
    """The first plan of LAMA: found fast, good, not always the best."""

    @property
    def name(self) -> str:
        """Its name among the planners."""
        return "fast-downward"

    @property
    def search(self) -> tuple[str, ...]:
        """The driver's options before the files, which choose the search."""
        return ("--alias", "lama-first")

    def command(self, files: PlannerFiles) -> Sequence[str]:
        """Returns the command of the package's own driver, which runs translator and search."""
        folder = package_folder("up_fast_downward")
        driver = folder / "downward" / "fast-downward.py" if folder else None
        if driver is None or not driver.is_file() or package_folder("fast_downward") is None:
            raise MissingExtra(f"planner {self.name}", "planners")
        paths = [str(path) for path in (files.plan, files.domain, files.problem)]
        return [sys.executable, str(driver), *self.search, "--plan-file", *paths]

    def unsolvable(self, ended: ProcessResult) -> bool:
        """Tells a proof from giving up by the exit code."""
        if ended.code in _OUT_OF_MEMORY:
            raise PlannerFailed(self.name, f"ran out of memory, the limit is {self.limits.memory_mb} MB")
        return ended.code in _UNSOLVABLE


@TASK_PLANNERS.register("fast-downward-optimal")
@dataclass
class OptimalFastDownward(FastDownward):
    """The cheapest plan, by A* with landmark cuts; for a few kits."""

    @property
    def name(self) -> str:
        """Its name among the planners."""
        return "fast-downward-optimal"

    @property
    def search(self) -> tuple[str, ...]:
        """A search with an admissible heuristic."""
        return ("--alias", "seq-opt-lmcut")

    @property
    def proves(self) -> bool:
        """Always: A* with an admissible heuristic."""
        return True
