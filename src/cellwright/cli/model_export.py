"""`cellwright model export`: a model for other programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from cellwright.catalogue import ArmFigures, find_model
from cellwright.cli.output import prepare_output, print_json, say
from cellwright.core.errors import BadInput
from cellwright.models import build
from cellwright.models.exporting import ExportedFiles, ModelFormat, export_file, export_spec

__all__ = ["export", "exported_json", "format_of", "is_file", "say_exported"]

ENDINGS = {
    ".urdf": ModelFormat.URDF,
    ".sdf": ModelFormat.SDF,
    ".world": ModelFormat.SDF,
    ".xml": ModelFormat.MJCF,
    ".mjcf": ModelFormat.MJCF,
}
"""How a file is called -> its format; `.xml` may be any of them."""
FASTENED = ("robot", "furniture")
"""Kinds that stand fast: written as SDF, they stay where they are put."""
FEW = 3
"""Places that are named where the same is true of many; programs get them all."""


def export(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A model's name, or a URDF, SDF, xacro, MJCF or figures file.")
    ],
    out: Annotated[Path, typer.Option(help="The file to write; meshes go into <stem>_meshes beside it.")],
    form: Annotated[
        ModelFormat | None,
        typer.Option("--format", help="The file format; by default what --out is called, without ending urdf."),
    ] = None,
    mesh_uri: Annotated[
        str, typer.Option(help="With urdf and sdf: what the meshes' URIs begin with, such as package://my_robots/")
    ] = "",
    search: Annotated[
        list[Path] | None, typer.Option(help="With a file: a folder in which package:// and model:// are looked for.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Writes a model as MJCF, URDF or SDF, and says what the format could not hold.

    A file is translated: what it says goes into the other format, its meshes are copied.
    """
    form = format_of(out, form)
    if is_file(model):
        kind = "file"
        prepare_output(out)
        exported = export_file(Path(model), search or [], out, form, mesh_uri=mesh_uri)
    else:
        kind, figures = find_model(model)
        prepare_output(out)
        arms = {model: figures} if isinstance(figures, ArmFigures) else {}
        stands = kind in FASTENED
        exported = export_spec(build(figures), out, form, name=model, fastened=stands, mesh_uri=mesh_uri, arms=arms)
    counts = {"links": exported.links, "joints": exported.joints}
    if as_json:
        print_json({"model": model, "kind": kind, "format": form.value, **counts, **exported_json(exported)})
    else:
        say_exported(exported, form, counts)


def format_of(out: Path, requested: ModelFormat | None, usual: ModelFormat = ModelFormat.URDF) -> ModelFormat:
    """Returns the format that is asked for, else that of the file's name; of a name without ending, the usual one.

    Raises:
        BadInput: What is asked for and the name contradict each other, or the ending is not known.
    """
    ending = ENDINGS.get(out.suffix.lower())
    if requested is None and ending is None and out.suffix:
        raise BadInput(f"{out}: no format is called '{out.suffix}'; allowed: {', '.join(ENDINGS)}, or say --format")
    if requested is not None and ending not in (None, requested) and out.suffix.lower() != ".xml":
        raise BadInput(f"{out} is called {ending}, and --format says {requested}; leave one of them out")
    return requested or ending or usual


def is_file(model: str) -> bool:
    """Returns whether a file is meant; a name has no ending."""
    return bool(Path(model).suffix) or "/" in model


def exported_json(exported: ExportedFiles) -> dict[str, Any]:
    """Returns the files and notes for JSON."""
    notes = [{"kind": note.kind, "where": note.where, "what": note.what} for note in exported.notes]
    return {"files": exported.files, "notes": notes}


def say_exported(exported: ExportedFiles, form: ModelFormat, counts: Mapping[str, int]) -> None:
    """Prints what was written: few files by their names, many by their folder; then notes, equal ones as one."""
    first, *others = exported.files
    say(f"{first} ({form.value}, {', '.join(f'{count} {what}' for what, count in counts.items())})")
    if form is ModelFormat.MJCF:
        for path in others:
            say(str(path))
    elif others:
        say(f"{others[0].parent} ({len(others)} files)")
    alike: dict[tuple[str, str], list[str]] = {}
    for note in exported.notes:
        alike.setdefault((note.kind, note.what), []).append(note.where)
    for (kind, what), places in alike.items():
        rest = len(places) - FEW
        where = ", ".join(places if rest <= 1 else places[:FEW]) + (f" and {rest} more" if rest > 1 else "")
        say(f"{kind}: {where}: {what}")
