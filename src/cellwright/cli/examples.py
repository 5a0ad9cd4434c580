"""`cellwright examples`: the examples as a list, as text, and as files to change."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from cellwright.cli.output import counted, print_json, say, table
from cellwright.scaffold import copy_examples, examples, find_example

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Examples that run as they are: a list, their text, copies to change.")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command("list")
def list_examples(as_json: Json = False) -> None:
    """Lists the examples, and how a copy of each is run."""
    found = examples()
    if as_json:
        print_json({"examples": [{"name": e.name, "title": e.title, "command": e.command} for e in found]})
        return
    table(None, ["run a copy with", "shows"], [(e.command, e.title) for e in found], markup=False)
    say()
    say("cellwright examples copy [NAME or number ...] copies them, show NAME prints one")


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name or its number, such as 3 or own_cell.")],
    as_json: Json = False,
) -> None:
    """Prints an example."""
    example = find_example(name)
    if as_json:
        print_json({"name": example.name, "title": example.title, "command": example.command, "text": example.text})
    else:
        say(example.text.rstrip("\n"))


@app.command()
def copy(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Which; all by default.")] = None,
    out: Annotated[Path, typer.Option(help="The folder to copy them to.")] = Path("examples"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
    as_json: Json = False,
) -> None:
    """Copies examples, with what they need, to be run and changed.

    For example: cellwright examples copy own_cell --out . && python 03_own_cell.py
    """
    files = copy_examples(names or (), out, overwrite=overwrite)
    chosen = [find_example(name) for name in names or ()] or examples()
    enter = "" if out == Path() else f"cd {shlex.quote(str(out))} && "
    if as_json:
        print_json({"folder": out, "files": files, "next": [enter + example.command for example in chosen]})
        return
    say(f"{counted(len(files), 'file')} in {out}; run, for example")
    say(f"  {enter}{chosen[0].command}")
