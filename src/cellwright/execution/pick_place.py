"""Pick and place on collision-free paths, with any robot that follows them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.execution.async_clock import AsyncClock, JobStep
from cellwright.execution.pick_plan import PickPlacePlan, PickPlacePlanner
from cellwright.motion import Motion

__all__ = ["PathArm", "PickPlace"]

SETTLE_S = 0.2
HOLDING_TOLERANCE_M = 0.0025  # rubber pads give way


class JawMotion(Protocol):
    """The result of a movement of the jaws."""

    @property
    def width_m(self) -> float:
        """The width between the jaws."""


class PathArm(Protocol):
    """A robot that follows joint paths and moves its gripper."""

    async def follow(self, motion: Motion) -> None:
        """Follows joint angles over time, from where the arm stands."""

    async def move_gripper(self, width_m: float, force_n: float | None = None) -> JawMotion:
        """Moves the jaws to a width, or until they meet something."""


@dataclass
class PickPlace:
    """One pick and place; `steps` tells what was done, `plan` how.

    Attributes:
        arm: The robot.
        clock: Time to wait by.
        look: Says where the part stands; takes its time.
        planner: Of motions.
        pose_place_in_world: The goal pose of the part.
        home_rad: The joint angles at which the arm begins and ends.
        force_n: Of the grip.
        thinking_s: What planning takes of the clock's time.
        seed: Of the paths.
    """

    arm: PathArm
    clock: AsyncClock
    look: Callable[[], Awaitable[Pose]]
    planner: PickPlacePlanner
    pose_place_in_world: Pose
    home_rad: Any
    force_n: float = 40.0
    thinking_s: float = 1.0
    seed: int = 0
    plan: PickPlacePlan | None = None
    steps: list[JobStep] = field(default_factory=list)

    async def run(self) -> None:
        """Looks, plans, takes, carries, sets down, goes home.

        Raises:
            JobFailed: with the reason, when a step cannot be done.
        """
        step = self._begin("look")
        pose_part = await self.look()
        step = self._begin("plan", step)
        self.plan = plan = self.planner.plan(self.home_rad, pose_part, self.pose_place_in_world, self.seed)
        await self.clock.sleep(self.thinking_s)
        step = self._begin("take", step)
        await self._jaws(2 * self.planner.tool.open_m)
        await self.arm.follow(plan.approach)
        await self.arm.follow(plan.reach)
        await self.clock.sleep(SETTLE_S)
        await self._grip(plan)
        step = self._begin("lift", step)
        await self.arm.follow(plan.lift)
        step = self._begin("carry", step)
        await self.arm.follow(plan.carry)
        step = self._begin("lower", step)
        await self.arm.follow(plan.lower)
        await self.clock.sleep(SETTLE_S)
        step = self._begin("let go", step)
        await self._jaws(2 * self.planner.tool.open_m)
        await self.clock.sleep(SETTLE_S)
        await self.arm.follow(plan.retreat)
        step = self._begin("withdraw", step)
        await self.arm.follow(plan.withdraw)
        step.end_s = self.clock.time_s

    def _begin(self, name: str, last: JobStep | None = None) -> JobStep:
        if last is not None:
            last.end_s = self.clock.time_s
        self.steps.append(JobStep(name, self.clock.time_s))
        return self.steps[-1]

    async def _jaws(self, width_m: float, force_n: float | None = None) -> float:
        return (await self.arm.move_gripper(width_m, force_n)).width_m

    async def _grip(self, plan: PickPlacePlan) -> None:
        width_m = await self._jaws(2 * self.planner.tool.closed_m, self.force_n)
        if abs(width_m - plan.width_m) > HOLDING_TOLERANCE_M:
            raise JobFailed(
                f"nothing was grasped: the gripper closed to {width_m * 1000:.1f} mm, "
                f"a held {self.planner.part.title.lower()} gives {plan.width_m * 1000:.1f} mm"
            )
