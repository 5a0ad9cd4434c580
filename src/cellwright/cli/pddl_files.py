"""Planning files in a folder: a sub-folder for each vocabulary and form, with the plan where there is one."""

from __future__ import annotations

from pathlib import Path

from cellwright.core.errors import OutputError
from cellwright.knowledge import Database
from cellwright.knowledge.pddl import MAIN_VOCABULARY, Form, planning_files, planning_ontology, write_plan
from cellwright.planning import PlanRequest, PlanResult
from cellwright.planning.pddl_steps import durations_by_name, steps_of

__all__ = ["write_pddl"]

APART_S = 0.001
"""Steps of a timed plan are moved apart by this much, because planning files let nothing begin where another ends."""


def write_pddl(database: Database, request: PlanRequest, folder: Path, result: PlanResult | None = None) -> list[Path]:
    """Domain and problem in every vocabulary and form; the plan beside those in which it can be said."""
    robots = request.state.robots
    settings = {
        "durations": durations_by_name(request.durations),
        "without": [robot.name for robot in robots if not robot.available],
        "kits": [(job.name, job.design) for job in request.jobs],
    }
    several = sum(robot.available for robot in robots) > 1
    written = []
    for vocabulary in planning_ontology().vocabularies:
        for form in Form:
            files = planning_files(database, request.orders, vocabulary=vocabulary, form=form, **settings)  # type: ignore[arg-type]
            texts = {"domain.pddl": files.domain_text, "problem.pddl": files.problem_text}
            sayable = vocabulary == MAIN_VOCABULARY and form is (Form.TEMPORAL if several else Form.NUMERIC)
            if result is not None and result.actions and sayable:
                apart_s = APART_S if form is Form.TEMPORAL else 0.0
                texts["plan.txt"] = write_plan(steps_of(result.actions, files.problem, epsilon_s=apart_s), result.cost)
            written += [_write(folder / f"{vocabulary}-{form}" / name, text) for name, text in texts.items()]
    return written


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None
    return path
