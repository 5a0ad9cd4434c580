"""Triangles as they are seen from a point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["ImagePlane", "Projection"]

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.intp]

NEAR_M = 0.02


@dataclass(frozen=True)
class ImagePlane:
    """The flat picture seen from a point: columns of `axes` are right, up and forward."""

    origin_in_world_m: Array
    axes: Array

    @classmethod
    def along(cls, origin_in_world_m: Array, direction: Array) -> ImagePlane:
        """Returns the picture seen from the origin in that direction, with any roll."""
        forward = direction / np.linalg.norm(direction)
        helper = np.zeros(3)
        helper[np.argmin(np.abs(forward))] = 1.0
        right = np.cross(forward, helper)
        right /= np.linalg.norm(right)
        return cls(origin_in_world_m, np.column_stack([right, np.cross(right, forward), forward]))

    def flatten(self, points_in_world_m: Array) -> Array:
        """Returns points as (x, y, depth); x and y are not yet divided by the depth."""
        return (points_in_world_m - self.origin_in_world_m) @ self.axes


class Projection:
    """The triangles that turn their front to a point, in its picture; those that reach behind it are cut.

    Attributes:
        name: The number that each triangle had in the list of faces.
        flat: Its corners (n, 3, 2) in the picture.
        low: Least x and least y of each (2, n).
        high: Greatest x and greatest y of each (2, n).
        facts: Row by row what tells whether a dot is inside, and how deep: first corner's x, y; slopes in x and y of
            the weights of the second and of the third corner; 1 / depth at the first corner, and what the weights add.
    """

    def __init__(self, picture: ImagePlane, vertices_in_world_m: Array, faces: Ids) -> None:
        self.picture = picture
        corners, name = _cut_near(picture.flatten(vertices_in_world_m)[faces])
        flat = corners[..., :2] / corners[..., 2:]
        a, b = flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]
        area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        front = np.flatnonzero(area > 1e-300)
        a, b, inverse = a[front], b[front], 1 / corners[front, :, 2]
        slopes = np.column_stack([b[:, 1], -b[:, 0], -a[:, 1], a[:, 0]]) / area[front, None]
        self.name = name[front]
        self.flat = flat[front]
        self.low = self.flat.min(axis=1).T.copy()
        self.high = self.flat.max(axis=1).T.copy()
        self.facts = np.column_stack([self.flat[:, 0], slopes, inverse - inverse[:, :1] * [0, 1, 1]])


def _cut_near(corners: Array) -> tuple[Array, Ids]:
    """Returns triangles cut off at the near plane, and the number of the triangle that each piece comes from."""
    behind = corners[..., 2] < NEAR_M
    number = behind.sum(axis=1)
    whole = np.flatnonzero(number == 0)
    pieces, names = [corners[whole]], [whole]
    for hidden in (1, 2):
        name = np.flatnonzero(number == hidden)
        # Turn each so that the odd corner out is the first.
        odd = np.argmax(behind[name] == (hidden == 1), axis=1)
        p, q, r = (corners[name, (odd + i) % 3] for i in range(3))
        pq = p + ((NEAR_M - p[:, 2]) / (q[:, 2] - p[:, 2]))[:, None] * (q - p)
        pr = p + ((NEAR_M - p[:, 2]) / (r[:, 2] - p[:, 2]))[:, None] * (r - p)
        if hidden == 1:
            pieces += [np.stack([pq, q, r], axis=1), np.stack([pq, r, pr], axis=1)]
            names += [name, name]
        else:
            pieces.append(np.stack([p, pq, pr], axis=1))
            names.append(name)
    return np.concatenate(pieces), np.concatenate(names)
