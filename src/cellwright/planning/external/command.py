"""A planner that the user names by the command that runs it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cellwright.core.errors import BadInput
from cellwright.planning.external.base import ExternalPlanner, PlannerFiles, find_program
from cellwright.planning.external.counters import PlannerDialect
from cellwright.planning.external.process import ProcessLimits
from cellwright.planning.planner import TASK_PLANNERS, Planner, new_planner

__all__ = ["CommandPlanner", "make_planner"]

_PLACEHOLDERS = ("{domain}", "{problem}", "{plan}")


@dataclass
class CommandPlanner(ExternalPlanner):
    """Any PDDL planner.

    Attributes:
        template: The command, in which `{domain}`, `{problem}` and `{plan}` stand for the files. Without the first
            two they are appended. The plan is read from its file, `{plan}` or `{plan}.1` and so on, the last one, and
            where there is none, from what the command prints. It runs without a shell, in a folder of its own;
            arguments that name existing files are found all the same.
        reads: Form of the files.
    """

    template: str = ""
    reads: PlannerDialect = PlannerDialect.CLASSICAL

    def __post_init__(self) -> None:
        """Refuses what cannot be a command."""
        try:
            self._words = shlex.split(self.template)
        except ValueError as error:
            raise BadInput(f"planner command {self.template!r} cannot be read: {str(error).lower()}") from None
        if not self._words:
            raise BadInput("the planner command is empty; give one such as 'popf {domain} {problem}'")
        for wrong in re.findall(r"\{\w*\}", self.template):
            if wrong not in _PLACEHOLDERS:
                raise BadInput(f"planner command: unknown {wrong} (available: {', '.join(_PLACEHOLDERS)})")

    @property
    def name(self) -> str:
        """The program's name."""
        return Path(self._words[0]).name

    @property
    def form(self) -> PlannerDialect:
        """As chosen."""
        return self.reads

    def command(self, files: PlannerFiles) -> Sequence[str]:
        """Returns the command with the files in it."""
        program = find_program(self._words[0])
        if program is None:
            raise BadInput(f"planner command: there is no program '{self._words[0]}' that can be run")
        words = [self._filled(word, files) for word in self._words[1:]]
        if not any(name in self.template for name in _PLACEHOLDERS[:2]):
            words += [str(files.domain), str(files.problem)]
        return [program, *words]

    @staticmethod
    def _filled(word: str, files: PlannerFiles) -> str:
        if not word.startswith("-") and Path(word).exists():
            return str(Path(word).absolute())
        for name, path in zip(_PLACEHOLDERS, (files.domain, files.problem, files.plan), strict=True):
            word = word.replace(name, str(path))
        return word


def make_planner(
    name_or_command: str,
    *,
    form: PlannerDialect = PlannerDialect.CLASSICAL,
    limits: ProcessLimits | None = None,
    keep: Path | None = None,
) -> Planner:
    """Returns a planner by its name, or by a command, which has a blank, a brace or a slash in it.

    Args:
        name_or_command: Such as `sequencer`, `enhsp` or `popf {domain} {problem}`.
        form: The PDDL that a command reads.
        limits: The limits of an external planner.
        keep: Folder for its files; without, they are removed.
    """
    limits = limits or ProcessLimits()
    if any(letter.isspace() or letter in "{}/" for letter in name_or_command):
        return CommandPlanner(limits, keep, name_or_command, form)
    chosen = TASK_PLANNERS.get(name_or_command)
    return chosen(limits, keep) if issubclass(chosen, ExternalPlanner) else new_planner(name_or_command)
