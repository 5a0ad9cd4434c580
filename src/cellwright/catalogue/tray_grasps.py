"""Grasps of a tray by a vacuum tool: cups on bare plate, beside the slots and the parts in them, about the middle.

Found by a search over quarter turns and places near the centre of mass, so a tray of one's own is answered, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import cos, hypot, inf, pi, sin

from cellwright.catalogue.arms import Vector3
from cellwright.catalogue.library import part_of_sku
from cellwright.catalogue.parts import PartFigures
from cellwright.catalogue.seating import seated_height_m
from cellwright.catalogue.trays import SlotFigures, TrayFigures
from cellwright.catalogue.vacuum import VacuumFigures
from cellwright.core.errors import UnknownName

__all__ = ["TrayGrasp", "tray_grasp"]

Point = tuple[float, float]

MARGIN_M = 0.004  # between a lip and an edge, a slot or a part: what detection and arm may be off, twice over
ENOUGH_M = 0.006  # beyond that, more room is worth nothing
ABOVE_M = 0.005  # between what stands on the tray and the tool's bar
STEP_M, STEPS = 0.001, 20
TURNS = (0.0, -pi / 2, pi, pi / 2)
SIDES = tuple((cos(k * pi / 8), sin(k * pi / 8)) for k in range(16))


@dataclass(frozen=True)
class TrayGrasp:
    """The grasp of a tray: a tool's centre point, the tool pointing down.

    As a pose of the tool in the tray's frame it is `Pose.from_xyz_rpy(xyz_m, (pi, 0, yaw_rad))`. Turned by any multiple
    of the tool's `turn_rad` it is as good: an arm may take the one that suits its last joint.

    Attributes:
        xyz_m: On the tray's upper face, in the tray's frame.
        yaw_rad: Direction of the tool's x axis.
        margin_m: From the lips to the next edge, slot or part.
    """

    xyz_m: Vector3
    yaw_rad: float
    margin_m: float


def tray_grasp(tray: TrayFigures, tool: VacuumFigures) -> TrayGrasp | None:
    """Returns the grasp of a tray by a tool, with or without parts in it; None when there is none.

    Every cup must have room round it, all parts must stay below the bar, tray and parts must be light enough, and
    the centres of mass of the tray, empty and full, must hang between the cups.
    """
    plan = _plan(tray)
    if plan.mass_kg > tool.carried_kg or plan.tall_m + ABOVE_M > tool.clear_m:
        return None
    return _search(plan, tool.cups_xy_m, tool.cup_diameter_m / 2)


@dataclass(frozen=True)
class _Plan:
    """The plan of a tray, seen from above.

    Attributes:
        half_m: Half its extent.
        top_m: Height of its upper face.
        taken: Circles where no cup may come, of slots and of the parts in them: x, y, radius.
        tall_m: Height of its parts above its upper face.
        mass_kg: With its parts.
        centres_m: Centres of mass, empty and full.
    """

    half_m: Point
    top_m: float
    taken: tuple[tuple[float, float, float], ...]
    tall_m: float
    mass_kg: float
    centres_m: tuple[Point, Point]

    def margin_m(self, x: float, y: float, radius_m: float) -> float:
        """Returns the distance from a circle to the next edge, slot or part."""
        inside = min(self.half_m[0] - abs(x), self.half_m[1] - abs(y))
        return min([inside, *(hypot(x - u, y - v) - r for u, v, r in self.taken)]) - radius_m


def _plan(tray: TrayFigures) -> _Plan:
    parts = {slot.name: part for slot in tray.slots if (part := _part(slot)) is not None}
    taken, tall_m, loads = [], 0.0, [(tray.mass_kg, _centre_m(tray))]
    for slot in tray.slots:
        radius_m = slot.top_radius_m
        if slot.name in parts:
            part = parts[slot.name]
            radius_m = max(radius_m, part.radius_m)
            tall_m = max(tall_m, seated_height_m(tray, slot, part) + part.bottom_m + part.height_m - tray.thickness_m)
            loads.append((part.mass_kg, slot.xy_m))
        taken.append((*slot.xy_m, radius_m))
    mass_kg = sum(kg for kg, _ in loads)
    full = (sum(kg * x for kg, (x, _) in loads) / mass_kg, sum(kg * y for kg, (_, y) in loads) / mass_kg)
    half = (tray.size_m[0] / 2, tray.size_m[1] / 2)
    return _Plan(half, tray.thickness_m, tuple(taken), tall_m, mass_kg, (loads[0][1], full))


def _part(slot: SlotFigures) -> PartFigures | None:
    """Returns the part that belongs there, when the catalogue knows it."""
    try:
        return part_of_sku(slot.accepts)
    except UnknownName:
        return None


def _centre_m(tray: TrayFigures) -> Point:
    """Returns the centre of an empty tray's mass: a plate without its slots, which are truncated cones."""
    left = tray.size_m[0] * tray.size_m[1] * (tray.thickness_m - tray.foot_height_m)
    x = y = 0.0
    for slot in tray.slots:
        low, high = slot.bottom_radius_m, slot.top_radius_m
        hole = pi / 3 * (tray.thickness_m - slot.floor_m) * (low * low + low * high + high * high)
        left, x, y = left - hole, x - hole * slot.xy_m[0], y - hole * slot.xy_m[1]
    return x / left, y / left


@lru_cache(maxsize=256)
def _search(plan: _Plan, cups: tuple[Point, ...], radius_m: float) -> TrayGrasp | None:
    """Returns the grasp with the most room, and among those with enough of it the nearest to the centres of mass."""
    best, best_score = None, (MARGIN_M, -inf)
    for yaw, (x, y) in product(TURNS, _places(plan.centres_m)):
        arms = [(cos(yaw) * u - sin(yaw) * v, sin(yaw) * u + cos(yaw) * v) for u, v in cups]
        hangs = [(u - x, v - y) for u, v in plan.centres_m]
        margin_m = min(plan.margin_m(x + u, y + v, radius_m) for u, v in arms)
        score = (round(min(margin_m, ENOUGH_M), 6), round(-max(hypot(*hang) for hang in hangs), 6))
        if score > best_score and all(_between(hang, arms, radius_m) for hang in hangs):
            best, best_score = TrayGrasp((x, y, plan.top_m), yaw, margin_m), score
    return best


def _places(centres_m: tuple[Point, Point]) -> Iterator[Point]:
    """Yields whole millimetres round the middle of two centres of mass."""
    (x0, y0), (x1, y1) = centres_m
    mid_x, mid_y = round((x0 + x1) / 2 / STEP_M), round((y0 + y1) / 2 / STEP_M)
    for row in range(-STEPS, STEPS + 1):
        for column in range(-STEPS, STEPS + 1):
            yield (mid_x + column) * STEP_M, (mid_y + row) * STEP_M


def _between(point: Point, cups: list[Point], radius_m: float) -> bool:
    """Returns whether a point is inside the hull of the cups' circles, by the directions of a compass."""
    return all(max(u * dx + v * dy for u, v in cups) + radius_m >= point[0] * dx + point[1] * dy for dx, dy in SIDES)
