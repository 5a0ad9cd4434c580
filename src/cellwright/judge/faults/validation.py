"""Checks of faults against a cell, and their effects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, UnknownName
from cellwright.judge.faults.cfg import (
    BlackoutCfg,
    DetectorFaultCfg,
    DropCfg,
    FaultCfg,
    OffsetCfg,
    PushCfg,
    RemoveCfg,
    SwapCfg,
    WeakGripperCfg,
    matches,
    matches_name,
)
from cellwright.judge.faults.detector_offset import FilteredSensor
from cellwright.judge.faults.detectors import BlackoutFault, DetectorOffsetFault
from cellwright.judge.faults.effects import DropFault, Fault, PushFault, RemoveFault, SwapFault, WeakGripperFault
from cellwright.judge.faults.trays import carried_trays
from cellwright.judge.hand_monitor import HandMonitor
from cellwright.sim import ObjectIndex, World

__all__ = ["check_fault", "make_effect"]


def check_fault(fault: FaultCfg, world: World, detectors: Sequence[FilteredSensor]) -> None:
    """Refuses a fault about what is not there.

    Raises:
        BadInput: All that is wrong: names that do not exist, with those that do; forces, in a cell that has none.
    """
    where, errors = f"fault {fault.kind}", ErrorCollector()
    if world.cell.fidelity != "physics" and (fault.event or isinstance(fault, DropCfg | PushCfg | WeakGripperCfg)):
        raise BadInput(f"{where} needs a cell of fidelity 'physics'; without forces, only faults by time can be had")
    everything = list(world.objects.values())
    same = [item for item in everything if item.is_tray == (fault.tray is not None)]
    with errors.collecting():
        if fault.tray is None:
            _need_object(where, "part", fault.part, same)
        else:
            _need_object(where, "tray", fault.tray, same)
            _need_carried(where, fault, world)
    with errors.collecting():
        if fault.on is not None:
            _need_object(where, "on", fault.on, everything)
    with errors.collecting():
        if isinstance(fault, SwapCfg):
            _need_object(where, "other", fault.other, same)
    if fault.robot != "*" or fault.event or isinstance(fault, DropCfg | WeakGripperCfg):
        robots = [name for name, robot in world.robots.items() if robot.hand or robot.changer]
        with errors.collecting():
            _need(where, "robot", fault.robot, robots)
    with errors.collecting():
        if isinstance(fault, DetectorFaultCfg):
            _need(where, "detector", fault.detector, [sensor.source for sensor in detectors])
    errors.raise_errors()


def _need_carried(where: str, fault: FaultCfg, world: World) -> None:
    """Checks that a tool carries what is to be dropped."""
    everyone = fault.model_copy(update={"tray": "*"})
    if isinstance(fault, DropCfg) and not carried_trays(world, fault):
        raise UnknownName("tray that a tool carries", str(fault.tray), carried_trays(world, everyone), where)


def _need_object(where: str, key: str, pattern: str, items: Sequence[ObjectIndex]) -> None:
    if not any(matches(item, pattern) for item in items):
        names = [word for item in items for word in (item.name, item.sku)]
        raise UnknownName(key, pattern, dict.fromkeys(names), where)


def _need(where: str, key: str, pattern: str, names: Iterable[str]) -> None:
    if not any(matches_name(name, pattern) for name in names):
        raise UnknownName(key, pattern, names, where)


_SIMPLE: dict[type[FaultCfg], type[Fault[Any]]] = {
    DropCfg: DropFault,
    PushCfg: PushFault,
    RemoveCfg: RemoveFault,
    SwapCfg: SwapFault,
    WeakGripperCfg: WeakGripperFault,
}


def make_effect(
    fault: FaultCfg,
    world: World,
    hand_monitor: HandMonitor,
    rng: np.random.Generator,
    detectors: Sequence[FilteredSensor],
) -> Fault[Any]:
    """Returns the effect that applies the fault."""
    if isinstance(fault, BlackoutCfg):
        return BlackoutFault(fault, world, hand_monitor, rng, detectors)
    if isinstance(fault, OffsetCfg):
        return DetectorOffsetFault(fault, world, hand_monitor, rng, detectors)
    return _SIMPLE[type(fault)](fault, world, hand_monitor, rng)
