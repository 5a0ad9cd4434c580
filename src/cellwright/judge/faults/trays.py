"""Trays that faults are about: which of them tools carry, and which a person could take now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cellwright.catalogue import TrayFigures, tray_grasp
from cellwright.judge.faults.cfg import FaultCfg
from cellwright.judge.tray_contents import is_covered

if TYPE_CHECKING:
    from cellwright.judge.hand_monitor import HandMonitor
    from cellwright.sim import World

__all__ = ["carried_trays", "free_trays"]

OVER_TRAY_M = 0.075


def carried_trays(world: World, cfg: FaultCfg) -> list[str]:
    """Returns the trays that the fault is about and that a vacuum tool of the cell can carry."""
    tools = [vacuum.figures for vacuum in world.vacuums.values()]
    return [
        name
        for name, item in world.objects.items()
        if cfg.is_about(item)
        and isinstance(item.figures, TrayFigures)
        and any(tray_grasp(item.figures, tool) is not None for tool in tools)
    ]


def free_trays(world: World, hand_monitor: HandMonitor, cfg: FaultCfg) -> list[str]:
    """Returns the trays that the fault is about, that no hand holds or works on, and on which no tray stands."""
    return sorted(
        name
        for name, item in world.objects.items()
        if cfg.is_about(item)
        and not hand_monitor.holds(name)
        and _is_clear(world, name)
        and not is_covered(world, name)
    )


def _is_clear(world: World, tray: str) -> bool:
    """Returns whether no tool works on the tray."""
    pose, item = world.pose_of(tray), world.objects[tray]
    half_m = float(np.hypot(*item.figures.size_m)) / 2  # type: ignore[union-attr]
    for robot in world.robots.values():
        if robot.hand:
            offset = world.data.site_xpos[robot.hand.tcp_site] - pose.position
            if np.hypot(*offset[:2]) < half_m and offset[2] < OVER_TRAY_M:
                return False
    return True
