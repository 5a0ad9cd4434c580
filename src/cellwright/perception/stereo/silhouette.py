"""The outline of a model in a picture without distortion."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.perception.picture import Picture
from cellwright.perception.stereo.sought_model import SoughtModel

__all__ = ["covered", "outline_px", "pixels_of"]

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
FRACTION_BITS = 4  # of a pixel, to which triangles are drawn


def pixels_of(picture: Picture, points_in_world: Array) -> Array:
    """Returns where points (n, 3) are seen (n, 2)."""
    seen = picture.pose_camera_in_world.inverse().apply(points_in_world) @ picture.matrix.T
    result: Array = seen[:, :2] / np.maximum(seen[:, 2:], 1e-3)
    return result


def covered(corners_px: Array, shape: tuple[int, int]) -> Flags:
    """Returns which pixels of a window some triangles (n, 3, 2) cover; those that face away are left out."""
    import cv2

    sides = corners_px[:, 1:] - corners_px[:, :1]
    facing = sides[:, 0, 0] * sides[:, 1, 1] < sides[:, 0, 1] * sides[:, 1, 0]  # rows count downwards
    mask = np.zeros(shape, np.uint8)
    for triangle in np.round((corners_px[facing] - 0.5) * 2**FRACTION_BITS).astype(np.int32):
        cv2.fillConvexPoly(mask, triangle, 1, shift=FRACTION_BITS)
    return np.asarray(mask > 0)


def outline_px(model: SoughtModel, pose_in_world: Pose, picture: Picture, *, with_turn: bool = True) -> Array:
    """Returns the longest outline (n, 2) of a model as a picture shows it; empty where it is out of view.

    Args:
        model: The object.
        pose_in_world: Its pose.
        picture: The picture.
        with_turn: Whether its turn is known; else what tells it, such as a handle, is left out.
    """
    import cv2

    body = ~model.telling_faces
    faces = model.mesh.faces[body] if not with_turn and body.any() else model.mesh.faces
    corners = pixels_of(picture, pose_in_world.apply(model.mesh.vertices))[faces]
    mask = covered(corners, picture.pixels.shape[:2]).astype(np.uint8)
    found, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    longest = max(found, key=len, default=np.zeros((0, 1, 2)))
    return np.asarray(longest[:, 0], float) + 0.5
