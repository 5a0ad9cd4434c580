"""The shape of the e-puck: a clear body between two wheels, a board with a ring of lamps, a second board above."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from cellwright.catalogue.mobiles import MobileFigures
from cellwright.shapes.body_shape import Hull, MeshPiece
from cellwright.shapes.mesh import Mesh, cuboid, merge
from cellwright.shapes.polygon import rounded_rectangle
from cellwright.shapes.solids import ALONG_MINUS_Y, ALONG_X, ALONG_Y, drum, placed, plate, ring

__all__ = ["BODY", "WHEELS", "epuck_hull", "epuck_pieces"]

BODY = "body"
WHEELS = ("wheel_left", "wheel_right")
BOARD_Z_M = (0.0325, 0.0341)
UPPER_Z_M = (0.0430, 0.0444)
Array = npt.NDArray[np.float64]


def epuck_hull(figures: MobileFigures) -> Hull:
    """Returns the collision hull; its wheels are within it."""
    return Hull.cylinder(BODY, figures.radius_m, (0.0, 0.0, figures.underside_m), (0.0, 0.0, figures.height_m))


def epuck_pieces(figures: MobileFigures) -> Iterable[MeshPiece]:
    """Returns the visuals, on the bodies `body`, `wheel_left`, `wheel_right`; lamps have their names as finish."""
    yield from _body(figures)
    yield from _boards(figures)
    yield from _lamps(figures)
    yield from _wheels(figures)


def _flat_sided(radius_m: float, half_width_m: float, points: int = 20) -> Array:
    """Returns a circle with two flats, where the wheels are."""
    edge = np.arcsin(half_width_m / radius_m)
    front = np.linspace(-edge, edge, points)
    angles = np.concatenate([front, front + np.pi])
    return np.asarray(radius_m * np.column_stack([np.cos(angles), np.sin(angles)]))


def _body(figures: MobileFigures) -> list[MeshPiece]:
    """Returns a clear shell around battery and motors."""
    inner = figures.wheel_base_m / 2 - figures.wheel_width_m / 2 - 0.0015
    low = figures.underside_m
    shell = plate(_flat_sided(0.0345, inner), (low, 0.0290), (0.0030, 0.0010))
    battery = plate(rounded_rectangle((0.046, 0.030), 0.003, 4), (low + 0.001, low + 0.0075), 0.001)
    motors = [
        placed(drum(0.0075, (0.002, inner - 0.001), 0.001), (0, 0, 0.020), turn) for turn in (ALONG_Y, ALONG_MINUS_Y)
    ]
    axle = placed(drum(0.0015, (-inner - 0.004, inner + 0.004)), (0, 0, 0.020), ALONG_Y)
    pillars = [
        placed(drum(0.0016, (0.0290, BOARD_Z_M[0])), (x, y, 0.0)) for x in (-0.024, 0.024) for y in (-0.01, 0.01)
    ]
    feet = [placed(drum(s.radius_m, (low - 0.0035, low + 0.001), (0.002, 0.0)), (*s.xy_m, 0.0)) for s in figures.skids]
    return [
        MeshPiece(BODY, "clear", shell),
        MeshPiece(BODY, "battery", battery),
        MeshPiece(BODY, "steel", merge([*motors, axle, *pillars])),
        MeshPiece(BODY, "black", merge(feet)),
    ]


def _boards(figures: MobileFigures) -> list[MeshPiece]:
    """Returns the board with proximity sensors and camera; the upper one with switch, speaker, pins."""
    board = drum(0.0345, BOARD_Z_M, segments=64)
    upper = plate(_flat_sided(0.0300, 0.0255), UPPER_Z_M)
    eyes = [_eye(sensor.xyz_m, sensor.yaw_rad) for sensor in figures.proximity]
    x, y, z = figures.camera.xyz_m
    camera = merge(
        [
            cuboid((x - 0.008, y - 0.004, z - 0.004), (x, y + 0.004, z + 0.0045)),
            placed(drum(0.0026, (0.0, 0.0035), (0.0, 0.0005), segments=20), (x, y, z), ALONG_X),
        ]
    )
    top = UPPER_Z_M[1]
    socket = [
        cuboid((-0.012, s * 0.0175 - 0.0025, BOARD_Z_M[1]), (0.012, s * 0.0175 + 0.0025, UPPER_Z_M[0])) for s in (-1, 1)
    ]
    knob = placed(drum(0.0045, (top, figures.height_m), (0.0, 0.0008), segments=24), (-0.016, -0.012, 0.0))
    serial = cuboid((-0.020, 0.008, top), (-0.010, 0.020, top + 0.0045))
    speaker = placed(drum(0.0075, (top, top + 0.0030), (0.0, 0.0008), segments=32), (0.004, 0.0, 0.0))
    grill = placed(ring(0.0060, 0.0035, (top + 0.0029, top + 0.0033)), (0.004, 0.0, 0.0))
    pins = [cuboid((0.017, y, top), (0.0185, y + 0.0012, top + 0.0040)) for y in np.arange(-0.0105, 0.0100, 0.0025)]
    return [
        MeshPiece(BODY, "board", board),
        MeshPiece(BODY, "upper_board", upper),
        MeshPiece(
            BODY, "ring", ring(figures.radius_m, 0.0345, (BOARD_Z_M[0] - 0.0025, BOARD_Z_M[1] + 0.0045), segments=64)
        ),
        MeshPiece(BODY, "black", merge([*eyes, camera, *socket, speaker])),
        MeshPiece(BODY, "steel", merge([knob, serial, grill])),
        MeshPiece(BODY, "gold", merge(pins)),
    ]


def _eye(xyz_m: tuple[float, float, float], yaw_rad: float) -> Mesh:
    """Returns a proximity sensor; those at the back are at the board's edge, beyond which their figures are."""
    share = min(1.0, 0.0355 / float(np.hypot(*xyz_m[:2])))
    place = (share * xyz_m[0], share * xyz_m[1], xyz_m[2])
    return placed(cuboid((-0.0035, -0.003, -0.002), (0.0, 0.003, 0.002)), place, (0.0, 0.0, yaw_rad))


