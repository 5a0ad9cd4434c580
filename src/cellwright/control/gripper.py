"""A parallel gripper as its controller sees it: a width, a commanded width, a motor force."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from cellwright.core.errors import BadInput, JobFailed, OutOfRange
from cellwright.core.loop import WaitClock
from cellwright.sim import ToolIndex, World

__all__ = ["Grasp", "GraspStatus", "Gripper"]

POLL_S = 0.02
STILL_MPS = 0.002
LIMIT_S = 2.0
REACHED_M = 0.0008  # twice what the drive leaves at its stop


class GraspStatus(StrEnum):
    """How a movement of the fingers ended."""

    REACHED = "reached"
    HOLDING = "holding"
    BLOCKED = "blocked"
    TIMEOUT = "timeout"


@dataclass(frozen=True)
class Grasp:
    """Where the fingers came to rest, and why there."""

    status: GraspStatus
    width_m: float
    reason: str


class Gripper:
    """Opens and closes, and tells how wide it stands. Knows nothing of what is between its fingers.

    Attributes:
        next_force_n: How hard each finger presses in movements by `set`; None is the catalogue's force.
    """

    kind = "gripper"

    def __init__(self, world: World, robot: str, clock: WaitClock) -> None:
        self._world, self._robot, self._clock = world, robot, clock
        self.next_force_n: float | None = None
        self._force_n: float | None = None
        self._busy = False
        world.bind(self._look_up)
        world.add_holder(f"{robot} gripper", self)

    def _look_up(self) -> None:
        self._index = self._world.robot(self._robot).tool

    @property
    def _tool(self) -> ToolIndex:
        if self._index is None:
            raise JobFailed(f"{self._robot} has no gripper")
        return self._index

    @property
    def name(self) -> str:
        """Its model, or the name that the cell gives it."""
        return self._world.robot(self._robot).tool_name

    @property
    def width_limits_m(self) -> tuple[float, float]:
        """Closed and open."""
        return 2 * self._tool.figures.closed_m, 2 * self._tool.figures.open_m

    @property
    def force_limits_n(self) -> tuple[float, float]:
        """Of each finger."""
        return self._tool.figures.force_limits_n

    @property
    def width_m(self) -> float:
        """Distance between the pads."""
        return float(self._world.data.qpos[self._tool.qpos].sum())

    @property
    def holding(self) -> bool:
        """Whether the fingers were stopped short of a narrower width than they stand at."""
        wanted_m = 2 * float(self._world.data.ctrl[self._tool.ctrl])
        still = abs(self._world.data.qvel[self._tool.dof]).max() <= STILL_MPS
        return bool(still and self.width_m > wanted_m + REACHED_M)

    async def open(self) -> float:
        """Opens fully; returns the width at which it came to rest."""
        return (await self._move(self._tool.figures.open_m)).width_m

    async def close(self) -> float:
        """Closes until something or the stop is met; returns the width at which it came to rest."""
        return (await self._move(self._tool.figures.closed_m)).width_m

    async def set(self, fraction: float) -> None:
        """To a fraction of the full width; what is held on the way to less stays held."""
        low_m, high_m = self.width_limits_m
        width_m = low_m + fraction * (high_m - low_m)
        if not (self.holding and width_m <= self.width_m):
            await self.move(width_m, self.next_force_n)

    async def move(self, width_m: float, force_n: float | None = None) -> Grasp:
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
        if self.holding and width_m <= self.width_m:
            raise JobFailed(f"{self._robot} gripper already holds something {self.width_m * 1000:.1f} mm wide")
        self.load(force_n)
        return await self._move(width_m / 2)

    def save(self) -> float | None:
        """The force: it is in the model, of which a snapshot has no copy."""
        return self._force_n

    def load(self, force_n: float | None) -> None:
        """Goes back to a force."""
        self._force_n = force_n
        tool = self._world.robot(self._robot).tool
        if tool is not None:
            drive_n = 2 * (tool.figures.grip_force_n if force_n is None else force_n)
            self._world.model.actuator_forcerange[tool.actuator] = (-drive_n, drive_n)

    def let_go(self, part: str) -> None:
        """It holds by friction alone."""

    async def _move(self, finger_m: float) -> Grasp:
        if self._busy:
            raise JobFailed(f"{self._robot} gripper is already moving")
        self._busy = True
        try:
            return await self._wait(finger_m)
        finally:
            self._busy = False

    async def _wait(self, finger_m: float) -> Grasp:
        closing = 2 * finger_m < self.width_m
        self._world.data.ctrl[self._tool.ctrl] = finger_m
        waited_s, moving = 0.0, True
        grip_n = self._tool.figures.grip_force_n
        limit_s = LIMIT_S * max(1.0, grip_n / (self._force_n or grip_n))  # with less force the fingers are slower
        while waited_s < limit_s and (moving or waited_s < 3 * POLL_S):
            await self._clock.sleep(POLL_S)
            waited_s += POLL_S
            moving = abs(self._world.data.qvel[self._tool.dof]).max() > STILL_MPS
        width_m = self.width_m
        text = f"{width_m * 1000:.1f} mm"
        if moving:
            return Grasp(GraspStatus.TIMEOUT, width_m, f"still moving after {limit_s:.1f} s, at {text}")
        if abs(width_m - 2 * finger_m) <= REACHED_M:
            return Grasp(GraspStatus.REACHED, width_m, f"at {text}, nothing in the way")
        if closing:
            return Grasp(GraspStatus.HOLDING, width_m, f"stopped at {text} on the way to {finger_m * 2000:.1f} mm")
        return Grasp(GraspStatus.BLOCKED, width_m, f"opened only to {text} of {finger_m * 2000:.1f} mm")
