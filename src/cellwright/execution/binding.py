"""Which part, which slot and which grasp an action means now: decided from belief at the last moment."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TOOLS, GripperFigures, part_of_sku
from cellwright.core.pose import Pose
from cellwright.execution.arm import tool_down
from cellwright.execution.settings import Recipe
from cellwright.execution.view import CellView, Seat, Seen
from cellwright.orders import KitDesign

__all__ = ["GraspChoice", "blockers", "candidates", "free_grasps", "open_seat", "wrong_part"]

Array = npt.NDArray[np.float64]

YAWS_RAD = tuple(np.radians([0.0, 90.0, 45.0, -45.0, 22.5, -22.5, 67.5, -67.5]))
UNCERTAIN_M = 0.003  # a place that is known worse than this is no place to grasp at
FINGER_GAP_M = 0.001  # that fingers keep from neighbours at least
ABOVE_M = 0.0005
OVERLAP_M = 0.002  # by which discs may seem to overlap before one is in the way of the other


@dataclass(frozen=True)
class GraspChoice:
    """How to take a part: from above, the fingers turned about its peg.

    Attributes:
        yaw_rad: Turn of the fingers.
    """

    yaw_rad: float = 0.0

    def pose_tool(self, part: Seen) -> Pose:
        """Of the tool that takes the part."""
        point = part.pose_in_world.apply(part.figures.grasp_xyz_m)
        return tool_down(point, self.yaw_rad)

    def pose_release(self, seat: Seat, part: Seen, above_m: float) -> Pose:
        """Of the tool that lets the part go above its seat."""
        height_m = part.figures.grasp_height_m + above_m
        return tool_down(seat.pose_part_in_world.apply([0.0, 0.0, height_m]), self.yaw_rad)


def candidates(
    view: CellView, sku: str, place: str, recipe: Recipe, left_out: Collection[str]
) -> tuple[list[Seen], list[str]]:
    """The parts of a SKU at a place that can be taken, in the order of the tray's slots; and why others cannot.

    A place is a parts tray, or the name of a part that lies by itself.
    """
    parts = view.parts(sku)
    if place in view.facts.part_sku:
        inside = [view.in_seat(seat, parts) for seat in view.seats_of_tray(place)]
        found = [part for part in inside if part is not None]
    else:
        found = [part for part in parts if part.name == place]
    good, reasons = [], []
    for part in found:
        why = unfit(part, recipe, left_out)
        if why:
            reasons.append(f"{part.name} {why}")
        else:
            good.append(part)
    return good, reasons or [f"no {sku} at {place}"]


def unfit(part: Seen, recipe: Recipe, left_out: Collection[str]) -> str:
    """Why a part should not be grasped; empty when nothing speaks against it."""
    if part.name in left_out:
        return "failed before"
    if part.tilt_rad > recipe.max_tilt_rad:
        return f"leans by {np.degrees(part.tilt_rad):.0f} deg"
    if part.sd_m > UNCERTAIN_M:
        return f"is known to {part.sd_m * 1000:.1f} mm only"
    return ""


def open_seat(view: CellView, kit: str, design: KitDesign, sku: str) -> tuple[Seat | None, str]:
    """The first open slot of a kit for a SKU, and nothing in the way there; or why there is none."""
    parts, filled = view.parts(), []
    for seat in view.seats_of_kit(kit, design):
        if seat.sku != sku:
            continue
        there = view.in_seat(seat, parts)
        beside = blockers(view, seat, parts)
        if there is None and not beside:
            return seat, ""
        filled.append(f"{seat.name} holds {there.name}" if there else f"{beside[0].name} lies across {seat.name}")
    return None, ", ".join(filled) or f"{kit} has no slot for {sku}"


def blockers(view: CellView, seat: Seat, parts: Sequence[Seen]) -> list[Seen]:
    """Parts that lie about where a part of the slot's SKU would have to go."""
    radius_m = part_of_sku(seat.sku).radius_m - OVERLAP_M
    near = [part for part in parts if part.across_m(seat.position) < radius_m + part.figures.radius_m]
    return [part for part in near if not seat.holds(part) and view.is_loose(part)]


def wrong_part(view: CellView, kit: str, design: KitDesign, sku: str) -> tuple[Seen | None, Seat | None]:
    """A part of that SKU in a slot of another."""
    parts = view.parts(sku)
    for seat in view.seats_of_kit(kit, design):
        there = view.in_seat(seat, parts)
        if there is not None and seat.sku != sku:
            return there, seat
    return None, None


def free_grasps(part: Seen, others: Sequence[Seen], gripper: str) -> list[GraspChoice]:
    """Ways to turn the fingers so that they fit between the neighbours, best first."""
    tool = _figures(gripper)
    near = [other for other in others if other.name != part.name and other.across_m(part.position) < 0.15]
    turned = [(yaw, _room_m(part, near, tool, float(yaw))) for yaw in YAWS_RAD]
    return [GraspChoice(float(yaw)) for yaw, room_m in turned if room_m >= FINGER_GAP_M]


def _figures(gripper: str) -> GripperFigures | None:
    figures = TOOLS.get(gripper) if gripper in TOOLS else None
    return figures if isinstance(figures, GripperFigures) else None


def _room_m(part: Seen, near: Sequence[Seen], tool: GripperFigures | None, yaw_rad: float) -> float:
    """The least distance between the open fingers and what of the neighbours is as high as their tips."""
    if tool is None or not near:
        return np.inf
    point = part.pose_in_world.apply(part.figures.grasp_xyz_m)
    tips_m = point[2] - tool.pad_size_m[2] / 2
    reach = tool.open_m + tool.pad_size_m[0] + tool.finger_size_m[0] / 2
    along = np.array([np.cos(yaw_rad), np.sin(yaw_rad)])
    across = np.array([-along[1], along[0]])
    half = np.array([(tool.finger_size_m[0] + tool.pad_size_m[0]) / 2, tool.finger_size_m[1] / 2])
    room_m = np.inf
    for other in near:
        radius_m = _radius_at(other, tips_m)
        for side in (-1.0, 1.0):
            offset = other.position[:2] - (point[:2] + side * reach * along)
            local = np.abs(np.array([offset @ along, offset @ across])) - half
            room_m = min(room_m, float(np.linalg.norm(np.maximum(local, 0.0))) - radius_m)
    return room_m


def _radius_at(other: Seen, height_m: float) -> float:
    """Radius of a neighbour above a height: its disc's, its peg's, or nothing's; all of a leaning one's."""
    figures = other.figures
    base_m = float(other.position[2])
    if other.tilt_rad > 0.1:
        return max(figures.radius_m, figures.height_m) if other.top_m > height_m else -np.inf
    disc_top_m = base_m + getattr(figures, "disc_top_m", figures.height_m)
    if disc_top_m > height_m + ABOVE_M:
        return figures.radius_m
    if base_m + figures.height_m > height_m:
        return figures.grasp_width_m / 2
    return -np.inf