def _lamps(figures: MobileFigures) -> list[MeshPiece]:
    """Returns domes on the ring; the body's lamp is a disc inside of it."""
    pieces = []
    for lamp in figures.leds:
        inside = lamp.xyz_m[2] < 0.02
        mesh = (
            drum(0.010, (-0.001, 0.001), segments=24)
            if inside
            else drum(0.0022, (-0.0030, 0.0012), (0.0, 0.0012), segments=16)
        )
        pieces.append(MeshPiece(BODY, lamp.name, placed(mesh, lamp.xyz_m)))
    return pieces


def _wheels(figures: MobileFigures) -> list[MeshPiece]:
    """Returns a hub with spokes of holes that show it turning, and a thin black tyre."""
    radius, half = figures.wheel_radius_m, figures.wheel_width_m / 2
    tyre = placed(ring(radius, radius - 0.0016, (-half * 0.5, half * 0.5), segments=48), rpy_rad=ALONG_Y)
    hub = placed(drum(radius - 0.0012, (-half, half), 0.0006, segments=48), rpy_rad=ALONG_Y)
    marks = []
    for k in range(6):
        a = k * np.pi / 3
        spot = drum(0.0028, (-half - 0.0002, half + 0.0002), segments=16)
        marks.append(placed(placed(spot, (0.0115 * np.cos(a), 0.0115 * np.sin(a), 0.0)), rpy_rad=ALONG_Y))
    meshes: dict[str, Mesh] = {"rubber": tyre, "hub": hub, "black": merge(marks)}
    return [MeshPiece(wheel, finish, mesh) for wheel in WHEELS for finish, mesh in meshes.items()]
