"""From a file and its settings to figures that a cell can use."""

from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import Any

from cellwright.catalogue.model_settings import Kind, ModelSettings
from cellwright.core.config import read_yaml
from cellwright.core.errors import BadInput, ConfigError, ConfigErrors, UnknownName
from cellwright.models.build import builder
from cellwright.models.importing.arm import ImportedArmFigures, import_arm
from cellwright.models.importing.body_part import import_body
from cellwright.models.importing.fixture import ImportedFixtureFigures, import_fixture
from cellwright.models.importing.gripper import ImportedGripperFigures, import_gripper
from cellwright.models.importing.kind import UnclearKindError, check_one_arm, guess_kind
from cellwright.models.importing.mesh_files import FORMATS
from cellwright.models.importing.mesh_world import mesh_world
from cellwright.models.importing.notes import DescriptionError, Note, Notes
from cellwright.models.importing.part import ImportedPartFigures, import_part
from cellwright.models.importing.source import ParsedDescription, read_source
from cellwright.models.importing.units import note_units

__all__ = ["Imported", "digest_of", "import_figures", "parsed_description", "read_settings"]

Imported = ImportedArmFigures | ImportedFixtureFigures | ImportedGripperFigures | ImportedPartFigures

HEAVIEST_TOOL_KG, WIDEST_TOOL_M = 50.0, 1.0
MOST_KEPT = 100  # models that were read last; who reads thousands shall not keep them all
_read: dict[str, Imported] = {}
_sources: dict[str, ParsedDescription] = {}


def read_settings(file: Path) -> ModelSettings:
    """Reads a figures file; the description that it names is beside it."""
    return read_yaml(file, ModelSettings)


def import_figures(name: str, settings: ModelSettings, folder: Path, kind: Kind | None = None) -> Imported:
    """Returns the figures of a model.

    What the engine complains about on the way, such as moments that are almost none, is a note.

    The same files and settings give the same object within a process, so that a cell which is loaded again costs
    nothing and compiles to the same model.

    Args:
        name: Its name.
        settings: Its settings.
        folder: The folder that its paths are relative to.
        kind: Its use; guessed from the file where neither this nor the settings say.

    Raises:
        BadInput: in one line, with what is wrong.
    """
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        figures = _import(name, settings, folder, kind)
    complaints = dict.fromkeys(" ".join(str(warning.message).split()) for warning in said)
    more = [Note("guessed", "engine", f"{text[:1].lower()}{text[1:]}") for text in complaints]
    object.__setattr__(figures, "notes", (*figures.notes, *(note for note in more if note not in figures.notes)))
    return figures


def _import(name: str, settings: ModelSettings, folder: Path, kind: Kind | None) -> Imported:
    path = folder / Path(settings.file).expanduser()
    if path.suffix.lower() in (".yaml", ".yml"):
        inner = read_settings(path)
        if Path(inner.file).suffix.lower() in (".yaml", ".yml"):
            raise DescriptionError(path, f"is a figures file and names another, {inner.file}; it names a description")
        try:
            return _import(name, inner, path.parent, kind)
        except BadInput as error:
            raise located_in_settings(error, path) from None
    search = [folder / Path(item).expanduser() for item in settings.search]
    if settings.srdf:
        settings = settings.model_copy(update={"srdf": str(folder / Path(settings.srdf).expanduser())})
    for item in search:
        if not item.is_dir():
            raise BadInput(f"search folder {item} {'is a file' if item.is_file() else 'does not exist'}")
    kind = kind or settings.kind
    sure = kind is not None
    notes = Notes()
    source: ParsedDescription | None = None
    if path.suffix.lower() in FORMATS:
        if kind not in (None, "part", "fixture"):
            raise BadInput(
                f"{path} is a mesh: it can be a part or a fixture, not {'an' if kind == 'arm' else 'a'} {kind}"
            )
        if not path.is_file():
            raise DescriptionError(path, "is a folder; name the file in it" if path.is_dir() else "does not exist")
    if path.suffix.lower() in FORMATS and kind != "fixture":
        kind, said = "part", hashlib.sha256(path.read_bytes()).hexdigest()
    else:
        source, notes, kind = _read_as(path, settings, search, kind)
        said = source.fingerprint
    key = _key(name, kind, settings, said)
    if key not in _read:
        try:
            if source is not None:
                note_units(source, kind, notes)
            made = _make(name, kind, settings, path, source, notes)
            if not sure and isinstance(made, ImportedGripperFigures):
                _check_size(made, path)
            _read[key] = made
        except (ValueError, ArithmeticError) as error:
            raise DescriptionError(path, f"makes no {kind}: {' '.join(str(error).split())}") from None
        except BadInput as error:
            if sure or kind != "tool" or isinstance(error, UnclearKindError):
                raise
            raise UnclearKindError(
                path, f"neither an arm nor a gripper ({str(error).removeprefix(f'{path}: ')})"
            ) from None
        if source is not None:
            _sources[key] = source
        for old in list(_read)[:-MOST_KEPT]:
            del _read[old]
            _sources.pop(old, None)
    return _read[key]


