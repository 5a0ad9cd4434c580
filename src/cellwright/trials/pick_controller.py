"""Cellwright's own controller for orders to pick: looks by stereo, plans, takes, sets down; all through its ports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from cellwright.catalogue import PARTS, PartFigures
from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.drawings.planning_scene import TableArea, planning_scene, table_area
from cellwright.drawings.prior import Drawings
from cellwright.execution import Arm, PathArm, PickPlacePlanner, PickPlaceSettings, PlannedPickPlace, RobotHand
from cellwright.execution.async_clock import AsyncClock, JobStep
from cellwright.execution.careful_look import CarefulLook, PoseSource
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.held_part import at_every_turn, is_round
from cellwright.motion.grasps import GraspKind
from cellwright.orders.pick_order import PickOrder
from cellwright.perception.pose_measurement import PoseMeasurement

__all__ = ["PathRobot", "PickAccount", "PickController"]

ATTEMPTS = 3
GRASPS = (
    *(PickPlaceSettings(pitch_rad=float(np.radians(pitch_deg))) for pitch_deg in (0.0, 20.0, 40.0)),
    PickPlaceSettings(kind=GraspKind.TOP),
)  # from level, when nothing is in the way, to steeper ones, over what stands before the object
SAME_PLACE = 0.5  # of two radii: what is nearer than that is one object, and not two
OFF_SURFACE_M = 0.02  # a measured height farther from the area's face is of something that does not stand there


class PathRobot(Arm, PathArm, Protocol):
    """A robot that takes commands of its hand and its tool, and follows joint angles over time."""


@dataclass(frozen=True, kw_only=True)
class PickAccount:
    """A controller's account of an order to pick.

    Attributes:
        done: Whether it believes to have set the object down.
        reason: Why, or why not.
        is_planned: Whether the object was found and a way planned.
        grasp: How it was taken, in words; empty without a plan.
        measurements: All that was measured of the object.
        steps: What was done, with times.
    """

    done: bool
    reason: str
    is_planned: bool
    grasp: str
    measurements: tuple[PoseMeasurement, ...]
    steps: tuple[JobStep, ...]

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {
            "done": self.done,
            "reason": self.reason,
            "planned": self.is_planned,
            "grasp": self.grasp,
            "measurements": [_measured(one) for one in self.measurements],
            "steps": [{"step": s.name, "start_s": s.start_s, "end_s": s.end_s} for s in self.steps],
        }


def _measured(one: PoseMeasurement) -> dict[str, Any]:
    pose, variances = one.pose_in_world, one.variances
    return {
        "status": one.status.value,
        "reason": one.reason,
        "quality": one.quality,
        "xyz_m": None if pose is None else pose.position.tolist(),
        "yaw_rad": None if pose is None else float(pose.rpy[2]),
        "other_turns_rad": list(one.other_turns_rad),
        "sd_xy_m": None if variances is None else np.sqrt(variances[:2]).tolist(),
    }


@dataclass
class PickController:
    """Does one order to pick.

    Attributes:
        order: What is wanted.
        drawings: Of the cell: robot, furniture, and what stands about; not where the object is.
        robot: The robot's name.
        arm: The robot.
        clock: The cell's time.
        source: Measures the object in pictures.
        seed: Of the paths.
        on_step: Is told of every step that begins.
    """

    order: PickOrder
    drawings: Drawings
    robot: str
    arm: PathRobot
    clock: AsyncClock
    source: PoseSource
    seed: int = 0
    on_step: Callable[[str], None] = lambda _name: None
    _job: PlannedPickPlace | None = field(default=None, init=False)

    @cached_property
    def pick_area(self) -> TableArea:
        """The area on which the object is looked for."""
        return table_area(self.drawings.fixtures, self.order.pick_area)

    @cached_property
    def place_area(self) -> TableArea:
        """The area on which it is set down."""
        return table_area(self.drawings.fixtures, self.order.place_area)

    def planner(self, part: PartFigures, settings: PickPlaceSettings) -> PickPlacePlanner:
        """Returns the planner for one kind of grasp of a part, which may be the object at every turn.

        Parts of the kind that is to be moved are not in its scene: where they stand is seen, and not drawn.
        """
        own = [part.name for part in self.drawings.layout.parts if part.model == self.order.model]
        scene = planning_scene(self.drawings, self.robot, own)
        return PickPlacePlanner(scene, part, self.place_area.table, settings)

    async def run(self) -> PickAccount:
        """Does the order, as far as it can be done; says what it believes to be so then."""
        first: PickPlacePlanner | None = None
        reason = ""
        for part in (at_every_turn(self.order.part), self.order.part):
            planners = [partial(self.planner, part, settings) for settings in GRASPS]
            while first is None and planners:
                try:
                    first = planners.pop(0)()
                except JobFailed as error:  # the gripper cannot take it so
                    reason = str(error)
            if first is not None:
                break
        if first is None:
            return self._account(None, [], reason)
        thing = self.order.part.title.lower()
        clearance_m = min(grasp.clearance_m for grasp in first.grasps)
        look = CarefulLook(
            self.source, f"the {thing}", clearance_m, self._standing, needs_turn=not is_round(first.part)
        )
        job = PlannedPickPlace(
            RobotHand(self.arm, self.clock),
            self.arm,
            look,
            first,
            self.place_area.pose_in_world,
            np.radians(self.drawings.cell.robots[self.robot].home_deg),
            seed=self.seed,
            other_planners=tuple(planners),
            attempts=ATTEMPTS,
            on_step=self.on_step,
        )
        try:
            await job.run()
        except JobFailed as error:
            return self._account(job, look.measurements, str(error))
        return self._account(job, look.measurements, "", done=True)

    def _standing(self, pose: Pose) -> Pose:
        """Returns the pose upright on the face of the pick area, where an object was measured."""
        above_m = float(pose.position[2] - self.pick_area.pose_in_world.position[2])
        if self.pick_area.room_m(pose.position) < 0 or abs(above_m) > OFF_SURFACE_M:
            x_m, y_m, _ = pose.position
            where = f"at ({x_m:.3f}, {y_m:.3f}) m, {1000 * above_m:.0f} mm above it"
            reason = f"what was measured does not stand on the {self.order.pick_area}: {where}"
            raise StepFailed(FailureKind.NOT_THERE, reason)
        if drawn := self._drawn_at(pose):
            raise StepFailed(FailureKind.DOUBT, f"it was measured where the {drawn} is drawn")
        x_m, y_m, _ = pose.position
        top_m = float(self.pick_area.pose_in_world.position[2])
        return Pose.from_xyz_rpy((x_m, y_m, top_m), (0.0, 0.0, float(pose.rpy[2])))

    def _drawn_at(self, pose: Pose) -> str:
        """Returns the other object that stands in a place by the drawings; empty when none does."""
        for part in self.drawings.layout.parts:
            apart_m = float(np.hypot(*(part.pose_in_world.position - pose.position)[:2]))
            reach_m = SAME_PLACE * (PARTS.get(part.model).radius_m + self.order.part.radius_m)
            if part.model != self.order.model and apart_m < reach_m:
                return part.name
        return ""

    def _account(
        self, job: PlannedPickPlace | None, measurements: list[PoseMeasurement], reason: str, *, done: bool = False
    ) -> PickAccount:
        plan = job.plan if job else None
        grasp = plan.grasp_text if plan else ""
        thing = self.order.part.title.lower()
        return PickAccount(
            done=done,
            reason=reason or f"the {thing} was taken {grasp}, and set down on the {self.order.place_area}",
            is_planned=plan is not None,
            grasp=grasp,
            measurements=tuple(measurements),
            steps=tuple(job.steps) if job else (),
        )
