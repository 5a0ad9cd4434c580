"""All mistakes of a cell in one report, including those that only sensors, interfaces or a built world reveal."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from cellwright.catalogue import PARTS, TRAYS
from cellwright.cells import Cell, CellConfigErrors, CellTargetsCfg, Layout, load_cell, load_plugins, nominal_layout
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import ConfigError, UnknownName
from cellwright.core.messages import Detections
from cellwright.sensors import SENSORS, check_line, sensor_label
from cellwright.sim import World

__all__ = ["check_targets", "check_vision_interfaces", "checked_layout", "read_cell"]

PLUGIN_MODELS = (PARTS.kind, TRAYS.kind)


def read_cell(name_or_file: str | Path, seed: int = 0) -> Cell:
    """Returns a cell by its name or from its file.

    Raises:
        BadInput: All that is wrong with it.
    """
    try:
        cell = load_cell(name_or_file)
    except CellConfigErrors as error:
        raise _with_others(error, error.valid_part, seed) from None
    if not load_plugins(cell):
        checked_layout(cell, seed)  # tells why, with all other mistakes
    return cell


def checked_layout(cell: Cell, seed: int = 0, *, interfaces: bool = False) -> Layout:
    """Returns the nominal layout of a cell that makes sense.

    Args:
        cell: The cell.
        seed: Of the layout.
        interfaces: Whether its vision interfaces must make sense as well, which a laboratory may never open.

    Raises:
        BadInput: All that is wrong with the cell; overlaps, for which it must be built, only if something else is.
    """
    load_plugins(cell)
    try:
        layout = nominal_layout(cell, seed)
    except CellConfigErrors as error:
        raise _with_others(error, error.valid_part, seed) from None
    errors = ErrorCollector()
    detectors = _check_sensors(cell, layout.cameras, errors)
    check_targets(cell, cell.targets, f"{cell.where}: targets", detectors, errors)
    if interfaces or errors.found:
        check_vision_interfaces(cell, detectors, errors)
    if errors.found:
        _check_overlaps(cell, seed, errors)
        errors.raise_errors()
    return layout


def _with_others(error: CellConfigErrors, rest: Cell | None, seed: int) -> CellConfigErrors:
    """Returns the mistakes that were found, and those in what they leave of the cell."""
    if rest is None:
        return error
    others = ErrorCollector(rest.left_out)
    try:
        detectors = _check_sensors(rest, nominal_layout(rest, seed).cameras, others)
        check_vision_interfaces(rest, detectors, others)
        _check_overlaps(rest, seed, others)
    except Exception:  # it is no whole cell, and may fail in any way: what was found stands, the next round tells more
        pass
    all_of_them = ErrorCollector()
    all_of_them.found = [*error.errors, *others.found]
    if not load_plugins(rest):  # what is unknown may be what a plugin would have registered
        all_of_them.found = [one for one in all_of_them.found if getattr(one, "kind", "") not in PLUGIN_MODELS]
    return CellConfigErrors(all_of_them.sorted_errors(), rest)


def _check_sensors(cell: Cell, cameras: Mapping[str, object], errors: ErrorCollector) -> list[str]:
    """Loads plugins and checks every sensor's line; returns the names of all detectors, those with mistakes too."""
    all_loaded = load_plugins(cell, errors)
    known = {"robot": [*cell.names_in("robots"), *cell.mobile_names], "camera": [*cameras]}
    places: dict[str, str] = {}
    detectors: list[str] = []
    for place, line in cell.sensor_lines():
        with errors.collecting():
            kind, named = line.get("type"), [str(line["name"])] if line.get("name") is not None else []
            if not all_loaded and isinstance(kind, str) and kind not in SENSORS:
                detectors += named
                continue  # a plugin that cannot be imported may have meant to register it
            if (
                isinstance(kind, str)
                and kind in SENSORS
                and getattr(SENSORS.get(kind), "message_type", None) is Detections
            ):
                detectors += named
            check_line(line, f"{cell.where}: {place}", known)
            label = sensor_label(line)
            if label in places:
                problem = f"another sensor, {places[label]}, is the same; give this one a name of its own"
                raise ConfigError(cell.where, place, problem)
            places[label] = place
    return [*dict.fromkeys(detectors)]


def check_vision_interfaces(cell: Cell, detectors: Collection[str], errors: ErrorCollector) -> None:
    """Checks that the detector of every vision interface exists."""
    for name, robot in cell.robots.items():
        if robot.vision is not None and robot.vision.detector not in detectors:
            where = f"{cell.where}: robots.{name}.vision.detector"
            errors.add(UnknownName("detector", robot.vision.detector, detectors, where))


def check_targets(
    cell: Cell, targets: CellTargetsCfg, where: str, detectors: Collection[str], errors: ErrorCollector
) -> None:
    """Checks that every robot and detector that has a target exists."""
    for kind, named, known in (("robot", targets.robots, cell.robots), ("detector", targets.detectors, detectors)):
        for name in named:
            if name not in known:
                errors.add(UnknownName(kind, name, known, f"{where}.{kind}s"))


def _check_overlaps(cell: Cell, seed: int, errors: ErrorCollector) -> None:
    with errors.collecting():
        World(cell.model_copy(update={"settle_s": 0.0}), seed)
