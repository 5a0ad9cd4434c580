"""The visuals and the hulls of a vacuum tool: adapter, bar, tubes with their fittings, cups with folds."""

from __future__ import annotations

import numpy as np

from cellwright.catalogue.vacuum import VacuumFigures
from cellwright.shapes.body_shape import BodyShape, Hull, MeshPiece
from cellwright.shapes.mesh import lathe, merge
from cellwright.shapes.polygon import rounded_rectangle
from cellwright.shapes.solids import ALONG_MINUS_X, ALONG_X, bolt_circle, drum, placed, plate, rod

__all__ = ["LIP_RADIUS_M", "cup_suffixes", "vacuum_shape"]

LIP_RADIUS_M = 0.0015  # half the thickness of the lip
CORE_DEPTH_M = 0.007  # from the lip to the solid inside of the cup


def vacuum_shape(figures: VacuumFigures) -> BodyShape:
    """Returns visuals and hulls on the bodies `tool` and `cup`, whose frame is the middle of its lip."""
    if figures.array_number > 1:
        return BodyShape(hulls=_bar_hulls(figures), pieces=lambda: [*_bar(figures), *_cups(figures)])
    return BodyShape(hulls=_hulls(figures), pieces=lambda: [*_mount(figures), *_cups(figures)])


def cup_suffixes(figures: VacuumFigures) -> tuple[str, ...]:
    """Returns the suffixes of the names of each cup's elements: nothing when there is but one."""
    return ("",) if figures.array_number == 1 else tuple(f"_{k + 1}" for k in range(figures.array_number))


def _hulls(figures: VacuumFigures) -> tuple[Hull, ...]:
    end, tip = figures.mount_height_m, figures.tcp_xyz_m[2]
    radius, root = figures.cup_diameter_m / 2, tip - figures.cup_length_m
    return (
        Hull.cylinder("tool", figures.mount_radius_m, (0.0, 0.0, 0.0), (0.0, 0.0, end)),
        Hull.cylinder("tool", figures.tube_radius_m, (0.0, 0.0, end), (0.0, 0.0, root + 0.004)),
        Hull.cylinder("cup", 0.62 * radius, (0.0, 0.0, -figures.cup_length_m + 0.004), (0.0, 0.0, -CORE_DEPTH_M)),
    )


def _bar_hulls(figures: VacuumFigures) -> tuple[Hull, ...]:
    start, root = figures.mount_height_m, figures.tcp_xyz_m[2] - figures.cup_length_m
    end, (x, y) = start + figures.bar_size_m[1], _bar_half_m(figures)
    hulls = [
        Hull.cylinder("tool", figures.mount_radius_m, (0.0, 0.0, 0.0), (0.0, 0.0, start)),
        Hull.box("tool", (-x, -y, start), (x, y, end)),
    ]
    core = 0.62 * figures.cup_diameter_m / 2
    for suffix, (x, y) in zip(cup_suffixes(figures), figures.cups_xy_m, strict=True):
        hulls.append(Hull.cylinder("tool", figures.tube_radius_m, (x, y, end), (x, y, root + 0.004)))
        top = -figures.cup_length_m + 0.004
        hulls.append(Hull.cylinder(f"cup{suffix}", core, (0.0, 0.0, top), (0.0, 0.0, -CORE_DEPTH_M)))
    return tuple(hulls)


def _bar_half_m(figures: VacuumFigures) -> tuple[float, float]:
    """Returns half the extent of the bar: a plate when the cups are not in a row."""
    x, y = (max(abs(cup[axis]) for cup in figures.cups_xy_m) + figures.bar_size_m[0] / 2 for axis in (0, 1))
    return x, y


