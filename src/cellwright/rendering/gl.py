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
from cellwright.rendering.quality import BEST, Quality
from cellwright.rendering.renderer import Renderer
from cellwright.rendering.shot import DEPTH, GEOM, RGB, Shot, blank_shot
from cellwright.rendering.view import VISIBLE_GROUPS, Frustum

__all__ = ["GlRenderer"]

MAX_GEOMS = 20000


class GlRenderer(Renderer):
    """Draws with OpenGL through one platform, `egl` or `osmesa`.

    The context is chosen here and not by MuJoCo's environment variable, which is read once and then holds for the
    whole process. Contexts, one for each quality, serve one model at a time and are kept for its next pictures.
    """

    def __init__(self, platform: str) -> None:
        self.name = platform
        self._model: Any = None
        self._gl: Any = None
        self._contexts = dict[Quality, Any]()
        self._scene: Any = None

    def shoot(
        self,
        model: Any,
        data: Any,
        frustum: Frustum,
        size: tuple[int, int],
        *,
        exposure: float = 1.0,
        layers: tuple[str, ...] = (RGB,),
        quality: Quality = BEST,
    ) -> Shot:
        """Returns the layers of a picture that are asked for; light is scaled by the exposure before it is cut off."""
        width, height = size
        context = self._open(model, quality)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, context)
        if (context.offWidth, context.offHeight) != (width, height):
            mujoco.mjr_resizeOffscreen(width, height, context)
        context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._compose(model, data, frustum)
        shot = blank_shot(size)
        if RGB in layers:
            self._expose(exposure)
            picture, buffer = self._draw(context, size, with_depth=exposure != 1)
            if exposure != 1:  # the sky is not lit: it is scaled afterwards, and never was too bright
                picture[buffer == 0] = np.round(picture[buffer == 0] * min(exposure, 1.0))
            shot.rgb[:] = picture[::-1]
        if DEPTH in layers or GEOM in layers:
            self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
            self._scene.flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = True
            self._scene.flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = True
            self._leave_out_glass()
            picture, buffer = self._draw(context, size, with_depth=True)
            seen = picture.astype(np.int32) @ [1, 256, 65536] - 1
            numbers = np.full(self._scene.ngeom + 1, -1, np.int32)
            for geom in self._scene.geoms[: self._scene.ngeom]:
                if geom.segid >= 0 and geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                    numbers[geom.segid] = geom.objid
            shot.geom[:] = np.where(seen >= 0, numbers[seen], -1)[::-1]
            near, far = (model.stat.extent * float(z) for z in (model.vis.map.znear, model.vis.map.zfar))
            depth = near * far / (buffer.astype(np.float64) * (far - near) + near)
            shot.depth_m[:] = np.where(buffer == 0, np.nan, depth)[::-1]
        return shot

    def _draw(
        self, context: Any, size: tuple[int, int], *, with_depth: bool
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
        """Returns colours and, where they are asked for, the depth buffer: 1 near, 0 for nothing; rows upwards."""
        width, height = size
        picture = np.empty((height, width, 3), np.uint8)
        buffer = np.empty((height, width), np.float32) if with_depth else None
        window = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(window, self._scene, context)
        mujoco.mjr_readPixels(picture, buffer, window, context)
        return picture, np.empty((0, 0), np.float32) if buffer is None else buffer

    def _expose(self, exposure: float) -> None:
        for light in self._scene.lights[: self._scene.nlight]:
            for part in (light.ambient, light.diffuse, light.specular):
                part *= exposure
        for geom in self._scene.geoms[: self._scene.ngeom]:
            geom.emission *= exposure

    def _leave_out_glass(self) -> None:
        """Makes what one sees through disappear: depth and geoms are of what is behind it."""
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.rgba[3] < 1:
                geom.segid = -1

    def close(self) -> None:
        """Frees the context, in the order that keeps the drivers quiet."""
        atexit.unregister(self.close)
        if self._contexts:
            self._gl.make_current()
        for context in self._contexts.values():
            context.free()
        if self._gl is not None:
            self._gl.free()
        self._contexts.clear()
        self._model = self._gl = self._scene = None

    def _open(self, model: Any, quality: Quality) -> Any:
        """Returns the context for a model and a quality, with OpenGL ready to draw into it."""
        if self._model is not model:
            self.close()
        try:
            if self._gl is None:
                self._gl = importlib.import_module(f"mujoco.{self.name}").GLContext(64, 64)
            self._gl.make_current()
            if quality not in self._contexts:
                self._contexts[quality] = _context(model, quality)
        except Exception as error:  # drivers fail in every way there is
            self.close()
            raise SimulationError(f"OpenGL through {self.name} does not work here: {error}") from None
        if self._model is None:
            self._scene = mujoco.MjvScene(model, maxgeom=MAX_GEOMS)
            self._model = model
            atexit.register(self.close)  # only now: it must run before the platform's own clean-up
        return self._contexts[quality]

    def _compose(self, model: Any, data: Any, frustum: Frustum) -> None:
        option = mujoco.MjvOption()
        option.geomgroup[:] = [group in VISIBLE_GROUPS for group in range(len(option.geomgroup))]
        option.sitegroup[:] = 0
        self._aim(model, frustum)  # an endless plane is laid out about the eye of the picture before
        mujoco.mjv_updateScene(
            model, data, option, None, mujoco.MjvCamera(), mujoco.mjtCatBit.mjCAT_ALL.value, self._scene
        )
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = True
        self._scene.flags[mujoco.mjtRndFlag.mjRND_HAZE] = True
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = False
        self._scene.flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = False
        self._aim(model, frustum)
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.rgba[3] < 1 or geom.type == mujoco.mjtGeom.mjGEOM_PLANE:
                geom.castshadow = 0  # glass lets light through; an even ground hides nothing, but speckles itself
        for light in self._scene.lights[: self._scene.nlight]:
            if light.headlight:
                light.pos, light.dir = frustum.eye_in_world_m, -frustum.axes_in_world[:, 2]

    def _aim(self, model: Any, frustum: Frustum) -> None:
        near = model.vis.map.znear * model.stat.extent
        half_height = near * math.tan(frustum.fovy_rad / 2)
        right, upwards = (near * slope for slope in frustum.middle)
        _, up, backwards = frustum.axes_in_world.T
        for camera in self._scene.camera:
            camera.pos, camera.up, camera.forward = frustum.eye_in_world_m, up, -backwards
            camera.frustum_center, camera.frustum_width = right, 0.0
            camera.frustum_bottom, camera.frustum_top = upwards - half_height, upwards + half_height
            camera.frustum_near, camera.frustum_far = near, model.vis.map.zfar * model.stat.extent
            camera.orthographic = 0


def _context(model: Any, quality: Quality) -> Any:
    """Returns a context that draws with a quality, which MuJoCo takes from the model when it makes one."""
    wish = model.vis.quality
    own = wish.offsamples, wish.shadowsize
    try:
        wish.offsamples = own[0] if quality.samples > 1 else 0
        wish.shadowsize = own[1] if quality.shadows else 0
        return mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
    finally:
        wish.offsamples, wish.shadowsize = own
