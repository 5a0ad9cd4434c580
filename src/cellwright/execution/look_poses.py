"""Places to look from: on an arm's way, turned aside, higher, at rest; what each costs, and the room it takes up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.execution.arm import tool_down
from cellwright.execution.manipulator import Manipulator, yaw_rad

__all__ = ["LookPose", "capsules_there", "look_poses", "way_s"]

Array = npt.NDArray[np.float64]
STOP_S = 0.35  # what a stop on the way costs: braking, coming to rest, starting again; estimated
TURNS_RAD = tuple(float(x) for x in np.radians([0, 5, -5, 10, -10, 15, -15, 20, -20, 30, -30, 45, -45]))
RISES_M = (0.0, 0.08, 0.16)
FOLDED_M = 0.010  # a tool that is nearer to its own arm may touch it
SHARES = (0.0, 0.5, 1.0)  # of the way to the next place
WORDS = ("where it stands", "half way to the next place", "above the next place")


@dataclass(frozen=True)
class LookPose:
    """A configuration of an arm to look from.

    Attributes:
        name: In words.
        cost_s: What it costs to go there, before going where the arm is to go next.
        pose: Of its tool; None for the rest position.
    """

    name: str
    cost_s: float
    pose: Pose | None = None


def look_poses(robot: Manipulator, toward: Pose | None) -> Iterator[LookPose]:
    """Yields places to look from: on the way, turned aside about the first axis, higher, at rest."""
    reading = robot.hand.reading
    if reading is None:
        return
    here = reading.pose_tool_in_world.position
    low_m = max(robot.travel_m(), float(here[2]))
    start = np.array([*here[:2], low_m])
    end = start if toward is None else np.array([*toward.position[:2], low_m])
    base, turn_rad = robot.believed.pose(robot.name).position, yaw_rad(reading.pose_tool_in_world)
    straight_s = way_s(robot, start, end)
    if robot.arm.rest_point is not None:
        rest = np.array(robot.arm.rest_point)
        cost_s = way_s(robot, start, rest) + (0.0 if toward is None else way_s(robot, rest, end) - straight_s)
        yield LookPose("at rest", cost_s)
    for share in SHARES if toward is not None else SHARES[:1]:
        on_way = start + share * (end - start)
        for turn in TURNS_RAD:
            c, s = np.cos(turn), np.sin(turn)
            x, y = (on_way - base)[:2]
            for rise_m in RISES_M:
                point = np.array([base[0] + c * x - s * y, base[1] + s * x + c * y, low_m + rise_m])
                cost_s = way_s(robot, start, point) + (0.0 if toward is None else way_s(robot, point, end) - straight_s)
                where, turned = WORDS[round(2 * share)], f"{np.degrees(turn):.0f} deg"
                name = f"{where}, turned by {turned}, {1000 * rise_m:.0f} mm higher"
                yield LookPose(name, cost_s, tool_down(point, turn_rad + turn))


def capsules_there(robot: Manipulator, option: LookPose) -> Array | None:
    """Returns the room that an arm would take up there; None when it does not get there, or only folded upon itself."""
    reading = robot.hand.reading
    if robot.capsules is None or reading is None:
        return None
    if option.pose is None:
        return robot.capsules_at(robot.resting_rad)
    joints = robot.capsules.configuration(option.pose, reading.gripper, reading.joints_rad or robot.resting_rad)
    if joints is None:
        return None
    rows, resting = robot.capsules_at(joints), robot.capsules_at(robot.resting_rad)
    nearest_m = min(FOLDED_M, robot.capsules.fold_gap_m(resting))
    return None if robot.capsules.fold_gap_m(rows) < nearest_m else rows


def way_s(robot: Manipulator, start: Array, end: Array) -> float:
    """Returns about the time of a motion through free space."""
    way_m = float(np.linalg.norm(end - start))
    return 0.0 if way_m < 0.005 else STOP_S + way_m / robot.travel_mps
