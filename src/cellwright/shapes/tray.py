"""The shape of a tray: its visual plate, and its convex collision pieces.

A slot is a hole, which no convex piece has: around each slot a square cell of the plate is cut into eight wedges
by planes through the slot's axis. The wedges' inner faces form an octagonal cone whose inscribed circle is the
slot's circle, so a round part that fits the slot fits the octagon without play. A slot with straight walls has sixteen:
in the corners between flat faces a plug has more play than the clearance says, 0.02 mm with eight, 0.007 mm with
sixteen, for walls of 0.5 mm. What is left is boxes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from cellwright.catalogue.trays import SlotFigures, TrayFigures
from cellwright.shapes.mesh import Mesh, circle, lathe, loft, merge
from cellwright.shapes.polygon import fill, rounded_rectangle

__all__ = ["BoxSolid", "TraySolids", "Wedge", "tray_mesh", "tray_solids"]

Array = npt.NDArray[np.float64]

SLOT_SEGMENTS = 64
EDGE_CHAMFER_M = 0.0010
RIM_CHAMFER_M = 0.0006
CLEARANCE_M = 0.0001
TAN_PI_8 = float(np.tan(np.pi / 8))


@dataclass(frozen=True)
class BoxSolid:
    """A box along the tray's axes."""

    centre_m: tuple[float, float, float]
    half_size_m: tuple[float, float, float]


@dataclass(frozen=True)
class Wedge:
    """One of the pieces around a slot: a shared hull, turned and moved to its place."""

    hull: str
    xy_m: tuple[float, float]
    yaw_rad: float


@dataclass(frozen=True)
class TraySolids:
    """The collision solids of a tray.

    Attributes:
        blocks: Boxes: the plate below the slots, and what is left between and around them.
        hulls: The wedges' shapes by name, in the slot's frame with z from the tray's origin.
        wedges: Their places, eight to a cone, sixteen to a straight slot.
    """

    blocks: tuple[BoxSolid, ...]
    hulls: dict[str, Mesh]
    wedges: tuple[Wedge, ...]


def tray_mesh(tray: TrayFigures) -> Mesh:
    """Returns the visual mesh and solid of the tray: chamfered plate with round corners, conical pockets, feet."""
    outline = rounded_rectangle(tray.size_m, tray.corner_radius_m)
    shrunk = rounded_rectangle(
        (tray.size_m[0] - 2 * EDGE_CHAMFER_M, tray.size_m[1] - 2 * EDGE_CHAMFER_M),
        tray.corner_radius_m - EDGE_CHAMFER_M,
    )
    low, top, c = tray.foot_height_m, tray.thickness_m, EDGE_CHAMFER_M
    rings = [(shrunk, low), (outline, low + c), (outline, top - c), (shrunk, top)]
    side = loft([_at(ring, z) for ring, z in rings], closed=False)
    rims = [circle(s.top_radius_m + _rim_m(s), SLOT_SEGMENTS) + np.array(s.xy_m) for s in tray.slots]
    upper, upper_faces = fill(shrunk, rims)
    under, under_faces = fill(shrunk)
    parts = [side, Mesh(_at(upper, top), upper_faces), Mesh(_at(under, low), under_faces[:, ::-1])]
    parts += [_pocket(tray, slot) for slot in tray.slots]
    r = tray.foot_radius_m - EDGE_CHAMFER_M
    foot = lathe([(r - 0.0005, 0.0), (r, 0.0005), (r, low)], 32)
    return merge(parts + [foot.moved((x, y, 0.0)) for x, y in tray.feet_xy_m])


