"""Conformance of a model that is a file: a robot description, or a part's mesh."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cellwright.catalogue.model_settings import ModelSettings
from cellwright.checks.finding import Finding
from cellwright.checks.model import check_model, check_spec
from cellwright.core.errors import BadInput
from cellwright.models import build
from cellwright.models.description import Inertial
from cellwright.models.importing import (
    ImportedArmFigures,
    ImportedFixtureFigures,
    ImportedGripperFigures,
    ImportedPartFigures,
    Note,
    Notes,
    UnclearKindError,
    guess_kind,
    import_figures,
    model_name,
    read_description,
)
from cellwright.models.importing.drives import loads
from cellwright.models.importing.mesh_files import FORMATS
from cellwright.models.importing.source import ParsedDescription, read_source

__all__ = ["check_file"]

_LINE = re.compile(r":\d+$")
KINDS = {
    ImportedArmFigures: "robot",
    ImportedGripperFigures: "tool",
    ImportedPartFigures: "part",
    ImportedFixtureFigures: "furniture",
}
LEAST_MASS_KG = 1e-6
"""What weighs less is a frame, which formats that know no massless link must give something."""


def check_file(path: Path, search: Sequence[Path] = (), model: str = "") -> tuple[str, list[Finding]]:
    """Returns the kind of a file, and the findings about it.

    Args:
        path: URDF, SDF, xacro or MJCF; a figures file; STL, OBJ or COLLADA for a part.
        search: Folders in which `package://` and `model://` are looked for.
        model: Which of several models of an SDF file.

    Raises:
        BadInput: It cannot be read, nothing usable remains, or it holds several models.
    """
    settings = ModelSettings(file=str(path.absolute()), search=tuple(str(f.absolute()) for f in search), model=model)
    name, folder = model_name(path.name.partition(".")[0]), path.absolute().parent
    if path.suffix.lower() in FORMATS:
        part = import_figures(name, settings, folder, "part")
        return "part", [_read(part.notes), *check_model(part, "part")]
    if path.suffix.lower() in (".yaml", ".yml"):
        figures = import_figures(name, settings, folder)
        kind = next(word for known, word in KINDS.items() if isinstance(figures, known))
        return kind, [_read(figures.notes), *check_model(figures, kind)]
    notes = Notes()
    source = read_source(path, settings, search, notes)
    roots = [body.name for body in source.spec.worldbody.bodies]
    if len(roots) != 1:
        raise BadInput(f"{path} holds {len(roots)} models ({', '.join(roots)}); one is checked: name it with --model")
    written = _as_written(source, search)
    try:
        guess = guess_kind(source)
    except UnclearKindError:
        return "mechanism", [_read(tuple(notes)), *written, *check_spec(source.spec, "mechanism")]
    if guess == "arm":
        arm = import_figures(name, settings, folder, "arm")
        assert isinstance(arm, ImportedArmFigures)
        return "robot", [_read(arm.notes), *written, *_drives(source, arm), *check_model(arm, "robot")]
    kind = "tool" if source.spec.copy().compile().njnt else "part" if _is_loose(source) else "furniture"
    return kind, [_read(tuple(notes)), *written, *check_spec(source.spec, kind)]


def _is_loose(source: ParsedDescription) -> bool:
    """Returns whether it is said to be free; only SDF says so, and only of what is not called static."""
    models = source.world.models if source.world is not None and source.format == "sdf" else ()
    return bool(models) and not any(placed.model.static or placed.model.joints for placed in models)


def _read(notes: tuple[Note, ...]) -> Finding:
    """Returns the finding about reading it; a line that was corrected because it cannot be meant is wrong."""
    counts = Counter(note.kind for note in notes)
    values: dict[str, float] = {kind: float(count) for kind, count in counts.items()}
    faults = [f"{note.where}: {note.what}" for note in notes if note.kind == "changed" and _LINE.search(note.where)]
    if faults:
        return Finding("reads", False, "; ".join(faults), values, "mend these lines of the file")
    told = ", ".join(f"{counts[kind]} {kind}" for kind in ("changed", "guessed", "dropped"))
    return Finding("reads", True, f"facts {told}; `cellwright model import` tells them", values)


def _drives(source: ParsedDescription, arm: ImportedArmFigures) -> list[Finding]:
    """Checks that the drives that the file describes can carry what it describes."""
    if source.world is None:
        return []
    said = {joint.name: joint.limits.effort for placed in source.world.models for joint in placed.model.joints}
    names = [joint.name for joint in arm.joints]
    _, weights = loads(build(arm).compile(), names)
    weak = [
        f"'{name}' has the effort limit {said[name]:g} N m, and its arm weighs {weight:.3g} N m there"
        for name, weight in zip(names, weights, strict=True)
        if said.get(name) and weight > (said[name] or 0.0)
    ]
    if not weak:
        return []
    return [Finding("effort as written", False, "; ".join(weak), {}, "give the largest torque of the drive, in N m")]


def _as_written(source: ParsedDescription, search: Sequence[Path]) -> list[Finding]:
    """Checks that importing the file need not correct its masses and moments."""
    if source.world is None:
        return []
    said = read_description(source.path, search, Notes())
    assert said is not None
    models = {placed.model.name: placed.model for placed in said.models}
    mended, missing = [], []
    for placed in source.world.models:
        given = {link.name: link.inertial for link in models[placed.model.name].links}
        for link in placed.model.links:
            own = given[link.name]
            if own is None and link.inertial is not None:
                missing.append(link.name)
            elif own is not None and not _alike(own, link.inertial):
                moments = ", ".join(f"{m:.3g}" for m in np.linalg.eigvalsh(own.inertia_kgm2))
                mended.append(
                    f"'{link.name}' has {own.mass_kg:.3g} kg and the moments {moments} kg m2, which cannot be"
                )
    detail = "; ".join(mended) or "masses and moments can be"
    detail += f"; none for {', '.join(missing)}" if missing else ""
    values = {"mended": len(mended), "missing": len(missing)}
    remedy = "give masses above zero, and moments of which none exceeds the sum of the others"
    return [Finding("inertia as written", not mended, detail, values, remedy)]


def _alike(own: Inertial, used: Inertial | None) -> bool:
    if used is None:
        return own.mass_kg <= LEAST_MASS_KG
    same = np.allclose(own.inertia_kgm2, used.inertia_kgm2, rtol=1e-6, atol=1e-15)
    return bool(same) and abs(own.mass_kg - used.mass_kg) <= 1e-9
