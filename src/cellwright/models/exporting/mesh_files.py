"""Meshes as files: binary STL for collision meshes, OBJ with normals and a colour for visual ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

__all__ = ["Rgba", "colour_name", "mtl_bytes", "obj_bytes", "stl_bytes"]

Rgba = tuple[float, float, float, float]
Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]


def stl_bytes(vertices: Floats, faces: Indices) -> bytes:
    """Returns binary STL; its numbers are single, as the engine's own are."""
    corners = vertices.astype("<f4")[faces]
    records = np.zeros(len(faces), np.dtype([("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")]))
    exact = corners.astype(float)
    normals = np.cross(exact[:, 1] - exact[:, 0], exact[:, 2] - exact[:, 0])
    records["n"] = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    records["v"] = corners
    return b"binary STL, metres".ljust(80) + len(faces).to_bytes(4, "little") + records.tobytes()


def obj_bytes(vertices: Floats, normals: Floats | None, faces: Indices, materials: str, colour: str) -> bytes:
    """Returns OBJ in metres.

    Args:
        vertices: (n, 3).
        normals: (n, 3) for smooth shading, or None.
        faces: (m, 3) indices into both.
        materials: Name of the file that holds the colours.
        colour: The name of the colour in it.
    """
    lines = ["# metres", f"mtllib {materials}", f"usemtl {colour}"]
    lines += [f"v {x!s} {y!s} {z!s}" for x, y, z in vertices]
    if normals is not None:
        lines += [f"vn {x!s} {y!s} {z!s}" for x, y, z in normals]
    one_based = (faces + 1).tolist()
    lines += [f"f {a} {b} {c}" if normals is None else f"f {a}//{a} {b}//{b} {c}//{c}" for a, b, c in one_based]
    return ("\n".join(lines) + "\n").encode("ascii")


def colour_name(rgba: Rgba) -> str:
    """Returns a colour's name: its bytes in hexadecimal digits, so that equal colours have the same name everywhere."""
    return "rgba_" + "".join(f"{round(255 * channel):02x}" for channel in rgba)


def mtl_bytes(colours: Iterable[Rgba]) -> bytes:
    """Returns the colours that OBJ files name."""
    named = {colour_name(rgba): rgba for rgba in sorted(colours)}
    lines = [f"newmtl {name}\nKd {r!r} {g!r} {b!r}\nd {a!r}\n" for name, (r, g, b, a) in named.items()]
    return "\n".join(lines).encode("ascii")
