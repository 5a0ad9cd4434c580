"""Errors that say what is wrong, where, and what is allowed.

Every error a user can cause derives from `CellwrightError` and fits on one line; the command line prints that
line and exits with `exit_code`, so that a typing error never ends in a traceback.
"""

from __future__ import annotations

import copyreg
import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cellwright.core.yaml_lines import with_line

__all__ = [
    "BadInput",
    "CellwrightError",
    "ConfigError",
    "ConfigErrors",
    "FrameMismatch",
    "JobFailed",
    "LogError",
    "MissingExtra",
    "OutOfRange",
    "OutOfReach",
    "OutputError",
    "SimulationError",
    "TruthLeak",
    "UnknownName",
]

_UNKNOWN_KEY = re.compile(r"unknown key '(.*?)'")


class CellwrightError(Exception):
    """Base of all errors that are reported as one line, whatever a name or value quoted in it contains.

    >>> try:
    ...     cw.load_cell("apsr")
    ... except cw.CellwrightError as error:
    ...     print(error)
    unknown cell 'apsr'; did you mean 'aprs'? (available: aprs, epucks, kitting, rovi)
    """

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))

    def __reduce__(self) -> tuple[Any, ...]:
        # By default unpickling would call __init__ with the finished message, and a worker's error would be lost.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class BadInput(CellwrightError):
    """Raised when the user's input cannot be used; nothing was done."""

    exit_code = 2


class JobFailed(CellwrightError):
    """Raised when a job was understood and tried, and failed."""


class OutOfReach(JobFailed):
    """A place to which an arm cannot get.

    Attributes:
        away_m: Its distance, where it is too far.
        reach_m: The largest distance that it may have.
    """

    away_m = reach_m = 0.0


class SimulationError(CellwrightError):
    """Raised when physics diverged, or the simulation was asked for something impossible."""


class UnknownName(BadInput):
    """A name that is not registered; suggests the nearest one, and says how others come in, where they can."""

    def __init__(self, kind: str, name: str, available: Iterable[str], where: str = "", more: str = "") -> None:
        choices = sorted(available)
        near = difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        place = f"{with_line(where)}: " if where else ""
        listed = ", ".join(choices) if choices else "none"
        super().__init__(f"{place}unknown {kind} '{name}'{hint} (available: {listed}){'; ' if more else ''}{more}")
        self.kind = kind
        self.name = name
        self.available = choices
        self.path = where.rpartition(": ")[2] if ": " in where else ""


class ConfigError(BadInput):
    """A configuration value that does not fit; names the file, the line, the path inside it and what is allowed."""

    def __init__(self, where: str | Path, path: str, problem: str) -> None:
        unknown = _UNKNOWN_KEY.match(problem)  # is looked for itself, not what it stands in
        located = with_line(str(where), ".".join(filter(None, (path, unknown[1] if unknown else ""))))
        at = f"{located}: {path}" if path else located
        super().__init__(f"{at}: {problem}")
        self.where = str(where)
        self.path = path
        self.problem = problem


class ConfigErrors(ConfigError):
    """Several errors in one configuration, so that they can be corrected together.

    Attributes:
        errors: Each of them, no line twice.
        lines: One line each.
    """

    def __init__(self, errors: Sequence[BadInput]) -> None:
        flat = [one for error in errors for one in getattr(error, "errors", (error,))]
        self.errors: tuple[BadInput, ...] = tuple({str(error): error for error in reversed(flat)}.values())[::-1]
        self.lines: tuple[str, ...] = tuple(map(str, self.errors))
        BadInput.__init__(self, "; ".join(self.lines))
        first = next((error for error in errors if isinstance(error, ConfigError)), None)
        self.where, self.path, self.problem = (
            (first.where, first.path, first.problem) if first else ("", "", self.lines[0])
        )


class OutOfRange(BadInput):
    """A number outside what is allowed."""

    def __init__(self, what: str, value: float, low: float, high: float, unit: str = "") -> None:
        unit_text = f" {unit}" if unit else ""
        shown, least, most = (str(x) if isinstance(x, int) else f"{x:.9g}" for x in (value, low, high))
        super().__init__(f"{what} is {shown}{unit_text}, allowed {least} to {most}{unit_text}")
        self.what = what
        self.value = value
        self.low = low
        self.high = high


class OutputError(BadInput):
    """A file or folder that cannot be written."""

    def __init__(self, path: str | Path, reason: str) -> None:
        super().__init__(f"cannot write {path}: {reason}")


class LogError(BadInput):
    """A file that is not a log, or a log that cannot serve the request."""


class MissingExtra(BadInput):
    """A feature whose optional packages are not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional package: pip install 'cellwright[{extra}]'")


class FrameMismatch(CellwrightError):
    """Raised when two poses are chained whose frames do not meet."""

    def __init__(self, left_child: str, right_parent: str) -> None:
        super().__init__(
            f"cannot chain a pose of '{left_child}' with a pose given in '{right_parent}': the frames must be the same"
        )


class TruthLeak(CellwrightError):
    """A component that is neither judge nor recorder asked for the simulator's truth."""

    def __init__(self, subscriber: str, topic: str, message: str) -> None:
        super().__init__(
            f"'{subscriber}' may not subscribe to '{topic}': {message} carries truth, "
            "which only the roles judge and recorder may see"
        )
