"""A pick and place on collision-free paths, planned from where the part is seen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.execution.async_clock import JobStep
from cellwright.execution.pick_place import Hold, PathArm, PickPlace, PickPlacePhase
from cellwright.execution.pick_plan import PickPlacePlan, PickPlacePlanner
from cellwright.execution.robot_hand import RobotHand

__all__ = ["PlannedPickPlace"]


@dataclass
class PlannedPickPlace:
    """One pick and place; `steps` tells what was done, `plan` how.

    Attributes:
        hand: The hand.
        arm: The robot that it is on.
        look: Says where the part stands; takes its time.
        planner: Of motions.
        pose_place_in_world: The goal pose of the part.
        home_rad: The joint angles at which the arm begins and ends.
        thinking_s: What planning takes of the clock's time.
        seed: Of the paths.
    """

    hand: RobotHand
    arm: PathArm
    look: Callable[[], Awaitable[Pose]]
    planner: PickPlacePlanner
    pose_place_in_world: Pose
    home_rad: npt.ArrayLike
    thinking_s: float = 1.0
    seed: int = 0
    plan: PickPlacePlan | None = None
    steps: list[JobStep] = field(default_factory=list)

    async def run(self) -> None:
        """Looks, plans, takes, carries, sets down, goes home.

        Raises:
            JobFailed: with the reason, when a step cannot be done.
        """
        try:
            self._begin("look")
            pose_part = await self.look()
            self._begin("plan")
            self.plan = plan = self.planner.plan(self.home_rad, pose_part, self.pose_place_in_world, self.seed)
            await self.hand.clock.sleep(self.thinking_s)
            work = PickPlace(self.hand, self._begin)
            hold = Hold(self.planner.part.name, plan.grasp.width_m, self.hand.arm.recipe.grip_tolerance_m)
            await work.pick(plan.pick_way(self.arm), hold)
            await work.place(plan.place_way(self.arm), hold)
            self._begin("withdraw")
            await self.arm.follow(plan.withdraw)
        finally:
            self.steps[-1].end_s = self.hand.clock.time_s

    def _begin(self, name: str | PickPlacePhase, _thing: str = "") -> None:
        """Ends the last step and begins another."""
        now_s = self.hand.clock.time_s
        if self.steps:
            self.steps[-1].end_s = now_s
        self.steps.append(JobStep(str(name), now_s))
