"""`cellwright cell`: new, list, show, check, picture, export, fit."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text

from cellwright.cells import (
    CELLS,
    ERROR_SIZES,
    Cell,
    Layout,
    LayoutDeviation,
    SafetyCfg,
    actual_layout,
    cell_hints,
    cell_yaml,
    layout_deviations,
    load_cell,
)
from cellwright.checks.cell import check_cell
from cellwright.checks.page import findings_page
from cellwright.cli.cell_export import export
from cellwright.cli.cell_fit import fit
from cellwright.cli.cell_new import new
from cellwright.cli.look import camera_line, take_camera_picture, usual_file
from cellwright.cli.model_check import findings_json, show_findings
from cellwright.cli.output import prepare_output, print_json, say, table, tell_hints
from cellwright.cli.page_file import command_line, prepare_page, write_page
from cellwright.core.errors import BadInput
from cellwright.core.files import refuse_existing
from cellwright.core.pose import Pose
from cellwright.lab.cell_file import checked_layout, read_cell
from cellwright.lab.cell_schema import cell_file_schema
from cellwright.lab.versions import all_versions
from cellwright.sim import World
from cellwright.sim.picture import take_picture

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Cells: what stands where.")

CellName = Annotated[str, typer.Argument(metavar="CELL", help="A cell's name, or a YAML file.")]
Seed = Annotated[int, typer.Option(help="Decides the actual layout.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


app.command()(new)
app.command()(export)
app.command()(fit)


@app.command("list")
def list_cells(as_json: Json = False) -> None:
    """Lists the cells that are installed."""
    cells = [load_cell(CELLS.get(name)) for name in CELLS]
    if as_json:
        whole = [{"name": c.name, "title": c.title, "file": c.file, "variants": list(c.variants)} for c in cells]
        print_json({"cells": whole})
        return
    rows = [
        (c.name, c.title, _robots(c), len(c.trays), sum(p.count for p in c.populations) + len(c.parts)) for c in cells
    ]
    table(None, ["cell", "title", "robots", "trays [n]", "parts [n]"], rows, markup=False)
    for c in cells:
        if c.variants:
            say(f"\n{c.name} also as {', '.join(f'{c.name}@{variant}' for variant in c.variants)}")
    say(f"\nall of them with errors of a named size, {' or '.join(f'CELL@{size}' for size in ERROR_SIZES)}")


@app.command()
def show(
    cell: Annotated[str | None, typer.Argument(metavar="CELL", help="A cell's name, or a YAML file.")] = None,
    seed: Seed = 0,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="Print it as a cell file, with every default.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON schema of cell files and end.")] = False,
    drawn: Annotated[bool, typer.Option("--drawings", help="Print what a controller may know of it, as JSON.")] = False,
    as_json: Json = False,
) -> None:
    """Shows a cell: robots, fixtures, trays, parts; nominal poses, and how far the actual ones are from them."""
    if schema:
        print_json(cell_file_schema())
        return
    if cell is None:
        raise BadInput("Missing argument 'CELL', or --schema (see 'cellwright cell show --help')")
    if as_yaml + as_json + drawn > 1:
        raise BadInput("--yaml, --json and --drawings are forms of one cell: give one of them")
    loaded = read_cell(cell, seed)
    nominal = checked_layout(loaded, seed, interfaces=True)
    if drawn:
        print_json(_drawings(loaded))
        return
    if as_yaml:
        if loaded.models and loaded.file:
            tell_hints([f"files under models are named from {loaded.file.parent}: save it there"])
        print(cell_yaml(loaded), end="")
        return
    actual = actual_layout(loaded, seed)
    off_mm, off = _off_mm(nominal, actual), layout_deviations(loaded, nominal, actual)
    if as_json:
        objects = {
            p.name: {"model": p.model, "xyz_m": p.pose_in_world.position, "yaw_deg": _yaw_deg(p.pose_in_world)}
            | {"off_mm": off_mm[p.name]}
            for p in nominal.objects.values()
        }
        mobiles = {
            name: {"model": p.model, "xyz_m": p.pose_in_world.position, "yaw_deg": _yaw_deg(p.pose_in_world)}
            | {"off_mm": 1000 * p.pose_in_world.distance_m(actual.mobiles[name].pose_in_world)}
            for name, p in nominal.mobiles.items()
        }
        fixed = {name: {"off_mm": 1000 * o.shift_m, "off_deg": np.degrees(o.turn_rad)} for name, o in off.items()}
        shown = {"seed": seed, "objects": objects, "mobile_robots": mobiles, "robots_and_fixtures": fixed}
        print_json(loaded.model_dump(mode="json") | shown)
        return
    say(Text(loaded.title, "bold"))
    say(" ".join(loaded.description.split()) + "\n")
    if loaded.actual.size is not None:
        say(f"errors of the real cell: {loaded.actual.size}\n")
    robots = [
        (n, r.model, r.tool or "-", _xyz(nominal.bases[n].position), f"{_yaw_deg(nominal.bases[n]):.0f}")
        for n, r in loaded.robots.items()
    ]
    if robots or not loaded.mobiles:
        table("robots", ["name", "model", "tool", "base x y z [m]", "yaw [deg]"], robots, markup=False)
        for name in loaded.robots:
            say(f"the actual base of {name} is off by {_off(off[name], ' mm, ', ' deg')}")
    if loaded.mobiles:
        _show_mobiles(loaded, nominal, actual, seed)
    rows = [
        (p.name, p.model, _xyz(p.pose_in_world.position), f"{_yaw_deg(p.pose_in_world):.0f}", f"{off_mm[p.name]:.1f}")
        for p in nominal.objects.values()
    ]
    say()
    title = f"trays and parts (off: how far the actual one of seed {seed} is from its nominal place)"
    table(title, ["name", "model", "x y z [m]", "yaw [deg]", "off [mm]"], rows, markup=False)
    say()
    fixtures = [(n, loaded.fixtures[n].model, _xyz(p.position), _off(off[n])) for n, p in nominal.fixtures.items()]
    title = f"fixtures (off: the actual ones of seed {seed}, tables at their top; of posts their camera)"
    table(title, ["name", "model", "x y z [m]", "off [mm, deg]"], fixtures, markup=False)
    say()
    sensors = [
        (s.get("type"), s.get("name") or s.get("robot") or s.get("camera"), s.get("rate_hz") or "usual")
        for s in loaded.sensors
    ]
    for key, cfg in loaded.mobiles.items():
        sensors += [(s.get("type"), f"{key}, each", s.get("rate_hz") or "usual") for s in cfg.sensors]
    table("sensors", ["type", "of", "rate [Hz]"], sensors, markup=False)
    if loaded.safety is not None:
        _show_safety(loaded.safety)


@app.command()
def check(
    cell: CellName,
    seed: Seed = 0,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the findings as a page, too.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    as_json: Json = False,
) -> int:
    """Checks a cell: what stands, grips, reaches, sees and is seen; exit 1 when something is wrong, with a remedy."""
    if html is not None:
        prepare_page(html, overwrite=overwrite)
    loaded = read_cell(cell, seed)
    tell_hints(cell_hints(loaded))
    findings = check_cell(loaded, seed)
    if html is not None:
        page = findings_page(
            f"Cell `{loaded.name}`", f"{loaded.title}, seed {seed}", findings,
            hints=cell_hints(loaded), versions=all_versions(), command=command_line(),
        )  # fmt: skip
        write_page(html, page)
    if as_json:
        print_json({"cell": cell, **findings_json(findings)} | ({"page": html} if html else {}))
    else:
        show_findings(findings)
        if html is not None:
            say(f"page {html}")
    return 0 if all(f.ok for f in findings) else 1


@app.command()
def picture(
    cell: CellName,
    out: Annotated[Path | None, typer.Option(help="The PNG file; out/cell.png, or the next number.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    seed: Seed = 0,
    camera: Annotated[str | None, typer.Option(help="Through this camera, with its own size, as `look` does.")] = None,
    width: Annotated[int, typer.Option(min=16, max=4096)] = 1280,
    height: Annotated[int, typer.Option(min=16, max=4096)] = 720,
    as_json: Json = False,
) -> None:
    """Renders a cell to a PNG file; needs no display."""
    loaded = read_cell(cell, seed)
    if not overwrite:
        refuse_existing(out)
    line = None if camera is None else camera_line(loaded, camera, depth=False)
    out = out or usual_file("cell", overwrite=overwrite)
    prepare_output(out)
    tell_hints(cell_hints(loaded))
    world = World(loaded, seed)
    if line is None:
        renderer = take_picture(world, out, (width, height))
    else:
        told = take_camera_picture(world, line, out)
        renderer, width, height = told["renderer"], told["width"], told["height"]
    if as_json:
        print_json({"cell": cell, "seed": seed, "file": out, "width": width, "height": height, "renderer": renderer})
    else:
        say(f"{out} ({width} x {height}, renderer {renderer})")


def _robots(cell: Cell) -> str:
    """Returns arms by name, mobile robots by model and number."""
    mobiles = [f"{len(cfg.names(key))} {cfg.model}" for key, cfg in cell.mobiles.items()]
    return ", ".join([*cell.robots, *mobiles])


def _show_mobiles(cell: Cell, nominal: Layout, actual: Layout, seed: int) -> None:
    rows = []
    for name, drawn in nominal.mobiles.items():
        real = actual.mobiles[name]
        off_mm = 1000 * drawn.pose_in_world.distance_m(real.pose_in_world)
        wheels = [1000 * size for size in (*real.wheel_radii_m, real.wheel_base_m)]
        place = (_xyz(drawn.pose_in_world.position), f"{_yaw_deg(drawn.pose_in_world):.0f}", f"{off_mm:.1f}")
        rows.append((name, drawn.model, *place, " ".join(f"{size:.3f}" for size in wheels)))
    title = f"mobile robots (off, wheels: the actual ones of seed {seed}; radius left, right, base)"
    columns = ["name", "model", "x y z [m]", "yaw [deg]", "off [mm]", "wheels [mm]"]
    table(title, columns, rows, markup=False)
    if cell.arena is not None:
        size = " x ".join(f"{length:g}" for length in cell.arena.size_m)
        say(f"arena of {size} m, walls {cell.arena.wall_height_m:g} m high")


def _show_safety(safety: SafetyCfg) -> None:
    zones = [
        (n, ", ".join(z.robots), z.category, "yes" if z.watched else "no", _xyz(z.box[0].position), _xyz(z.size_m))
        for n, z in safety.zones.items()
    ]
    say()
    columns = ["zone", "robots", "stop", "watched", "middle x y z [m]", "size x y z [m]"]
    table("safety zones (the robots that stop when they are entered)", columns, zones, markup=False)
    guards = [
        (n, g.kind, ", ".join(g.zones), g.category or "as the zone", _xyz(g.box[0].position) if g.box else "-")
        for n, g in safety.inputs.items()
    ]
    say()
    columns = ["guard", "kind", "zones", "stop", "middle x y z [m]"]
    table("guards (digital inputs, closed when all is well)", columns, guards, markup=False)


def _drawings(cell: Cell) -> dict[str, Any]:
    """Returns what the control interface of a trial tells of this cell."""
    from cellwright.drawings.summary import drawings
    from cellwright.lab import Lab
    from cellwright.trials.oracle_reach import PointReach

    with Lab(cell) as lab:
        return drawings(cell, PointReach(lab), None)


def _off_mm(nominal: Layout, actual: Layout) -> dict[str, float]:
    """Returns the distances of the loose objects' actual places from the nominal ones."""
    return {
        name: 1000 * item.pose_in_world.distance_m(actual.objects[name].pose_in_world)
        for name, item in nominal.objects.items()
    }


def _off(deviation: LayoutDeviation, mm: str = " ", deg: str = "") -> str:
    return f"{1000 * deviation.shift_m:.1f}{mm}{np.degrees(deviation.turn_rad):.2f}{deg}"


def _xyz(position: Iterable[float]) -> str:
    return " ".join(f"{value:.3f}" for value in position)


def _yaw_deg(pose: Pose) -> float:
    return float(np.degrees(pose.rpy[2])) + 0.0
