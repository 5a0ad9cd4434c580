"""A parallel gripper as its controller sees it: a width, a commanded width, a motor force."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, JobFailed, OutOfRange
from cellwright.core.loop import WaitClock
from cellwright.sim import GripperIndex, World

__all__ = ["GraspResult", "GraspStatus", "Gripper"]

POLL_S = 0.02
STILL_MPS = 0.002  # slower, and slower than near its commanded width, a finger counts as at rest
LIMIT_S, LIMIT_FACTOR = 2.0, 3.0  # time limit of a movement, at least and in closing times
REACHED_M = 0.0003  # twice what the drive leaves at its stop


class GraspStatus(StrEnum):
    """The outcome of a movement of the fingers."""

    REACHED = "reached"
    HOLDING = "holding"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"


@dataclass(frozen=True)
class GraspResult:
    """The width at which the fingers came to rest, and why there."""

    status: GraspStatus
    width_m: float
    reason: str


class Gripper:
    """A parallel gripper, which measures its width and does not know what is between its fingers.

    Attributes:
        next_force_n: The force of each finger in movements by `set`; None is the catalogue's force.
    """

    kind = "gripper"

    def __init__(self, world: World, robot: str, clock: WaitClock) -> None:
        self._world = world
        self._robot = robot
        self._clock = clock
        self.next_force_n: float | None = None
        self._force_n: float | None = None
        self._busy = False
        self._index: GripperIndex | None = None
        self._model = world.model  # the one whose drive is known
        self._usual = self._written = np.zeros(2)  # force and stiffness of the drive: at the usual force, and now
        world.bind(self._look_up)
        world.add_component(f"{robot} gripper", self)

    def _look_up(self) -> None:
        before = self._index
        self._index = self._world.robot(self._robot).gripper
        same = before is not None and self._index is not None and before.figures is self._index.figures
        if not same:
            self._leave(before)
            self._take(self._index)
        self.load(self._force_n if same else None)  # a model that was built anew has the catalogue's force

    def _take(self, tool: GripperIndex | None) -> None:
        """Notes the drive of another tool as it is in the model."""
        self._force_n, self._model = None, self._world.model
        if tool is not None:
            self._usual = self._written = _drive(self._model, tool)

    def _leave(self, tool: GripperIndex | None) -> None:
        """Gives a tool its usual force back."""
        if tool is not None and self._model is self._world.model:
            _set_drive(self._model, tool, self._usual)
            tool.set_damping(self._model)

    @property
    def _tool(self) -> GripperIndex:
        if self._index is None:
            raise JobFailed(f"{self._robot} has no gripper")
        return self._index

    @property
    def name(self) -> str:
        """Its model, or the name that the cell gives it."""
        return self._world.robot(self._robot).tool_name

    @property
    def width_limits_m(self) -> tuple[float, float]:
        """The widths when closed and when open."""
        return 2 * self._tool.figures.closed_m, 2 * self._tool.figures.open_m

    @property
    def force_limits_n(self) -> tuple[float, float]:
        """The least and the largest force of each finger."""
        return self._tool.figures.force_limits_n

    @property
    def width_m(self) -> float:
        """The distance between the pads."""
        return float(self._world.data.qpos[self._tool.qpos].sum())

    @property
    def holding(self) -> bool:
        """Whether the fingers came to rest short of a narrower commanded width.

        As long as they are on their way they hold nothing yet, also in the moment before they start.
        """
        wanted_m = 2 * float(self._world.data.ctrl[self._tool.ctrl])
        return not self._busy and self._speed_mps() <= self._still_mps and self.width_m > wanted_m + REACHED_M

    @property
    def _still_mps(self) -> float:
        figures = self._tool.figures
        near = REACHED_M / 4 * figures.stiffness_npm / figures.drive_force_n  # there the drive slows down
        return min(STILL_MPS, near * figures.speed_mps)

    def _speed_mps(self, ahead_s: float = 0.0) -> float:
        """Returns the speed of the quicker finger, now or a moment ahead."""
        data, dof = self._world.data, self._tool.dof
        return float((abs(data.qvel[dof]) + ahead_s * abs(data.qacc[dof])).max())

    async def open(self) -> float:
        """Opens fully; returns the width at which it came to rest."""
        return (await self._move(self._tool.figures.open_m)).width_m

    async def close(self) -> float:
        """Closes until something or the stop is met; returns the width at which it came to rest."""
        return (await self._move(self._tool.figures.closed_m)).width_m

    async def set(self, fraction: float) -> None:
        """Moves to a fraction of the full width; what is held on the way to less stays held."""
        low_m, high_m = self.width_limits_m
        width_m = low_m + fraction * (high_m - low_m)
        if not self._keeps_hold(width_m):
            await self.move(width_m, self.next_force_n)

    async def move(self, width_m: float, force_n: float | None = None) -> GraspResult:
        """Moves the fingers to a width, with at most so much force of each; None is the catalogue's.

        Raises:
            OutOfRange: for a width or force that the gripper does not have.
            JobFailed: when it is asked to close on something while it holds something.
        """
        low_m, high_m = self.width_limits_m
        if not (math.isfinite(width_m) and low_m - 1e-9 <= width_m <= high_m + 1e-9):
            raise OutOfRange(f"{self._robot} gripper width", width_m, low_m, high_m, "m")
        if force_n is not None:
            low_n, high_n = self.force_limits_n
            if not (math.isfinite(force_n) and low_n <= force_n <= high_n):
                raise OutOfRange(f"{self._robot} gripper force", force_n, low_n, high_n, "N")
            if self._world.cell.fidelity != "physics":
                raise BadInput(f"{self._robot} has a gripper force only in a cell of fidelity 'physics'")
        if self._keeps_hold(width_m):
            raise JobFailed(f"{self._robot} gripper already holds something {self.width_m * 1000:.1f} mm wide")
        self.load(force_n)
        return await self._move(width_m / 2)

    def _keeps_hold(self, width_m: float) -> bool:
        """Returns whether it holds something, and a width would not let go of that; fully open always does.

        Fingers may be kept from closing where they are: then they stand open, and on their way to less.
        """
        is_open = width_m >= self.width_limits_m[1] - 1e-9
        return self.holding and width_m <= self.width_m and not is_open

    def save(self) -> float | None:
        """Returns the force: it is in the model, of which a snapshot has no copy."""
        return self._force_n

    def load(self, force_n: float | None) -> None:
        """Restores a force; the whole drive is made weaker, so that the fingers are as quick with any force."""
        self._force_n = force_n
        if (tool := self._index) is None:
            return
        model, known = self._world.model, _drive(self._model, tool)
        if (known != self._written).any():  # a user has changed it in the model
            self._usual = self._usual * known / self._written
        share = 1.0 if force_n is None else force_n / tool.figures.grip_force_n
        self._written, self._model = share * self._usual, model
        _set_drive(model, tool, self._written)
        tool.set_damping(model)

    def let_go(self, part: str) -> None:
        """Does nothing: it holds by friction alone."""

    async def _move(self, finger_m: float) -> GraspResult:
        if self._busy:
            raise JobFailed(f"{self._robot} gripper is already moving")
        self._busy = True
        try:
            return await self._wait(finger_m)
        finally:
            self._busy = False

    async def _wait(self, finger_m: float) -> GraspResult:
        closing = 2 * finger_m < self.width_m
        self._world.data.ctrl[self._tool.ctrl] = finger_m
        waited_s, moving = 0.0, True
        limit_s = max(LIMIT_S, LIMIT_FACTOR * self._tool.figures.closing_time_s)
        while waited_s < limit_s and (moving or waited_s < 3 * POLL_S):
            await self._clock.sleep(POLL_S)
            waited_s += POLL_S
            moving = self._speed_mps(POLL_S) > self._still_mps  # heavy fingers that turn back stand for a moment, too
        width_m = self.width_m
        text = f"{width_m * 1000:.1f} mm"
        if moving:
            return GraspResult(GraspStatus.TIMEOUT, width_m, f"still moving after {limit_s:.1f} s, at {text}")
        short_m = (width_m - 2 * finger_m) * (1 if closing else -1)
        if short_m <= REACHED_M:
            return GraspResult(GraspStatus.REACHED, width_m, f"at {text}, nothing in the way")
        if closing:
            return GraspResult(
                GraspStatus.HOLDING, width_m, f"stopped at {text} on the way to {finger_m * 2000:.1f} mm"
            )
        return GraspResult(GraspStatus.BLOCKED, width_m, f"opened only to {text} of {finger_m * 2000:.1f} mm")


def _drive(model: Any, tool: GripperIndex) -> npt.NDArray[np.float64]:
    """Returns the largest force and the stiffness of a gripper's drive."""
    return np.array([model.actuator_forcerange[tool.actuator, 1], model.actuator_gainprm[tool.actuator, 0]])


def _set_drive(model: Any, tool: GripperIndex, drive: npt.NDArray[np.float64]) -> None:
    force_n, stiffness_npm = drive
    model.actuator_forcerange[tool.actuator] = (-force_n, force_n)
    model.actuator_gainprm[tool.actuator, 0] = stiffness_npm
    model.actuator_biasprm[tool.actuator, 1] = -stiffness_npm
