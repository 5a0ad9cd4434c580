"""Presence detection: the loose objects that a light curtain or a scanner would see in a box, without rays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.sim import World

__all__ = ["PresenceDetector"]

Array = npt.NDArray[np.float64]


class PresenceDetector:
    """Watches a box of the world for trays and parts; robots and furniture do not count.

    Objects whose bounding spheres reach between the two faces of the box that are nearest to each other are looked at
    closely: one is there when the bounding box of one of its geoms overlaps the box. The others cost a comparison.
    """

    def __init__(self, world: World, pose_middle_in_world: Pose, size_m: tuple[float, float, float]) -> None:
        self._world = world
        self._middle = pose_middle_in_world.position
        self._turn = pose_middle_in_world.rotation_matrix
        self._half = np.array(size_m) / 2
        self._across = self._turn[:, self._half.argmin()]
        self._depth = float(self._across @ self._middle)
        world.bind(self._look_up)

    def _look_up(self) -> None:
        model, data = self._world.model, self._world.data
        self._places = data.xpos
        self._items: list[tuple[int, float, str, list[int]]] = []
        root = model.body_rootid[model.geom_bodyid]
        for name, item in self._world.objects.items():
            geoms = np.flatnonzero(root == item.body)
            distances_m = np.linalg.norm(data.geom_xpos[geoms] - data.xpos[item.body], axis=1)
            radius_m = float((distances_m + model.geom_rbound[geoms]).max())
            self._items.append((item.body, float(self._half.min()) + radius_m, name, geoms.tolist()))

    def objects(self) -> list[str]:
        """Returns the objects that reach into the box now."""
        # Between physics steps every numpy function costs some ten microseconds, so that there is only one.
        along = (self._places @ self._across).tolist()
        near = [item for item in self._items if abs(along[item[0]] - self._depth) < item[1]]
        return [name for _, _, name, geoms in near if any(self._overlaps(geom) for geom in geoms)]

    def _overlaps(self, geom: int) -> bool:
        model, data = self._world.model, self._world.data
        turn, box = data.geom_xmat[geom].reshape(3, 3), model.geom_aabb[geom]
        offset = data.geom_xpos[geom] + turn @ box[:3] - self._middle
        return boxes_overlap(self._turn.T @ turn, self._turn.T @ offset, self._half, box[3:])


def boxes_overlap(turn: Array, offset_m: Array, first_half_m: Array, second_half_m: Array) -> bool:
    """Returns whether two boxes overlap: whether no axis separates them, of their faces and of pairs of their edges.

    Args:
        turn: The second box's axes in the frame of the first, as columns.
        offset_m: From the first one's middle to the second one's, in that frame.
        first_half_m: Half the size of the first.
        second_half_m: Half the size of the second.
    """
    own = np.eye(3)
    pairs = np.cross(own[:, None], turn.T[None]).reshape(-1, 3)
    axes = np.concatenate([own, turn.T, pairs])
    reach = np.abs(axes) @ first_half_m + np.abs(axes @ turn) @ second_half_m
    return bool((np.abs(axes @ offset_m) <= reach + 1e-12).all())
