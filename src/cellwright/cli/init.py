"""`cellwright init`: a project of the user's own, with a cell, a controller and tests that pass."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from cellwright.cli.output import print_json, say
from cellwright.scaffold import project_name, write_project

__all__ = ["init"]


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A new or empty folder; this one by default.")
    ] = Path(),
    cell: Annotated[str | None, typer.Option(help="The cell's name; made from the folder's by default.")] = None,
    controller: Annotated[
        str, typer.Option(help="python: a program of your own, over sockets; internal: Cellwright's own.")
    ] = "python",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist; others stay.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Writes a project of your own: a cell, an order, a trial with a fault, a controller, and tests that pass.

    For example: cellwright init mycell && cd mycell && pytest
    """
    made = write_project(folder, project_name(folder, cell), controller, overwrite=overwrite)
    enter = [] if folder == Path() else [f"cd {shlex.quote(str(folder))}"]
    commands = [*enter, *made.commands]
    if as_json:
        print_json({"folder": folder, "cell": made.cell, "files": made.files, "next": commands})
        return
    say(f"{folder / 'README.md'} tells what is in this project. Begin with")
    for command in commands:
        say(f"  {command}")
