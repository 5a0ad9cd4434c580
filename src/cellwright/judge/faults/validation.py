"""Checks of faults against a cell, and of what the code of a kind does, which may be a plugin's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.plugin_errors import plugin_error
from cellwright.judge.faults.cfg import FaultCfg, matches_name, need_object
from cellwright.judge.faults.detector_offset import FilteredSensor
from cellwright.judge.faults.fault import Fault
from cellwright.judge.faults.library import FAULTS
from cellwright.sim import World

__all__ = ["check_fault", "naming_kind", "need_type"]


def check_fault(fault: FaultCfg, world: World, detectors: Sequence[FilteredSensor]) -> None:
    """Refuses a fault about what is not there.

    Raises:
        BadInput: All that is wrong: names that do not exist, with those that do; forces, in a cell that has none.
    """
    where, errors, kind = f"fault {fault.kind}", ErrorCollector(), FAULTS.get(fault.kind)
    if world.cell.fidelity != "physics" and (fault.event or kind.needs_physics):
        raise BadInput(f"{where} needs a cell of fidelity 'physics'; without forces, only faults by time can be had")
    everything = list(world.objects.values())
    same = [item for item in everything if item.is_tray == (fault.tray is not None)]
    with errors.collecting():
        if fault.tray is not None:
            need_object(where, "tray", fault.tray, same)
        elif fault.part != "*" or fault.event or "object" in kind.applies_to:
            need_object(where, "part", fault.part, same)
    with errors.collecting():
        if fault.on is not None:
            need_object(where, "on", fault.on, everything)
    if fault.robot != "*" or fault.event or "hand" in kind.applies_to:
        robots = [name for name, robot in world.robots.items() if robot.hand or robot.changer]
        with errors.collecting():
            _need(where, "robot", fault.robot, robots)
    with errors.collecting():
        if "detector" in kind.applies_to:
            _need(where, "detector", getattr(fault, "detector", "*"), [sensor.source for sensor in detectors])
    if not errors.found:
        with errors.collecting(), naming_kind(kind, fault.kind):
            kind.check(fault, world)
    errors.raise_errors()


@contextmanager
def naming_kind(kind: type[Fault[Any]], name: str, time_s: float | None = None) -> Iterator[None]:
    """Names the kind of fault whose code fails, its file and line, and the time."""
    try:
        yield
    except Exception as error:
        at = "" if time_s is None else f" at {time_s:.10g} s"
        raise plugin_error(f"{FAULTS.kind} '{name}' fails{at}", error, kind) from error


def need_type(what: str, value: object, wanted: type, allowed: str) -> None:
    """Refuses a result of a kind's code that is of another type."""
    if not isinstance(value, wanted):
        raise BadInput(f"{what} returns {type(value).__name__}, but should return {allowed}")


def _need(where: str, key: str, pattern: str, names: Iterable[str]) -> None:
    if not any(matches_name(name, pattern) for name in names):
        raise UnknownName(key, pattern, names, where)
