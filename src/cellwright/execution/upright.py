"""Setting a gear upright whose lean nobody sees: its raised rim is pressed down, all round.

A gear that fell may lie on its cone, or on the edge of a slot, leaning by up to 40 degrees in a direction that an
overhead detector does not tell. Pressed down where its rim is raised it stands up, or slides into its slot; where it is
not raised, closed fingers come down to just above where its disc would be, and touch nothing.
"""

from __future__ import annotations

import numpy as np

from cellwright.catalogue import GearFigures, GripperFigures
from cellwright.core.pose import Pose
from cellwright.execution.arm import ArmFailed, raised, tool_down
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.manipulator import yaw_rad as _yaw_rad
from cellwright.knowledge import BelievedPart
from cellwright.knowledge.held_pose import gripper_figures

__all__ = ["press_points", "press_upright"]

POINTS = 6  # a rim that is pressed within 30 degrees of where it is highest gives way downwards, and does not roll away
RIM_SHARE = 0.8  # of the tip radius: the middle of a raised rim, seen from above; a leaning peg does not reach so far
ABOVE_M = 0.001  # how far above the disc of a gear that stands upright pressing ends
START_M = 0.025  # above that, from where it begins: over the raised rim and the peg
PRESS_N = 4.0  # at the wrist, on what does not give way: a peg that has come under the fingers
PRESS_MPS = 0.03


async def press_upright(worker: Manipulator, part: BelievedPart) -> int:
    """Presses a gear down round its rim with closed fingers, so that it stands upright or seats itself.

    Look again afterwards: the gear has moved by up to half its tip radius. Then it is taken as any other.

    Args:
        worker: The robot, with nothing in its hand.
        part: The gear: x and y as it is seen, z of its origin as if it stood upright; its lean is not used.

    Returns:
        How many presses met something that did not give way.

    Raises:
        StepFailed: The robot has no fingers or holds something, the part is no gear, or a motion failed.
    """
    tool = gripper_figures((await worker.hand.read()).gripper)
    if tool is None or worker.held or not isinstance(part.figures, GearFigures):
        why = f"{worker.name} cannot press {part.name} upright: it takes empty fingers, and a gear"
        raise StepFailed(FailureKind.ARM, why, part.name)
    met = 0
    points = press_points(part.position, part.figures, tool, worker.turned_rad)
    await worker.rise()
    await worker.hand.close()
    await worker.go_above(points[0])
    await worker.hand.read()
    turn_rad = worker.turned_rad
    for down in points:
        along_rad = _yaw_rad(down)
        along_rad -= np.pi * round((along_rad - turn_rad) / np.pi)  # fingers are the same after half a turn
        for yaw_rad in (along_rad, turn_rad):  # a wrist that cannot turn so far presses as it stands
            pose = tool_down(down.position, yaw_rad)
            above = raised(pose, float(pose.position[2]) + START_M)
            if await _can_move(worker, above):
                met += await worker.arm.press(pose, PRESS_MPS, PRESS_N) > 0.0
                await worker.arm.move(above, worker.recipe.fast_mps)
                turn_rad = yaw_rad
                break
    await worker.rise()
    await worker.hand.release()
    return met


async def _can_move(worker: Manipulator, pose: Pose) -> bool:
    """Moves along a line between two presses, where it is free; returns whether the arm could.

    Joint motions would swing it about.
    """
    if worker.detours is not None and worker.detours.blocked(pose):
        return False
    try:
        await worker.arm.move(pose, worker.recipe.fast_mps)
    except ArmFailed as error:
        if error.is_lost_robot:
            raise
        await worker.arm.prepare()
        return False
    return True


def press_points(origin_m: np.ndarray, gear: GearFigures, tool: GripperFigures, near_rad: float = 0.0) -> list[Pose]:
    """Returns the poses of the tool at the lowest points of all presses, in an order in which the fingers turn least.

    Args:
        origin_m: The gear's origin if it stood upright.
        gear: Its figures.
        tool: The fingers; closed, they are longer across than along the rim, and lie along it.
        near_rad: How the fingers are turned now.
    """
    tips_m = tool.pad_offset_m + tool.pad_size_m[2] / 2  # below the tool's centre point
    height_m = float(origin_m[2]) + gear.disc_top_m + ABOVE_M + tips_m
    points = []
    for number in range(POINTS):
        turns, is_opposite = divmod(number, 2)  # two presses on either side of the gear, then the fingers turn
        side_rad = near_rad - np.pi / 2 + turns * 2 * np.pi / POINTS + is_opposite * np.pi
        x, y = origin_m[:2] + RIM_SHARE * gear.tip_radius_m * np.array([np.cos(side_rad), np.sin(side_rad)])
        points.append(tool_down(np.array([x, y, height_m]), side_rad + np.pi / 2))
    return points
