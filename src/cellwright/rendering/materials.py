"""Surface colours before lighting."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

__all__ = ["GeomMaterials"]

Array = npt.NDArray[np.float64]
Colour = npt.NDArray[np.float32]
Ids = npt.NDArray[np.intp]


class GeomMaterials:
    """Colour, gloss and texture of every geom, from its material where it has one.

    Textures are drawn on planes, where they show; elsewhere their mean colour stands for them.
    """

    def __init__(self, model: Any, data: Any) -> None:
        self._data = data
        self.rgba: Colour = np.array(model.geom_rgba, dtype=np.float32)
        self.specular = np.full(model.ngeom, 0.5, dtype=np.float32)  # MuJoCo's values for a geom without a material
        self.shininess = np.full(model.ngeom, 0.5, dtype=np.float32)
        self.emission = np.zeros(model.ngeom, dtype=np.float32)
        self.textured: list[tuple[int, Colour, Colour, Array]] = []
        for geom in np.flatnonzero(model.geom_matid >= 0):
            material = model.geom_matid[geom]
            self.rgba[geom] = model.mat_rgba[material]
            self.specular[geom] = model.mat_specular[material]
            self.shininess[geom] = model.mat_shininess[material]
            self.emission[geom] = model.mat_emission[material]
            texture = model.mat_texid[material, mujoco.mjtTextureRole.mjTEXROLE_RGB]
            if texture >= 0:
                self._apply_texture(model, int(geom), int(material), int(texture))

    def _apply_texture(self, model: Any, geom: int, material: int, texture: int) -> None:
        pixels = texture_pixels(model, texture)
        plane = model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE
        if not plane or model.tex_type[texture] != mujoco.mjtTexture.mjTEXTURE_2D:
            self.rgba[geom, :3] *= pixels.mean(axis=(0, 1))
            return
        size = np.array(model.geom_size[geom, :2])
        # MuJoCo repeats a texture once in two units of length, from the plane's corner; from its middle if endless.
        scale = np.array(model.mat_texrepeat[material]) / 2
        if not model.mat_texuniform[material]:
            scale /= np.where(size > 0, size, 1)
        start = np.where(size > 0, scale * size, 0.5)
        self.textured.append((geom, pixels, pixels.mean(axis=(0, 1)), np.array([scale, start])))

    def colour(self, geom: Ids, points_in_world_m: Array, footprint_m: Array) -> Colour:
        """Returns the colour at each hit.

        Args:
            geom: The geom hit.
            points_in_world_m: The points hit.
            footprint_m: The size of the surface that a ray covers; fine texture fades to its mean with it.
        """
        colour: Colour = self.rgba[geom, :3]
        for index, pixels, mean, (scale, start) in self.textured:
            here = np.flatnonzero(geom == index)
            local = (points_in_world_m[here] - self._data.geom_xpos[index]) @ self._data.geom_xmat[index].reshape(3, 3)
            u, v = start[0] + local[:, 0] * scale[0], start[1] - local[:, 1] * scale[1]
            texel_m = 1 / (scale.max() * max(pixels.shape[:2]))
            detail = np.clip(2 * texel_m / np.maximum(footprint_m[here], 1e-9), 0, 1)[:, None].astype(np.float32)
            colour[here] *= mean + detail * (_sample(pixels, u, v) - mean)
        return colour


def texture_pixels(model: Any, texture: int) -> Colour:
    """Returns the texture as (height, width, 3), 0 to 1."""
    height, width = model.tex_height[texture], model.tex_width[texture]
    channels = model.tex_nchannel[texture]
    first = model.tex_adr[texture]
    pixels = model.tex_data[first : first + height * width * channels].reshape(height, width, channels)
    if channels == 1:
        pixels = np.repeat(pixels, 3, axis=2)
    return np.asarray(pixels[..., :3], dtype=np.float32) / np.float32(255)


def _sample(pixels: Colour, u: Array, v: Array) -> Colour:
    """Returns bilinear samples of a repeating texture."""
    height, width = pixels.shape[:2]
    x, y = u % 1.0 * width - 0.5, v % 1.0 * height - 0.5
    x0, y0 = np.floor(x).astype(np.intp), np.floor(y).astype(np.intp)
    fx, fy = (x - x0)[:, None].astype(np.float32), (y - y0)[:, None].astype(np.float32)
    rows, columns = (y0 % height, (y0 + 1) % height), (x0 % width, (x0 + 1) % width)
    top = pixels[rows[0], columns[0]] * (1 - fx) + pixels[rows[0], columns[1]] * fx
    bottom = pixels[rows[1], columns[0]] * (1 - fx) + pixels[rows[1], columns[1]] * fx
    return np.asarray(top * (1 - fy) + bottom * fy)
