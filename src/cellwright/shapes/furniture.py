"""The shapes of the lab's furniture: visual meshes, collision boxes, clear panes."""

from __future__ import annotations

from functools import singledispatch
from itertools import pairwise, product

import numpy as np

from cellwright.catalogue.arena import ArenaFigures
from cellwright.catalogue.changer import ToolHolderFigures
from cellwright.catalogue.furniture_kinds import (
    BoxFigures,
    CameraPostFigures,
    CameraRigFigures,
    CartFigures,
    FenceFigures,
    FurnitureFigures,
    MountFigures,
    OpticalTableFigures,
    PlatedTableFigures,
    TableFigures,
)
from cellwright.core.errors import BadInput
from cellwright.shapes.arena import arena_shape
from cellwright.shapes.body_shape import Hull
from cellwright.shapes.camera_rig import camera_rig_shape
from cellwright.shapes.changer import holder_shape
from cellwright.shapes.furniture_builder import BODY, FurnitureBuilder, FurnitureShape, halves, slab
from cellwright.shapes.plated_table import plated_table_shape
from cellwright.shapes.solids import ALONG_Y, drum, placed

__all__ = ["BODY", "FurnitureShape", "furniture_shape"]


@singledispatch
def furniture_shape(figures: FurnitureFigures) -> FurnitureShape:
    """Returns the shape of a piece of furniture, by the kind of its figures."""
    raise BadInput(f"no shape is known for furniture of kind {type(figures).__name__}")


furniture_shape.register(ArenaFigures, arena_shape)
furniture_shape.register(CameraRigFigures, camera_rig_shape)
furniture_shape.register(ToolHolderFigures, holder_shape)
furniture_shape.register(PlatedTableFigures, plated_table_shape)


@furniture_shape.register
def _table(figures: TableFigures) -> FurnitureShape:
    builder = FurnitureBuilder()
    (x, y), top, under = halves(figures.size_m), figures.top_m, figures.top_m - figures.thickness_m
    builder.add_visual("top", slab(figures.size_m, 0.008, under, top, 0.002))
    builder.hulls.append(Hull.box(BODY, (-x, -y, under), (x, y, top)))
    reach_x, reach_y = x - figures.leg_inset_m - figures.leg_m / 2, y - figures.leg_inset_m - figures.leg_m / 2
    for sx, sy in product((-1, 1), repeat=2):
        px, py = sx * reach_x, sy * reach_y
        builder.add_profile(figures.leg_m, (px, py, 0.03), (px, py, under))
        builder.add_visual("black", placed(drum(0.028, (0.0, 0.03), 0.004), (px, py, 0.0)))
    for z in (under - figures.leg_m / 2, 0.20):
        _ring(builder, figures.leg_m, reach_x, reach_y, z)
    _mounts(builder, figures.mounts, top, "silver")
    return builder.build()


@furniture_shape.register
def _optical_table(figures: OpticalTableFigures) -> FurnitureShape:
    builder = FurnitureBuilder()
    (x, y), top, under = halves(figures.size_m), figures.top_m, figures.top_m - figures.thickness_m
    builder.add_visual("black", slab(figures.size_m, 0.012, under, top - 0.005, 0.003))
    builder.add_visual("steel", slab(figures.size_m, 0.012, top - 0.005, top, 0.001))
    builder.hulls.append(Hull.box(BODY, (-x, -y, under), (x, y, top)))
    half, isolator = figures.leg_m / 2, 0.11
    reach_x, reach_y = x - figures.leg_inset_m - half, y - figures.leg_inset_m - half
    for sx, sy in product((-1, 1), repeat=2):
        px, py = sx * reach_x, sy * reach_y
        high = under - isolator
        builder.add_visual("black", placed(slab((2 * half, 2 * half), 0.01, 0.02, high, 0.004), (px, py, 0.0)))
        builder.add_visual("silver", placed(drum(half * 0.75, (high, under), 0.004), (px, py, 0.0)))
        builder.add_visual("silver", placed(drum(0.04, (0.0, 0.02), 0.004), (px, py, 0.0)))
        builder.hulls.append(Hull.box(BODY, (px - half, py - half, 0.0), (px + half, py + half, under)))
    t = 0.035
    for z, s in product((0.14, 0.44), (-1, 1)):
        builder.add_box("black", (-reach_x, s * reach_y - t, z - t), (reach_x, s * reach_y + t, z + t))
        builder.add_box("black", (s * reach_x - t, -reach_y, z - t), (s * reach_x + t, reach_y, z + t))
    _mounts(builder, figures.mounts, top, "silver")
    return builder.build()