def tray_solids(tray: TrayFigures) -> TraySolids:
    """Returns the collision solids of the tray.

    The floor of cones is lowered by 0.1 mm for the reason given in `gear_disc_hull`: a cone rests on the wall. A plug
    stands on the floor.
    """
    halves = _cell_halves_m(tray)
    floor = min(slot.floor_m for slot in tray.slots)
    hulls: dict[str, Mesh] = {}
    wedges: list[Wedge] = []
    for slot, half in zip(tray.slots, halves, strict=True):
        if slot.is_straight:
            for hull, mesh in _straight_wedges(tray, slot, half).items():
                hulls[hull] = mesh
                wedges += [Wedge(hull, slot.xy_m, quarter * np.pi / 2) for quarter in range(4)]
            continue
        key = f"r{slot.bottom_radius_m * 1e4:.0f}_{slot.top_radius_m * 1e4:.0f}_{half * 1e4:.0f}"
        hulls |= {f"side_{key}": _side(tray, slot, half), f"corner_{key}": _corner(tray, slot, half)}
        for quarter in range(4):
            yaw = quarter * np.pi / 2
            wedges += [Wedge(f"side_{key}", slot.xy_m, yaw), Wedge(f"corner_{key}", slot.xy_m, yaw)]
    x, y = tray.size_m[0] / 2, tray.size_m[1] / 2
    is_cone = not all(slot.is_straight for slot in tray.slots)
    low, high = tray.foot_height_m, floor - CLEARANCE_M if is_cone else floor
    base = BoxSolid((0.0, 0.0, (low + high) / 2), (x, y, (high - low) / 2))
    rest_z, rest_half = (floor + tray.thickness_m) / 2, (tray.thickness_m - floor) / 2
    blocks = [base]
    for x0, y0, x1, y1 in _rest(tray, halves):
        blocks.append(BoxSolid(((x0 + x1) / 2, (y0 + y1) / 2, rest_z), ((x1 - x0) / 2, (y1 - y0) / 2, rest_half)))
    return TraySolids(tuple(blocks), hulls, tuple(wedges))


def _at(ring: Array, z_m: float) -> Array:
    return np.column_stack([ring, np.full(len(ring), z_m)])


def _pocket(tray: TrayFigures, slot: SlotFigures) -> Mesh:
    """Returns the inner skin of a slot: rim chamfer, wall, floor; it faces inwards, so the floor's ring comes first."""
    top, c = tray.thickness_m, _rim_m(slot)
    slope = (slot.top_radius_m - slot.bottom_radius_m) / (top - slot.floor_m)
    profile = [
        (slot.bottom_radius_m, slot.floor_m),
        # flatter than the wall of a cone, so that it catches the light
        (slot.top_radius_m - slope * c / 2, top - (slot.chamfer_m or c / 2)),
        (slot.top_radius_m + c, top),
    ]
    wall = lathe(profile, SLOT_SEGMENTS, closed=False)
    ring = _at(circle(slot.bottom_radius_m, SLOT_SEGMENTS), slot.floor_m)
    here = np.arange(SLOT_SEGMENTS)
    floor = Mesh(
        np.concatenate([ring, [[0.0, 0.0, slot.floor_m]]]),
        np.column_stack([here, np.roll(here, -1), np.full(SLOT_SEGMENTS, SLOT_SEGMENTS)]),
    )
    return merge([Mesh(wall.vertices, wall.faces[:, ::-1]), floor]).moved((*slot.xy_m, 0.0))


def _cell_halves_m(tray: TrayFigures) -> list[float]:
    """Returns half sides of the slots' square cells: as large as edges and neighbours allow, the same rim for all."""
    rims = []
    for k, slot in enumerate(tray.slots):
        edge = min(side / 2 - abs(place) for side, place in zip(tray.size_m, slot.xy_m, strict=True))
        rims.append(edge - slot.mouth_radius_m)
        for other in tray.slots[:k]:
            apart = max(abs(a - b) for a, b in zip(slot.xy_m, other.xy_m, strict=True))
            rims.append((apart - slot.mouth_radius_m - other.mouth_radius_m) / 2)
    return [slot.mouth_radius_m + min(rims) for slot in tray.slots]


