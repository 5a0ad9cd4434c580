"""One random tool change: a tool taken from its holder, carried about, put back."""

from __future__ import annotations

import numpy as np

from cellwright.cells import load_cell
from cellwright.core.errors import CellwrightError
from cellwright.core.pose import Pose
from cellwright.execution import RobotHand
from cellwright.execution.holder_way import HolderWay
from cellwright.experiments.tool_change_runs import PLACES
from cellwright.lab import DirectArm, Lab

__all__ = ["change_trials", "try_change"]

BACK_M, TILT_RAD = 0.003, np.radians(1.0)


def change_trials(seed: int, numbers: list[int]) -> list[str]:
    """Runs several trials, for a process of its own."""
    return [try_change(seed, number) for number in numbers]


def try_change(seed: int, number: int) -> str:
    """Runs one trial; returns why it failed, or an empty text."""
    random = np.random.default_rng([seed, number, 8])
    cell, robot, holder, tool = PLACES[number % len(PLACES)]
    with Lab(load_cell(cell), int(random.integers(2**31))) as lab:
        arm, index = DirectArm(lab.robot(robot), lab.clock), lab.world.loose_tools[tool]
        hand = RobotHand(arm, lab.clock)
        way = HolderWay(arm, hand, lab.nominal.fixtures[holder], lab.nominal.bases[robot], tool)
        hung = Pose(lab.world.data.xpos[index.body], lab.world.data.xquat[index.body])

        async def change(*, lock: bool) -> None:
            await way.come()
            await arm.change_tool(lock=lock)
            await way.leave()
            await way.turn()
            await arm.rest()

        async def work() -> None:
            await change(lock=True)
            await hand.grasp()
            await hand.release()
            if arm.robot.tool_changer.tool != tool:
                raise CellwrightError(f"{robot} has {arm.robot.tool_changer.tool}, not {tool}")
            off = lab.world.mounts.coupling_offset(robot, tool)
            if max(off.lateral_m, off.axial_m) > 1e-4:
                raise CellwrightError(f"{tool} hangs loosely on {robot}: {off}")
            await change(lock=False)

        try:
            lab.perform(work())
        except CellwrightError as error:
            return f"{robot} {tool}: {error}"
        now = Pose(lab.world.data.xpos[index.body], lab.world.data.xquat[index.body])
        if now.distance_m(hung) > BACK_M or now.angle_rad(hung) > TILT_RAD:
            return f"{tool} is {now.distance_m(hung) * 1000:.1f} mm from where it hung"
        return ""
