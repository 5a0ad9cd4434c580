"""The check of a motion before the arm moves, so that one that cannot be followed moves nothing."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from cellwright.control.drive import Drive
from cellwright.core.errors import BadInput, OutOfRange
from cellwright.motion import Motion, PathMotion

__all__ = ["check_motion"]

Array = npt.NDArray[np.float64]

LONGEST_S = 36_000.0
LOOKS = 200
START_LIMIT_RAD = 0.02
START_SPEED_SHARE = 0.02  # of a joint's largest speed: an arm stands before a motion and after it
SPEED_ALLOWANCE = 1.05
POSITION_ALLOWANCE_RAD = 1e-4


def check_motion(robot: str, drive: Drive, motion: Motion, held_rad: Array) -> None:
    """Refuses a motion that would make an arm jump, leave its limits, or fail to follow.

    A motion along a path has been checked against limits on the way when it was made.

    Raises:
        BadInput: names the joint, the moment, and what is allowed.
    """
    if not (math.isfinite(motion.duration_s) and 0 <= motion.duration_s <= LONGEST_S):
        raise OutOfRange(f"{robot}: the time that this motion takes", motion.duration_s, 0, LONGEST_S, "s")
    looks = 2 if isinstance(motion, PathMotion) else LOOKS
    times = np.linspace(0.0, motion.duration_s, looks)
    rows = [[np.asarray(row, float) for row in motion.at(float(time_s))] for time_s in times]
    joints = drive.figures.joints
    count = len(joints)
    for time_s, pair in zip(times, rows, strict=True):
        if any(row.shape != (count,) or not np.isfinite(row).all() for row in pair):
            got = [row.tolist() for row in pair]
            raise BadInput(f"{robot} needs motions of {count} finite angles and speeds, got {got} at {time_s:.3g} s")
    position, velocity = np.array(rows).transpose(1, 2, 0)  # (joints, looks)
    for joint, begin, held in zip(joints, position[:, 0], held_rad, strict=True):
        if abs(begin - held) > START_LIMIT_RAD:
            low, high = held - START_LIMIT_RAD, held + START_LIMIT_RAD
            raise OutOfRange(f"{robot} {joint.name} at the start of a motion", begin, low, high, "rad")
    for joint, angles, speeds in zip(joints, position, velocity, strict=True):
        low, high = joint.position_limits_rad
        beyond = np.maximum(low - angles, angles - high)
        worst = int(beyond.argmax())
        if beyond[worst] > POSITION_ALLOWANCE_RAD:
            where = "at the end of a motion" if worst == looks - 1 else f"at {times[worst]:.3g} s of a motion"
            raise OutOfRange(f"{robot} {joint.name} {where}", angles[worst], low, high, "rad")
        most = joint.velocity_limit_radps
        for where, speed, allowed in (
            ("at the start of a motion", speeds[0], most * START_SPEED_SHARE),
            ("at the end of a motion", speeds[-1], most * START_SPEED_SHARE),
            ("in a motion", speeds[np.abs(speeds).argmax()], most * SPEED_ALLOWANCE),
        ):
            if abs(speed) > allowed:
                raise OutOfRange(f"{robot} {joint.name} speed {where}", speed, -allowed, allowed, "rad/s")
