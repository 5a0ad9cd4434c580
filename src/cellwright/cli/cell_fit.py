"""`cellwright cell fit`: a cell whose drawings are brought to what was measured in the real one."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cellwright.cells import cell_yaml
from cellwright.cli.output import prepare_output, print_json, say, table
from cellwright.core.errors import BadInput, OutputError
from cellwright.core.files import refuse_existing
from cellwright.fitting import fit_cell
from cellwright.lab.cell_file import checked_layout, read_cell

__all__ = ["fit"]


def fit(
    cell: Annotated[str, typer.Argument(metavar="CELL", help="A cell's name, or a YAML file.")],
    out: Annotated[Path, typer.Option(help="The cell file to write.")],
    calibration: Annotated[
        list[str],
        typer.Option(
            metavar="[ROBOT=|ROBOT,OTHER=]FILE", help="A CSV of vision to robot, or of robot to robot; again for more."
        ),
    ] = [],  # noqa: B006  typer wants a list
    frames: Annotated[
        list[str],
        typer.Option(metavar="[ROBOT=]FILE", help="Frames of a robot's vision; again for more."),
    ] = [],  # noqa: B006
    far: Annotated[bool, typer.Option("--far", help="Take also what is far from its drawing.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Fits a cell to files measured in the real one: bases, cameras and trays, written as a cell file."""
    if out.suffix not in (".yaml", ".yml"):
        raise BadInput(f"--out {out}: the name of a cell file ends with .yaml or .yml")
    loaded = read_cell(cell)
    if not overwrite:
        refuse_existing(out)
    found = fit_cell(loaded, calibration, frames, far=far)
    checked_layout(found.cell)
    path = prepare_output(out)
    try:
        path.write_text(f"# The cell {cell}, fitted to what was measured.\n{cell_yaml(found.cell)}", encoding="utf-8")
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None
    if as_json:
        print_json(
            {"cell": found.cell.name, "file": path, "entries": list(map(asdict, found.entries)), "notes": found.notes}
        )
        return
    columns = ["fitted", "moved [mm]", "turned [deg]", "off: was [mm]", "is [mm]", "of [n]"]
    rows = [
        (
            one.entry,
            f"{1e3 * one.moved_m:.1f}",
            f"{one.turned_deg:.2f}",
            f"{1e3 * one.before_m:.1f}",
            f"{1e3 * one.after_m:.2f}",
            one.count,
        )
        for one in found.entries
    ]
    table(None, columns, rows, markup=False)
    for one in found.entries:
        if one.note:
            say(f"{one.entry}: {one.note}")
    for note in found.notes:
        say(note)
    say(f"{path}: check it with cellwright cell check {path}")
