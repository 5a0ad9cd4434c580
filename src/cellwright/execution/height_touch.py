"""Touching tables: where a hand met something earlier or later than drawn, the table beside it is touched.

Closed fingers, or what they hold, come down slowly on a bare spot; the pose at which the force at the wrist tells of
the contact is the height of the table there. What is held tells how high it hangs above that table, whatever is wrong
with either; once it is set down, bare fingers tell which of both it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.execution.arm import ArmFailed, raised, tool_down
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.surface_heights import AS_DRAWN_M, FeltSurface
from cellwright.knowledge import BeliefState
from cellwright.knowledge.held_pose import gripper_figures
from cellwright.knowledge.tray_layout import tray_layout

__all__ = ["believed_top_m", "free_spots", "touch_hanging_m", "touch_table"]

Array = npt.NDArray[np.float64]
START_M = 0.016  # above a table, where slow motion begins
DEEP_M = 0.018  # below it, where touching ends: nothing is there
STACKED_M = 0.012  # a tray that is farther above a table stands on another, or in a box
ROOM_M = 0.012  # that is left about what comes down: trays and parts may be so far off
HOLDER_M = 0.15  # from the middle of a tool holder
WINDOW_M = 0.30  # from the place in question, where a spot is looked for
STEP_M = 0.01
APART_M = 0.05  # of two spots
ALIKE_M = 0.002  # two touches that differ by less are believed; a table that leans explains as much
MOST_SPOTS = 6


async def touch_table(worker: Manipulator, point: Array) -> float | None:
    """Touches the table below a point with closed fingers, and notes its height; a height that is news at two spots.

    Args:
        worker: The robot, with nothing in its hand.
        point: The place in question, x and y.

    Returns:
        How much higher it is there than it was believed to be; None when that could not be felt.
    """
    tool = gripper_figures((await worker.hand.read()).gripper)
    surface = worker.heights.at(point)
    if tool is None or surface is None or worker.held or not worker.arm.feels_force:
        return None
    tips_m = tool.pad_offset_m + tool.pad_size_m[2] / 2  # below the tool's centre point
    half_m = np.hypot(tool.closed_m + tool.pad_size_m[0] + tool.finger_size_m[0], tool.pad_size_m[1] / 2)
    before_m, top_m = worker.heights.above_m(point), believed_top_m(worker.believed, surface)
    await worker.rise()
    await worker.hand.close()
    felt: list[tuple[Array, float]] = []
    for spot in _spots_apart(free_spots(worker.believed, surface, point, float(half_m))):
        met_m = await _touch_m(worker, spot, top_m + tips_m)
        if met_m is None:
            continue
        felt.append((spot, met_m + worker.heights.above_m(spot)))
        if len(felt) == 1 and abs(met_m) < AS_DRAWN_M:
            break
        if alike := _alike(felt):
            felt = alike
            break
        if len(felt) >= MOST_SPOTS:
            felt = []
            break
    for spot, above_m in felt:
        surface.note(spot, above_m)
    await worker.rise()
    await worker.hand.release()
    return worker.heights.above_m(point) - before_m if felt else None


async def touch_hanging_m(worker: Manipulator, point: Array) -> float | None:
    """Touches the table below a point with the part that is held.

    Args:
        worker: The robot.
        point: The place in question, x and y.

    Returns:
        How much earlier the part met the table than it was believed to; None when that could not be felt.
    """
    surface = worker.heights.at(point)
    if surface is None or not worker.held or worker.carries_tray or not worker.arm.feels_force:
        return None
    reading, figures = await worker.hand.read(), worker.believed.part(worker.held).figures
    hangs_m = -float((worker.part_in_tool(reading.gripper) @ Pose.from_xyz_rpy([0, 0, figures.bottom_m])).position[2])
    for spot in _spots_apart(free_spots(worker.believed, surface, point, figures.radius_m)):
        met_m = await _touch_m(worker, spot, believed_top_m(worker.believed, surface) - hangs_m)
        if met_m is not None:
            await worker.rise()
            return met_m
    return None


def believed_top_m(believed: BeliefState, surface: FeltSurface) -> float:
    """Returns the height of a table as trays are believed to stand on it: seen, or where no detector tells, drawn."""
    places = [believed.pose(tray).position for tray in believed.trays() if not believed.is_missing(tray)]
    off_m = [float(place[2]) - surface.top_m for place in places if surface.covers(place)]
    near_m = [each for each in off_m if abs(each) < STACKED_M]
    return surface.top_m + (float(np.median(near_m)) if near_m else 0.0)


async def _touch_m(worker: Manipulator, spot: Array, tool_m: float) -> float | None:
    """Comes down once; returns how much higher than believed something was met; None for nothing, or no way there.

    Args:
        worker: The robot.
        spot: Where, x and y.
        tool_m: The height of its tool when it should meet the table.
    """
    arm, recipe = worker.arm, worker.recipe
    table = tool_down(np.array([*spot[:2], tool_m]), worker.turned_rad)
    try:
        await worker.go_above(table)
        if await arm.press(raised(table, tool_m + START_M), recipe.slow_mps, recipe.contact_n) > 0.0:
            await worker.rise()
            return None  # something stands there that nobody has seen
        met = await arm.touch(raised(table, tool_m - DEEP_M))
        await arm.move(raised(table, tool_m + START_M), recipe.slow_mps)
    except ArmFailed as error:
        if error.is_lost_robot:
            raise
        await arm.prepare()
        return None
    return None if met is None else float(met.position[2]) - tool_m


def _alike(felt: list[tuple[Array, float]]) -> list[tuple[Array, float]]:
    """Returns the two touches that are most alike; none when no two are."""
    pairs = [list(pair) for pair in combinations(felt, 2) if abs(pair[0][1] - pair[1][1]) <= ALIKE_M]
    return min(pairs, key=lambda pair: abs(pair[0][1] - pair[1][1]), default=[])


def _spots_apart(spots: Iterable[Array]) -> Iterator[Array]:
    """Yields the first spots that are not near to each other."""
    taken: list[Array] = []
    for spot in spots:
        if all(np.linalg.norm(spot - other) >= APART_M for other in taken):
            taken.append(spot)
            yield spot
        if len(taken) >= MOST_SPOTS:
            return


def free_spots(believed: BeliefState, surface: FeltSurface, near: Array, half_m: float) -> list[Array]:
    """Returns spots (x, y) of a table on which nothing is believed to stand, the nearest to a place first.

    Args:
        believed: What is believed.
        surface: The table.
        near: The place, x and y.
        half_m: The radius of what comes down there.
    """
    room_m = half_m + ROOM_M
    low, high = np.maximum(surface.low, near[:2] - WINDOW_M), np.minimum(surface.high, near[:2] + WINDOW_M)
    axes = [np.arange(low[axis] + room_m, high[axis] - room_m, STEP_M) for axis in (0, 1)]
    spots = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    rooms_m = np.full(len(spots), np.inf)
    for pose, half_size_m in _rectangles(believed, surface.name):
        inside = np.abs(pose.inverse().apply(np.column_stack([spots, np.full(len(spots), pose.position[2])]))[:, :2])
        rooms_m = np.minimum(rooms_m, np.linalg.norm(np.maximum(inside - half_size_m, 0.0), axis=1))
    circles = [(part.position[:2], part.reach_m) for part in believed.parts()]
    circles += [(believed.pose(each.name).position[:2], HOLDER_M) for each in believed.of_kind("EndEffectorHolder")]
    for middle, radius_m in circles:
        rooms_m = np.minimum(rooms_m, np.linalg.norm(spots - middle, axis=1) - radius_m)
    free = spots[rooms_m >= room_m]
    return list(free[np.argsort(np.linalg.norm(free - near[:2], axis=1), kind="stable")])


def _rectangles(believed: BeliefState, table: str) -> Iterator[tuple[Pose, Array]]:
    """Yields the trays and the boxes: their poses, and half their extents."""
    for tray in believed.trays():
        if not believed.is_missing(tray) and tray not in believed.held.values():
            yield believed.pose(tray), np.array(tray_layout(believed.sku(tray)).size_m[:2]) / 2
    for name, size_m in believed.relations.sizes.items():
        if believed.has_pose(name) and believed.kind(name).startswith("LargeBox") and name != table:
            yield believed.pose(name), np.array(size_m[:2]) / 2
