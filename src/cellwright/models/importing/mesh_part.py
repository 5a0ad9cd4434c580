"""A piece of a mesh file."""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.core.errors import BadInput
from cellwright.shapes.mesh import Mesh

__all__ = ["MeshError", "MeshPart"]


class MeshError(BadInput):
    """A mesh file that cannot be used."""


@dataclass(frozen=True, eq=False)
class MeshPart:
    """Triangles of one colour.

    Attributes:
        mesh: The triangles.
        rgba: Their colour, where the file gives one.
        name: What the file calls them.
    """

    mesh: Mesh
    rgba: tuple[float, float, float, float] | None
    name: str
