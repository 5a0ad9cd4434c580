"""Checks of the names in a cell: they exist and fit; slots are checked where parts are placed."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from cellwright.catalogue import FURNITURE, MOBILES, PARTS, ROBOTS, TOOLS
from cellwright.cells.models import models_missing, own_name, with_models
from cellwright.cells.schema import Cell, RobotCfg
from cellwright.cells.straight_slots import tray_figures
from cellwright.cells.tools import check_tools
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import ConfigError, UnknownName
from cellwright.core.registry import Registry

__all__ = ["check_names"]

T = TypeVar("T")
RESERVED = "world"  # the frame that everything stands in
ARENA = "arena"


def check_names(cell: Cell) -> None:
    """Checks that models exist, start configurations fit their arms, tools have a place, no name is used twice.

    Raises:
        BadInput: All that is wrong.
    """
    if models_missing(cell):
        with_models(cell)
    errors = ErrorCollector()
    _check_used_twice(cell, errors)
    models: list[tuple[Registry[Any], str, str]]
    models = [(FURNITURE, fixture.model, f"fixtures.{name}.model") for name, fixture in cell.fixtures.items()]
    models += [(PARTS, part.model, f"parts.{name}.model") for name, part in cell.parts.items()]
    models += [(PARTS, item.model, f"{place}.model") for place, item in cell.numbered_populations]
    models += [(TOOLS, tool.model, f"tools.{name}.model") for name, tool in cell.tools.items()]
    for name, robot in cell.robots.items():
        _check_robot(cell, name, robot, errors)
    for registry, model, path in models:
        with errors.collecting():
            _known(cell, registry, model, path)
    for name in cell.trays:
        with errors.collecting():
            tray_figures(cell, name)
    _check_safety(cell, errors)
    check_tools(cell, errors)
    errors.raise_errors()


def _check_used_twice(cell: Cell, errors: ErrorCollector) -> None:
    used: dict[str, str] = {}
    for section in ("robots", "fixtures", "tools", "trays", "parts"):
        for name in getattr(cell, section):
            with errors.collecting():
                if name == RESERVED:
                    raise ConfigError(cell.where, f"{section}.{name}", "the name is reserved; choose another")
                if name in used:
                    raise ConfigError(cell.where, f"{section}.{name}", f"the name is taken by {used[name]}.{name}")
                used[name] = section
    with errors.collecting():
        if cell.arena is not None and ARENA in used:
            raise ConfigError(cell.where, f"{used[ARENA]}.{ARENA}", "the name is taken by the section arena")
    for key, mobile in cell.mobiles.items():
        with errors.collecting():
            MOBILES.get(mobile.model, f"{cell.where}: mobiles.{key}.model")
            for name in mobile.names(key):
                if name in used or name in (RESERVED, ARENA):
                    problem = f"its robot '{name}' needs a name of its own; {used.get(name, 'the world')} has that one"
                    raise ConfigError(cell.where, f"mobiles.{key}", problem)
                used[name] = f"mobiles.{key}"


def _known(cell: Cell, registry: Registry[T], name: str, path: str) -> T:
    """Returns the model of a name; the error lists the catalogue's and the cell's own, by their authors' names."""
    if name not in registry:
        names = {*(known for known in registry if own_name(known) == known), *cell.names_in("models")}
        raise UnknownName(registry.kind, own_name(name), sorted(names), f"{cell.where}: {path}")
    return registry.get(name)


def _check_robot(cell: Cell, name: str, robot: RobotCfg, errors: ErrorCollector) -> None:
    with errors.collecting():
        if robot.tool is not None:
            _known(cell, TOOLS, robot.tool, f"robots.{name}.tool")
    with errors.collecting():
        arm = _known(cell, ROBOTS, robot.model, f"robots.{name}.model")
        play, key = cell.actual.backlash_deg, f"robots.{name}.home_deg"
        if isinstance(play, tuple) and len(play) != len(arm.joints):
            problem = f"{name} has {len(arm.joints)} joints, got {len(play)} figures; one number is for all joints"
            errors.add(ConfigError(cell.where, "actual.backlash_deg", problem))
        if len(robot.home_deg) != len(arm.joints):
            problem = f"{own_name(robot.model)} has {len(arm.joints)} joints, got {len(robot.home_deg)} angles"
            raise ConfigError(cell.where, key, problem)
        for joint, angle_deg in zip(arm.joints, robot.home_deg, strict=True):
            low, high = np.degrees(joint.position_limits_rad)
            if not low - 1e-9 <= angle_deg <= high + 1e-9:
                problem = f"{joint.name} at {angle_deg:g} deg is outside {low:.2f} to {high:.2f} deg"
                errors.add(ConfigError(cell.where, key, problem))


def _check_safety(cell: Cell, errors: ErrorCollector) -> None:
    """Checks that zones have robots that exist and stand in them, and guards have zones that exist."""
    zones, inputs = (cell.safety.zones, cell.safety.inputs) if cell.safety else ({}, {})
    for name, robot in ((name, robot) for name, zone in zones.items() for robot in zone.robots):
        with errors.collecting():
            if robot not in cell.robots:
                problem = str(UnknownName("robot", robot, cell.names_in("robots")))
                raise ConfigError(cell.where, f"safety.zones.{name}", problem)
            middle, size_m = zones[name].box
            if (np.abs(middle.inverse().apply(cell.robots[robot].base.xyz_m)) > np.array(size_m) / 2).any():
                raise ConfigError(cell.where, f"safety.zones.{name}", f"{robot} stands outside its zone")
    for name, member in ((name, member) for name, guard in inputs.items() for member in guard.zones):
        with errors.collecting():
            if member not in zones:
                raise ConfigError(cell.where, f"safety.inputs.{name}.zones", str(UnknownName("zone", member, zones)))
