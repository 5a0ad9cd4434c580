"""The shape of a jointed device: visual meshes, and hulls for collisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.shapes.mesh import Mesh

__all__ = ["BodyShape", "Hull", "MeshPiece"]


@dataclass(frozen=True, eq=False)
class MeshPiece:
    """A mesh on a body, in the body's frame, with the name of its finish (a key of the catalogue's colours)."""

    body: str
    finish: str
    mesh: Mesh


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex collision solid, in its body's frame.

    Never a capsule: a capsule that pierces a thin box is not noticed by the engine's capsule-box test.

    Attributes:
        body: The body that it belongs to.
        kind: `cylinder` (radius, half length; along z) or `box` (half sizes).
        size_m: As the kind says.
        pose: In the body's frame.
    """

    body: str
    kind: Literal["box", "cylinder"]
    size_m: tuple[float, ...]
    pose: Pose

    @classmethod
    def cylinder(
        cls, body: str, radius_m: float, from_m: tuple[float, float, float], to_m: tuple[float, float, float]
    ) -> Hull:
        """Returns a cylinder from the middle of one end to the middle of the other."""
        a, b = np.asarray(from_m, float), np.asarray(to_m, float)
        length = float(np.linalg.norm(b - a))
        x, y, z = (b - a) / length
        turn = np.array([1.0 + z, -y, x, 0.0]) if z > -0.999999 else np.array([0.0, 1.0, 0.0, 0.0])
        return cls(body, "cylinder", (radius_m, length / 2), Pose((a + b) / 2, turn))

    @classmethod
    def box(cls, body: str, low_m: npt.ArrayLike, high_m: npt.ArrayLike) -> Hull:
        """Returns a box from its lowest corner to its highest."""
        a, b = np.asarray(low_m, float), np.asarray(high_m, float)
        half = (b - a) / 2
        return cls(body, "box", tuple(float(h) for h in half), Pose((a + b) / 2, np.array([1.0, 0.0, 0.0, 0.0])))


@dataclass(frozen=True)
class BodyShape:
    """The shape of one device: its hulls, and visual meshes that are made on demand."""

    hulls: Sequence[Hull]
    pieces: Callable[[], Sequence[MeshPiece]]
