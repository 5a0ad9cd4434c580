"""Random layouts of the agility laboratory for recognition, and what of them a camera can see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TRAYS, GearFigures, TrayFigures
from cellwright.catalogue.gears import LARGE_GEAR, MEDIUM_GEAR, SMALL_GEAR
from cellwright.cells import Cell, load_cell
from cellwright.core.camera import Camera
from cellwright.core.messages import CameraInfo, CameraPose
from cellwright.core.pose import Pose
from cellwright.core.rng import RandomStreams
from cellwright.perception.picture import Picture
from cellwright.rendering import GEOM, RGB
from cellwright.rendering.framing import owners
from cellwright.sensors import ImageCamera, make_sensor
from cellwright.sensors.image_camera import with_noise
from cellwright.sensors.image_noise import make_noises
from cellwright.sim import World

__all__ = ["RecognitionScene", "TrueObject", "random_layout"]

Array = npt.NDArray[np.float64]
TABLES = {  # camera -> table's height, corners of what is in view
    "camera_fanuc": (0.916, (-0.02, -1.445), (0.575, -0.875)),
    "camera_motoman": (0.890, (-0.40, -0.82), (0.45, -0.44)),
}
PARKED = {"fanuc": [0, -30, 0, 0, -90, 0], "motoman": [0, 0, 0, -100, 0, -80, 0]}
GEARS: dict[str, GearFigures] = {gear.sku: gear for gear in (SMALL_GEAR, MEDIUM_GEAR, LARGE_GEAR)}
MODELS = ("medium_gear_tray", "large_gear_tray", "small_gear_tray", "kit_m2l1_tray", "kit_s2l2_tray")
GAP_M = 0.012
TRIES = 400
UNIFORM = (0.10, 0.52, 0.27)
UNIFORMS = ((0.10, 0.52, 0.27), (0.30, 0.31, 0.33), (0.12, 0.25, 0.55), (0.60, 0.12, 0.40), (0.12, 0.12, 0.13))


@dataclass(frozen=True)
class TrueObject:
    """An object of a scene, by the truth.

    Attributes:
        sku: Its class.
        pose: Its pose in the world.
        visible: Share of it that the picture shows; parts that lie in a tray do not hide it.
    """

    sku: str
    pose: Pose
    visible: float


def random_layout(rng: np.random.Generator, camera: str, *, other: bool) -> Cell:
    """Returns the laboratory with random trays and gears on the table of one camera, and nothing on the other's.

    Args:
        rng: The random stream.
        camera: `camera_fanuc` or `camera_motoman`.
        other: The held-out generator: arms anywhere near their parked poses, more loose gears, fewer trays.
    """
    height_m, low, high = TABLES[camera]
    placed: list[Array] = []

    def free(size_m: tuple[float, float]) -> tuple[Array, float] | None:
        for _ in range(TRIES):
            spot, yaw_deg = rng.uniform(low, high), float(rng.uniform(-180, 180))
            corners = _corners(spot, np.radians(yaw_deg), np.array(size_m) + GAP_M)
            inside = ((corners >= low) & (corners <= high)).all()
            if inside and not any(_overlap(corners, one) for one in placed):
                placed.append(corners)
                return spot, yaw_deg
        return None

    cell = load_cell("aprs")
    trays: dict[str, Any] = dict.fromkeys(cell.trays)
    parts: dict[str, Any] = {}
    count = int(rng.integers(2, 4) if other else rng.integers(3, 6))
    for number, model in enumerate(rng.permutation(MODELS)[:count].tolist()):
        figures = TRAYS.get(model)
        place = free(figures.size_m)
        if place is None:
            continue
        name = f"tray_{number}"
        trays[name] = {"model": model, "pose": _place(*place, height_m)}
        share = rng.choice([0.0, 0.5, 1.0])
        for slot in figures.slots:
            if rng.random() < share:
                parts[f"{name}_{slot.name}"] = {"model": GEARS[slot.accepts].name, "slot": f"{name}/{slot.name}"}
    for number in range(int(rng.integers(2, 7) if other else rng.integers(0, 5))):
        gear = list(GEARS.values())[int(rng.integers(3))]
        place = free((2 * gear.tip_radius_m, 2 * gear.tip_radius_m))
        if place is not None:
            parts[f"loose_{number}"] = {"model": gear.name, "pose": _place(*place, height_m)}
    aside = rng.uniform(-1, 1, 14) * (8.0 if other else 0.0)
    homes = {name: (np.array(pose) + aside[: len(pose)]).tolist() for name, pose in PARKED.items()}
    changes: dict[str, Any] = {
        "fidelity": "kinematic",
        "robots": {name: {"home_deg": pose} for name, pose in homes.items()},
        "trays": trays,
        "populations": [],
        "parts": parts,
        "actual": {"camera": {"x_m": 0.0, "y_m": 0.0}},
    }
    return cell.changed(changes)


def _place(spot: Array, yaw_deg: float, height_m: float) -> dict[str, Any]:
    return {"xyz_m": [*spot.tolist(), height_m], "rpy_deg": [0.0, 0.0, yaw_deg]}


def _corners(spot: Array, yaw_rad: float, size_m: Array) -> Array:
    c, s = np.cos(yaw_rad), np.sin(yaw_rad)
    result: Array = spot + np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * size_m / 2 @ np.array([[c, s], [-s, c]])
    return result


def _overlap(one: Array, other: Array) -> bool:
    """Returns whether two rectangles overlap: no line parallel to one of their sides parts them."""
    for corners in (one, other):
        for side in (corners[1] - corners[0], corners[2] - corners[1]):
            a, b = one @ side, other @ side
            if a.max() < b.min() or b.max() < a.min():
                return False
    return True


class RecognitionScene:
    """A layout as one camera sees it: pictures with any noise, and the truth for scoring.

    Attributes:
        cell: The cell.
        camera: The camera's name.
        truth: Its objects.
    """

    def __init__(self, number: int, seed: int, *, uniform: bool, other: bool) -> None:
        streams = RandomStreams(seed)
        rng = streams.stream(f"recognition/{'other' if other else 'own'}/{number}")
        self.camera = list(TABLES)[number % len(TABLES)]
        self.cell = random_layout(rng, self.camera, other=other)
        world = World(self.cell, seed)
        model = world.appearance.now()[0]
        if other:
            _change_lights(model, rng)
        if uniform:
            _paint(model, world, UNIFORMS[int(rng.integers(len(UNIFORMS)))] if other else UNIFORM)
        line = {"type": "color_camera", "camera": self.camera, "noise": []}
        sensor = make_sensor(line, world, "recognition")
        assert isinstance(sensor, ImageCamera)
        shot = sensor.shoot((RGB, GEOM))
        self._rgb, self._streams, self._number = shot.rgb, streams, number
        sensor.facts((0, 0, self.camera), sensor.mount)
        facts = [message for _, message in sensor.beside]
        self._info = next(fact for fact in facts if isinstance(fact, CameraInfo))
        self._pose = next(fact for fact in facts if isinstance(fact, CameraPose))
        self.truth = _truth(world, sensor.mount.actual, shot.geom, np.asarray(owners(model)))

    def picture(self, sd: float) -> Picture:
        """Returns the picture with noise."""
        rng = self._streams.stream(f"recognition/noise/{self._number}/{sd:g}")
        noise = make_noises([{"model": "gaussian", "sd": sd}], "recognition", of_depth=False)
        return Picture(
            source=self.camera,
            time_s=0.0,
            pixels=with_noise(self._rgb, noise, rng),
            matrix=np.asarray(self._info.matrix, float),
            distortion=np.asarray(self._info.distortion, float),
            pose_camera_in_world=Pose(self._pose.position, self._pose.quaternion),
        )


def _change_lights(model: Any, rng: np.random.Generator) -> None:
    """Makes lights brighter or darker, of another tint, and turns them."""
    tint = rng.uniform(0.9, 1.1, 3)
    for light in range(model.nlight):
        model.light_diffuse[light] *= rng.uniform(0.7, 1.15) * tint
        way = model.light_dir[light] + rng.normal(0, 0.25, 3)
        model.light_dir[light] = way / np.linalg.norm(way)
    model.vis.headlight.ambient[:] *= rng.uniform(0.8, 1.1) * tint


def _paint(model: Any, world: World, colour: tuple[float, float, float]) -> None:
    """Gives all gears one colour."""
    gears = {name for name, item in world.objects.items() if isinstance(item.figures, GearFigures)}
    names = np.asarray(owners(model))
    for geom in range(model.ngeom):
        if names[geom] in gears:
            model.geom_rgba[geom, :3] = colour
            if model.geom_matid[geom] >= 0:
                model.mat_rgba[model.geom_matid[geom], :3] = colour


def _truth(world: World, camera: Camera, geoms: npt.NDArray[np.int32], owner: npt.NDArray[np.str_]) -> list[TrueObject]:
    """Returns the objects with their visible shares, by the owners of the picture's pixels."""
    found = []
    parts = {name for name, item in world.objects.items() if not item.is_tray}
    for name, item in world.objects.items():
        pose, figures = world.pose_of(name), item.figures
        if isinstance(figures, TrayFigures):
            grid = np.array([(x, y) for x in np.linspace(-0.47, 0.47, 15) for y in np.linspace(-0.47, 0.47, 15)])
            points = np.column_stack([grid * figures.size_m, np.full(len(grid), figures.thickness_m)])
        elif isinstance(figures, GearFigures):
            ring = [(r * np.cos(a), r * np.sin(a)) for r in (0.4, 0.7, 0.95) for a in np.arange(24) * np.pi / 12]
            points = np.column_stack([figures.root_radius_m * np.array(ring), np.full(72, figures.disc_top_m)])
        else:
            continue
        pixels = camera.pixels(pose.apply(points))
        inside: npt.NDArray[np.bool_] = np.all((pixels >= 0) & (pixels < np.array(camera.resolution_px)), axis=1)
        columns, rows = np.where(inside[:, None], pixels, 0).astype(int).T
        shown = owner[np.maximum(geoms[rows, columns], 0)]
        seen = inside & np.isin(shown, [name, *parts] if item.is_tray else [name])
        found.append(TrueObject(item.sku, pose, float(seen.mean())))
    return found
