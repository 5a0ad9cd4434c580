"""The way of an executor's robot to a part, a tray or a slot."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from cellwright.core.pose import Pose
from cellwright.execution.arm import HandReading
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.surface_heights import AS_DRAWN_M

__all__ = ["OverheadWay"]

NEARLY_M = 0.003  # a hand that is stopped so near to its place may close or open: fingers and slots catch what is near
PUSH_N = 20.0  # with which a part that touches the edge of its slot is pushed in; fingers let it slip at about as much
FARTHEST_M = 0.015  # contacts farther above a place are not for the height of its table
PUSHED_M = 0.006  # a part that is pushed so near to its seat is in its slot, and falls no farther than this


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
        place: What is there, for the reason why the hand was stopped.
        contact_n: The force at which it is; the recipe's by default.
        give_m: How far above the place a contact may be of what is held itself, which hangs lower or leans: it is
            pushed on, slowly and not hard.
        below_m: How far below the hand, or what it holds, something is to be at the place, by what is believed.
        check: Finds on the way why it makes no sense to go on: then the robot stops where it is.
        short_m: The distance from the place at which something stopped the hand; 0 when nothing did.
    """

    manipulator: Manipulator
    pose: Pose
    above: Callable[[], Awaitable[Pose]]
    slow_mps: float
    leave_mps: float
    lift_mps: float
    place: str
    contact_n: float | None = None
    give_m: float = NEARLY_M
    below_m: float = 0.0
    check: Callable[[HandReading], StepFailed | None] = lambda _reading: None
    short_m: float = 0.0

    async def travel(self) -> None:
        """Moves to above the place, at travel height.

        Raises:
            StepFailed: What `check` found on the way.
        """
        with self.manipulator.arm.watched(self.check):
            await self.manipulator.go_above(self.pose)

    async def approach(self) -> None:
        """Moves to where slow motion begins."""
        self.pose = await self.above()

    async def reach(self) -> None:
        """Moves the last distance, as far as nothing is in the way.

        Raises:
            StepFailed: Something is, before the hand is nearly there.
        """
        arm, recipe = self.manipulator.arm, self.manipulator.recipe
        limit_n = recipe.contact_n if self.contact_n is None else self.contact_n
        self.short_m = short_m = await arm.press(self.pose, self.slow_mps, limit_n)
        if NEARLY_M < short_m <= self.give_m:
            short_m = await arm.press(self.pose, recipe.careful_mps, max(limit_n, PUSH_N))
            is_there = short_m <= PUSHED_M
        else:
            is_there = short_m <= NEARLY_M
        if not is_there:
            self.short_m = max(self.short_m, short_m)
            why = f"contact {short_m * 1000:.0f} mm above {self.place}{self.height_hint()}"
            raise StepFailed(FailureKind.BLOCKED, why)

    def height_hint(self) -> str:
        """Returns what a contact on the way down would mean if nothing but the height of the table were wrong."""
        above_m = self.short_m + self.below_m
        surface = self.manipulator.heights.at(self.pose.position)
        if surface is None or not AS_DRAWN_M < above_m <= FARTHEST_M:
            return ""
        if surface.is_touched(self.pose.position):
            return f": {surface.name} was touched, so it is missed sideways"
        return f": {surface.name} seems {above_m * 1000:.0f} mm higher than drawn"

    async def leave(self, *, laden: bool) -> None:
        """Moves to the travel height."""
        await self.manipulator.lift(self.pose, self.lift_mps if laden else self.leave_mps)
