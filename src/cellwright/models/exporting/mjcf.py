"""MJCF: a specification as MuJoCo writes it, with its pictures beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from cellwright.core.errors import OutputError

__all__ = ["write_mjcf"]


def write_mjcf(spec: Any, path: Path) -> list[Path]:
    """Writes MJCF; pictures that the model carries go into PNG files beside it. Returns all files written.

    Meshes are written into the XML itself, with the numbers as they were given, so that reading the file back
    gives the same model to the last bit.
    """
    own = spec.copy()
    own.compiler.savecompiled = False
    for body in own.bodies:
        if body.explicitinertial and np.isnan(body.ipos[0]):
            body.ipos = np.zeros(3)  # the same; but what was never said is not written, and reading asks for it
    written = [path]
    try:
        for texture in own.textures:
            pixels = np.frombuffer(bytes(texture.data), np.uint8) if len(texture.data) else None
            if pixels is None:
                continue
            picture = path.with_name(f"{path.stem}_{texture.name.replace('/', '_')}.png")
            # MuJoCo reads a picture bottom row first
            image = pixels.reshape(texture.height, texture.width, texture.nchannel)[::-1]
            Image.fromarray(np.ascontiguousarray(image)).save(picture, optimize=False)
            texture.data, texture.file = b"", picture.name
            own.assets[picture.name] = picture.read_bytes()
            written.append(picture)
        path.write_text(own.to_xml(), encoding="utf-8")
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None
    return written
