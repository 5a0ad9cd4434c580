"""Materials and textures of a scene, each once, as the pictures have them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from PIL import Image

from cellwright.rendering.materials import texture_pixels
from cellwright.viewing.packet import Blob

__all__ = ["Surfaces"]

GLOSS_WITHOUT_MATERIAL = 0.5  # specular and shininess of MuJoCo's geoms that have none


class Surfaces:
    """The looks of the geoms of a model.

    Args:
        model: The model.
        named: Materials that may change later, and their names: each has an entry of its own, with its name.

    Attributes:
        materials: An entry for each that differs, in the order in which they were asked for.
    """

    def __init__(self, model: Any, named: Mapping[int, str]) -> None:
        self._model, self._named = model, named
        self.materials: list[dict[str, Any]] = []
        self._numbers: dict[str, int] = {}
        self._textures: list[int] = []

    def is_seen(self, geom: int) -> bool:
        """Returns whether a geom is not wholly transparent."""
        return self._rgba(geom)[3] > 0

    def _rgba(self, geom: int) -> list[float]:
        model, material = self._model, self._model.geom_matid[geom]
        return [float(x) for x in (model.geom_rgba[geom] if material < 0 else model.mat_rgba[material])]

    def material_of(self, geom: int, *, has_uvs: bool) -> int:
        """Returns the number of a geom's material.

        A texture is drawn on planes, and on meshes that say where it is; elsewhere its mean colour stands for it.
        """
        model, material = self._model, int(self._model.geom_matid[geom])
        entry: dict[str, Any] = {"rgba": self._rgba(geom)}
        for key in ("specular", "shininess", "emission", "reflectance"):
            plain = GLOSS_WITHOUT_MATERIAL if key in ("specular", "shininess") else 0.0
            entry[key] = plain if material < 0 else float(getattr(model, f"mat_{key}")[material])
        texture = -1 if material < 0 else int(model.mat_texid[material, mujoco.mjtTextureRole.mjTEXROLE_RGB])
        if texture >= 0:
            flat = model.tex_type[texture] == mujoco.mjtTexture.mjTEXTURE_2D
            is_plane = model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE
            if flat and (is_plane or has_uvs):
                entry["texture"] = self._texture(texture)
                if is_plane:
                    entry["repeat"] = self._repeat_per_m(geom, material)
            else:
                mean = texture_pixels(model, texture).mean(axis=(0, 1))
                entry["rgba"] = [*(np.array(entry["rgba"][:3]) * mean).tolist(), entry["rgba"][3]]
        for key, value in entry.items():
            entry[key] = np.round(value, 4).tolist() if key != "texture" else value
        if material in self._named:
            entry["name"] = self._named[material]
        return self._numbered(entry)

    def _numbered(self, entry: dict[str, Any]) -> int:
        key = repr(entry)
        if key not in self._numbers:
            self._numbers[key] = len(self.materials)
            self.materials.append(entry)
        return self._numbers[key]

    def _texture(self, texture: int) -> int:
        if texture not in self._textures:
            self._textures.append(texture)
        return self._textures.index(texture)

    def _repeat_per_m(self, geom: int, material: int) -> Any:
        """Returns how often a texture is repeated per metre: MuJoCo says it per two metres, or for a whole plane."""
        repeat = np.array(self._model.mat_texrepeat[material]) / 2
        size = np.array(self._model.geom_size[geom, :2])
        return repeat if self._model.mat_texuniform[material] else repeat / np.where(size > 0, size, 1.0)

    def pack_textures(self, blob: Blob) -> list[dict[str, Any]]:
        """Returns the entries of the textures that materials have; their files go into the blob."""
        entries = []
        for texture in self._textures:
            pixels = np.round(texture_pixels(self._model, texture) * 255).astype(np.uint8)
            file = io.BytesIO()
            Image.fromarray(pixels).save(file, "PNG", optimize=True)
            content = file.getvalue()
            entries.append({"mime": "image/png", "offset": blob.add(content), "length": len(content)})
        return entries
