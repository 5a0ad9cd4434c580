"""`cellwright cell`: list, show, check, picture, export."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from cellwright.cells import CELLS, actual_layout, load_cell, nominal_layout
from cellwright.cli.output import console, prepare_output, print_json, table
from cellwright.lab.check import check_cell
from cellwright.models.export import write_mjcf
from cellwright.sim import World
from cellwright.sim.picture import take_picture

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Cells: what stands where.")

CellName = Annotated[str, typer.Argument(metavar="CELL", help="A cell's name, or a YAML file.")]
Seed = Annotated[int, typer.Option(min=0, help="Decides the actual layout.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


class Format(StrEnum):
    """What a cell can be exported as."""

    MJCF = "mjcf"


@app.command("list")
def list_cells(as_json: Json = False) -> None:
    """Lists the cells that are installed."""
    cells = [load_cell(CELLS.get(name)) for name in CELLS]
    if as_json:
        print_json({"cells": [{"name": c.name, "title": c.title, "file": c.file} for c in cells]})
        return
    rows = [
        (c.name, c.title, ", ".join(c.robots), len(c.trays), sum(p.count for p in c.populations) + len(c.parts))
        for c in cells
    ]
    table(None, ["cell", "title", "robots", "trays [n]", "parts [n]"], rows)


@app.command()
def show(cell: CellName, seed: Seed = 0, as_json: Json = False) -> None:
    """Shows a cell: robots, fixtures, trays, parts; nominal poses, and how far the actual ones are from them."""
    loaded = load_cell(cell)
    nominal, actual = nominal_layout(loaded, seed), actual_layout(loaded, seed)
    if as_json:
        print_json(loaded.model_dump(mode="json") | {"seed": seed})
        return
    console.print(f"[bold]{loaded.title}[/]\n{loaded.description.strip()}\n")
    robots = [
        (n, r.model, r.tool or "-", _xyz(nominal.bases[n].position), f"{np.degrees(nominal.bases[n].rpy[2]):.0f}")
        for n, r in loaded.robots.items()
    ]
    table("robots", ["name", "model", "tool", "base x y z [m]", "yaw [deg]"], robots)
    rows = [
        (p.name, p.model, _xyz(p.pose_in_world.position), f"{np.degrees(p.pose_in_world.rpy[2]):.0f}",
         f"{1000 * p.pose_in_world.distance_m(actual.objects[p.name].pose_in_world):.1f}")
        for p in (*nominal.trays, *nominal.parts)
    ]  # fmt: skip
    console.print()
    title = f"trays and parts (nominal; last column: how far the actual one of seed {seed} is off)"
    table(title, ["name", "model", "x y z [m]", "yaw [deg]", "off [mm]"], rows)
    console.print()
    table(
        "fixtures",
        ["name", "model", "x y z [m]"],
        [(n, loaded.fixtures[n].model, _xyz(p.position)) for n, p in nominal.fixtures.items()],
    )
    console.print()
    table(
        "sensors",
        ["type", "of", "rate [Hz]"],
        [(s.get("type"), s.get("robot") or s.get("name"), s.get("rate_hz")) for s in loaded.sensors],
    )


@app.command()
def check(cell: CellName, seed: Seed = 0, as_json: Json = False) -> int:
    """Checks a cell: names, overlaps, rest, reach, sensors; exit 1 when something is wrong."""
    findings = check_cell(load_cell(cell), seed)
    if as_json:
        print_json({"cell": cell, "findings": [{"check": f.check, "ok": f.ok, "detail": f.detail} for f in findings]})
    else:
        table(
            None,
            ["check", "", "detail"],
            [(f.check, "[green]ok[/]" if f.ok else "[red]wrong[/]", f.detail) for f in findings],
        )
    return 0 if all(f.ok for f in findings) else 1


@app.command()
def picture(
    cell: CellName,
    out: Annotated[Path, typer.Option(help="The PNG file.")] = Path("out/cell.png"),
    seed: Seed = 0,
    width: Annotated[int, typer.Option(min=16, max=4096)] = 1280,
    height: Annotated[int, typer.Option(min=16, max=4096)] = 720,
) -> None:
    """Renders a cell to a PNG file; needs no display."""
    loaded = load_cell(cell)
    prepare_output(out)
    world = World(loaded, seed)
    renderer = take_picture(world, out, (width, height))
    console.print(f"{out} ({width} x {height}, renderer {renderer})")


@app.command()
def export(
    cell: CellName,
    out: Annotated[Path, typer.Option(help="The file to write.")],
    form: Annotated[Format, typer.Option("--format", help="The file format.")] = Format.MJCF,
    seed: Seed = 0,
) -> None:
    """Writes a cell as a model file that other programs open."""
    loaded = load_cell(cell)
    prepare_output(out)
    world = World(loaded, seed)
    for path in write_mjcf(world.spec, out):
        console.print(
            f"{path} ({form.value}, {world.model.nbody} bodies, {world.model.ngeom} geoms)" if path == out else path
        )


def _xyz(position: np.ndarray) -> str:
    return " ".join(f"{value:.3f}" for value in position)
