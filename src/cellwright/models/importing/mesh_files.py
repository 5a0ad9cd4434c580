"""Mesh files as triangles: STL (binary and text), OBJ, COLLADA. Nothing is fetched, nothing runs without end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput
from cellwright.models.importing.collada import read_collada
from cellwright.models.importing.mesh_part import MeshError, MeshPart, distinct_points
from cellwright.models.importing.notes import listed
from cellwright.shapes.mesh import Mesh

__all__ = ["FORMATS", "LoadedMesh", "load_mesh"]

Array = npt.NDArray[np.float64]
MAX_BYTES = 256 * 1024 * 1024
MAX_TRIANGLES = 4_000_000


@dataclass(frozen=True, eq=False)
class LoadedMesh:
    """The content of a mesh file.

    Attributes:
        path: The file.
        parts: Its pieces, each with its colour, in metres where the format has a unit (COLLADA), else as written.
        facts: Remarks for the user, such as an axis that was not applied.
    """

    path: Path
    parts: tuple[MeshPart, ...]
    facts: tuple[str, ...] = ()


def load_mesh(path: Path, *, upright: bool = False) -> LoadedMesh:
    """Reads a mesh file.

    Args:
        path: The file.
        upright: Whether an up-axis that it names is turned to z; descriptions do without, see `collada`.

    Raises:
        MeshError: It cannot be read, is too large, or has no triangle.
    """
    reader = FORMATS.get(path.suffix.lower())
    if reader is None:
        raise MeshError(f"mesh {path}: unknown format '{path.suffix}' (known: {', '.join(FORMATS)})")
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise MeshError(f"mesh {path}: has {size} bytes, allowed are {MAX_BYTES}")
        data = path.read_bytes()
    except OSError as error:
        raise MeshError(f"mesh {path}: cannot be read: {error.strerror}") from None
    if data.startswith(b"version https://git-lfs"):
        raise MeshError(f"mesh {path}: is a Git LFS pointer, not the mesh itself; run git lfs pull")
    try:
        parts, facts = read_collada(data, upright=upright) if reader is _read_dae else reader(data, path)
        kept = tuple(clean for part in parts if len((clean := _cleaned(part)).mesh.faces))
    except (ValueError, IndexError, KeyError, OverflowError, UnicodeDecodeError) as error:
        if isinstance(error, BadInput):
            raise
        raise MeshError(f"mesh {path}: is no {path.suffix[1:].upper()} file that can be read: {error}") from None
    count = sum(len(part.mesh.faces) for part in kept)
    if not count:
        raise MeshError(f"mesh {path}: has no triangles")
    if count > MAX_TRIANGLES:
        raise MeshError(f"mesh {path}: has {count} triangles, allowed are {MAX_TRIANGLES}")
    return LoadedMesh(path, kept, tuple(facts))


def _cleaned(part: MeshPart) -> MeshPart:
    """Returns the mesh with equal corners merged, without degenerate triangles and without unused corners."""
    vertices, faces = part.mesh.vertices, part.mesh.faces
    if len(faces) and (faces.min() < 0 or faces.max() >= len(vertices)):
        raise ValueError("a triangle names a corner that does not exist")
    if not np.isfinite(vertices).all() or (len(vertices) and abs(vertices).max() > 1e9):
        raise ValueError("a corner is not finite")
    unique, place = distinct_points(vertices[faces.reshape(-1)])
    faces = place.reshape(-1, 3)
    different = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return MeshPart(Mesh(unique, faces[different].astype(np.int64)), part.rgba, part.name)


def _read_stl(data: bytes, path: Path) -> tuple[list[MeshPart], list[str]]:
    del path
    if len(data) >= 84:
        count = int.from_bytes(data[80:84], "little")
        if len(data) >= 84 + 50 * count and (count or not data.lstrip().startswith(b"solid")):
            # a header may begin with "solid", too: the length decides
            records = np.frombuffer(data, np.dtype([("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")]), count, 84)
            return [_soup(records["v"].astype(float).reshape(-1, 3))], []
        if not data.lstrip()[:5].lower() == b"solid":
            raise ValueError(f"it says {count} triangles, and holds {(len(data) - 84) // 50}")
    words = [line.split()[1:] for line in data.decode("ascii", "replace").splitlines() if "vertex" in line]
    if any(len(numbers) != 3 for numbers in words):
        raise ValueError("a vertex has not three numbers")
    return [_soup(np.array(words, float).reshape(-1, 3))], []


def _soup(corners: Array) -> MeshPart:
    if len(corners) % 3:
        raise ValueError("its last triangle is cut off")
    return MeshPart(Mesh(corners, np.arange(len(corners), dtype=np.int64).reshape(-1, 3)), None, "")


def _read_obj(data: bytes, path: Path) -> tuple[list[MeshPart], list[str]]:
    vertices: list[list[float]] = []
    faces: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    colours: dict[str, tuple[float, float, float, float]] = {}
    name = material = ""
    facts: list[str] = []
    for line in data.decode("utf-8", "replace").splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        match words[0]:
            case "v":
                vertices.append([float(word) for word in words[1:4]])
            case "f":
                corners = [int(word.partition("/")[0]) for word in words[1:]]
                at = [corner - 1 if corner > 0 else len(vertices) + corner for corner in corners]
                triangles = [(at[0], at[i], at[i + 1]) for i in range(1, len(at) - 1)]
                faces.setdefault((name, material), []).extend(triangles)
            case "o" | "g":
                name = " ".join(words[1:])
            case "usemtl":
                material = " ".join(words[1:])
            case "mtllib":
                colours |= _read_mtl(path.parent / " ".join(words[1:]), facts)
    points = np.array(vertices, float).reshape(-1, 3)
    parts = [
        MeshPart(Mesh(points, np.array(triangles, np.int64)), colours.get(finish), part)
        for (part, finish), triangles in faces.items()
        if triangles
    ]
    return parts, facts


def _read_mtl(path: Path, facts: list[str]) -> dict[str, tuple[float, float, float, float]]:
    colours: dict[str, tuple[float, float, float, float]] = {}
    try:
        lines = path.read_text("utf-8", "replace").splitlines() if path.stat().st_size < 1_000_000 else []
    except (OSError, ValueError):
        facts.append(f"its colours are not there: {path.name} not found")
        return colours
    if pictures := [line.split()[-1] for line in lines if line.split()[:1] == ["map_Kd"] and len(line.split()) > 1]:
        facts.append(f"pictures are not used, surfaces have one colour: {listed(pictures)}")
    name = ""
    for line in lines:
        words = line.split()
        if words[:1] == ["newmtl"]:
            name = " ".join(words[1:])
        elif words[:1] == ["Kd"] and len(words) >= 4:
            r, g, b = (min(max(float(word), 0.0), 1.0) for word in words[1:4])
            colours[name] = (r, g, b, 1.0)
    return colours


def _read_dae(data: bytes, path: Path) -> tuple[list[MeshPart], list[str]]:
    del path
    return read_collada(data)


FORMATS: dict[str, Callable[[bytes, Path], tuple[list[MeshPart], list[str]]]] = {
    ".stl": _read_stl,
    ".obj": _read_obj,
    ".dae": _read_dae,
}
"""Ending of a file's name -> what reads it."""