@furniture_shape.register
def _cart(figures: CartFigures) -> FurnitureShape:
    builder = FurnitureBuilder()
    (x, y), top, under = halves(figures.size_m), figures.top_m, figures.top_m - figures.thickness_m
    side, half = figures.leg_m, figures.leg_m / 2
    builder.add_visual("steel", slab(figures.size_m, 0.010, under, top, 0.002))
    builder.hulls.append(Hull.box(BODY, (-x, -y, under), (x, y, top)))
    reach_x, reach_y = x - figures.leg_inset_m - half, y - figures.leg_inset_m - half
    foot_x, foot_y = figures.frame_size_m[0] / 2 - half, figures.frame_size_m[1] / 2 - half
    rail = 2 * figures.caster_radius_m + 0.045
    for sx, sy in product((-1, 1), repeat=2):
        builder.add_profile(side, (sx * reach_x, sy * reach_y, rail + half), (sx * reach_x, sy * reach_y, under))
        _caster(builder, figures.caster_radius_m, (sx * foot_x, sy * foot_y), rail - half)
    _ring(builder, side, foot_x, foot_y, rail)
    for sx in (-1, 1):
        builder.add_profile(side, (sx * reach_x, -foot_y + half, rail), (sx * reach_x, foot_y - half, rail))
    _ring(builder, side, reach_x, reach_y, under - half)
    _ring(builder, side, reach_x, reach_y, figures.shelf_m - half)
    z = figures.shelf_m
    builder.add_box("shelf", (-reach_x - half, -reach_y - half, z), (reach_x + half, reach_y + half, z + 0.006))
    (cx, cy), (width, depth, tall), z = figures.cabinet_xy_m, figures.cabinet_size_m, z + 0.006
    builder.add_visual("cabinet", placed(slab((width, depth), 0.012, 0.0, tall, 0.008), (cx, cy, z)))
    low, high = (cx - width / 2, cy - depth / 2, z), (cx + width / 2, cy + depth / 2, z + tall)
    builder.hulls.append(Hull.box(BODY, low, high))
    _mounts(builder, figures.mounts, top, "shelf")
    return builder.build()


@furniture_shape.register
def _box(figures: BoxFigures) -> FurnitureShape:
    builder = FurnitureBuilder()
    (x, y), wall, high = halves(figures.outer_size_m), figures.wall_m, figures.height_m
    builder.add_box("walls", (-x, -y, 0.0), (x, y, figures.bottom_m))
    for side in (-1, 1):
        builder.add_box(
            "walls", (-x, min(side * y, side * (y - wall)), 0.0), (x, max(side * y, side * (y - wall)), high)
        )
        lip = (side * (y + 0.003), side * y)
        builder.add_box("rim", (-x, min(lip), high - 0.005), (x, max(lip), high), touch=False)
        lip = (side * (x + 0.003), side * x)
        builder.add_box("rim", (min(lip), -y - 0.003, high - 0.005), (max(lip), y + 0.003, high), touch=False)
    for k in range(figures.compartments + 1):
        left = -x + k * (figures.inner_size_m[0] + wall)
        builder.add_box("walls", (left, -y + wall, 0.0), (left + wall, y - wall, high))
    return builder.build()


@furniture_shape.register
def _fence(figures: FenceFigures) -> FurnitureShape:
    builder = FurnitureBuilder()
    (x, y), side, high = halves(figures.size_m), figures.post_m, figures.height_m
    for a, b in (((-x, -y), (-x, y)), ((-x, y), (x, y)), ((x, y), (x, -y))):
        posts = np.linspace(a, b, int(np.ceil(np.hypot(*np.subtract(b, a)) / figures.panel_width_m)) + 1)
        for p, q in pairwise(posts):
            builder.add_profile(side, (*p, 0.012), (*p, high))
            builder.add_box("black", (p[0] - 0.06, p[1] - 0.06, 0.0), (p[0] + 0.06, p[1] + 0.06, 0.012), touch=False)
            gap = (q - p) / np.hypot(*(q - p)) * side / 2
            for z in (figures.gap_m, high - side / 2):
                builder.add_profile(side * 0.6, (*(p + gap), z), (*(q - gap), z), touch=False)
            (x0, y0), (x1, y1) = np.minimum(p + gap, q - gap), np.maximum(p + gap, q - gap)
            t = figures.panel_thickness_m / 2
            tx, ty = (t, 0.0) if x1 - x0 < y1 - y0 else (0.0, t)
            builder.panes.append(Hull.box(BODY, (x0 - tx, y0 - ty, figures.gap_m), (x1 + tx, y1 + ty, high)))
    for sx in (-1, 1):
        builder.add_profile(side, (sx * x, -y, 0.012), (sx * x, -y, high))
        inner = sx * (x - 0.075)
        builder.add_box("yellow", (inner - 0.026, -y - 0.03, 0.02), (inner + 0.026, -y + 0.03, figures.curtain_m))
        face = inner - sx * 0.026
        builder.add_box(
            "black", (face - 0.002, -y - 0.014, 0.10), (face + 0.002, -y + 0.014, figures.curtain_m - 0.08), touch=False
        )
    return builder.build()


