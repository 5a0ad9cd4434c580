"""The tracking study of controllers: the same joint move under each of them, errors and torques at every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.control.robot import RobotController
from cellwright.core.loop import SimulationLoop
from cellwright.motion import JointMove
from cellwright.sim import Stepper, TickOrder, World

__all__ = ["TrackingResult", "tracking_study"]

Array = npt.NDArray[np.float64]

SETTLE_S = 0.3
STANDARD: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    name: (name, {}) for name in ("pid", "computed_torque", "cartesian")
}


@dataclass(frozen=True)
class TrackingResult:
    """One controller on one move, in rows of time.

    Attributes:
        label: Its name in the study.
        time_s: Since the move began.
        reference_rad: Commanded joint angles.
        error_rad: Encoders less reference, per joint.
        effort_nm: Torque of the drives, per joint.
    """

    label: str
    time_s: Array
    reference_rad: Array
    error_rad: Array
    effort_nm: Array

    @property
    def worst_error_rad(self) -> float:
        """The largest error of any joint at any time."""
        return float(np.abs(self.error_rad).max())

    @property
    def rms_error_rad(self) -> float:
        """The root mean square of the error over all joints and times."""
        return float(np.sqrt((self.error_rad**2).mean()))

    @property
    def peak_effort_nm(self) -> Array:
        """The largest torque of each joint."""
        return np.asarray(np.abs(self.effort_nm).max(axis=0))


def tracking_study(
    make_world: Callable[[], World],
    robot: str,
    goal_rad: npt.ArrayLike,
    *,
    speed: float = 0.5,
    controllers: Mapping[str, tuple[str, Mapping[str, Any]]] = STANDARD,
) -> list[TrackingResult]:
    """Has each controller follow the same joint move in a world of its own, from home to the goal.

    Args:
        make_world: Makes a fresh world for each of them.
        robot: The robot that moves.
        goal_rad: The goal of the move.
        speed: Share of the arm's speed.
        controllers: Label -> registered name and gains.
    """
    return [_track(make_world(), robot, label, chosen, goal_rad, speed) for label, chosen in controllers.items()]


def _track(
    world: World,
    robot: str,
    label: str,
    chosen: tuple[str, Mapping[str, Any]],
    goal_rad: npt.ArrayLike,
    speed: float,
) -> TrackingResult:
    stepper = Stepper(world.clock, world.engine)
    loop = SimulationLoop(world.clock, stepper)
    try:
        arm = RobotController(world, stepper, loop.clock, robot, world.cell.robots[robot].base.pose)
        arm.use_controller(chosen[0], **chosen[1])
        motion = JointMove(arm.kinematics.arm, arm.joints_rad, goal_rad, speed)
        start_s, rows = world.clock.time_s, []

        def look() -> None:
            time_s = world.clock.time_s - start_s
            reference = np.array(motion.at(time_s)[0])
            rows.append((time_s, reference, arm.joints_rad - reference, arm.effort_nm))

        stepper.every(1, look, order=TickOrder.SENSOR, name="tracking")

        async def move_and_wait() -> None:
            await arm.follow(motion)
            await loop.clock.sleep(SETTLE_S)

        loop.run(move_and_wait())
    finally:
        loop.close()
    times, references, errors, efforts = (np.array(column) for column in zip(*rows, strict=True))
    return TrackingResult(label, times, references, errors, efforts)
