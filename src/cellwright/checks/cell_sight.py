"""Conformance of what is seen: every tray, part and slot is in some detector's view while the robots are at home."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TRAYS, TrayFigures, TrayKind, part_of_sku
from cellwright.catalogue.seating import seated_pose
from cellwright.checks.finding import Finding
from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose
from cellwright.lab.camera_detector import CameraDetector
from cellwright.sensors import SENSORS, Detector, make_sensor
from cellwright.sim import World
from cellwright.sim.sight_points import surface_points

__all__ = ["check_sight"]

TYPE = "logical_detector"
NAMED = 8
Array = npt.NDArray[np.float64]
AnyDetector = Detector[Any] | CameraDetector


@dataclass(frozen=True)
class _Place:
    """Something that should be seen: a thing, or a slot as if a part were seated in it."""

    name: str
    at: Pose
    points: Array
    own: tuple[int, ...]


def check_sight(world: World) -> Finding | None:
    """Checks that a detector sees each thing and each slot; None without things, or without detectors and kits.

    Kits need all of their trays, slots and parts to be seen; what lies below another loose thing, as in a stack, will
    be when that is taken away. Where there are no trays, what is not seen is an obstacle that is known by the drawings,
    as long as there is something else to take.
    """
    cell = world.cell
    lines = [(place, line) for place, line in cell.sensor_lines() if _is_detector(line)]
    kits = any(TRAYS.get(tray.model).kind is TrayKind.KIT for tray in cell.trays.values())
    if not lines and world.robots and kits and (cell.parts or cell.populations):
        detail = f"the cell has no detector: none of {len(world.objects)} trays and parts is seen, and run refuses it"
        remedy = f"add one under sensors: {{type: {TYPE}, name: detector, rate_hz: 10}}"
        return Finding("sight", False, detail, {"things": float(len(world.objects))}, remedy)
    if not lines or not world.objects:
        return None
    made = [make_sensor(dict(line), world, f"{cell.where}: {place}") for place, line in lines]
    detectors = [sensor for sensor in made if isinstance(sensor, Detector | CameraDetector)]
    names, things = ", ".join(detector.source for detector in detectors), _things(world)
    far = {thing.name: why for thing in things if (why := _why_unseen(world, detectors, thing))}
    slots = [slot for tray in world.objects if tray not in far for slot in _slots(world, tray)]
    hidden = {slot.name: why for slot in slots if (why := _why_unseen(world, detectors, slot))}
    counts = {"things": len(things), "unseen": len(far), "slots": len(slots), "unseen_slots": len(hidden)}
    values = {key: float(count) for key, count in counts.items()}
    if not far and not hidden:
        told = f"all {len(things)} trays and parts" + (f" and {len(slots)} slots" if slots else "")
        detail = f"{told} are seen by {names} while the robots are at home, or lie below another"
        return Finding("sight", True, detail, values)
    if not cell.trays and len(far) < len(things):
        detail = f"{len(things) - len(far)} in the view of {names}; by the drawings alone: {', '.join(far)}"
        return Finding("sight", True, detail, values)
    told_all = [*far.values(), *hidden.values()]
    more = [f"and {len(told_all) - NAMED} more"] if len(told_all) > NAMED else []
    remedy = "widen min_xy_m and max_xy_m of a detector as far as its camera sees, add one, or move what is not seen"
    if any("hidden by" in why for why in told_all):
        remedy = "give the robots home_deg from which nothing is hidden, move what is in the way, or add a camera"
    return Finding("sight", False, "; ".join([*told_all[:NAMED], *more]), values, remedy)


def _is_detector(line: dict[str, Any]) -> bool:
    kind = line.get("type")
    return isinstance(kind, str) and kind in SENSORS and issubclass(SENSORS.get(kind), Detector | CameraDetector)


def _things(world: World) -> list[_Place]:
    places = []
    for name, item in world.objects.items():
        pose = world.pose_of(name)
        places.append(_Place(name, pose, pose.apply(surface_points(item.figures, 0)), (item.body,)))
    return places


def _slots(world: World, tray: str) -> list[_Place]:
    """Returns the slots of a tray as parts that are seated in them; what is in them now does not hide them."""
    figures, pose = world.objects[tray].figures, world.pose_of(tray)
    if not isinstance(figures, TrayFigures):
        return []
    places = []
    for slot in figures.slots:
        try:
            part = part_of_sku(slot.accepts)
        except UnknownName:
            continue
        seat = pose @ seated_pose(figures, slot, part)
        inside = [
            item.body
            for name, item in world.objects.items()
            if not item.is_tray and seat.distance_m(world.pose_of(name)) < slot.top_radius_m
        ]
        own = (world.objects[tray].body, *inside)
        places.append(_Place(f"{slot.name} of '{tray}'", seat, seat.apply(surface_points(part, 0)), own))
    return places


def _why_unseen(world: World, detectors: list[AnyDetector], place: _Place) -> str:
    """Returns why no detector sees a place, as text; empty when one does, or when another loose thing is above it."""
    name = place.name if " of " in place.name else f"'{place.name}'"
    x, y, _ = place.at.position
    reasons: list[tuple[float, str]] = []
    for detector in detectors:
        if (off_m := _outside_m(detector, x, y)) > 0:
            what = f"is {1000 * off_m:.0f} mm outside the field of {detector.source}"
            reasons.append((off_m, f"{name} at ({x:.3f}, {y:.3f}) m {what}"))
            continue
        share = detector.sight.share(place.points, place.own)
        if share >= detector.cfg.min_share:
            return ""
        inside = place.points[detector.actual.sees(place.points)]
        hiders = detector.sight.hiders(inside, place.own) if len(inside) else []
        if set(hiders) & set(world.objects):
            return ""
        by = f"hidden by {', '.join(hiders)}" if hiders else "out of the picture"
        reasons.append((-share, f"{name} at ({x:.3f}, {y:.3f}) m: {100 * share:.0f} % seen by {detector.source}, {by}"))
    return min(reasons)[1]


def _outside_m(detector: AnyDetector, x: float, y: float) -> float:
    """Returns the distance of a point from a detector's field; zero or less inside."""
    (x_low, y_low), (x_high, y_high) = detector.cfg.min_xy_m, detector.cfg.max_xy_m
    return float(max(x_low - x, x - x_high, y_low - y, y - y_high))