def _radii(tray: TrayFigures, slot: SlotFigures) -> tuple[tuple[float, float], tuple[float, float]]:
    return (slot.bottom_radius_m, slot.floor_m), (slot.top_radius_m, tray.thickness_m)


def _side(tray: TrayFigures, slot: SlotFigures, half: float) -> Mesh:
    """Returns the wedge towards +x."""
    t, c = TAN_PI_8, half
    return loft([_at(np.array([(r, -r * t), (c, -c * t), (c, c * t), (r, r * t)]), z) for r, z in _radii(tray, slot)])


def _corner(tray: TrayFigures, slot: SlotFigures, half: float) -> Mesh:
    """Returns the wedge towards +x +y."""
    t, c = TAN_PI_8, half
    return loft(
        [_at(np.array([(r, r * t), (c, c * t), (c, c), (c * t, c), (r * t, r)]), z) for r, z in _radii(tray, slot)]
    )


def _straight_wedges(tray: TrayFigures, slot: SlotFigures, half: float) -> dict[str, Mesh]:
    """Returns the four wedges of the quarter from -11.25 to 78.75 degrees; their flat faces touch the circle."""
    radius, chamfer, top = slot.bottom_radius_m, slot.chamfer_m, tray.thickness_m
    levels = [(radius, slot.floor_m), (radius, top - chamfer), (radius + chamfer, top)][: 3 if chamfer else 2]
    made = {}
    for number in range(4):
        middle = number * np.pi / 8
        ends = (middle - np.pi / 16, middle + np.pi / 16)
        outer = [_on_square(angle, half) for angle in ends]
        if number == 2:
            outer.insert(1, (half, half))
        key = f"straight_{number}_r{radius * 1e6:.0f}_{half * 1e6:.0f}"
        made[key] = loft([_at(np.array([*_face(r, ends), *outer]), z) for r, z in levels])
    return made


def _face(radius: float, ends: tuple[float, float]) -> list[tuple[float, float]]:
    """Returns the corners of a flat face between two directions, the second first; its middle is at `radius`."""
    far = radius / np.cos((ends[1] - ends[0]) / 2)
    return [(far * np.cos(angle), far * np.sin(angle)) for angle in ends[::-1]]


def _on_square(angle: float, half: float) -> tuple[float, float]:
    """Returns where a ray from the middle of a square leaves it."""
    x, y = np.cos(angle), np.sin(angle)
    scale = half / max(abs(x), abs(y))
    return scale * x, scale * y


def _rim_m(slot: SlotFigures) -> float:
    return slot.chamfer_m or RIM_CHAMFER_M


def _rest(tray: TrayFigures, halves: list[float]) -> list[tuple[float, float, float, float]]:
    """Returns rectangles x0, y0, x1, y1 that cover the plate outside the cells: strips along x, equal ones stacked."""
    w, h = tray.size_m[0] / 2, tray.size_m[1] / 2
    cells = [
        (s.xy_m[0] - c, s.xy_m[1] - c, s.xy_m[0] + c, s.xy_m[1] + c) for s, c in zip(tray.slots, halves, strict=True)
    ]
    levels = sorted({round(v, 9) for v in (-h, h, *(v for cell in cells for v in cell[1::2]))})
    rest: list[tuple[float, float, float, float]] = []
    for y0, y1 in pairwise(levels):
        beside = sorted(cell for cell in cells if cell[1] < y1 - 1e-9 and cell[3] > y0 + 1e-9)
        edges = [round(x, 9) for x in (-w, *(x for cell in beside for x in cell[::2]), w)]
        for x0, x1 in zip(edges[::2], edges[1::2], strict=True):
            below = next((r for r in rest if r[::2] == (x0, x1) and r[3] == y0), None)
            if below:
                rest.remove(below)
            if x1 - x0 > 1e-9:
                rest.append((x0, below[1] if below else y0, x1, y1))
    return rest
