"""One random tool change: a tool taken from its holder, carried about, put back."""

from __future__ import annotations

import numpy as np

from cellwright.catalogue.changer import TOOL_CHANGER, TOOL_HOLDER
from cellwright.cells import load_cell
from cellwright.control import RobotController
from cellwright.core.errors import CellwrightError
from cellwright.core.pose import Pose
from cellwright.lab import Lab
from cellwright.motion import LineSpeed

__all__ = ["change_trials", "try_change"]

PLACES = (
    ("aprs@lab_tools", "fanuc", "far_left_holder", "pincher"),
    ("aprs@lab_tools", "fanuc", "near_left_holder", "big_vacuum"),
    ("aprs@lab_tools", "fanuc", "shared_holder", "small_vacuum"),
    ("aprs@lab_tools", "motoman", "shared_holder", "small_vacuum"),
    ("aprs@lab_tools", "motoman", "big_gripper_holder", "big_gripper"),
    ("kitting", "motoman", "gripper_holder", "big_gripper"),
    ("kitting", "motoman", "tray_tool_holder", "tray_vacuum"),
)
GAP_M = 0.0005  # between the halves when the lock closes
CLEAR_M = {"fanuc": 0.25, "motoman": 0.30}  # how far up a tool is out of its holder
SLOW = LineSpeed(0.10)
BACK_M, TILT_RAD = 0.003, np.radians(1.0)


def change_trials(seed: int, numbers: list[int]) -> list[str]:
    """Runs several trials, for a process of its own."""
    return [try_change(seed, number) for number in numbers]


def try_change(seed: int, number: int) -> str:
    """Runs one trial; returns why it failed, or an empty text."""
    random = np.random.default_rng([seed, number, 8])
    cell, robot, holder, tool = PLACES[number % len(PLACES)]
    with Lab(load_cell(cell), int(random.integers(2**31))) as lab:
        arm, fixture = lab.robot(robot), lab.nominal.fixtures[holder]
        index = lab.world.loose_tools[tool]
        hung = Pose(lab.world.data.xpos[index.body], lab.world.data.xquat[index.body])

        def dock(up_m: float) -> Pose:
            flange = fixture @ Pose.from_xyz_rpy(*TOOL_HOLDER.flange_xyz_rpy(TOOL_CHANGER, up_m))
            return flange @ arm.ring.pose_tool_in_flange

        async def work() -> None:
            above_m = CLEAR_M[robot]
            await swing(arm, dock(above_m))
            await arm.move_tool_straight(dock(GAP_M), SLOW)
            await arm.tool_changer.close()
            await arm.move_tool_straight(dock(above_m), SLOW)
            await swing(arm, None)
            assert arm.tool is not None
            await arm.tool.close()
            await arm.tool.open()
            if arm.tool_changer.tool != tool:
                raise CellwrightError(f"{robot} has {arm.tool_changer.tool}, not {tool}")
            off = lab.world.mounts.coupling_offset(robot, tool)
            if max(off.lateral_m, off.axial_m) > 1e-4:
                raise CellwrightError(f"{tool} hangs loosely on {robot}: {off}")
            await swing(arm, dock(above_m))
            await arm.move_tool_straight(dock(GAP_M), SLOW)
            await arm.tool_changer.open()
            await arm.move_tool_straight(dock(above_m), SLOW)
            await swing(arm, None)

        try:
            lab.perform(work())
        except CellwrightError as error:
            return f"{robot} {tool}: {error}"
        now = Pose(lab.world.data.xpos[index.body], lab.world.data.xquat[index.body])
        if now.distance_m(hung) > BACK_M or now.angle_rad(hung) > TILT_RAD:
            return f"{tool} is {now.distance_m(hung) * 1000:.1f} mm from where it hung"
        return ""


async def swing(arm: RobotController, pose: Pose | None) -> None:
    """Moves to a pose, or home: folded, round the first axis, then out; so the arm passes over low obstacles."""
    home = arm.home_rad
    goal = home if pose is None else arm.joints_for(pose)
    for joints in ([arm.set_point_rad[0], *home[1:]], [goal[0], *home[1:]], goal):
        await arm.move_joints(joints, 0.5)
