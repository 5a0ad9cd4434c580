"""A pick and place on collision-free paths, planned from where the part is seen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import numpy.typing as npt

from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.execution.async_clock import JobStep
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.pick_motions import PickPlacePlan, StandingPart
from cellwright.execution.pick_place import Hold, PathArm, PickPlace, PickPlacePhase
from cellwright.execution.pick_plan import PickPlacePlanner
from cellwright.execution.robot_hand import RobotHand

__all__ = ["PlannedPickPlace"]


@dataclass
class PlannedPickPlace:
    """One pick and place; `steps` tells what was done, `plan` how.

    Attributes:
        hand: The hand.
        arm: The robot that it is on.
        look: Says how the part stands; takes its time.
        planner: Of motions.
        pose_place_in_world: The goal pose of the part.
        home_rad: The joint angles at which the arm begins and ends.
        thinking_s: What planning takes of the clock's time.
        seed: Of the paths.
        other_planners: Make planners that are asked when the first one finds no way, such as one that takes the part
            from above.
        attempts: How often it is tried: after a miss, and when no way was found, it is looked and planned again.
        on_step: Is told of every step that begins.
    """

    hand: RobotHand
    arm: PathArm
    look: Callable[[], Awaitable[StandingPart]]
    planner: PickPlacePlanner
    pose_place_in_world: Pose
    home_rad: npt.ArrayLike
    thinking_s: float = 1.0
    seed: int = 0
    other_planners: tuple[Callable[[], PickPlacePlanner], ...] = ()
    attempts: int = 1
    on_step: Callable[[str], None] = lambda _name: None
    plan: PickPlacePlan | None = None
    steps: list[JobStep] = field(default_factory=list)

    async def run(self) -> None:
        """Looks, plans, takes, carries, sets down, goes home; after a miss it goes home, too.

        Raises:
            JobFailed: with the reason, when a step cannot be done.
        """
        try:
            for attempt in range(self.attempts):
                if await self._try(attempt, is_last=attempt == self.attempts - 1):
                    return
        finally:
            self.steps[-1].end_s = self.hand.clock.time_s

    async def _try(self, attempt: int, *, is_last: bool) -> bool:
        """Returns whether the part is at its place; raises when it is not and this was the last attempt."""
        self._begin("look")
        part = await self.look()
        self._begin("plan")
        try:
            self.plan = plan = self._planned(part, self.seed + attempt)
        except JobFailed:
            if is_last:
                raise
            return False
        finally:
            await self.hand.clock.sleep(self.thinking_s)
        work = PickPlace(self.hand, self._begin)
        hold = Hold(self.planner.part.name, plan.grasp.width_m, self.hand.arm.recipe.grip_tolerance_m)
        try:
            await work.pick(plan.pick_way(self.arm), hold)
        except StepFailed as failure:
            if failure.kind is not FailureKind.MISSED:
                raise
            self._begin("give up")
            await self.arm.follow(plan.give_up)
            if is_last:
                raise
            return False
        await work.place(plan.place_way(self.arm), hold)
        self._begin("withdraw")
        await self.arm.follow(plan.withdraw)
        return True

    def _planned(self, part: StandingPart, seed: int) -> PickPlacePlan:
        reasons = []
        for make in (lambda: self.planner, *self.other_planners):
            try:
                return make().plan(
                    self.home_rad, part.pose_in_world, self.pose_place_in_world, seed, part.other_turns_rad
                )
            except JobFailed as error:
                reasons.append(str(error))
        raise JobFailed("; ".join(dict.fromkeys(reasons)))

    def _begin(self, name: str | PickPlacePhase, _thing: str = "") -> None:
        """Ends the last step and begins another."""
        now_s = self.hand.clock.time_s
        if self.steps:
            self.steps[-1].end_s = now_s
        self.steps.append(JobStep(str(name), now_s))
        self.on_step(str(name))
