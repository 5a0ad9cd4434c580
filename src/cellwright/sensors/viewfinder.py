"""The picture of a camera: the part of it that is wanted, through its lens as it really is."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from cellwright.core.camera import Camera
from cellwright.core.pose import Pose
from cellwright.rendering import BEST, DEPTH, RGB, Frustum, Quality, Renderer, Shot
from cellwright.rendering.pattern_light import ThrownPattern, add_light
from cellwright.sim import World

__all__ = ["OPTICAL", "Viewfinder"]

Region = tuple[int, int, int, int]
OPTICAL = Pose.from_xyz_rpy([0, 0, 0], [-math.pi / 2, 0, -math.pi / 2])
"""The frame of a picture (x right, y down, z ahead) in a camera's own (x ahead, y left, z up)."""
MARGIN_PX = 2


class Viewfinder:
    """Takes pictures of a world with one camera.

    A renderer draws with a perfect lens; where the camera's is none, a larger picture is drawn and bent.

    Args:
        camera: With its resolution, its field and the error of its lens; its pose does not matter.
        region_px: First column and row, columns and rows of the part that is taken; None for all.
        binning: Pixels along each axis that become one.
    """

    def __init__(self, camera: Camera, region_px: Region | None, binning: int) -> None:
        self.region_px = region_px or (0, 0, *camera.resolution_px)
        self.binning = binning
        column, row, columns, rows = self.region_px
        self.size_px = columns // binning, rows // binning
        self._focal_px = camera.focal_px / binning
        middle = np.array(camera.resolution_px) / 2
        window = np.array([column, row, column + binning * self.size_px[0], row + binning * self.size_px[1]], float)
        left, top, right, bottom = (window - [*middle, *middle]) / camera.focal_px
        self._window = left, top, right, bottom  # slopes to the right and downwards
        self._drawn_px = self.size_px
        self._last: tuple[tuple[object, ...], Shot] | None = None
        self._bend: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None = None
        if camera.lens_error is not None:
            self._bend_by(replace(camera, pose_in_world=Pose.identity()))

    def _bend_by(self, camera: Camera) -> None:
        """Finds where in a picture of a perfect lens each pixel is, and how large that picture has to be."""
        columns, rows = self.size_px
        y, x = np.mgrid[:rows, :columns]
        pixels = np.column_stack([x.reshape(-1), y.reshape(-1)]) + 0.5
        rays = camera.rays(pixels * self.binning + self.region_px[:2])
        slopes = -rays[:, 1:] / rays[:, :1]
        low = np.floor(slopes.min(axis=0) * self._focal_px) - MARGIN_PX
        high = np.ceil(slopes.max(axis=0) * self._focal_px) + MARGIN_PX
        width, height = (high - low).astype(int).tolist()
        self._drawn_px = width, height
        self._window = tuple((np.array([*low, *high]) / self._focal_px).tolist())
        across, down = (slopes * self._focal_px - low - 0.5).T
        self._bend = across.reshape(rows, columns), down.reshape(rows, columns)

    def frustum(self, pose_in_world: Pose) -> Frustum:
        """Returns what a renderer has to draw for a camera at a pose."""
        x, y, z = pose_in_world.rotation_matrix.T
        left, top, right, bottom = self._window
        axes = np.column_stack([-y, z, -x])
        middle = (left + right) / 2, -(top + bottom) / 2
        return Frustum(np.array(pose_in_world.position), axes, 2 * math.atan((bottom - top) / 2), middle)

    def shoot(
        self,
        world: World,
        renderer: Renderer,
        pose_in_world: Pose,
        exposure: float,
        layers: tuple[str, ...],
        patterns: tuple[ThrownPattern, ...] = (),
        quality: Quality = BEST,
    ) -> Shot:
        """Returns the layers of a picture of the world as it is now; colours with the light of the patterns."""
        frustum, has_light = self.frustum(pose_in_world), bool(patterns) and RGB in layers
        if has_light and DEPTH not in layers:
            layers = (*layers, DEPTH)
        shot = self._drawn(world, renderer, frustum, exposure, layers, quality)
        if has_light:
            shot = add_light(shot, frustum, patterns, exposure)
        return shot if self._bend is None else self._bent(shot, *self._bend)

    def _drawn(
        self,
        world: World,
        renderer: Renderer,
        frustum: Frustum,
        exposure: float,
        layers: tuple[str, ...],
        quality: Quality,
    ) -> Shot:
        """Returns the picture of a perfect lens; the last one, as long as nothing looks otherwise."""
        model, data = world.appearance.now()
        place = frustum.eye_in_world_m.tobytes(), frustum.axes_in_world.tobytes()
        key = (model, world.appearance.look(), *place, renderer, exposure, layers, quality)
        if self._last is None or self._last[0] != key:
            shot = renderer.shoot(
                model, data, frustum, self._drawn_px, exposure=exposure, layers=layers, quality=quality
            )
            self._last = key, shot
        return self._last[1]

    def _bent(self, shot: Shot, across: npt.NDArray[np.float64], down: npt.NDArray[np.float64]) -> Shot:
        i, j = np.floor(across).astype(np.intp), np.floor(down).astype(np.intp)
        fx, fy = ((part - whole)[..., None] for part, whole in ((across, i), (down, j)))
        rgb = shot.rgb.astype(np.float32)
        top = rgb[j, i] * (1 - fx) + rgb[j, i + 1] * fx
        low = rgb[j + 1, i] * (1 - fx) + rgb[j + 1, i + 1] * fx
        nearest = np.round(down).astype(np.intp), np.round(across).astype(np.intp)
        mixed = np.round(top * (1 - fy) + low * fy).astype(np.uint8)
        return Shot(mixed, shot.depth_m[nearest], shot.geom[nearest])