def _bar(figures: VacuumFigures) -> list[MeshPiece]:
    """Returns adapter and sensor above a bar with a tube, a fitting and a hose for each cup."""
    radius, start = figures.mount_radius_m, figures.mount_height_m
    root, tube = figures.tcp_xyz_m[2] - figures.cup_length_m, figures.tube_radius_m
    end, (half_x, half_y) = start + figures.bar_size_m[1], _bar_half_m(figures)
    adapter = [
        drum(radius, (0.0, 0.22 * start), 0.0015, segments=36, steps=1),
        drum(0.94 * radius, (0.80 * start, start), 0.0015, segments=36, steps=1),
    ]
    sensor = drum(0.97 * radius, (0.24 * start, 0.78 * start), 0.003, segments=36, steps=2)
    beam = plate(rounded_rectangle((2 * half_x, 2 * half_y), 0.006, 4), (start, end), 0.0012, steps=1)
    ejector = placed(plate(rounded_rectangle((0.020, 0.018), 0.003, 3), (0.0, 0.012), 0.001, steps=1), (0, 0, end))
    bolts = bolt_circle(0.82 * radius, 6, 0.0026, (0.2 * start, 0.22 * start + 0.002), phase_rad=0.5)
    steel, hoses, collars = [bolts], [], []
    for x, y in figures.cups_xy_m:
        steel.append(placed(drum(tube, (end, root), 0.0008, segments=24, steps=1), (x, y, 0.0)))
        steel.append(placed(drum(0.005, (start - 0.008, start), 0.001, segments=6, steps=1), (x, y, 0.0)))
        collars.append(placed(drum(1.6 * tube, (end, end + 0.008), 0.001, segments=6, steps=1), (x, y, 0.0)))
        side = 1.0 if x >= 0 else -1.0
        points = [
            (x, y, start - 0.006),
            (x, y, start - 0.022),
            (x - 0.012 * side, y, 0.38 * start),
            (side * 0.97 * radius, 0.0, 0.5 * start),
        ]
        hoses.append(rod(points, 0.003, points=10))
    return [
        MeshPiece("tool", "aluminium", merge([*adapter, beam])),
        MeshPiece("tool", "anodised", merge([sensor, ejector, *collars])),
        MeshPiece("tool", "blue", merge(hoses)),
        MeshPiece("tool", "steel", merge(steel)),
    ]


def _mount(figures: VacuumFigures) -> list[MeshPiece]:
    radius, start = figures.mount_radius_m, figures.mount_height_m
    end, tube = figures.tcp_xyz_m[2] - figures.cup_length_m, figures.tube_radius_m
    adapter = [
        drum(radius, (0.0, 0.22 * start), 0.0015, segments=36, steps=1),
        drum(0.94 * radius, (0.80 * start, start), 0.0015, segments=36, steps=1),
    ]
    sensor = drum(0.97 * radius, (0.24 * start, 0.78 * start), 0.003, segments=36, steps=2)
    ejector = drum(0.6 * radius, (start, start + 0.30 * (end - start)), 0.002, segments=6, steps=1)
    port = placed(
        drum(0.0045, (0.0, 0.6 * radius + 0.010), (0.0, 0.001), segments=14, steps=1), (0, 0, start + 0.005), ALONG_X
    )
    socket = placed(
        drum(0.007, (0.8 * radius, 1.22 * radius), 0.001, segments=14, steps=1), (0, 0, 0.5 * start), ALONG_MINUS_X
    )
    hose = rod(
        [
            (0.6 * radius + 0.008, 0, start + 0.005),
            (1.2 * radius, 0, start + 0.008),
            (1.35 * radius, 0, 0.5 * start),
            (1.25 * radius, 0, 0.05 * start),
        ],
        0.003,
        points=10,
    )
    stem = drum(tube, (start, end), 0.001, segments=24, steps=1)
    collar = drum(1.35 * tube, (end - 0.010, end), 0.001, segments=24, steps=1)
    bolts = bolt_circle(0.82 * radius, 6, 0.0026, (0.2 * start, 0.22 * start + 0.002), phase_rad=0.5)
    return [
        MeshPiece("tool", "aluminium", merge([*adapter, collar])),
        MeshPiece("tool", "anodised", merge([sensor, ejector])),
        MeshPiece("tool", "black", socket),
        MeshPiece("tool", "blue", hose),
        MeshPiece("tool", "steel", merge([stem, port, bolts])),
    ]


def _cups(figures: VacuumFigures) -> list[MeshPiece]:
    """Returns bellows between the tube and a skirt that widens to the lip, open below."""
    radius, long = figures.cup_diameter_m / 2, figures.cup_length_m
    skirt = min(0.55 * long, 0.6 * radius)
    folds = 3 if long > 2 * radius else 2
    heights = np.linspace(-long, -skirt, 2 * folds + 1)
    narrow, wide = max(0.45 * radius, 1.2 * figures.tube_radius_m), 0.72 * radius
    profile = [(narrow if k % 2 == 0 else wide, float(z)) for k, z in enumerate(heights)]
    lip = 2 * LIP_RADIUS_M
    profile += [(0.80 * radius, -0.45 * skirt), (radius, -0.2 * lip), (radius, 0.0), (radius - lip, 0.0)]
    profile += [(0.70 * radius, -0.45 * skirt), (0.40 * radius, -0.9 * skirt)]
    return [MeshPiece(f"cup{suffix}", "rubber", lathe(profile, 48)) for suffix in cup_suffixes(figures)]
