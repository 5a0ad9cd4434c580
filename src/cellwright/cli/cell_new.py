"""`cellwright cell new`: a cell file of the user's own, made from a cell that exists."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from cellwright.catalogue.model_settings import ModelSettings
from cellwright.cells import CELLS, Cell, renamed_text
from cellwright.cells.fields import checked_name
from cellwright.cli.default_order import DEFAULT_ORDER, fitting_orders
from cellwright.cli.output import prepare_output, print_json, say
from cellwright.core.errors import BadInput, OutputError
from cellwright.core.files import refuse_existing
from cellwright.lab.cell_file import read_cell

__all__ = ["new"]


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new cell's name.")],
    source: Annotated[str, typer.Option("--from", metavar="CELL", help="A cell's name, or a YAML file.")] = "aprs",
    out: Annotated[Path | None, typer.Option(help="The file to write; NAME.yaml by default.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Writes a cell file of your own: an existing cell with its comments, under another name, to be changed."""
    _check_name(name)
    loaded = read_cell(source)
    file = loaded.file
    assert file is not None
    if "@" in source and not Path(source).exists():
        own, _, variant = Path(source).name.partition("@")
        base = Path(source).with_name(own)
        raise BadInput(f"{source} is a variant: give --from {base}, whose file has it, and use FILE@{variant}")
    path = out or Path(f"{name}.yaml")
    if path.suffix not in (".yaml", ".yml"):
        raise BadInput(f"--out {path}: the name of a cell file ends with .yaml or .yml")
    _check_models(loaded, file, path)
    if not overwrite:
        refuse_existing(path)
    text = f"# Made from the cell {loaded.name}.\n" + renamed_text(file.read_text(encoding="utf-8"), name, file)
    _write(prepare_output(path), text)
    commands = [f"cellwright {command}" for command in _commands(loaded, shlex.quote(str(path)))]
    if as_json:
        print_json({"cell": name, "from": source, "file": path, "next": commands})
        return
    say(f"{path}: the cell {name}, made from {loaded.name}; change it, then")
    for command in commands:
        say(f"  {command}")


def _check_name(name: str) -> None:
    try:
        checked_name(name)
    except ValueError as error:
        raise BadInput(str(error)) from None
    if name in CELLS:
        raise BadInput(f"a cell of the name '{name}' is installed; choose another (taken: {', '.join(CELLS)})")


def _check_models(cell: Cell, file: Path, path: Path) -> None:
    """Refuses another folder for a cell whose models are named from the folder that it is in."""
    if file.parent.resolve() == path.parent.resolve():
        return
    for name, said in cell.models.items():
        settings = ModelSettings(file=said) if isinstance(said, str) else said
        if not all(Path(one).is_absolute() for one in (settings.file, settings.srdf, *settings.search) if one):
            beside = file.parent / path.name
            raise BadInput(f"models.{name} of {file} names files from its folder: write beside it, --out {beside}")


def _write(path: Path, text: str) -> None:
    """Writes a file whole or not at all: one that is replaced is the user's."""
    partly = path.with_name(f"{path.name}.part")
    try:
        partly.write_text(text, encoding="utf-8", newline="\n")
        partly.replace(path)
    except OSError as error:
        partly.unlink(missing_ok=True)
        raise OutputError(path, error.strerror or str(error)) from None


def _commands(cell: Cell, file: str) -> list[str]:
    """Returns what can be done with the new cell; kits are built where it has a robot and a tray for one."""
    orders = fitting_orders(cell)
    commands = [f"cell check {file}", f"cell picture {file}"]
    if cell.robots and orders:
        commands.append(f"run {file}" if orders[0] == DEFAULT_ORDER else f"run {file} --order {orders[0]}")
    return commands
