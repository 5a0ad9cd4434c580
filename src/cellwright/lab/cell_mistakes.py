"""All mistakes of a cell in one round, those that only sensors, doors or a built world can tell included."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from cellwright.cells import Cell, CellMistakes, Layout, load_cell, nominal_layout
from cellwright.core.errors import ConfigError, UnknownName
from cellwright.core.messages import Detections
from cellwright.core.mistakes import Mistakes
from cellwright.sensors import SENSORS, check_line, sensor_label
from cellwright.sim import World

__all__ = ["check_doors", "checked_layout", "read_cell"]


def read_cell(name_or_file: str | Path, seed: int = 0) -> Cell:
    """A cell by its name or from its file.

    Raises:
        BadInput: All that is wrong with it.
    """
    try:
        return load_cell(name_or_file)
    except CellMistakes as error:
        raise _with_others(error, error.rest, seed) from None


def checked_layout(cell: Cell, seed: int = 0, *, doors: bool = False) -> Layout:
    """The nominal layout of a cell that makes sense.

    Args:
        cell: The cell.
        seed: Of the layout.
        doors: Whether its vision doors must make sense as well, which a laboratory may never open.

    Raises:
        BadInput: All that is wrong with the cell; overlaps, for which it must be built, only if something else is.
    """
    try:
        layout = nominal_layout(cell, seed)
    except CellMistakes as error:
        raise _with_others(error, error.rest, seed) from None
    mistakes = Mistakes()
    detectors = _check_sensors(cell, layout.camera_errors, mistakes)
    if doors or mistakes.found:
        check_doors(cell, detectors, mistakes)
    if mistakes.found:
        _check_overlaps(cell, seed, mistakes)
        mistakes.tell()
    return layout


def _with_others(error: CellMistakes, rest: Cell | None, seed: int) -> CellMistakes:
    """The mistakes that were found, and those in what they leave of the cell."""
    if rest is None:
        return error
    others = Mistakes(rest.left_out)
    try:
        detectors = _check_sensors(rest, nominal_layout(rest, seed).camera_errors, others)
        check_doors(rest, detectors, others)
        _check_overlaps(rest, seed, others)
    except Exception:  # it is no whole cell, and may fail in any way: what was found stands, the next round tells more
        pass
    all_of_them = Mistakes()
    all_of_them.found = [*error.errors, *others.found]
    return CellMistakes(all_of_them.in_order(), rest)


def _check_sensors(cell: Cell, cameras: Mapping[str, object], mistakes: Mistakes) -> list[str]:
    """Every sensor's line makes sense and is there once; gives the names of all detectors, those with mistakes too."""
    known = {"robot": [*cell.names_in("robots"), *cell.mobile_names], "camera": [*cameras]}
    places: dict[str, str] = {}
    detectors: list[str] = []
    for place, line in cell.sensor_lines():
        with mistakes.of_one():
            kind = line.get("type")
            if isinstance(kind, str) and kind in SENSORS and SENSORS.get(kind).message_type is Detections:
                detectors.append(str(line.get("name")))
            check_line(line, f"{cell.where}: {place}", known)
            label = sensor_label(line)
            if label in places:
                problem = f"another sensor, {places[label]}, is the same; give this one a name of its own"
                raise ConfigError(cell.where, place, problem)
            places[label] = place
    return detectors


def check_doors(cell: Cell, detectors: Collection[str], mistakes: Mistakes) -> None:
    """The detector of every vision door exists."""
    for name, robot in cell.robots.items():
        if robot.vision is not None and robot.vision.detector not in detectors:
            where = f"{cell.where}: robots.{name}.vision.detector"
            mistakes.add(UnknownName("detector", robot.vision.detector, detectors, where))


def _check_overlaps(cell: Cell, seed: int, mistakes: Mistakes) -> None:
    with mistakes.of_one():
        World(cell.model_copy(update={"settle_s": 0.0}), seed)
