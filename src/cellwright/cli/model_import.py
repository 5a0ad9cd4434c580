"""`cellwright model import`: a robot, tool, thing or part from a file, and all that was changed on the way."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Annotated, Any, get_args

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from cellwright.catalogue.model_settings import Collision, Kind, ModelSettings, Origin, Unit
from cellwright.cli.output import console, print_json, say, table
from cellwright.core.config import validate
from cellwright.core.errors import BadInput, UnknownName

__all__ = ["import_model"]

MOST_LINES = 30
COLOURS = {"changed": "yellow", "guessed": "cyan", "dropped": "red"}


def import_model(
    file: Annotated[Path, typer.Argument(help="URDF, SDF, MJCF or xacro; STL, OBJ or COLLADA for a part.")],
    name: Annotated[
        str,
        typer.Option(
            help="What it shall be called; by default as the file, with a number where that name is another's."
        ),
    ] = "",
    out: Annotated[Path, typer.Option(help="Folder for the model and its figures file.")] = Path("out/models"),
    search: Annotated[
        list[Path] | None, typer.Option(help="Folder in which package:// and model:// are looked for; may be repeated.")
    ] = None,
    kind: Annotated[
        str,
        typer.Option(help=f"What it is: {', '.join(get_args(Kind))}; by default by its joints, refused where unclear."),
    ] = "",
    base: Annotated[str, typer.Option(help="The link that stands where a cell puts it.")] = "",
    tip: Annotated[str, typer.Option(help="The link or frame that is an arm's flange, or a tool's centre.")] = "",
    model: Annotated[str, typer.Option(help="Which of several models of an SDF file.")] = "",
    arg: Annotated[list[str] | None, typer.Option(help="Argument of xacro, name:=value; may be repeated.")] = None,
    srdf: Annotated[
        Path | None, typer.Option(help="MoveIt's file of a URDF robot; one that lies near is found.")
    ] = None,
    units: Annotated[str, typer.Option(help=f"Of a mesh file: {', '.join(get_args(Unit))}.")] = "",
    mass: Annotated[float | None, typer.Option(help="Of the whole, in kg.")] = None,
    payload: Annotated[float | None, typer.Option(help="Rated load of an arm, in kg.")] = None,
    origin: Annotated[str, typer.Option(help=f"Of a part: {', '.join(get_args(Origin))}.")] = "bottom",
    collision: Annotated[
        str, typer.Option(help="How a hollow mesh is touched: hull or pieces; by default guessed.")
    ] = "",
    sku: Annotated[str, typer.Option(help="Under which orders and vision name a part.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Imports a model, says what was changed, guessed or dropped, and writes it for cells to use."""
    from cellwright.models.importing import Note, import_figures, model_name, write_figures
    from cellwright.models.importing.figures_file import free_name, usual_name

    for option, value, choices in (
        ("kind", kind, Kind),
        ("unit", units, Unit),
        ("origin", origin, Origin),
        ("collision", collision, Collision),
    ):
        if value and value not in get_args(choices):
            raise UnknownName(option, value, get_args(choices))
    if re.match(r"[a-z]{3,5}:/", str(file)):
        raise BadInput(f"{file} is an address: nothing is fetched from the network; give a file")
    given: dict[str, Any] = {
        "file": str(file.absolute()),
        "kind": kind or None,
        "search": [str(folder.absolute()) for folder in search or []],
        "arguments": _arguments(arg or []),
        "srdf": str(srdf.absolute()) if srdf else "",
        "model": model,
        "base": base,
        "tip": tip,
        "units": units or None,
        "mass_kg": mass,
        "payload_kg": payload,
        "origin": origin,
        "collision": collision or None,
        "sku": sku,
    }
    settings = validate(given, ModelSettings, file)
    usual = model_name(name) if name else usual_name(file)
    own = usual if name else free_name(usual, settings, file, out)
    figures = import_figures(own, settings, Path.cwd())
    files = write_figures(figures, settings, file, out)
    facts, notes = _facts(figures), figures.notes
    if own != usual:
        notes = (Note("changed", "name", f"'{own}': {out} holds another import called '{usual}'"), *notes)
    if as_json:
        listed = [{"kind": note.kind, "where": note.where, "what": note.what} for note in notes]
        print_json({"model": own, "title": figures.title, **facts, "notes": listed, "files": files})
        return
    say(Text(figures.title, "bold"), f" ({facts['kind']} {own})")
    _show(facts)
    for word, colour in COLOURS.items():
        found = [f"{note.where}: {note.what}" for note in notes if note.kind == word]
        if found:
            say(Text(f"\n{word} ({len(found)})", f"bold {colour}"))
            _show_lines(found[:MOST_LINES])
        if len(found) > MOST_LINES:
            say(f"  ... and {len(found) - MOST_LINES} more; --json has all of them")
    say("\n" + "\n".join(str(path) for path in files))


