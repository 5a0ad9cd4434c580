"""Conformance of what is seen: every tray and part is in the field of some detector."""

from __future__ import annotations

from cellwright.catalogue import TRAYS, TrayKind
from cellwright.checks.finding import Finding
from cellwright.core.config import validate
from cellwright.sensors.logical_detector import LogicalDetectorCfg
from cellwright.sim import World

__all__ = ["check_sight"]

TYPE = "logical_detector"
NAMED = 8


def check_sight(world: World) -> Finding | None:
    """Checks that a detector sees the middle of each thing; None without things, or without detectors and kits.

    Kits need all of their trays and parts to be seen. Where there are no trays, what is not seen is an obstacle that is
    known by the drawings, as long as there is something else to take.
    """
    cell = world.cell
    lines = [(place, line) for place, line in cell.sensor_lines() if line.get("type") == TYPE]
    kits = any(TRAYS.get(tray.model).kind is TrayKind.KIT for tray in cell.trays.values())
    if not lines and world.robots and kits and (cell.parts or cell.populations):
        detail = f"the cell has no detector: none of {len(world.objects)} trays and parts is seen, and run refuses it"
        remedy = f"add one under sensors: {{type: {TYPE}, name: detector, rate_hz: 10}}"
        return Finding("sight", False, detail, {"things": float(len(world.objects))}, remedy)
    if not lines or not world.objects:
        return None
    fields = [validate(line, LogicalDetectorCfg, f"{cell.where}: {place}") for place, line in lines]
    far = {}
    for name in world.objects:
        x, y, _ = world.pose_of(name).position
        off = {field.name: _outside_m(field, x, y) for field in fields}
        nearest = min(off, key=lambda detector: off[detector])
        if off[nearest] > 0:
            far[name] = (nearest, off[nearest], x, y)
    values = {"things": float(len(world.objects)), "unseen": float(len(far))}
    names = ", ".join(field.name for field in fields)
    if not far:
        return Finding("sight", True, f"all {len(world.objects)} trays and parts are in the field of {names}", values)
    if not cell.trays and len(far) < len(world.objects):
        detail = f"{len(world.objects) - len(far)} in the field of {names}; by the drawings alone: {', '.join(far)}"
        return Finding("sight", True, detail, values)
    told = [
        f"'{name}' at ({x:.3f}, {y:.3f}) m is {1000 * off_m:.0f} mm outside the field of {detector}"
        for name, (detector, off_m, x, y) in far.items()
    ]
    told = [*told[:NAMED], *([f"and {len(told) - NAMED} more"] if len(told) > NAMED else [])]
    remedy = "widen min_xy_m and max_xy_m of a detector as far as its camera sees, add one, or move what is not seen"
    return Finding("sight", False, "; ".join(told), values, remedy)


def _outside_m(field: LogicalDetectorCfg, x: float, y: float) -> float:
    """Returns the distance of a point from a detector's field; zero or less inside."""
    (x_low, y_low), (x_high, y_high) = field.min_xy_m, field.max_xy_m
    return float(max(x_low - x, x - x_high, y_low - y, y - y_high))
