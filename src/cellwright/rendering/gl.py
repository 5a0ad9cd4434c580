"""Pictures by OpenGL: MuJoCo's own renderer, drawing into memory through EGL or OSMesa."""

from __future__ import annotations

import atexit
import importlib
import math
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.errors import SimulationError
from cellwright.rendering.view import VISIBLE_GROUPS, Frustum, View

__all__ = ["GlRenderer"]

MAX_GEOMS = 20000


class GlRenderer:
    """Draws with OpenGL through one platform, `egl` or `osmesa`.

    The context is chosen here and not by MuJoCo's environment variable, which is read once and then holds for the
    whole process. A context serves one model at a time and is kept for the next picture of the same model.
    """

    def __init__(self, platform: str) -> None:
        self.name = platform
        self._model: Any = None
        self._gl: Any = None
        self._context: Any = None
        self._scene: Any = None

    def render(self, model: Any, data: Any, view: View, size: tuple[int, int] = (1280, 720)) -> npt.NDArray[np.uint8]:
        """Returns the picture as (height, width, 3); `data` must be at least at `mj_forward`'s state of poses."""
        width, height = size
        frustum = view.resolve(model, data)
        self._open(model)
        self._gl.make_current()
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        if (self._context.offWidth, self._context.offHeight) != (width, height):
            mujoco.mjr_resizeOffscreen(width, height, self._context)
        self._compose(model, data, frustum)
        picture = np.empty((height, width, 3), dtype=np.uint8)
        window = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(window, self._scene, self._context)
        mujoco.mjr_readPixels(picture, None, window, self._context)
        return np.flipud(picture).copy()

    def close(self) -> None:
        """Frees the context, in the order that keeps the drivers quiet."""
        atexit.unregister(self.close)
        if self._context is not None:
            self._gl.make_current()
            self._context.free()
        if self._gl is not None:
            self._gl.free()
        self._model = self._gl = self._context = self._scene = None

    def _open(self, model: Any) -> None:
        if self._model is model:
            return
        self.close()
        try:
            self._gl = importlib.import_module(f"mujoco.{self.name}").GLContext(64, 64)
            self._gl.make_current()
            self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        except Exception as error:  # drivers fail in every way there is
            self.close()
            raise SimulationError(f"OpenGL through {self.name} does not work here: {error}") from None
        self._scene = mujoco.MjvScene(model, maxgeom=MAX_GEOMS)
        self._model = model
        atexit.register(self.close)  # only now: it must run before the platform's own clean-up

    def _compose(self, model: Any, data: Any, frustum: Frustum) -> None:
        option = mujoco.MjvOption()
        option.geomgroup[:] = [group in VISIBLE_GROUPS for group in range(len(option.geomgroup))]
        option.sitegroup[:] = 0
        mujoco.mjv_updateScene(
            model, data, option, None, mujoco.MjvCamera(), mujoco.mjtCatBit.mjCAT_ALL.value, self._scene
        )
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = True
        self._scene.flags[mujoco.mjtRndFlag.mjRND_HAZE] = True
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        near = model.vis.map.znear * model.stat.extent
        half_height = near * math.tan(frustum.fovy_rad / 2)
        _, up, backwards = frustum.axes_in_world.T
        for camera in self._scene.camera:
            camera.pos, camera.up, camera.forward = frustum.eye_in_world_m, up, -backwards
            camera.frustum_center, camera.frustum_width = 0.0, 0.0
            camera.frustum_bottom, camera.frustum_top = -half_height, half_height
            camera.frustum_near, camera.frustum_far = near, model.vis.map.zfar * model.stat.extent
            camera.orthographic = 0
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.rgba[3] < 1 or geom.type == mujoco.mjtGeom.mjGEOM_PLANE:
                geom.castshadow = 0  # glass lets light through; an even ground hides nothing, but speckles itself
        for light in self._scene.lights[: self._scene.nlight]:
            if light.headlight:
                light.pos, light.dir = frustum.eye_in_world_m, -backwards
