"""Scenes for sparse stereo: a cube on the ROVI workcell's plate, the arm somewhere, its shadow with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cellwright.catalogue.rovi_furniture import ROVI_TABLE
from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.lab.pictures import take_pictures
from cellwright.perception.picture import Picture
from cellwright.perception.stereo.sparse_method import CubeOnPlate
from cellwright.sensors import make_sensor
from cellwright.sensors.cameras import StereoCamera
from cellwright.sensors.image_camera import EXPOSURE
from cellwright.sim import World

__all__ = ["CUBES", "CubeScene", "SceneDraw", "StereoPictures", "draw_scene", "noisy", "pick_plate"]

CUBES: Mapping[str, str] = {"white": "cube", "red": "red_cube", "wood": "wooden_cube", "grey": "grey_cube"}
AWAY = Pose.from_xyz_rpy((-1.5, -1.5, 0.04))
EDGE_M = 0.08
ROBOT = "ur5"
StereoPictures = tuple[Picture, Picture]


def pick_plate(edge_m: float | None = EDGE_M) -> CubeOnPlate:
    """Returns the cube on the pick area of the table, by the drawings."""
    (plate,) = (plate for plate in ROVI_TABLE.plates if plate.name == "pick_area")
    x, y, _ = load_cell("rovi").fixtures["table"].pose.xyz_m
    return CubeOnPlate(
        min_xy_m=(x + plate.min_xy_m[0], y + plate.min_xy_m[1]),
        max_xy_m=(x + plate.max_xy_m[0], y + plate.max_xy_m[1]),
        plate_z_m=plate.top_m,
        edge_m=edge_m,
    )


@dataclass(frozen=True, kw_only=True)
class SceneDraw:
    """One random scene.

    Attributes:
        colour: A key of `CUBES`.
        place: x, y and yaw of the cube.
        joints_rad: The arm when the cube is seen.
        reference_rad: The arm when the reference was taken.
        key_light: Direction of the light that casts shadows.
        light_factor: Of all lights.
        exposure: Of the cameras.
    """

    colour: str
    place: tuple[float, float, float]
    joints_rad: tuple[float, ...]
    reference_rad: tuple[float, ...]
    key_light: tuple[float, float, float] | None = None
    light_factor: float = 1.0
    exposure: float = EXPOSURE


class CubeScene:
    """The ROVI workcell with one cube, seen by its stereo camera; pictures come without noise.

    Args:
        colour: A key of `CUBES`.
        seed: Of the actual layout: where the cameras really are.
        exposure: Of both cameras.
        shadows: Whether the key light casts shadows.
    """

    def __init__(self, colour: str, seed: int, *, exposure: float = EXPOSURE, shadows: bool = True) -> None:
        cell = load_cell("rovi@cube").changed({"parts": {"cube": {"model": CUBES[colour]}}})
        self.world = World(cell, seed)
        line = {"type": "stereo_camera", "name": "pair", "left": "stereo_left", "right": "stereo_right"}
        settings = {"noise": [], "exposure": exposure}
        sensor = make_sensor({**line, **settings}, self.world, "sparse stereo")
        assert isinstance(sensor, StereoCamera)
        self._sensor = sensor
        self._home = self.world.data.qpos[self.world.robot(ROBOT).qpos].copy()
        if not shadows:
            self.world.appearance.now()[0].light_castshadow[:] = 0

    def light(self, direction: tuple[float, float, float] | None, factor: float) -> None:
        """Turns the light that casts shadows, and makes all lights brighter or darker."""
        model, _ = self.world.appearance.now()
        if direction is not None:
            model.light_dir[model.light_castshadow.astype(bool)] = np.array(direction) / np.linalg.norm(direction)
        model.light_diffuse *= factor
        model.light_specular *= factor
        for colours in (model.vis.headlight.ambient, model.vis.headlight.diffuse, model.vis.headlight.specular):
            colours[:] *= factor

    def pictures(
        self, place: tuple[float, float, float] | None, joints_rad: tuple[float, ...] | None = None
    ) -> StereoPictures:
        """Returns the left and the right picture.

        Args:
            place: x, y and yaw of the cube; None takes it away.
            joints_rad: The arm; None for home.
        """
        world = self.world
        z_m = pick_plate().plate_z_m + EDGE_M / 2
        pose = AWAY if place is None else Pose.from_xyz_rpy((*place[:2], z_m), (0, 0, place[2]))
        world.data.qpos[world.robot(ROBOT).qpos] = self._home if joints_rad is None else joints_rad
        world.place("cube", pose)
        left, right = take_pictures(self._sensor)
        return left, right


def draw_scene(rng: np.random.Generator, *, held_out: bool) -> SceneDraw:
    """Returns a random scene: a cube anywhere on the plate, the arm near home before and after.

    Args:
        rng: Its randomness.
        held_out: Whether the arm moves further, and lights and exposure are others.
    """
    task, margin_m = pick_plate(), EDGE_M * 0.75
    x, y = (float(rng.uniform(task.min_xy_m[axis] + margin_m, task.max_xy_m[axis] - margin_m)) for axis in (0, 1))
    spread = np.array([0.5, 0.25, 0.3, 0.3, 0.4, 1.0]) if held_out else np.array([0.25, 0.12, 0.15, 0.2, 0.2, 0.5])
    home_rad = np.radians(load_cell("rovi").robots[ROBOT].home_deg)
    arms = [tuple((home_rad + rng.uniform(-spread, spread)).tolist()) for _ in range(2)]
    drawn = SceneDraw(
        colour=str(rng.choice(list(CUBES))),
        place=(x, y, float(rng.uniform(-np.pi / 4, np.pi / 4))),
        joints_rad=arms[0],
        reference_rad=arms[1],
    )
    if not held_out:
        return drawn
    east, north = rng.uniform(-0.6, 0.6, 2).tolist()
    return replace(
        drawn,
        key_light=(east, north, -1.0),
        light_factor=float(rng.uniform(0.7, 1.15)),
        exposure=float(rng.uniform(0.55, 0.8)),
    )


def noisy(pictures: StereoPictures, sd: float, rng: np.random.Generator, *, as_paper: bool = False) -> StereoPictures:
    """Returns pictures with Gaussian noise of a deviation in grey levels.

    Args:
        pictures: Left and right.
        sd: The deviation.
        rng: Its randomness.
        as_paper: Whether as the paper's code makes it: the same in both pictures, and nothing below zero.
    """
    if not sd:
        return pictures
    draws: list[npt.NDArray[np.float32]] = [
        rng.standard_normal(pictures[0].pixels.shape, dtype=np.float32) * np.float32(sd) for _ in range(2)
    ]
    if as_paper:
        draws = [np.round(np.maximum(draws[0], np.float32(0))).astype(np.float32)] * 2
    left, right = (
        replace(picture, pixels=np.clip(np.round(picture.pixels + drawn), 0, 255).astype(np.uint8))
        for picture, drawn in zip(pictures, draws, strict=True)
    )
    return left, right
