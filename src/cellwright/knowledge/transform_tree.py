"""The transform tree: each object's pose in the frame of another, and the changes of one observation.

Sensors report poses in the world; the tree keeps poses relative to a reference object, which stays the same:
``L' = L G^-1 G'``, where L is the relative and G the global pose before, and G' the observed one. As ``L G^-1`` is the
inverse of the reference object's global pose, that is ``L' = P^-1 G'``.

A tray that is moved takes along what lies in it, unless that was itself seen in the same sensing cycle or later: then
it stays where it was seen. So the observations of a cycle may come in any order, in one batch or in many.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose

__all__ = ["TransformTree", "TreeNode"]

Array = npt.NDArray[np.float64]
NEVER = -np.inf


@dataclass(frozen=True)
class TreeNode:
    """An object's place in the tree; an object without a reference is a root, at the world's origin."""

    reference: str | None
    pose_in_reference: Pose
    time_s: float = NEVER


class TransformTree:
    """Poses of all objects, relative and global, as arrays: an update costs the same for one object or a hundred.

    Args:
        links: Object -> its link. Every reference is an object, too.

    Raises:
        UnknownName: A reference that is not an object.
        BadInput: Objects that refer to each other in a circle.
    """

    def __init__(self, links: Mapping[str, TreeNode]) -> None:
        matrices = np.array([link.pose_in_reference.matrix for link in links.values()]).reshape(-1, 4, 4)
        times_s = np.array([link.time_s for link in links.values()], float)
        self._take({name: link.reference for name, link in links.items()}, matrices, times_s)

    @classmethod
    def of_arrays(cls, references: Mapping[str, str | None], in_reference: Array, seen_s: Array) -> TransformTree:
        """Returns the tree of object -> reference, with poses, n x 4 x 4, and times in its order; raises the same."""
        tree = cls.__new__(cls)
        tree._take(references, in_reference, seen_s)
        return tree

    def _take(self, references: Mapping[str, str | None], in_reference: Array, seen_s: Array) -> None:
        self._arrange(references)
        given = {name: i for i, name in enumerate(references)}
        order = np.array([given[name] for name in self.names], np.int64)
        self.in_reference: Array = in_reference[order]
        self.in_world: Array = self.in_reference.copy()
        self.seen_s: Array = seen_s[order]
        self._moved_s: Array = self.seen_s.copy()
        for level in self._levels:
            below = level[self.parent[level] >= 0]
            self.in_world[below] = self.in_world[self.parent[below]] @ self.in_reference[below]

    def _arrange(self, references: Mapping[str, str | None]) -> None:
        depths: dict[str, int] = {}
        for name in references:
            parent = references[name]
            depths[name] = depths[parent] + 1 if parent in depths else len(chain(name, references))
        self.names = sorted(references, key=lambda name: (depths[name], name))  # references before what is in them
        self.index = {name: i for i, name in enumerate(self.names)}
        parents = [references[name] for name in self.names]
        self.parent = np.array([-1 if parent is None else self.index[parent] for parent in parents], int)
        depth = np.array([depths[name] for name in self.names], int)
        self._levels = [np.flatnonzero(depth == d) for d in range(1, int(depth.max(initial=0)) + 1)]

    def attached(self, references: Mapping[str, str]) -> TransformTree:
        """Returns a tree in which objects have other references; where they are in the world stays the same.

        Raises:
            UnknownName: An object or a reference that is not there.
            BadInput: Objects would refer to each other in a circle.
        """
        self.indices([*references, *references.values()])
        old = {name: None if p < 0 else self.names[p] for name, p in zip(self.names, self.parent.tolist(), strict=True)}
        other = copy.copy(self)
        other._arrange({**old, **references})
        order = self.indices(other.names)
        for array in ("in_reference", "in_world", "seen_s"):
            setattr(other, array, getattr(self, array)[order])
        other._moved_s = other.seen_s.copy()
        rows = other.indices(list(references))
        other.in_reference[rows] = inverse(other.in_world[other.parent[rows]]) @ other.in_world[rows]
        return other

    def indices(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """Returns the rows of the objects."""
        try:
            return np.array([self.index[name] for name in names], np.int64)
        except KeyError as error:
            raise UnknownName("object", str(error.args[0]), self.names, "transform tree") from None

    def observe(self, rows: npt.NDArray[np.int64], poses_in_world: Array, time_s: float) -> npt.NDArray[np.int64]:
        """Takes in what was seen at one time; returns the rows whose relative poses changed.

        What is older than the last observation of the object, or than the last motion of its reference, comes too late
        to be placed in the tree and is left out.
        """
        if (
            poses_in_world.shape != (len(rows), 4, 4)
            or not np.isfinite(poses_in_world).all()
            or not np.isfinite(time_s)
        ):
            raise BadInput(
                f"transform tree: {len(rows)} objects need {len(rows)} x 4 x 4 finite numbers and a finite time, "
                f"not {poses_in_world.shape} at {time_s} s"
            )
        parents = self.parent[rows]
        reference_moved_s = np.where(parents >= 0, self._moved_s[parents], NEVER)
        timely = (time_s >= self.seen_s[rows]) & (time_s >= reference_moved_s)
        rows, poses_in_world = rows[timely], poses_in_world[timely]
        seen = np.zeros(len(self.names), bool)
        seen[rows] = True
        moved, changed = seen.copy(), np.zeros(len(self.names), bool)
        self.in_world[rows] = poses_in_world
        self.seen_s[rows] = self._moved_s[rows] = time_s
        for level in self._levels:
            parents, here = self.parent[level], seen[level]
            carried = (parents >= 0) & moved[parents] & ~here
            if carried.any():
                stays = self.seen_s[level] >= time_s
                moving, staying = level[carried & ~stays], level[(carried & stays) | here]
                self.in_world[moving] = self.in_world[self.parent[moving]] @ self.in_reference[moving]
                moved[moving] = True
                self._moved_s[moving] = time_s
            else:
                staying = level[here]
            if not len(staying):
                continue
            below = staying[self.parent[staying] >= 0]
            self.in_reference[below] = inverse(self.in_world[self.parent[below]]) @ self.in_world[below]
            if len(below) < len(staying):
                roots = staying[self.parent[staying] < 0]
                self.in_reference[roots] = self.in_world[roots]
            changed[staying] = True
        return np.flatnonzero(changed)

    def copy(self) -> TransformTree:
        """Returns a tree of its own that can be changed without changing this one."""
        other = copy.copy(self)
        for name in ("in_reference", "in_world", "seen_s", "_moved_s"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def pose_in(self, name: str, frame: str) -> Pose:
        """Returns the pose of an object in the frame of any other."""
        row, other = self.indices([name, frame])
        return Pose.from_matrix(inverse(self.in_world[other][None])[0] @ self.in_world[row])

    def links(self) -> dict[str, TreeNode]:
        """Returns the tree as links, from which an equal tree can be made."""
        references = [None if p < 0 else self.names[p] for p in self.parent]
        return {
            name: TreeNode(references[i], Pose.from_matrix(self.in_reference[i]), float(self.seen_s[i]))
            for i, name in enumerate(self.names)
        }


def chain(name: str, references: Mapping[str, str | None]) -> list[str]:
    """Returns the object, its reference, that one's reference and so on."""
    found = [name]
    while (reference := references[found[-1]]) is not None:
        if reference in found:
            circle = " in ".join([*found[found.index(reference) :], reference])
            raise BadInput(f"transform tree: objects refer to each other in a circle: {circle}")
        if reference not in references:
            raise UnknownName("object", reference, references, f"transform tree: reference of '{found[-1]}'")
        found.append(reference)
    return found


def inverse(matrices: Array) -> Array:
    """Returns the inverses of rigid transforms, n x 4 x 4."""
    result = np.zeros_like(matrices)
    turned = matrices[:, :3, :3].transpose(0, 2, 1)
    result[:, :3, :3] = turned
    result[:, :3, 3] = -(turned @ matrices[:, :3, 3:])[:, :, 0]
    result[:, 3, 3] = 1.0
    return result
