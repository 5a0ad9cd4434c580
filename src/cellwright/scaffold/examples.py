"""The examples as files: they come with the package, and are copied to be changed."""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cellwright.core.errors import BadInput, OutputError, UnknownName

__all__ = ["Example", "copy_examples", "examples", "examples_folder", "find_example"]

INSTALLED = Path(__file__).parent / "example_files"
CHECKOUT = Path(__file__).parents[3] / "examples"
NEEDS = {
    "11_external_controller": ("controllers",),
    "17_epucks_over_rosbridge": ("mobile",),
    "pytest": ("controllers",),
}
FOLDERS = {
    "controllers": (
        "Controllers as programs of their own, for trials.",
        "python controllers/by_sockets.py CRCL VISION",
    ),
    "mobile": (
        "Programs for e-pucks over rosbridge or ROS 1: drive, plot a topic, ask for a transform.",
        "python mobile/drive.py avoid --robot ePuck0 --over rosbridge=127.0.0.1:9090",
    ),
    "pytest": ("A repository that tests its controller.", "pytest pytest"),
    "trials": ("A trial of two orders with faults.", "cellwright trial trials/two_orders.yaml"),
}


@dataclass(frozen=True)
class Example:
    """An example: a program, a notebook or a folder.

    Attributes:
        name: Its name, for programs with a number.
        path: Its file or folder.
        title: What it shows, in a line.
        command: How to run it, from the folder that it was copied to.
    """

    name: str
    path: Path
    title: str
    command: str

    @property
    def text(self) -> str:
        """The text of its file, or of the files in its folder."""
        files = [self.path] if self.path.is_file() else sorted(path for path in self.path.iterdir() if path.is_file())
        return "\n".join(file.read_text(encoding="utf-8") for file in files)


def examples_folder() -> Path:
    """Returns the folder of the examples: in the package, or in the checkout that it is used from.

    Raises:
        BadInput: There is none.
    """
    for folder in (INSTALLED, CHECKOUT):
        if (folder / "00_first_job.py").is_file():
            return folder
    raise BadInput(f"this installation has no examples: {INSTALLED} is missing")


def examples() -> list[Example]:
    """Returns all examples: numbered programs, notebooks, folders."""
    folder = examples_folder()
    programs = [
        Example(path.stem, path, _first_line(path.read_text(encoding="utf-8")), f"python {path.name}")
        for path in sorted(folder.glob("[0-9]*.py"))
    ]
    notebooks = [
        Example(path.stem, path, _title(path), f"jupyter lab {path.name}") for path in sorted(folder.glob("*.ipynb"))
    ]
    return [*programs, *notebooks, *(Example(name, folder / name, *told) for name, told in FOLDERS.items())]


def find_example(name: str) -> Example:
    """Returns an example by its name, with or without its number or ending, or by the number alone."""
    found = examples()
    asked = re.sub(r"\.(py|ipynb)$", "", name.strip("/"))
    for example in found:
        number, _, rest = example.name.partition("_")
        is_number = number.isdigit() and asked.isdigit() and int(number) == int(asked)
        if asked in (example.name, rest if number.isdigit() else "") or is_number:
            return example
    raise UnknownName("example", name, [example.name for example in found])


def copy_examples(names: Iterable[str], folder: Path, *, overwrite: bool = False) -> list[Path]:
    """Copies examples, all when none is named, with what they need; returns the files.

    Raises:
        BadInput: A name is unknown, or a file exists.
        OutputError: A file cannot be written.
    """
    chosen = [find_example(name).name for name in names] or [example.name for example in examples()]
    wanted = [
        find_example(name) for name in dict.fromkeys([*chosen, *(need for n in chosen for need in NEEDS.get(n, ()))])
    ]
    source = examples_folder()
    files = [file for example in wanted for file in _files(example.path)]
    targets = [folder / file.relative_to(source) for file in files]
    if not overwrite and (there := next((path for path in targets if path.exists()), None)):
        raise BadInput(f"{there} exists, and is not overwritten: choose another folder with --out, or add --overwrite")
    try:
        for file, target in zip(files, targets, strict=True):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    except OSError as error:
        reason = f"{error.filename} is no folder" if isinstance(error, FileExistsError) else error.strerror
        raise OutputError(folder, reason or str(error)) from None
    return targets


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)


def _first_line(text: str) -> str:
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


def _title(notebook: Path) -> str:
    """Returns the heading of a notebook."""
    first = json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"]
    return "".join(first).lstrip("# ").partition("\n")[0]
