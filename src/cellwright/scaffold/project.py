"""The project that `cellwright init` writes: files that work as they stand, under the name of the user's cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from cellwright.cells import CELLS, renamed_text
from cellwright.cells.fields import checked_name
from cellwright.core.errors import BadInput, OutputError, UnknownName

__all__ = ["CONTROLLERS_OF_PROJECTS", "Project", "project_name", "write_project"]

CONTROLLERS_OF_PROJECTS = ("python", "internal")
MODEL_NAME = "mycell"  # the cell's name in the files of the package
DOT = "dot_"  # a file with a dot before its name would be hidden from those who build the package


@dataclass(frozen=True)
class Project:
    """A project that was written.

    Attributes:
        folder: Its folder.
        cell: The name of its cell.
        files: What was written, relative to the folder.
        commands: What to do with it, from inside the folder.
    """

    folder: Path
    cell: str
    files: tuple[Path, ...]
    commands: tuple[str, ...]


def project_name(folder: Path, wanted: str | None = None) -> str:
    """Returns the name of a project's cell: the wanted one, or one made from the folder's.

    Raises:
        BadInput: It is no name, or that of a cell which is installed.
    """
    name = wanted
    if name is None:
        own = folder.resolve().name
        name = re.sub(r"[^a-z0-9]+", "_", own.lower()).strip("_")
        if not re.match("[a-z]", name) or len(name) > 48:
            raise BadInput(f"the folder's name '{own}' makes no name for a cell: say it with --cell NAME")
    try:
        checked_name(name)
    except ValueError as error:
        raise BadInput(f"--cell: {error}") from None
    if name in CELLS:
        raise BadInput(f"a cell of the name '{name}' is installed: say another with --cell NAME")
    return name


def write_project(folder: Path, name: str, controller: str = "python", *, overwrite: bool = False) -> Project:
    """Writes a project into a folder that is new or empty.

    Args:
        folder: Where to; one that holds a repository and nothing else is empty, too.
        name: The name of the cell.
        controller: `python`, a program that works over sockets, or `internal`, Cellwright's own.
        overwrite: Whether its files replace those that are there; others are left alone.

    Raises:
        BadInput: The folder is not empty.
        OutputError: It cannot be written.
    """
    if controller not in CONTROLLERS_OF_PROJECTS:
        raise UnknownName("controller", controller, CONTROLLERS_OF_PROJECTS, "--controller")
    source = resources.files("cellwright.scaffold") / "templates"
    texts = {
        Path(file.replace(DOT, ".").replace(MODEL_NAME, name)): _renamed(file, text, name)
        for layer in ("common", controller)
        for file, text in _files(source / layer).items()
    }
    try:
        if folder.is_dir() and not overwrite and (found := next(_others(folder), None)):
            raise BadInput(f"{folder} is not empty, it has {found.name}: choose another folder, or add --overwrite")
        for file, text in texts.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = f"{error.filename} is no folder" if isinstance(error, FileExistsError) else error.strerror
        raise OutputError(folder, reason or str(error)) from None
    return Project(folder, name, tuple(sorted(texts)), _commands(name, controller))


def _files(folder: Traversable, inside: str = "") -> dict[str, str]:
    """Returns path inside a folder of the package -> its text."""
    found: dict[str, str] = {}
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            found |= _files(entry, f"{inside}{entry.name}/")
        elif entry.is_file() and not entry.name.endswith(".pyc"):
            found[inside + entry.name] = entry.read_text(encoding="utf-8")
    return found


def _renamed(file: str, text: str, name: str) -> str:
    """Returns a file's text for a cell of another name; in a cell, a name such as `on` is quoted."""
    if file == f"{MODEL_NAME}.yaml":
        return renamed_text(text, name, file)
    return text.replace(MODEL_NAME, name)


def _others(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.iterdir()) if path.name != ".git")


def _commands(name: str, controller: str) -> tuple[str, ...]:
    trial = "cellwright trial trial.yaml"
    if controller == "python":
        trial += " --addresses addresses.json & python controller.py addresses.json && wait $!"
    return "pytest", f"cellwright run {name}.yaml --order order.yaml", trial
