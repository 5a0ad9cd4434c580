"""`cellwright model`: list, show, import, export and check what cells are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import mujoco
import numpy as np
import typer
from rich.text import Text

from cellwright.catalogue import KINDS, ArmFigures, SlotFigures, TrayFigures, find_model, part_of_sku
from cellwright.catalogue.figures import Figures
from cellwright.catalogue.plug_trays import clearance_m
from cellwright.cli.model_check import check
from cellwright.cli.model_export import export
from cellwright.cli.model_import import import_model
from cellwright.cli.output import prepare_output, print_json, say, table
from cellwright.models import build
from cellwright.rendering import add_environment, auto_view, choose_renderer, save_png

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Models: robots, tools, parts, trays, furniture.")

SIZE_PX = (1280, 720)

app.command()(export)
app.command()(check)
app.command("import")(import_model)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command("list")
def list_models(as_json: Json = False) -> None:
    """Lists all models by kind."""
    rows = [(kind, name, registry.get(name).title) for kind, registry in KINDS.items() for name in registry]
    if as_json:
        print_json({"models": [dict(zip(("kind", "name", "title"), row, strict=True)) for row in rows]})
        return
    table(None, ["kind", "model", "title"], rows, markup=False)


@app.command()
def show(
    model: Annotated[str, typer.Argument(help="A model's name.")],
    picture: Annotated[Path | None, typer.Option(help="Also render it to this PNG file.")] = None,
    as_json: Json = False,
) -> None:
    """Shows a model's figures, each with its source."""
    kind, figures = find_model(model)
    if picture is not None:
        prepare_output(picture)
    compiled = build(figures).compile()
    values = {f.name: getattr(figures, f.name) for f in fields(figures) if f.name not in ("name", "title", "sources")}
    counts = {
        "bodies": compiled.nbody - 1,
        "joints": compiled.njnt,
        "geoms": compiled.ngeom,
        "triangles": compiled.nmeshface,
    }
    if picture is not None:
        _draw(figures, picture)
    if as_json:
        about = {"model": model, "kind": kind, "title": figures.title, "picture": picture}
        plain = {key: _plain(value) for key, value in values.items()}
        print_json({**about, "figures": plain, "sources": dict(figures.sources), "compiled": counts})
        return
    say(Text(figures.title, "bold"), f" ({kind} {model})")
    rows = [(name, _text(value), figures.sources.get(name, "")) for name, value in values.items()]
    table(None, ["figure", "value", "source"], rows, markup=False)
    for title, columns, detail in _details(figures):
        say()
        table(title, columns, detail, markup=False)
    say("\ncompiled: " + ", ".join(f"{count} {what}" for what, count in counts.items()))
    if picture is not None:
        say(str(picture))


def _draw(figures: Figures, path: Path) -> None:
    spec = build(figures)
    add_environment(spec)
    scene = spec.compile()
    data = mujoco.MjData(scene)
    mujoco.mj_forward(scene, data)
    save_png(choose_renderer().render(scene, data, auto_view(scene), SIZE_PX), path)


def _details(figures: Figures) -> Iterator[tuple[str, list[str], list[tuple[str, ...]]]]:
    """Yields the tables of figures that are too much for one line."""
    if isinstance(figures, ArmFigures):
        joints = []
        for joint in figures.joints:
            angles = [f"{np.degrees(angle):.1f}" for angle in joint.position_limits_rad]
            drive = f"{np.degrees(joint.velocity_limit_radps):.0f}", f"{joint.effort_limit_nm:.0f}"
            joints.append((joint.name, joint.maker_name, *angles, *drive))
        columns = ["name", "maker's", "from [deg]", "to [deg]", "speed [deg/s]", "torque [N m]"]
        yield "joints", columns, joints
        yield "links", ["name", "mass [kg]"], [(link.name, f"{link.mass_kg:.2f}") for link in figures.links]
    if isinstance(figures, TrayFigures):
        slots = [(s.name, s.accepts, *(f"{1000 * value:.1f}" for value in s.xy_m), _wall(s)) for s in figures.slots]
        yield "slots", ["name", "for", "x [mm]", "y [mm]", "wall [mm]"], slots
    nested: list[tuple[str, ...]] = [(name, source) for name, source in figures.sources.items() if "." in name]
    if nested:
        yield "where these come from", ["figure", "source"], nested


def _wall(slot: SlotFigures) -> str:
    """Returns the wall of a slot in words: its diameters, and of a straight one clearance and chamfer."""
    bottom_mm, top_mm = 2000 * slot.bottom_radius_m, 2000 * slot.top_radius_m
    if not slot.is_straight:
        return f"cone, {bottom_mm:.1f} to {top_mm:.1f}"
    play_m = clearance_m(slot, part_of_sku(slot.accepts))
    play = "" if play_m is None else f", clearance {1000 * play_m:.3g}"
    return f"straight, {bottom_mm:.2f}{play}, chamfer {1000 * slot.chamfer_m:.3g}"


def _text(value: Any) -> str:
    """Returns a figure as a person reads it: few digits, parts by their names."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if hasattr(value, "items"):
        return ", ".join(f"{key} ({_text(item)})" for key, item in value.items())
    if isinstance(value, tuple | list):
        separator = " " if all(isinstance(item, float | int) for item in value) else ", "
        return separator.join(map(_text, value))
    if is_dataclass(value):
        own = [_text(getattr(value, f.name)) for f in fields(value)]
        return str(getattr(value, "name", "")) or f"({', '.join(own)})"
    return str(value)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if hasattr(value, "items"):
        return {str(key): _plain(item) for key, item in value.items()}
    return value.value if isinstance(value, Enum) else value
