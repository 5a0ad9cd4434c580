"""Inverse kinematics in closed form: every branch of an arm, for one pose or for many."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
from eaik.pybindings.EAIK import Robot

from cellwright.motion.branches import LIMIT_ROOM_RAD, distinct, nearest_within_limits, within_limits
from cellwright.motion.chain import SerialChain
from cellwright.motion.numerical import solve_numerically

__all__ = ["REDUNDANT_JOINT", "TOLERANCE", "ClosedForm"]

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]

TOLERANCE = 1e-6  # metres and radians
SINGULAR = 0.1  # metres and radians: so near, a pose that the closed form misses is searched for
DECIMALS = 9  # that tell two branches apart
REDUNDANT_JOINT = 2  # of a seven-axis arm: the turn of the upper arm about itself moves the elbow
REDUNDANCY_STEP_RAD = np.radians(15.0)
ONLY: list[float | None] = [None]
WORTH_COMPILING = 2000  # poses: to load numba and the compiled code takes as long as so many without them


class ClosedForm:
    """The branches of one arm.

    Attributes:
        known: Whether the arm's geometry has a closed form; the methods need one.
    """

    def __init__(self, chain: SerialChain, home_rad: tuple[float, ...], low: Array, high: Array) -> None:
        self._chain = chain
        self._low = low
        self._high = high
        self._solver = lru_cache(maxsize=256)(lambda redundancy_rad: self._robot(redundancy_rad).calculate_IK)
        self._asked = 0
        self._kernel: Any = None
        joints = len(low)
        home = home_rad[REDUNDANT_JOINT] if joints == 7 else None
        self.known = 3 <= joints <= 7 and self._decomposes(home)

    def fan(self, near: Array) -> list[float | None]:
        """Returns the values to try for the redundant joint, the present one first; None for an arm without one."""
        if len(near) != 7:
            return ONLY
        low, high = self._low[REDUNDANT_JOINT], self._high[REDUNDANT_JOINT]
        present = float(near[REDUNDANT_JOINT])
        fan = np.arange(low, high, REDUNDANCY_STEP_RAD).tolist()
        return [present, *(value for value in fan if value != present)]

    def configurations(
        self, target: Array, near: Array, fan: list[float | None] | None = None, *, only_nearest: bool = False
    ) -> Array:
        """Returns the configurations within the limits that take a pose (n, joints), nearest first.

        Args:
            target: The pose's matrix.
            near: The configuration to be near to.
            fan: Values of the redundant joint; by default all of them.
            only_nearest: Whether the first is enough.
        """
        columns, approximate = self._candidates(target, self.fan(near) if fan is None else fan)
        if self._kernel is not None or (not only_nearest and self._load_kernel(1)):
            decided, found = self._kernel(columns, approximate, target, near, self._geometry, only_nearest)
            if decided:
                return found  # type: ignore[no-any-return]
        owner, nears = np.zeros(len(approximate), np.intp), near[None]
        found, owner = self._solved(columns.T, approximate, owner, target[None], nears)
        if only_nearest:
            return nearest_within_limits(found, near, self._low, self._high)
        return within_limits(found, owner, nears, self._low, self._high)[0]

    def configurations_of_many(self, targets: Array, nears: Array) -> list[Array]:
        """Returns the same for many poses, each with a configuration to be near to."""
        pairs = list(zip(targets, nears, strict=True))
        if self._load_kernel(len(pairs)):
            return [self.configurations(target, near) for target, near in pairs]
        answers = [self._candidates(target, self.fan(near)) for target, near in pairs]
        owner = np.repeat(np.arange(len(targets)), [len(approximate) for _, approximate in answers])
        columns, approximate = (np.concatenate(parts, axis=-1) for parts in zip(*answers, strict=True))
        solved = self._solved(columns.T, approximate, owner, targets, nears)
        found, owner = within_limits(*solved, nears, self._low, self._high)
        return np.split(found, np.searchsorted(owner, np.arange(1, len(targets))))

    def branches_of_many(self, targets: Array, redundancy_rad: float | None) -> list[Array | None]:
        """Returns every branch of each pose with one value of the redundant joint, within the limits or not.

        None where the closed form has no exact answer.
        """
        answers = [self._candidates(target, [redundancy_rad]) for target in targets]
        owner = np.repeat(np.arange(len(targets)), [len(approximate) for _, approximate in answers])
        rows = np.concatenate([columns for columns, _ in answers], axis=1).T
        right = self._chain.distance(rows, targets[owner]) <= TOLERANCE
        found, whose = distinct(rows[right], owner[right], DECIMALS)
        parts = np.split(found, np.searchsorted(whose, np.arange(1, len(targets))))
        return [
            None if approximate.any() or not len(part) else part
            for part, (_, approximate) in zip(parts, answers, strict=True)
        ]

    def solve(self, target: Array, near: Array, fan: list[float | None]) -> Array:
        """Returns every branch, within the limits or not, without further full turns."""
        columns, approximate = self._candidates(target, fan)
        owner = np.zeros(len(approximate), np.intp)
        return self._solved(columns.T, approximate, owner, target[None], near[None])[0]

    def _load_kernel(self, more: int) -> bool:
        """Switches to compiled code after so many poses that loading it pays; results are the same. Needs numba."""
        self._asked += more
        if self._kernel is None and self._asked > WORTH_COMPILING:
            module = _kernel_module()
            if module is not None:
                low, high = self._low - LIMIT_ROOM_RAD, self._high + LIMIT_ROOM_RAD
                chain = self._chain
                self._kernel = module.find
                self._geometry = module.pack(chain.axes, chain.offsets, chain.flange_rotation, low, high)
        return self._kernel is not None

    def _decomposes(self, redundancy_rad: float | None) -> bool:
        """Returns whether the closed form knows the arm; for some arrangements of axes it says so by an error."""
        try:
            return bool(self._robot(redundancy_rad).has_known_decomposition())
        except RuntimeError:
            return False

    def _robot(self, redundancy_rad: float | None) -> Any:
        fixed = [] if redundancy_rad is None else [(REDUNDANT_JOINT, redundancy_rad)]
        return Robot(self._chain.axes.T, self._chain.offsets.T, self._chain.flange_rotation, fixed, True)

    def _candidates(self, target: Array, fan: list[float | None]) -> tuple[Array, Flags]:
        """Returns the answers of the closed form for each value of the redundant joint, and which are inexact."""
        if len(fan) == 1:
            answer = self._solver(fan[0])(target)
            return answer.Q.T, answer.is_LS
        answers = [self._solver(value)(target) for value in fan]
        columns = np.concatenate([answer.Q.T for answer in answers], axis=1)
        approximate = np.concatenate([answer.is_LS for answer in answers])
        columns.flags.writeable = approximate.flags.writeable = False  # as with one answer: for numba, another type
        return columns, approximate

    def _solved(
        self, rows: Array, approximate: Flags, owner: Indices, targets: Array, nears: Array
    ) -> tuple[Array, Indices]:
        """Returns the candidates that take their poses, each once; a closed form may fail where an arm is singular."""
        if approximate.any():  # perhaps out of reach, perhaps singular: then this is another try
            whose = owner[approximate]
            rows = np.concatenate([rows, self._unwound(rows[approximate], targets[whose], nears[whose])])
            owner = np.concatenate([owner, whose])
        away = self._chain.distance(rows, targets[owner])
        right = away <= TOLERANCE
        found, whose = rows[right], owner[right]
        lonely = np.setdiff1d(np.arange(len(targets)), whose) if len(targets) > 1 or not len(whose) else ()
        for pose in lonely:
            close = rows[(owner == pose) & (away <= SINGULAR)]
            polished = self._polished(close, targets[pose], nears[pose])
            found, whose = np.concatenate([found, polished]), np.append(whose, np.full(len(polished), pose))
        return distinct(found, whose, DECIMALS)

    def _polished(self, close: Array, target: Array, near: Array) -> Array:
        """Returns the results of a search from candidates that are close, and from the present angles, if close."""
        if self._chain.distance(near[None], target[None])[0] <= SINGULAR:
            close = np.concatenate([close, near[None]])
        if not len(close):
            return close
        nowhere = np.full_like(near, np.inf)
        found = solve_numerically(self._chain, target, close, -nowhere, nowhere)
        return found[self._chain.distance(found, target[None]) <= TOLERANCE]

    def _unwound(self, rows: Array, targets: Array, nears: Array) -> Array:
        """Returns the same with the wrist's first joint as in `near`, its last turned so that the flange is right.

        With a straight wrist both turn about one axis; the solver then sets both to zero and gives up.
        """
        rows = rows.copy()
        rows[:, -3], rows[:, -1] = nears[:, -3], 0.0
        axis = self._chain.flange_rotation.T @ self._chain.axes[-1]  # of the last joint, in the flange
        turn = self._chain.forward(rows)[0].swapaxes(1, 2) @ targets[:, :3, :3]
        sine = np.stack(
            [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], 1
        )
        rows[:, -1] = np.arctan2(sine @ axis, np.trace(turn, axis1=1, axis2=2) - 1)
        return rows


@cache
def _kernel_module() -> Any:
    """Returns the module of compiled code, or None where numba is not installed."""
    if find_spec("numba") is None:
        return None
    from cellwright.motion import branch_kernel

    branch_kernel.announce()
    return branch_kernel
