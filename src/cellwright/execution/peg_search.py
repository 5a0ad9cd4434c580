"""Feeling for a gear that was missed: how far from where it is seen its peg is, for the robot.

A camera and a robot that do not agree about places miss each other by the same distance everywhere: that is for a
calibration. Where it shall be told how far, closed fingers come down round the place, not as deep as the gear's disc:
what they meet there is its peg.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GearFigures
from cellwright.execution.arm import ArmFailed, raised, tool_down
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.search_pattern import hexagon
from cellwright.knowledge import BelievedPart
from cellwright.knowledge.held_pose import gripper_figures

__all__ = ["MissedPeg", "feel_peg"]

Array = npt.NDArray[np.float64]
PITCH_M = 0.009  # of the places at which fingers come down: a peg and closed fingers are wider together
RINGS = 3
UPPER = 0.35  # of the peg: so deep below its top the fingers come at most
ABOVE_M = 0.006  # above the top of the peg, where they set out
PROBE_MPS = 0.03
PROBE_N = 4.0


@dataclass(frozen=True)
class MissedPeg:
    """A gear that was felt elsewhere than it is seen.

    Attributes:
        part: The gear.
        seen_by: The detector that sees it.
        robot: The robot that felt it.
        offset_m: From where it is seen to where it was felt, x and y; None when it was not felt.
        searched_m: The distance up to which it was felt for.
    """

    part: str
    seen_by: str
    robot: str
    offset_m: tuple[float, float] | None
    searched_m: float

    def __str__(self) -> str:
        """The finding in words, and what to do about it."""
        if self.offset_m is None:
            found = f"is not felt within {self.searched_m * 1000:.0f} mm of where {self.seen_by} sees it"
        else:
            x, y = (1000 * value for value in self.offset_m)
            away_mm = np.hypot(x, y)
            found = f"is felt about {away_mm:.0f} mm ({x:.0f}, {y:.0f}) from where {self.seen_by} sees it"
        return f"{self.part} {found}: run cellwright calibrate for {self.robot} and its camera"


async def feel_peg(worker: Manipulator, part: BelievedPart, seen_by: str) -> MissedPeg | None:
    """Feels for the peg of a gear round the place where it is seen.

    Args:
        worker: The robot, with nothing in its hand; the height of the table is known.
        part: The gear, as it is seen.
        seen_by: The detector.

    Returns:
        Where it is; None when the robot cannot tell, or when it is where it is seen.
    """
    tool, figures = gripper_figures((await worker.hand.read()).gripper), part.figures
    if tool is None or worker.held or not worker.arm.feels_force or not isinstance(figures, GearFigures):
        return None
    tips_m = tool.pad_offset_m + tool.pad_size_m[2] / 2  # below the tool's centre point
    peg_top_m = float(part.position[2]) + figures.height_m + tips_m
    low_m = peg_top_m - UPPER * figures.peg_height_m
    await worker.rise()
    await worker.hand.close()
    met: list[Array] = []
    reached_m = 0.0
    turn_rad = worker.turned_rad
    await worker.go_above(tool_down(np.array([*part.position[:2], low_m]), turn_rad))
    for number in range(RINGS):
        before = len(met)
        for offset in hexagon(PITCH_M, number):
            down = tool_down(np.array([*(part.position[:2] + offset), low_m]), turn_rad)
            above = raised(down, peg_top_m + ABOVE_M)
            try:
                await worker.arm.move(above, worker.recipe.fast_mps)
                if await worker.arm.press(down, PROBE_MPS, PROBE_N) > 0.0:
                    met.append(offset)
                await worker.arm.move(above, worker.recipe.fast_mps)
            except ArmFailed as error:
                if error.is_lost_robot:
                    raise
                await worker.arm.prepare()
        reached_m = (number + 0.5) * PITCH_M
        if before:
            break  # what was met is surrounded by where nothing was
    await worker.rise()
    await worker.hand.release()
    if not met:
        return MissedPeg(part.name, seen_by, worker.name, None, reached_m)
    x, y = np.mean(met, axis=0)
    if np.hypot(x, y) < PITCH_M / 2:
        return None
    return MissedPeg(part.name, seen_by, worker.name, (float(x), float(y)), reached_m)
