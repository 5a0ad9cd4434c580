"""Creep of a part in the hand of an arm that swings it to and fro."""

from __future__ import annotations

import numpy as np

from cellwright.catalogue import PartFigures
from cellwright.cells import Cell
from cellwright.core.pose import Pose
from cellwright.lab import Lab

__all__ = ["SWINGS", "swing_creep_m"]

SWINGS = 5
SWING_RAD = (0.8, -0.3, 0.3, 0.0, -0.3, 0.0)  # of the first joints, and back: a curve about the base, out and in
ABOVE_M, LIFT_M = 0.05, 0.15
SLOWLY = 0.3
REST_S = 0.2
LOOK_S = 0.01


def swing_creep_m(cell: Cell, robot: str, part: str, speed: float = 1.0, swings: int = SWINGS) -> float:
    """Returns how far a part strays in a hand at most while it is swung.

    Args:
        cell: The cell.
        robot: Its robot, with a gripper that takes the part from above.
        part: Taken where it truly is: what is measured is the hold, not how the part was found.
        speed: Share of the joints' speed and acceleration.
        swings: How often, to one side or back.
    """
    with Lab(cell, 0) as lab:
        return float(lab.perform(_swing(lab, robot, part, speed, swings)))


async def _swing(lab: Lab, robot: str, part: str, speed: float, swings: int) -> float:
    world, arm = lab.world, lab.robot(robot)
    figures = world.object(part).figures
    assert isinstance(figures, PartFigures)
    place = world.pose_of(part).apply([0.0, 0.0, figures.grasp_height_m])

    def above(height_m: float) -> Pose:
        return Pose.from_xyz_rpy(place + [0.0, 0.0, height_m], [np.pi, 0.0, 0.0])

    def in_hand() -> Pose:
        return world.tcp_pose(robot).inverse() @ world.pose_of(part)

    await arm.gripper.open()
    await arm.move_tool(above(ABOVE_M), SLOWLY)
    await arm.move_tool(above(0.0), SLOWLY)
    await lab.clock.sleep(REST_S)
    await arm.gripper.close()
    await arm.move_tool(above(LIFT_M), SLOWLY)
    await lab.clock.sleep(REST_S)
    taken, home_rad = in_hand(), np.array(arm.joints_rad)
    away_rad, strayed_m = np.resize([*SWING_RAD, 0.0], len(home_rad)), 0.0
    for number in range(swings):
        goal_rad = home_rad if number % 2 else home_rad + away_rad
        task = lab.loop.create_task(arm.move_joints(goal_rad, speed))
        while not task.done():
            await lab.clock.sleep(LOOK_S)
            strayed_m = max(strayed_m, taken.distance_m(in_hand()))
        await task
    return strayed_m