@furniture_shape.register
def _camera_post(figures: CameraPostFigures) -> FurnitureShape:
    builder = FurnitureBuilder()
    side, reach, lens = figures.profile_m, figures.reach_m, figures.lens_length_m
    width, depth, tall = figures.camera_size_m
    body = figures.camera_m + 0.002 + lens
    boom = body + tall + 0.012 + side / 2
    foot_x, foot_y, foot = figures.foot_size_m
    builder.add_visual("black", placed(slab((foot_x, foot_y), 0.03, 0.0, foot, 0.003), (-reach, 0.0, 0.0)))
    low, high = (-reach - foot_x / 2, -foot_y / 2, 0.0), (-reach + foot_x / 2, foot_y / 2, foot)
    builder.hulls.append(Hull.box(BODY, low, high))
    builder.add_profile(side, (-reach, 0.0, foot), (-reach, 0.0, boom + side))
    builder.add_profile(side, (-reach + side / 2, 0.0, boom), (0.09, 0.0, boom))
    builder.add_box(
        "black", (-reach - side / 2, -side / 2, boom + side), (-reach + side / 2, side / 2, boom + side + 0.005)
    )
    builder.add_box("black", (0.09, -side / 2, boom - side / 2), (0.095, side / 2, boom + side / 2))
    collar = side / 2 + 0.012
    builder.add_box("black", (-reach - collar, -collar, foot), (-reach + collar, collar, 0.07), touch=False)
    gusset = -reach + side / 2
    builder.add_box("black", (gusset, -0.004, boom - side - 0.08), (gusset + 0.05, 0.004, boom - side / 2), touch=False)
    builder.add_box("black", (-0.045, -0.045, body + tall), (0.045, 0.045, body + tall + 0.012), touch=False)
    builder.add_visual("camera", slab((width, depth), 0.006, body, body + tall, 0.003))
    builder.add_visual("black", drum(figures.lens_radius_m, (figures.camera_m + 0.002, body), 0.002))
    builder.add_visual("silver", drum(figures.lens_radius_m * 1.08, (body - 0.016, body - 0.008), 0.001))
    builder.add_visual(
        "glass", drum(figures.lens_radius_m * 0.75, (figures.camera_m + 0.0015, figures.camera_m + 0.004))
    )
    low, high = (-width / 2, -depth / 2, figures.camera_m + 0.002), (width / 2, depth / 2, boom)
    builder.hulls.append(Hull.box(BODY, low, high))
    return builder.build()


def _ring(builder: FurnitureBuilder, side_m: float, x: float, y: float, z: float) -> None:
    """Adds four profiles as a rectangle."""
    half = side_m / 2
    for s in (-1, 1):
        builder.add_profile(side_m, (-x + half, s * y, z), (x - half, s * y, z))
        builder.add_profile(side_m, (s * x, -y + half, z), (s * x, y - half, z))


def _mounts(builder: FurnitureBuilder, mounts: tuple[MountFigures, ...], top_m: float, finish: str) -> None:
    for mount in mounts:
        (x, y), half = mount.xy_m, mount.size_m / 2
        if mount.round:
            mesh = drum(half, (top_m, mount.top_m), 0.003, segments=64)
            builder.hulls.append(Hull.cylinder(BODY, half, (x, y, top_m), (x, y, mount.top_m)))
        else:
            mesh = slab((mount.size_m, mount.size_m), 0.008, top_m, mount.top_m, 0.002)
            builder.hulls.append(Hull.box(BODY, (x - half, y - half, top_m), (x + half, y + half, mount.top_m)))
        builder.add_visual(finish, placed(mesh, (x, y, 0.0)))
        top_m = mount.top_m


def _caster(builder: FurnitureBuilder, radius_m: float, xy_m: tuple[float, float], under_m: float) -> None:
    x, y = xy_m
    wheel = placed(drum(radius_m, (-0.014, 0.014), 0.005), (x, y, radius_m), ALONG_Y)
    builder.add_visual("rubber", wheel)
    builder.add_visual("steel", placed(drum(radius_m * 0.55, (-0.0155, 0.0155), 0.001), (x, y, radius_m), ALONG_Y))
    builder.add_visual("steel", placed(drum(0.030, (under_m - 0.012, under_m), 0.001), (x, y, 0.0)))
    for s in (-1, 1):
        side = y + s * 0.019
        builder.add_box(
            "steel", (x - 0.018, side - 0.002, radius_m - 0.01), (x + 0.018, side + 0.002, under_m - 0.01), touch=False
        )
    builder.hulls.append(Hull.box(BODY, (x - radius_m, y - 0.02, 0.0), (x + radius_m, y + 0.02, under_m)))
