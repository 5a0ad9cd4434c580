"""Planning files in a folder: a sub-folder for each vocabulary and form, with the plan where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cellwright.core.errors import OutputError
from cellwright.knowledge import Database
from cellwright.knowledge.pddl import (
    MAIN_VOCABULARY,
    Parts,
    PddlError,
    PddlForm,
    PlanningFiles,
    check_plan,
    planning_files,
    planning_ontology,
    read_steps,
    read_task,
    write_plan,
)
from cellwright.planning import PlanRequest, PlanResult
from cellwright.planning.pddl_steps import count_taken_parts, durations_by_name, steps_of

__all__ = ["PddlWriter", "write_pddl"]

APART_S = 0.001
"""Steps of a timed plan are moved apart by this much, because planning files let nothing begin where another ends."""


@dataclass
class PddlWriter:
    """Writes a request, and a plan for it, as planning files.

    The goal is what the plan does: kits that it leaves out are left out of the problem, too, and named in its comments.

    Attributes:
        database: What is believed.
        request: What was planned.
        result: The plan, where there is one.
        parts: `counted` by kind, or `named` one by one.
        notes: What the user should know about the files; a line each.
    """

    database: Database
    request: PlanRequest
    result: PlanResult | None = None
    parts: Parts = Parts.COUNTED
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Derives the goal from the plan."""
        planned = self.result is not None and bool(self.result.actions)
        self._left_out = {kit.kit: str(kit) for kit in self.result.unfinished} if self.result and planned else {}
        self._kits = [(job.name, job.design) for job in self.request.jobs if job.name not in self._left_out]
        self._taken = count_taken_parts(self.result.actions) if self.result is not None else None
        if self._left_out:
            self.notes.append(
                f"the planning files ask for what the plan does, {len(self._kits)} of {len(self.request.jobs)} kits"
            )

    def files(self, vocabulary: str, form: PddlForm) -> PlanningFiles:
        """Returns domain and problem."""
        robots = self.request.state.robots
        return planning_files(
            self.database,
            self.request.orders,
            vocabulary=vocabulary,
            form=form,
            parts=self.parts,
            durations=durations_by_name(self.request.durations),
            without=[robot.name for robot in robots if not robot.available],
            kits=self._kits,
            taken=self._taken,
        )

    def texts(self, vocabulary: str, form: PddlForm) -> dict[str, str]:
        """Returns file name -> text; the plan is among them where it can be expressed, and solves the problem."""
        files = self.files(vocabulary, form)
        left_out = "".join(f"; left out: {reason}\n" for reason in self._left_out.values())
        texts = {"domain.pddl": files.domain_text, "problem.pddl": left_out + files.problem_text}
        plan = self.plan(files)
        if plan:
            texts["plan.txt"] = plan
        return texts

    def plan(self, files: PlanningFiles) -> str:
        """Returns the plan in the vocabulary of these files; empty where there is none."""
        form, several = files.domain.form, sum(robot.available for robot in self.request.state.robots) > 1
        if (
            self.result is None
            or not self.result.actions
            or form is not (PddlForm.TEMPORAL if several else PddlForm.NUMERIC)
        ):
            return ""
        try:
            steps = steps_of(
                self.result.actions, files.problem, epsilon_s=APART_S if form is PddlForm.TEMPORAL else 0.0
            )
        except PddlError as error:
            self.notes.append(f"{files.domain.name}: no plan file: {error}")
            return ""
        written = [step._replace(arguments=tuple(map(files.names.write, step.arguments))) for step in steps]
        text = write_plan(written, self.result.cost if files.domain.vocabulary == MAIN_VOCABULARY else None)
        verdict = check_plan(read_task(files.domain_text, files.problem_text), read_steps(text))
        if not verdict.valid:
            self.notes.append(f"{files.domain.name}: no plan file: {verdict.reason}")
            return ""
        return text


def write_pddl(folder: Path, writer: PddlWriter, vocabularies: Sequence[str] = ()) -> list[Path]:
    """Writes domain and problem in every vocabulary, or in those that are named, and every form, with the plan."""
    written = []
    for vocabulary in vocabularies or planning_ontology().vocabularies:
        for form in PddlForm:
            name = f"{vocabulary}-{form}" + ("-named" if writer.parts is Parts.NAMED else "")
            written += [_write(folder / name / file, text) for file, text in writer.texts(vocabulary, form).items()]
    return written


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None
    return path
