"""The compiled checker: spheres for what moves, exact solids for obstacles; conservative, never wrongly free."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.motion.kinematics import checked_angles
from cellwright.motion.planning.arrays import PAIR_ALIEN, scene_arrays
from cellwright.motion.planning.checker import CollisionPair, Relaxed
from cellwright.motion.planning.collision_bodies import CollisionBodies
from cellwright.motion.planning.jit import load
from cellwright.motion.planning.scene import Scene

__all__ = ["BULGE_M", "CompiledChecker"]

Array = npt.NDArray[np.float64]

BULGE_M = 0.005  # how far a sphere may stick out of the part that it stands for
NO_LIMIT = np.array([np.inf, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0])


class CompiledChecker:
    """Says whether a configuration is certainly free: what it calls touching may be up to a bulge apart.

    Links, tool and held object are covered with spheres, which are tested against the exact solids of obstacles, and
    of the links nearer to the base.

    Attributes:
        arrays: The scene, for compiled planners.
        margins: (pairs,) the distance from which on each pair counts as touching.
        space: Working memory of compiled code.
        count: (1,) the number of configurations that were checked; compiled code counts here, too.

    Raises:
        MissingExtra: without the optional packages.
    """

    def __init__(self, scene: Scene | CollisionBodies, margin_m: float = 0.0, bulge_m: float = BULGE_M) -> None:
        load("numba")
        from cellwright.motion.planning import kernel_motion, kernel_state

        self._motion = kernel_motion
        self._state = kernel_state
        self.bodies = scene if isinstance(scene, CollisionBodies) else CollisionBodies(scene)
        self.arm = self.bodies.scene.robot.arm
        self.arrays, self._names = scene_arrays(self.bodies, bulge_m)
        self.space: Any = kernel_state.room(self.arrays)
        self.count = np.zeros(1, np.int64)
        self.set_margin(margin_m)

    @property
    def checks(self) -> int:
        """The number of configurations that were checked."""
        return int(self.count[0])

    def set_margin(self, margin_m: float, extra_m: float = 0.0, relaxed: Relaxed = frozenset()) -> None:
        """Sets the distance to keep from obstacles; links may come nearer to each other.

        Args:
            margin_m: From all obstacles.
            extra_m: Added to it, for the search.
            relaxed: Pairs to which only the extra applies.
        """
        far = [frozenset(names) not in relaxed for names in self._names]
        self.margins = self.arrays.pairs[:, PAIR_ALIEN] * (extra_m + margin_m * np.array(far, float))

    def is_free(self, joints_rad: npt.ArrayLike) -> bool:
        """Returns whether certainly nothing touches."""
        return self._pair(np.asarray(joints_rad, float)) == self._state.FREE

    def touch(self, joints_rad: npt.ArrayLike) -> CollisionPair | None:
        """Returns the first pair that may touch, if there is one; its distance is not known."""
        pair = self._pair(checked_angles(self.arm, joints_rad))
        return None if pair == self._state.FREE else CollisionPair(*self._names[pair], float("nan"))

    def tilt_rad(self, limit: Array, joints_rad: npt.ArrayLike) -> float:
        """Returns the tilt of the tool; see `kernel_motion`."""
        joints = np.asarray(joints_rad, float)
        self._state.place_links(self.arrays.base, self.arrays.joints, joints, self.space[0])
        return float(self._motion.tilt_rad(limit, self.space[0]))

    def is_motion_free(self, start_rad: npt.ArrayLike, end_rad: npt.ArrayLike, step_rad: float) -> bool:
        """Returns whether nothing touches after the start on the straight line to the end, checked in steps."""
        a, b = np.asarray(start_rad, float), np.asarray(end_rad, float)
        free = self._motion.motion_is_free(self.arrays, NO_LIMIT, a, b, step_rad, self.margins, self.space, self.count)
        return bool(free)

    def _pair(self, joints: Array) -> int:
        self.count[0] += 1
        return int(self._state.first_pair(self.arrays, joints, self.margins, self.space))
