"""Output for people and programs: tables on stdout, or one JSON object; progress on stderr."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from cellwright.core.errors import BadInput, OutputError
from cellwright.core.json_text import json_text

__all__ = [
    "Quiet", "before_printing", "console", "counted", "err", "is_quiet", "prepare_output", "print_json", "printing",
    "say", "set_quiet", "table", "take_folder", "tell", "tell_hints",
]  # fmt: skip

console = Console(highlight=False)
err = Console(stderr=True, highlight=False)
_lock = threading.RLock()
_quiet = False
_before: Callable[[], None] | None = None


def set_quiet(quiet: bool) -> None:
    """Sets whether progress is left out; what is asked for, hints and errors are always told."""
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    """Returns whether progress is left out."""
    return _quiet


def _be_quiet(quiet: bool) -> bool:
    if quiet:
        set_quiet(True)
    return quiet


Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_be_quiet, help="No progress: the result, hints and errors only.")
]
"""The option of every command that tells its progress."""


def before_printing(clear: Callable[[], None] | None) -> None:
    """Sets what clears a line that changes, before anything is printed."""
    global _before
    _before = clear


@contextmanager
def printing() -> Iterator[None]:
    """Holds the terminal while a line is printed; a line that changes makes room."""
    with _lock:
        if _before is not None:
            _before()
        yield


def table(title: str | None, columns: Sequence[str], rows: Sequence[Sequence[object]], *, markup: bool = True) -> None:
    """Prints a table; columns whose name ends in a unit in brackets are aligned to the right.

    Args:
        title: Above the table.
        columns: Their headings.
        rows: Their cells; a `Text` keeps its colours.
        markup: Whether square brackets in other cells are rich's markup; where not, they are printed.
    """
    made = Table(
        title=escape(title) if title else None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=None,
        pad_edge=False,
    )
    for column in columns:
        number = column.endswith("]")
        made.add_column(escape(column), justify="right" if number else "left", overflow="fold", no_wrap=number)
    for row in rows:
        made.add_row(*(_cell(value, markup) for value in row))
    with printing():
        console.print(made)


def counted(number: int, word: str) -> str:
    """Returns a number with a noun: `1 plan`, `2 plans`, `2 retries`."""
    many = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{number} {word if number == 1 else many}"


def say(*parts: str | Text, to: Console = console) -> None:
    """Prints a line as it is, whatever brackets it holds; the terminal may wrap it, a pipe gets it whole."""
    with printing():
        to.print(Text.assemble(*parts), soft_wrap=True)


def tell(*parts: str | Text) -> None:
    """Prints a line of progress on stderr, unless it was asked to be quiet."""
    if not _quiet:
        say(*parts, to=err)


def print_json(data: Any) -> None:
    """Prints one JSON object on stdout and nothing else; numbers that JSON does not have become null."""
    with printing():
        print(json_text(data))


def tell_hints(hints: Iterable[str]) -> None:
    """Prints hints on stderr: what is allowed and probably not meant."""
    for hint in hints:
        say(f"hint: {hint}", to=err)


def take_folder(given: Path | None, usual: Path, files: Iterable[str], *, overwrite: bool = False) -> Path:
    """Returns the folder for the results of one run alone: the usual one, or the first free number of it.

    It is taken by making it, in one step: of two that start at once, each gets its own.

    Args:
        given: The folder that the user named; must hold none of the files.
        usual: The default folder.
        files: The files that will be written there.
        overwrite: Takes the folder as it is, whatever is there.

    Raises:
        BadInput: The folder that was named has such files.
        OutputError: It cannot be made.
    """
    names = list(files)
    if given is not None or overwrite:
        folder = given or usual
        there = [folder / name for name in names if (folder / name).exists()]
        if there and not overwrite:
            raise BadInput(f"{there[0]} exists, and is not overwritten: choose another folder, or add --overwrite")
        return folder
    for number in itertools.count(1):
        folder = usual if number == 1 else usual.with_name(f"{usual.name}-{number}")
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir()
        except FileExistsError:
            if folder.is_dir() and not any(folder.iterdir()):
                return folder  # left by one that was refused
            if not folder.parent.is_dir():
                raise OutputError(folder, f"{folder.parent} is not a folder") from None
        except OSError as error:
            raise OutputError(folder, error.strerror or str(error)) from None
        else:
            return folder
    raise AssertionError


def prepare_output(path: Path) -> Path:
    """Makes the folder of a file that will be written, and refuses now what would fail after the work is done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A file of that name with nothing in it must not be there even for a moment: another process may wait for it.
        probe = path if path.exists() else path.with_name(f"{path.name}.part")
        existed = probe.exists()
        with probe.open("ab"):
            pass
        if not existed:
            probe.unlink()
    except OSError as error:
        # that the folder's name is taken by a file is what mkdir finds out
        reason = f"{path.parent} is not a folder" if isinstance(error, FileExistsError) else error.strerror
        raise OutputError(path, reason or str(error)) from None
    return path


def _cell(value: object, markup: bool) -> str | Text:
    if isinstance(value, Text):
        return value
    return str(value) if markup else Text(str(value))
