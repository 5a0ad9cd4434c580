"""`cellwright cell export`: a cell for other programs, as a model or as knowledge."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cellwright.cli.default_order import DEFAULT_ORDER
from cellwright.cli.export import export_knowledge
from cellwright.cli.model_export import exported_json, format_of, say_exported
from cellwright.cli.output import prepare_output, print_json, say
from cellwright.core.errors import BadInput
from cellwright.lab.cell_file import read_cell
from cellwright.models.exporting import ModelFormat, export_spec
from cellwright.models.importing.notes import Note
from cellwright.sim import World

__all__ = ["export"]

START = "start"
"""The keyframe in which arms are at home and everything has come to rest."""


class Format(StrEnum):
    """The formats in which a cell can be exported."""

    MJCF = "mjcf"
    URDF = "urdf"
    SDF = "sdf"
    OWL = "owl"
    XML = "xml"
    SQL = "sql"
    PDDL = "pddl"


def export(
    cell: Annotated[str, typer.Argument(metavar="CELL", help="A cell's name, or a YAML file.")],
    out: Annotated[Path, typer.Option(help="The file to write; with owl, xml and pddl the folder.")],
    form: Annotated[
        Format | None, typer.Option("--format", help="The file format; by default what --out is called, else mjcf.")
    ] = None,
    order: Annotated[list[str] | None, typer.Option(help="With owl, xml and pddl: the kits that are wanted.")] = None,
    dialect: Annotated[str, typer.Option(help="With sql: for sqlite, mariadb or postgresql.")] = "sqlite",
    mesh_uri: Annotated[
        str, typer.Option(help="With urdf and sdf: what the meshes' URIs begin with, such as package://my_robots/")
    ] = "",
    seed: Annotated[int, typer.Option(help="Decides the actual layout.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Writes a cell for other programs: its model, or what its drawings and an order say as knowledge.

    mjcf, urdf, sdf: the model, everything at its place. sql: a script that makes and fills the database. owl, xml:
    instance files of the initial state and of the goal. pddl: domain and problem in every vocabulary and form.
    """
    loaded = read_cell(cell)
    form = _format(out, form)
    if form.value not in {known.value for known in ModelFormat}:
        files = export_knowledge(loaded, form, out, order or [DEFAULT_ORDER], seed, dialect)
        if as_json:
            print_json({"cell": cell, "seed": seed, "format": form.value, "files": files})
        else:
            for path in files:
                say(str(path))
        return
    if order:
        raise BadInput("--order says nothing about a physics model; it goes with owl, xml, sql and pddl")
    prepare_output(out)
    world = World(loaded, seed)
    model_form = ModelFormat(form.value)
    spec = world.full_spec()
    if model_form is ModelFormat.MJCF:
        spec.add_key(name=START, qpos=world.data.qpos, ctrl=world.data.ctrl)
    arms = {name: robot.figures for name, robot in world.robots.items()}
    exported = export_spec(spec, out, model_form, name=loaded.name, whole=True, mesh_uri=mesh_uri, arms=arms)
    if world.robots and model_form is not ModelFormat.MJCF:
        lost = Note("dropped", "home", f"joint positions of {', '.join(world.robots)}: the format has none")
        exported = replace(exported, notes=(*exported.notes, lost))
    counts = {"links": exported.links, "joints": exported.joints}
    if model_form is ModelFormat.MJCF:
        whole, _ = world.appearance.now()
        counts = {"bodies": whole.nbody, "geoms": whole.ngeom}
    if as_json:
        print_json({"cell": cell, "seed": seed, "format": form.value, **counts, **exported_json(exported)})
    else:
        say_exported(exported, model_form, counts)


def _format(out: Path, requested: Format | None) -> Format:
    """Returns the format that is asked for, or by the file's name; one that contradicts that is refused."""
    if requested is None and out.suffix.lower() == ".sql":
        return Format.SQL
    if requested is None or requested.value in set(ModelFormat):
        return Format(
            format_of(out, None if requested is None else ModelFormat(requested.value), ModelFormat.MJCF).value
        )
    return requested
