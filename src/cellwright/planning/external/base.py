"""The base of external planners: files out, a program, a plan back, checked."""

from __future__ import annotations

import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from cellwright.core.errors import OutputError
from cellwright.planning.external.counters import PlannerDialect
from cellwright.planning.external.decode import decode
from cellwright.planning.external.errors import PlannerFailed
from cellwright.planning.external.pddl import Encoding, encode
from cellwright.planning.external.plan_text import PlanLine, read_plan_file, read_printed_plan
from cellwright.planning.external.process import ProcessLimits, ProcessResult, run_limited
from cellwright.planning.external.task import choose_work, task_of
from cellwright.planning.planner import PlanRequest, PlanResult, PlanStatus, Unfinished
from cellwright.planning.sequencer import Sequencer
from cellwright.planning.work import Work

__all__ = ["ExternalPlanner", "PlannerFiles"]


@dataclass(frozen=True)
class PlannerFiles:
    """The input files of a planner, and those of its plan or plans: `plan`, `plan.1`, `plan.2`."""

    folder: Path

    @property
    def domain(self) -> Path:
        """The domain file."""
        return self.folder / "domain.pddl"

    @property
    def problem(self) -> Path:
        """The problem file."""
        return self.folder / "problem.pddl"

    @property
    def plan(self) -> Path:
        """The plan; Fast Downward's name, which some planners use when no other is given."""
        return self.folder / "sas_plan"

    def plans(self) -> list[Path]:
        """Returns the plans that there are, the last and best one last."""
        numbered = [path for path in self.folder.glob("sas_plan.*") if path.suffix[1:].isdigit()]
        numbered.sort(key=lambda path: int(path.suffix[1:]))
        return [path for path in (self.plan, *numbered) if path.is_file()]


@dataclass
class ExternalPlanner(ABC):
    """A program that plans for one robot.

    Attributes:
        limits: The limits of the program.
        keep: Folder in which its files stay; without, they are removed.
    """

    knows_paces: ClassVar[bool] = False  # its files have one duration per step

    limits: ProcessLimits = field(default_factory=ProcessLimits)
    keep: Path | None = None

    @property
    @abstractmethod
    def name(self) -> str:
        """The planner's name in results and messages."""

    @property
    def form(self) -> PlannerDialect:
        """The PDDL that it reads."""
        return PlannerDialect.CLASSICAL

    @property
    def proves(self) -> bool:
        """Whether its plans are the cheapest ones."""
        return False

    @abstractmethod
    def command(self, files: PlannerFiles) -> Sequence[str]:
        """Returns the program and its arguments; raises when it is not installed."""

    @property
    def process_limits(self) -> ProcessLimits:
        """The limits that are set from outside."""
        return self.limits

    def unsolvable(self, ended: ProcessResult) -> bool:
        """Returns whether the program has proved that there is no plan."""
        return False

    def plan(self, request: PlanRequest) -> PlanResult:
        """Runs the planner; returns its plan, validated.

        Raises:
            PlannerFailed: It crashed, or its answer is no plan; nothing is known of the request then.
        """
        work = choose_work(request)
        if not work.jobs:
            status = PlanStatus.UNSOLVABLE if work.unfinished else PlanStatus.OPTIMAL
            return PlanResult(status=status, planner=self.name, unfinished=tuple(work.unfinished))
        encoding = encode(task_of(work), self.form)
        with self._folder() as folder:
            files = PlannerFiles(folder)
            command = [str(word) for word in self.command(files)]
            files.domain.write_text(encoding.domain, encoding="utf-8")
            files.problem.write_text(encoding.problem, encoding="utf-8")
            ended = run_limited(command, folder, self.process_limits)
            if ended.timed_out:
                return self._nothing(work, PlanStatus.TIMEOUT, f"found no plan within {self.limits.time_s:g} s")
            if ended.output_exceeded:
                raise PlannerFailed(self.name, f"printed more than {self.limits.output_mb} MB and was ended")
            lines = self._answer(files, ended)
        if lines is None:
            return self._nothing(work, PlanStatus.UNSOLVABLE, "has proved that there is no plan")
        return self._judged(encoding, lines)

    def _answer(self, files: PlannerFiles, ended: ProcessResult) -> list[PlanLine] | None:
        """Returns the steps of the planner's answer; None for a proof that there are none."""
        if plans := files.plans():
            if plans[-1].stat().st_size > self.limits.output_mb << 20:
                raise PlannerFailed(self.name, f"wrote a plan of more than {self.limits.output_mb} MB")
            return read_plan_file(plans[-1].read_text(encoding="utf-8", errors="replace"), self.name)
        if self.unsolvable(ended):
            return None
        if ended.code != 0:
            raise PlannerFailed(self.name, ended.describe())
        lines = read_printed_plan(ended.printed)
        if not lines:
            raise PlannerFailed(self.name, f"gave no plan, neither as a file nor on its output; {ended.describe()}")
        return lines

    def _judged(self, encoding: Encoding, lines: Sequence[PlanLine]) -> PlanResult:
        result = decode(encoding, lines, self.name)
        work = encoding.task.work
        bound = result.cost if self.proves else min(result.cost, _bound_s(work))
        status = PlanStatus.OPTIMAL if result.cost <= bound else PlanStatus.SOLVED
        return replace(result, status=status, lower_bound=bound)

    def _nothing(self, work: Work, status: PlanStatus, why: str) -> PlanResult:
        alone = sum(robot.available for robot in work.request.state.robots) == 1
        proven = alone and status is PlanStatus.UNSOLVABLE and len(work.jobs) == 1
        lost = (Unfinished(job.name, f"{self.name} {why}", proven) for job in work.jobs)
        return PlanResult(status=status, planner=self.name, unfinished=(*work.unfinished, *lost))

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        if self.keep is None:
            with tempfile.TemporaryDirectory(prefix="cellwright-plan-", ignore_cleanup_errors=True) as folder:
                yield Path(folder)
            return
        try:
            self.keep.mkdir(parents=True, exist_ok=True)
            for old in PlannerFiles(self.keep).plans():
                old.unlink()
        except OSError as error:
            raise OutputError(self.keep, error.strerror or str(error)) from None
        yield self.keep.resolve()


def _bound_s(work: Work) -> float:
    """Returns the lower bound on plans of that robot, by our own search."""
    request, name = work.request, work.robots[0].name
    robots = tuple(replace(robot, available=robot.name == name) for robot in request.state.robots)
    return Sequencer().plan(replace(request, state=replace(request.state, robots=robots))).lower_bound


def find_program(program: str) -> str | None:
    """Returns the absolute path of a program, found from the current folder; None when it cannot be run."""
    found = shutil.which(program)
    return str(Path(found).absolute()) if found else None
