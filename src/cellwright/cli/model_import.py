"""`cellwright model import`: somebody else's robot, tool, thing or part, and all that was changed on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, get_args

import numpy as np
import typer
from rich.text import Text

from cellwright.catalogue.model_settings import Kind, ModelSettings, Origin, Unit
from cellwright.cli.output import print_json, say, table
from cellwright.core.config import validate
from cellwright.core.errors import BadInput, UnknownName

__all__ = ["import_model"]

COLOURS = {"changed": "yellow", "guessed": "cyan", "dropped": "red"}


def import_model(
    file: Annotated[Path, typer.Argument(help="URDF, SDF, MJCF or xacro; STL, OBJ or COLLADA for a part.")],
    name: Annotated[str, typer.Option(help="What it shall be called; by default as in the file.")] = "",
    out: Annotated[Path, typer.Option(help="Folder for the model and its figures file.")] = Path("out/models"),
    search: Annotated[
        list[Path] | None, typer.Option(help="Folder in which package:// and model:// are looked for; may be repeated.")
    ] = None,
    kind: Annotated[str, typer.Option(help=f"What it is: {', '.join(get_args(Kind))}; by default guessed.")] = "",
    base: Annotated[str, typer.Option(help="The link that stands where a cell puts it.")] = "",
    tip: Annotated[str, typer.Option(help="The link or frame that is an arm's flange, or a tool's centre.")] = "",
    model: Annotated[str, typer.Option(help="Which of several models of an SDF file.")] = "",
    arg: Annotated[list[str] | None, typer.Option(help="Argument of xacro, name:=value; may be repeated.")] = None,
    srdf: Annotated[Path | None, typer.Option(help="MoveIt's file of a URDF robot; one that lies near is found.")] = None,
    units: Annotated[str, typer.Option(help=f"Of a mesh file: {', '.join(get_args(Unit))}.")] = "",
    mass: Annotated[float | None, typer.Option(help="Of the whole, in kg.")] = None,
    payload: Annotated[float | None, typer.Option(help="Rated load of an arm, in kg.")] = None,
    origin: Annotated[str, typer.Option(help=f"Of a part: {', '.join(get_args(Origin))}.")] = "bottom",
    sku: Annotated[str, typer.Option(help="Under which orders and vision name a part.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Imports a model, says what was changed, guessed or dropped, and writes it for cells to use."""
    from cellwright.models.importing import import_figures, model_name, write_figures

    for said, value, choices in (("kind", kind, Kind), ("unit", units, Unit), ("origin", origin, Origin)):
        if value and value not in get_args(choices):
            raise UnknownName(said, value, get_args(choices))
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
        "sku": sku,
    }
    settings = validate(given, ModelSettings, file)
    own = model_name(name or file.name.partition(".")[0])
    figures = import_figures(own, settings, Path.cwd())
    files = write_figures(figures, settings, file, out)
    facts = _facts(figures)
    if as_json:
        notes = [{"kind": note.kind, "where": note.where, "what": note.what} for note in figures.notes]
        print_json({"model": own, "title": figures.title, **facts, "notes": notes, "files": files})
        return
    say(Text(figures.title, "bold"), f" ({facts['kind']} {own})")
    _show(facts)
    for word, colour in COLOURS.items():
        found = [note for note in figures.notes if note.kind == word]
        if found:
            say(Text(f"\n{word} ({len(found)})", f"bold {colour}"))
        for note in found:
            say(f"  {note.where}: {note.what}")
    say("\n" + "\n".join(str(path) for path in files))


def _arguments(words: list[str]) -> dict[str, str]:
    pairs = [word.partition(":=") for word in words]
    for word, (key, sign, _) in zip(words, pairs, strict=True):
        if not (key and sign):
            raise BadInput(f"--arg is written name:=value, not '{word}'")
    return {key: value for key, _, value in pairs}


def _facts(figures: Any) -> dict[str, Any]:
    """What came out, for people and programs."""
    from cellwright.models import build
    from cellwright.models.importing import ImportedArmFigures, ImportedGripperFigures, ImportedPartFigures

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
    plain = {key: value for key, value in facts.items() if key not in ("kind", "joints", "grasps")}
    say(", ".join(f"{key} {_text(value)}" for key, value in plain.items()))
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


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple | np.ndarray):
        return " ".join(f"{number:.4g}" for number in value)
    return str(value)