def _show_lines(lines: list[str]) -> None:
    """Prints lines that a terminal wraps with a hanging indent; a pipe gets each of them whole."""
    if not console.is_terminal:
        for line in lines:
            say(f"  {line}")
        return
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=3, justify="right")
    grid.add_column(overflow="fold")
    for line in lines:
        grid.add_row("-", Text(line))
    console.print(grid)


def _arguments(words: list[str]) -> dict[str, str]:
    pairs = [word.partition(":=") for word in words]
    for word, (key, sign, _) in zip(words, pairs, strict=True):
        if not (key and sign):
            raise BadInput(f"--arg is written name:=value, not '{word}'")
    return {key: value for key, _, value in pairs}


def _facts(figures: Any) -> dict[str, Any]:
    """Returns the facts of the imported model."""
    from cellwright.models import build
    from cellwright.models.importing import ImportedArmFigures, ImportedGripperFigures, ImportedPartFigures

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are notes already
        compiled = build(figures).compile()
    facts: dict[str, Any] = {"kind": "fixture", "mass_kg": float(compiled.body_mass.sum())}
    facts |= {"bodies": compiled.nbody - 1, "geoms": compiled.ngeom, "meshes": compiled.nmesh}
    if isinstance(figures, ImportedArmFigures):
        from cellwright.motion import ArmKinematics

        facts |= {"kind": "arm", "base": figures.base_link, "tip": figures.tip_link}
        facts |= {"inverse_kinematics": ArmKinematics(figures).method, "payload_kg": figures.payload_kg}
        facts |= {"reach_m": figures.reach_m}
        facts["joints"] = [
            {
                "name": joint.name,
                "lower_rad": joint.position_limits_rad[0],
                "upper_rad": joint.position_limits_rad[1],
                "velocity_radps": joint.velocity_limit_radps,
                "effort_nm": joint.effort_limit_nm,
            }
            for joint in figures.joints
        ]
    elif isinstance(figures, ImportedGripperFigures):
        facts |= {"kind": "tool", "width_m": [2 * figures.closed_m, 2 * figures.open_m]}
        facts |= {"grip_force_n": figures.grip_force_n, "tcp_xyz_m": figures.tcp_xyz_m}
    elif isinstance(figures, ImportedPartFigures):
        size = np.subtract(figures.high_m, figures.low_m)
        inertia = compiled.body_inertia[1]
        facts |= {"kind": "part", "sku": figures.sku, "size_m": size, "inertia_kgm2": inertia}
        facts["grasps"] = [vars(grasp) for grasp in figures.grasps]
    return facts


def _show(facts: dict[str, Any]) -> None:
    _show_lines(_fact_lines(facts))
    if "joints" in facts:
        rows = []
        for joint in facts["joints"]:
            angles = [f"{np.degrees(joint[key]):.1f}" for key in ("lower_rad", "upper_rad", "velocity_radps")]
            rows.append((joint["name"], *angles, f"{joint['effort_nm']:.4g}"))
        table(None, ["joint", "from [deg]", "to [deg]", "speed [deg/s]", "torque [N m]"], rows, markup=False)
    if facts.get("grasps"):
        lines = [
            (_text(grasp["xyz_m"]), f"{np.degrees(grasp['yaw_rad']):.0f}", f"{1000 * grasp['width_m']:.1f}")
            for grasp in facts["grasps"]
        ]
        table(None, ["grasp x y z [m]", "yaw [deg]", "width [mm]"], lines, markup=False)


def _fact_lines(facts: dict[str, Any]) -> list[str]:
    """Returns the facts in a few lines of text."""
    parts = f"{facts['bodies']} bodies, {facts['geoms']} geoms, {facts['meshes']} meshes"
    lines = [f"mass {facts['mass_kg']:.4g} kg; {parts}"]
    if "tip" in facts:
        lines.append(f"from {facts['base']} to {facts['tip']}; inverse kinematics {facts['inverse_kinematics']}")
        lines.append(f"payload {facts['payload_kg']:.4g} kg, reach {facts['reach_m']:.3f} m")
    if "width_m" in facts:
        low, high = (1000 * width for width in facts["width_m"])
        lines.append(f"opens from {low:.1f} to {high:.1f} mm, presses with {facts['grip_force_n']:.4g} N each finger")
        lines.append(f"centre point at {_text(facts['tcp_xyz_m'])} m of the flange")
    if "size_m" in facts:
        lines.append(f"{facts['sku']}, size {_text(facts['size_m'])} m, inertia {_text(facts['inertia_kgm2'])} kg m2")
    return lines


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple | np.ndarray):
        return " ".join(f"{0.0 if abs(number) < 1e-9 else number:.4g}" for number in value)
    return str(value)
