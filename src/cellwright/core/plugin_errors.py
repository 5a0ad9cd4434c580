"""Errors in code of others, which Cellwright calls: one line that names their file and line, not ours."""

from __future__ import annotations

import inspect
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path

from cellwright.core.errors import BadInput, CellwrightError

__all__ = ["PluginError", "is_of_others", "line_in", "plugin_error", "reason_of", "source_place"]

_OWN = str(Path(__file__).resolve().parents[1])
_LIBRARIES = (*map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")), "<frozen", "<string>")


class PluginError(BadInput):
    """An error in a class or function that is not Cellwright's, with its place."""


def plugin_error(what: str, error: Exception, owner: object = None) -> Exception:
    """Returns an error of a plugin as one line: `gap.py, line 40: sensor 'gap' fails in sample: ValueError: ...`.

    The place is where the user's own file was left: the innermost line of the first file on the way in that is not
    Cellwright's. Call it right where the plugin is called, with `raise plugin_error(...) from error`.

    Args:
        what: What happened to whom, such as `sensor 'gap' fails in sample at 1.02 s`.
        error: What was raised.
        owner: The class or function that was called; its place is named when the error came up in Cellwright's code
            alone, because of what it is.

    Returns:
        A `PluginError`; or the very error where that is the better one: it names its place already, says that not the
        plugin but the simulation failed, or comes from Cellwright's own code and nobody else's.
    """
    if isinstance(error, PluginError) or (isinstance(error, CellwrightError) and not isinstance(error, BadInput)):
        return error
    place = _place_of(error, owner) or source_place(owner)
    if not (place or is_of_others(owner)):
        return error
    return PluginError(": ".join(filter(None, (place, what, reason_of(error)))))


def is_of_others(owner: object) -> bool:
    """Returns whether a class or function is not Cellwright's; of nothing, no."""
    module = getattr(owner, "__module__", None) or __name__
    return module.partition(".")[0] != __name__.partition(".")[0]


def reason_of(error: BaseException) -> str:
    """Returns an error as it is told after its place: its class, unless that is ours, and what it says."""
    said = (error.msg if isinstance(error, SyntaxError) else "") or str(error)
    kind = "" if isinstance(error, CellwrightError) else f"{type(error).__name__}: "
    return f"{kind}{said}".removesuffix(": ")


def source_place(owner: object) -> str:
    """Returns file and line where a class or function of others is written; nothing for one of Cellwright."""
    if not (inspect.isclass(owner) or inspect.isroutine(owner)):
        return ""
    file = _file_of(owner)
    try:
        return f"{_shown(file)}, line {inspect.getsourcelines(owner)[1]}" if _is_others(file, file) else ""
    except (OSError, TypeError):  # of an interactive session, or made by a program
        return ""


def line_in(error: BaseException, file: str) -> int | None:
    """Returns the innermost line of a file through which an error came up."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    return next((line for name, line in reversed(list(_steps(error))) if name == file), None)


def _place_of(error: Exception, owner: object) -> str:
    owners = _file_of(owner)
    file = next((name for name, _ in _steps(error) if _is_others(name, owners)), None)
    return f"{_shown(file)}, line {line_in(error, file)}" if file else ""


def _file_of(owner: object) -> str:
    module = inspect.getmodule(owner)
    return getattr(module, "__file__", None) or ""


def _steps(error: BaseException) -> Iterator[tuple[str, int | None]]:
    """Yields file and line of each call, from where the error was caught inwards."""
    return ((frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__))


def _is_others(file: str, owners: str) -> bool:
    """Returns whether a file is neither Cellwright's nor of a library, unless the library is the owner's."""
    return bool(file) and (file == owners or not file.startswith(_LIBRARIES)) and not file.startswith(_OWN)


def _shown(file: str) -> str:
    """Returns a file as somebody in the present folder would name it."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file
