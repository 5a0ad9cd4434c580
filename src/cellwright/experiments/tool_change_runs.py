"""One tool taken from its holder and put back, over CRCL, in a cell that is not where it is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from cellwright.catalogue.changer import TOOL_CHANGER, TOOL_HOLDER
from cellwright.cells import load_cell
from cellwright.core.errors import CellwrightError
from cellwright.core.pose import Pose
from cellwright.crcl import CrclClient
from cellwright.drawings.prior import Drawings
from cellwright.execution import Recipe, RobotHand
from cellwright.execution.arm import ArmClient
from cellwright.execution.holder_way import HolderOffset, HolderWay
from cellwright.interfaces import CrclInterface
from cellwright.lab import Lab

__all__ = ["PLACES", "ToolChangeJob", "ToolChangeRow", "run_tool_change"]

PLACES = (
    ("aprs@lab_tools", "fanuc", "far_left_holder", "pincher"),
    ("aprs@lab_tools", "fanuc", "near_left_holder", "big_vacuum"),
    ("aprs@lab_tools", "fanuc", "shared_holder", "small_vacuum"),
    ("aprs@lab_tools", "motoman", "shared_holder", "small_vacuum"),
    ("aprs@lab_tools", "motoman", "big_gripper_holder", "big_gripper"),
    ("kitting", "motoman", "gripper_holder", "big_gripper"),
    ("kitting", "motoman", "tray_tool_holder", "tray_vacuum"),
)
"""Cell, robot, holder and tool: every holder that a robot reaches."""
RIGID_M = 1e-4  # of a tool on the changer, by the truth
BACK_M, BACK_RAD = 0.005, np.radians(2.5)  # of a tool that was put back, from how it hung: the lock draws it by 3 mm


@dataclass(frozen=True)
class ToolChangeJob:
    """One tool change: the size of the cell's errors, which of the places, and the seed."""

    size: str
    place: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class ToolChangeRow:
    """The outcome of one change.

    Attributes:
        size: The size of the cell's errors.
        cell: The cell.
        robot: The robot.
        holder: The holder.
        tool: The tool.
        seed: Of all that is random.
        done: Whether it was taken, held rigidly and put back, by the truth.
        is_first: Whether the lock caught it where it is drawn.
        lateral_mm: How far the tool was beside its place by the robot's own reckoning, by the truth.
        axial_mm: The same in height.
        take_s: The time to take it, from rest to rest.
        back_s: The time to put it back.
        felt: What the robot felt of the holder's place.
        reason: Why it failed.
    """

    size: str
    cell: str
    robot: str
    holder: str
    tool: str
    seed: int
    done: bool
    is_first: bool
    lateral_mm: float
    axial_mm: float
    take_s: float
    back_s: float
    felt: str
    reason: str


def run_tool_change(job: ToolChangeJob) -> ToolChangeRow:
    """Runs the job in a laboratory of its own."""
    cell, robot, holder, tool = PLACES[job.place % len(PLACES)]
    with Lab(load_cell(f"{cell}@{job.size}"), job.seed) as lab:
        known, reason, times_s = HolderOffset(holder), "", list[float]()
        layout, place = lab.world.layout, TOOL_HOLDER.coupling_xyz_rpy(TOOL_CHANGER)[0]
        for_robot = lab.nominal.bases[robot] @ layout.bases[robot].inverse() @ layout.fixtures[holder]
        off_m = for_robot.apply(place) - lab.nominal.fixtures[holder].apply(place)
        hung = _hanging(lab, tool)
        try:
            lab.perform(_change(lab, robot, tool, known, times_s))
        except CellwrightError as error:
            reason = str(error)
        now = _hanging(lab, tool)
        if not reason and (now.distance_m(hung) > BACK_M or now.angle_rad(hung) > BACK_RAD):
            moved = f"{now.distance_m(hung) * 1000:.1f} mm, {np.degrees(now.angle_rad(hung)):.1f} deg"
            reason = f"{tool} is {moved} from how it hung"
    take_s, back_s = (*times_s, np.nan, np.nan)[:2]
    return ToolChangeRow(
        size=job.size,
        cell=cell,
        robot=robot,
        holder=holder,
        tool=tool,
        seed=job.seed,
        done=not reason,
        is_first=not reason and not np.any(known.offset_m[:2]),
        lateral_mm=float(np.hypot(*off_m[:2]) * 1000),
        axial_mm=float(off_m[2] * 1000),
        take_s=take_s,
        back_s=back_s,
        felt=known.text,
        reason=reason,
    )


async def _change(lab: Lab, robot: str, tool: str, known: HolderOffset, times_s: list[float]) -> None:
    """Takes a tool and puts it back; what the truth says is checked when it hangs on the robot."""
    sensor = Drawings.of(lab.cell).force_sensors[robot]
    bases, holder = lab.nominal.bases, lab.nominal.fixtures[known.name]
    async with CrclClient(partial(CrclInterface(lab).connect, robot), peer=robot) as client:
        arm = ArmClient(robot, client, bases[robot], Recipe(), force_sensor=sensor)
        await arm.prepare()
        hand = RobotHand(arm, lab.clock)
        way = HolderWay(arm, hand, holder, bases[robot], tool, known)
        for is_attaching in (True, False):
            start_s = lab.clock.time_s
            await way.come()
            await way.change(lock=is_attaching)
            await way.leave()
            await way.turn()
            await arm.rest()
            times_s.append(lab.clock.time_s - start_s)
            has = (await hand.read()).gripper
            if bool(has) is not is_attaching:
                raise CellwrightError(f"{robot} reports {has or 'no tool'}")
            if is_attaching:
                off = lab.world.mounts.coupling_offset(robot, tool)
                if max(off.lateral_m, off.axial_m) > RIGID_M:
                    raise CellwrightError(f"{tool} hangs loosely on {robot}: {off}")


def _hanging(lab: Lab, tool: str) -> Pose:
    body, data = lab.world.loose_tools[tool].body, lab.world.data
    return Pose(data.xpos[body], data.xquat[body])
