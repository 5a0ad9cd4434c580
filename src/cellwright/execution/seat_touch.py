"""Touching a part in its slot: its height tells whether it is in its seat, wherever cameras see it.

By the top of its peg, which stays near the slot's axis, a gear that has jammed in its slot or leans on the edge of it
stands at least 2 mm higher than one that is seated. What detectors see aside by a lasting error is at the right height.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GearFigures, PartFigures
from cellwright.catalogue.seating import SEATED
from cellwright.core.pose import Pose
from cellwright.execution.arm import ArmFailed, raised, tool_down
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.overhead_way import PUSH_N
from cellwright.execution.upright import START_M as OVER_PEG_M
from cellwright.execution.upright import press_points
from cellwright.knowledge.held_pose import gripper_figures

__all__ = ["is_seat_height", "rim_height_m", "touch_height_m"]

Array = npt.NDArray[np.float64]
DEEP_M = 0.003  # below the top of a seated part, where touching ends: nothing is there
START_M = 0.012  # above it, from where slow motion begins
SIDES = 0.3 * np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
"""Of the closed fingers, how far beside the middle they come down, so as to miss no edge; as often as is needed."""
ALIKE = 2  # touches at the height of the seat, and none above it
TOUCH_N = 4.0  # at the wrist
TOUCH_MPS = 0.03
CLEAR_M = 0.0005  # besides, above the disc of a seated gear, by which fingers miss it; one on its head is 3 mm higher
ROUND = (0, 3, 4)  # of the points at which a gear is pressed upright: three, evenly about it


async def touch_height_m(worker: Manipulator, part: PartFigures, seat_m: Array, at_m: Array) -> float | None:
    """Comes down on a part with closed fingers, twice or more; one that is too high is pushed, as when it is set down.

    One that has come into its seat by the second touch alone is not believed to be there: it is set down once more.

    Args:
        worker: The robot, with nothing in its hand.
        part: The part.
        seat_m: Where its origin is when it is seated.
        at_m: Where to come down, x and y: where the hand let go of it.

    Returns:
        How far its top is above that of a seated one, where it differs more; `-DEEP_M` when nothing was met there; None
        when the robot cannot tell.
    """
    tool = gripper_figures((await worker.hand.read()).gripper)
    if tool is None or worker.held or not worker.arm.feels_force:
        return None
    tips_m = tool.pad_offset_m + tool.pad_size_m[2] / 2  # below the tool's centre point
    top_m = float(seat_m[2]) + part.bottom_m + part.height_m + tips_m
    middle = tool_down(np.array([*at_m[:2], top_m - DEEP_M]), worker.turned_rad)
    size_m = np.array([2 * (tool.closed_m + tool.pad_size_m[0] + tool.finger_size_m[0]), tool.pad_size_m[1]])
    points = [middle @ Pose.from_xyz_rpy([*(side * size_m), 0.0]) for side in SIDES]
    felt_m: float | None = None
    await worker.rise()
    await worker.hand.close()
    try:
        await worker.go_above(points[0])
        heights_m: list[float] = []
        for down in points:
            heights_m.append(await _touch_m(worker, down, TOUCH_N if heights_m else PUSH_N))
            felt_m = _height_m(heights_m)
            if felt_m is not None:
                break
        felt_m = -DEEP_M if felt_m is None else felt_m
    except ArmFailed as error:
        if error.is_lost_robot:
            raise
        await worker.arm.prepare()
    await worker.rise()
    await worker.hand.release()
    return felt_m


async def rim_height_m(worker: Manipulator, gear: GearFigures, seat_m: Array) -> float | None:
    """Comes down with closed fingers on three sides of the peg, to just above where the disc of a seated gear is.

    A gear that stands on its head is in the way there, though its top is as high as that of a seated one.

    Args:
        worker: The robot, with nothing in its hand.
        gear: The gear that is seen there.
        seat_m: Where its origin is when it is seated.

    Returns:
        How far above that something was met; 0 for nothing, None when the robot cannot tell.
    """
    tool = gripper_figures((await worker.hand.read()).gripper)
    if tool is None or worker.held or not worker.arm.feels_force:
        return None
    around = press_points(np.asarray(seat_m) + [0.0, 0.0, CLEAR_M], gear, tool, worker.turned_rad)
    points = [tool_down(around[number].position, worker.turned_rad) for number in ROUND]  # to turn takes longest
    met_m: float | None = None
    await worker.rise()
    await worker.hand.close()
    try:
        await worker.go_above(points[0])
        for down in points:
            above = raised(down, float(down.position[2]) + OVER_PEG_M)
            await worker.arm.move(above, worker.recipe.fast_mps)
            met_m = max(met_m or 0.0, await worker.arm.press(down, TOUCH_MPS, TOUCH_N))
            await worker.arm.move(above, worker.recipe.fast_mps)
    except ArmFailed as error:
        if error.is_lost_robot:
            raise
        await worker.arm.prepare()
    await worker.rise()
    await worker.hand.release()
    return met_m


def _height_m(heights_m: Sequence[float]) -> float | None:
    """Returns the height by some touches: one that is too high, or one of two that are alike; None for neither yet."""
    met_m = [height_m for height_m in heights_m if height_m > -DEEP_M]
    worst_m = max(met_m, key=abs, default=0.0)
    if len(heights_m) < ALIKE or (is_seat_height(worst_m) and len(met_m) < ALIKE):
        return None
    return worst_m


async def _touch_m(worker: Manipulator, down: Pose, push_n: float) -> float:
    """Comes down once; returns how high something was met above where a seated part is.

    Args:
        worker: The robot.
        down: The lowest pose of its tool.
        push_n: The force with which it pushes on what is too high.
    """
    arm, recipe = worker.arm, worker.recipe
    above = raised(down, float(down.position[2]) + DEEP_M + START_M)
    await arm.move(above, recipe.fast_mps)
    short_m = await arm.press(down, TOUCH_MPS, TOUCH_N)
    if push_n > TOUCH_N and short_m > DEEP_M + SEATED.above_m:
        short_m = await arm.press(down, TOUCH_MPS, push_n)
    await arm.move(above, recipe.fast_mps)
    return short_m - DEEP_M


def is_seat_height(height_m: float | None) -> bool:
    """Returns whether a height that was felt is that of a part in its seat."""
    return height_m is not None and abs(height_m) <= SEATED.above_m
