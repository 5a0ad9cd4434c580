"""ENHSP, a numeric planner, from the package `up-enhsp`; it runs under Java in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cellwright.core.errors import BadInput, MissingExtra
from cellwright.planning.external.base import ExternalPlanner, PlannerFiles, find_program
from cellwright.planning.external.counters import PlannerDialect
from cellwright.planning.external.fast_downward import package_folder
from cellwright.planning.external.process import ProcessLimits, ProcessResult
from cellwright.planning.planner import TASK_PLANNERS

__all__ = ["Enhsp"]


@TASK_PLANNERS.register("enhsp")
@dataclass
class Enhsp(ExternalPlanner):
    """Greedy best-first search, guided by plans of the delete relaxation."""

    @property
    def name(self) -> str:
        """Its name among the planners."""
        return "enhsp"

    @property
    def form(self) -> PlannerDialect:
        """Counters are numbers."""
        return PlannerDialect.NUMERIC

    def command(self, files: PlannerFiles) -> Sequence[str]:
        """Returns the command that runs the package's archive."""
        folder = package_folder("up_enhsp")
        archive = folder / "ENHSP" / "enhsp.jar" if folder else None
        if archive is None or not archive.is_file():
            raise MissingExtra(f"planner {self.name}", "planners")
        java = find_program("java")
        if java is None:
            raise BadInput(f"planner {self.name} needs Java 17 or newer: 'java' is not on the path")
        words = [
            "-o",
            files.domain,
            "-f",
            files.problem,
            "-sp",
            files.plan,
            "-npm",
            "-s",
            "gbfs",
            "-h",
            "hmrp",
            "-ha",
            "true",
        ]
        heap = [f"-Xmx{self.limits.memory_mb}m"] if self.limits.memory_mb else []
        return [java, "-XX:+UseSerialGC", *heap, "-jar", str(archive), *(str(word) for word in words)]

    @property
    def process_limits(self) -> ProcessLimits:
        """Java keeps to its own limit of memory; it reserves far more addresses than it uses."""
        return replace(self.limits, memory_mb=None)

    def unsolvable(self, ended: ProcessResult) -> bool:
        """Tells a proof by what is printed: the exit code is 0 either way."""
        return ended.code == 0 and "unsolvable" in ended.printed.lower()