def located_in_settings(error: BadInput, where: str | Path, key: str = "") -> BadInput:
    """Returns the same errors, those about one of the settings with their place in the file that has it.

    Args:
        error: The error.
        where: The file that has the settings.
        key: The key of the settings in that file.
    """
    placed = []
    for one in getattr(error, "errors", (error,)):
        setting, _, problem = str(one).partition(": ")
        known = setting in ModelSettings.model_fields
        place = ".".join(filter(None, (key, setting))) if known else key
        text = problem if known else str(one)
        placed.append(ConfigError(where, place, text) if place else one)
    return placed[0] if len(placed) == 1 else ConfigErrors(placed)


def _read_as(
    path: Path, settings: ModelSettings, search: list[Path], kind: Kind | None
) -> tuple[ParsedDescription, Notes, Kind]:
    """Reads a file as the kind that it is used as; fixtures and loose parts keep their hollows."""
    notes = Notes()
    in_pieces = settings.collision == "pieces" if settings.collision else kind in ("part", "fixture")
    made = mesh_world(path, settings, notes) if path.suffix.lower() in FORMATS else None
    source = read_source(path, settings, search, notes, in_pieces=in_pieces, made=made)
    if kind == "arm":
        check_one_arm(source, settings)
    if kind is not None:
        return source, notes, kind
    guess = guess_kind(source, settings)
    if guess != "fixture" and source.world is not None and len(source.world.models) > 1:
        number = len(source.world.models)
        notes.guessed(
            "kind", f"one {guess} of {number} models; --model names another, --kind fixture takes all of them"
        )
    return _read_as(path, settings, search, guess) if guess == "fixture" else (source, notes, guess)


def _make(
    name: str, kind: Kind, settings: ModelSettings, path: Path, source: ParsedDescription | None, notes: Notes
) -> Imported:
    if kind == "part" and source is None:
        return import_part(path, name, settings, notes)
    if source is None:
        raise BadInput(f"{path} is a mesh: it can be a part, not a {kind}")
    match kind:
        case "arm":
            return import_arm(source, name, settings, notes)
        case "tool":
            return import_gripper(source, name, settings, notes)
        case "fixture":
            return import_fixture(source, name, settings, notes)
        case "part":
            return import_body(source, name, settings, notes)
    raise UnknownName("kind", kind, ["arm", "tool", "part", "fixture"])


def _check_size(tool: ImportedGripperFigures, path: Path) -> None:
    """Refuses an object that is too large for a gripper: cars have parts that move towards each other, too.

    Raises:
        UnclearKindError: No arm carries such a tool.
    """
    mass_kg, width_m = float(tool.spec.copy().compile().body_mass.sum()), 2 * tool.open_m
    if mass_kg > HEAVIEST_TOOL_KG or width_m > WIDEST_TOOL_M:
        raise UnclearKindError(
            path, f"a gripper that weighs {mass_kg:.3g} kg and opens by {width_m:.3g} m is hardly one"
        )


def _key(name: str, kind: str, settings: ModelSettings, said: str) -> str:
    """Returns the key on which the figures depend: settings and contents, wherever the files are."""
    given = settings.model_dump_json(exclude={"file", "search", "arguments", "srdf"})
    return hashlib.sha256(f"{name} {kind} {given} {said}".encode()).hexdigest()


def digest_of(figures: Imported) -> str:
    """Returns eight letters that tell this import from all others."""
    return next(key[:8] for key, known in _read.items() if known is figures)


def parsed_description(figures: Imported) -> ParsedDescription:
    """Returns the description that was read for a model, before it became an arm, a tool or a fixture."""
    return next(_sources[key] for key, known in _read.items() if known is figures)


def _own_spec(figures: Any) -> Any:
    return figures.spec.copy()


for _kind in (ImportedArmFigures, ImportedFixtureFigures, ImportedGripperFigures, ImportedPartFigures):
    builder.register(_kind, _own_spec)
