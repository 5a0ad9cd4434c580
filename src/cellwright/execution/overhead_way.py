"""The way of an executor's robot to a part, a tray or a slot."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from cellwright.core.pose import Pose
from cellwright.execution.manipulator import Manipulator

__all__ = ["OverheadWay"]


@dataclass
class OverheadWay:
    """A manipulator's way above everything to a place, down and up again.

    Attributes:
        manipulator: The robot.
        pose: Of the tool at the place, as known before; then as it is known when it is above.
        above: Moves from above to where slow motion begins; returns the pose of the tool at the place by then.
        slow_mps: Speed of the last distance.
        leave_mps: Speed up from a place where something was set down.
        lift_mps: The same with what was taken; a hand that missed leaves slowly.
    """

    manipulator: Manipulator
    pose: Pose
    above: Callable[[], Awaitable[Pose]]
    slow_mps: float
    leave_mps: float
    lift_mps: float

    async def travel(self) -> None:
        """Moves to above the place, at travel height."""
        await self.manipulator.go_above(self.pose)

    async def approach(self) -> None:
        """Moves to where slow motion begins."""
        self.pose = await self.above()

    async def reach(self) -> None:
        """Moves the last distance."""
        await self.manipulator.arm.move(self.pose, self.slow_mps)

    async def leave(self, *, laden: bool) -> None:
        """Moves to the travel height."""
        await self.manipulator.lift(self.pose, self.lift_mps if laden else self.leave_mps)
