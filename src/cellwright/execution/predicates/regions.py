"""The volumes of objects: bodies, the space inside them, and the handles that fingers close on.

The room inside a tray are its slots; that of a gripper is the space between its fingers, while it feels something
there, and that of cups the space below their lips, while they have a vacuum. The handle of a gear is its peg. All are
boxes, or round about the z axis of their object, along which their extent in any direction is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from math import hypot

from cellwright.catalogue import (
    PARTS,
    TOOLS,
    TRAYS,
    GearFigures,
    GripperFigures,
    PartFigures,
    TrayFigures,
    gripper_model,
)
from cellwright.catalogue.vacuum import VacuumFigures
from cellwright.core.errors import UnknownName
from cellwright.execution.predicates.rcc8 import Interval
from cellwright.execution.predicates.sensed import SensedState
from cellwright.knowledge import PoseEstimate, ToolState
from cellwright.knowledge.tray_layout import sku_figures, tray_layout

__all__ = ["Placed", "Region", "regions_of"]

Vector3 = tuple[float, float, float]
FLANGE_M = 0.02
BELOW_CUPS_M = 0.05  # what hangs from cups hangs in the room below them: more than twice as deep as a tray


class Placed:
    """A pose estimate as plain numbers, which are quicker than arrays where there are only three of them.

    Attributes:
        estimate: The pose of the object.
        robot: The robot that reported it, of its tool or of itself.
        position: In the world.
        turn: Rows of the rotation from the object's frame to the world.
    """

    def __init__(self, estimate: PoseEstimate, robot: str = "") -> None:
        self.estimate = estimate
        self.robot = robot
        self.position: Vector3 = tuple(estimate.matrix[:3, 3].tolist())
        self.turn: list[list[float]] = estimate.matrix[:3, :3].tolist()

    def point(self, local_m: Vector3) -> Vector3:
        """Returns a point of the object's frame in the world."""
        x, y, z = (
            p + row[0] * local_m[0] + row[1] * local_m[1] + row[2] * local_m[2]
            for p, row in zip(self.position, self.turn, strict=True)
        )
        return x, y, z


@dataclass(frozen=True)
class Region:
    """A volume in the frame of its object: centre, half extents, whether it is round; empty name for a body."""

    centre_m: Vector3
    half_m: Vector3
    round: bool = False
    name: str = ""

    @cached_property
    def reach_m(self) -> float:
        """The largest distance of its points from the object's origin."""
        return hypot(*self.centre_m) + hypot(*self.half_m)

    def interval(self, placed: Placed, axis: Vector3) -> Interval:
        """Returns its extent along a direction of the world."""
        a, b, c = axis
        turn_x, turn_y, turn_z = placed.turn
        x, y, z = (a * turn_x[k] + b * turn_y[k] + c * turn_z[k] for k in range(3))  # the direction in its own frame
        (px, py, pz), (cx, cy, cz) = placed.position, self.centre_m
        middle = a * px + b * py + c * pz + x * cx + y * cy + z * cz
        sideways = self.half_m[0] * hypot(x, y) if self.round else self.half_m[0] * abs(x) + self.half_m[1] * abs(y)
        half = sideways + self.half_m[2] * abs(z)
        return Interval(middle - half, middle + half)


def regions_of(sensed: SensedState, name: str, which: str) -> tuple[Region, ...] | None:
    """Returns the volumes of an object: `body`, `inside` or `handle`; None when its extent is not known."""
    tool = sensed.tool(name)
    if tool is not None:
        return _of_tool(tool, which) if name != tool.robot else (_flange(tool),)
    sku = sensed.sku(name)
    if sku:
        return _of_sku(sku, which)
    size_m = sensed.size_m(name)
    return None if size_m is None else (_box(size_m),)


@cache
def _of_sku(sku: str, which: str) -> tuple[Region, ...] | None:
    for name in TRAYS:
        tray = TRAYS.get(name)
        if tray.sku == sku:
            return _slots(tray) if which == "inside" else (_box((*tray.size_m, tray.thickness_m)),)
    for name in PARTS:
        if PARTS.get(name).sku == sku:
            return (_of_part(PARTS.get(name), which),)
    try:
        return (_box(tray_layout(sku).size_m),)
    except UnknownName:
        pass
    try:
        figures = sku_figures(sku)
    except UnknownName:
        return None
    return (_round(figures.diameter_m / 2, 0.0, figures.height_m),)


def _of_part(part: PartFigures, which: str) -> Region:
    if which == "handle" and isinstance(part, GearFigures):
        return _round(part.peg_radius_m, part.disc_top_m, part.height_m, part.grasp_feature)
    return _round(part.radius_m, part.bottom_m, part.bottom_m + part.height_m)


def _slots(tray: TrayFigures) -> tuple[Region, ...]:
    rooms = []
    for slot in tray.slots:
        half_m = (tray.thickness_m - slot.floor_m) / 2
        centre = (*slot.xy_m, slot.floor_m + half_m)
        rooms.append(Region(centre, (slot.top_radius_m, slot.top_radius_m, half_m), round=True, name=slot.name))
    return tuple(rooms)


def _of_tool(tool: ToolState, which: str) -> tuple[Region, ...] | None:
    cups = TOOLS.get(tool.model)
    if isinstance(cups, VacuumFigures):
        return _of_cups(cups, tool, which)
    figures = gripper_model(tool.model)
    x, y, z = figures.tcp_xyz_m
    tip_m = figures.pad_offset_m + figures.pad_size_m[2] / 2
    if which == "inside":
        if not tool.holding:
            return None if tool.holding is None else ()
        _, width_m, length_m = figures.pad_size_m
        half = (tool.width_m / 2, width_m / 2, length_m / 2)
        return (Region((0.0, 0.0, figures.pad_offset_m), half, name="the fingers"),)
    half = (figures.body_size_m[0] / 2, figures.body_size_m[1] / 2, (z + tip_m) / 2)
    return (Region((-x, -y, (tip_m - z) / 2), half),)


def _of_cups(figures: VacuumFigures, tool: ToolState, which: str) -> tuple[Region, ...] | None:
    half_x, half_y = (max(abs(xy[axis]) for xy in figures.cups_xy_m) + figures.cup_diameter_m / 2 for axis in (0, 1))
    if which == "inside":
        if not tool.holding:
            return None if tool.holding is None else ()
        return (Region((0.0, 0.0, BELOW_CUPS_M / 2), (half_x, half_y, BELOW_CUPS_M / 2), name="the cups"),)
    x, y, z = figures.tcp_xyz_m
    return (Region((-x, -y, -z / 2), (half_x, half_y, z / 2)),)


def _flange(tool: ToolState) -> Region:
    """Returns the end of the robot's arm that the tool is bolted to, in the frame of the tool centre point."""
    figures = TOOLS.get(tool.model)
    assert isinstance(figures, GripperFigures | VacuumFigures)
    x, y, z = figures.tcp_xyz_m
    radius_m = figures.mount_radius_m
    return Region((-x, -y, -z - FLANGE_M / 2), (radius_m, radius_m, FLANGE_M / 2), round=True)


def _box(size_m: Vector3) -> Region:
    x, y, z = size_m
    return Region((0.0, 0.0, z / 2), (x / 2, y / 2, z / 2))


def _round(radius_m: float, low_m: float, high_m: float, name: str = "") -> Region:
    return Region((0.0, 0.0, (low_m + high_m) / 2), (radius_m, radius_m, (high_m - low_m) / 2), round=True, name=name)
