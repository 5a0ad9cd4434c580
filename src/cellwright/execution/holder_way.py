"""The way to a tool holder and up from it, and the lock there; what of the holder's place is wrong is felt.

No camera looks at the holders. The last way down is guarded by the force at the wrist, and a tool is let down until it
stands on the rails. Where the lock finds no tool, the height of what is there is felt, and the lock tried round the
place: it catches what is near.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import atan2, copysign, pi
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TOOLS
from cellwright.catalogue.changer import TOOL_CHANGER, TOOL_HOLDER
from cellwright.core.pose import Pose
from cellwright.execution.arm import Arm, ArmClient, ArmFailed
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.robot_hand import RobotHand
from cellwright.execution.search_pattern import hexagon

__all__ = ["JOINT_SPEED_RADPS", "HolderOffset", "HolderWay"]

Array = npt.NDArray[np.float64]
GAP_M = 0.0005  # between the two halves of the changer when the lock closes: they need not touch
ASIDE_RAD = 0.6  # how far off a holder an arm is with a tool that hangs lower than the rails; estimated
JOINT_SPEED_RADPS = 1.5  # with nothing in the hand; estimated
NEAR_M = 0.03  # above where it locks: so far the halves of the changer, and a tool in its holder, guide each other
CLEAR_M = 0.03  # from the holder to the end of a tool that is out of it
CONTACT_N = 6.0  # at the wrist: something is met
BACK_M = 0.002  # up from a contact, before that is felt for slowly
DEEP_M = 0.018  # below its place, where feeling for the height of a tool or of the rails ends
SEARCH_GAP_M = 0.001  # between the halves of the changer while it is felt for a tool
SEARCH_PITCH_M = 0.0045  # of the places where the lock is tried: it catches 3 mm, and no gaps are left so
SEARCH_RINGS = 5
AS_DRAWN_M = 0.001  # a holder that is felt so near to its drawing is where it is drawn


class ChangingArm(Arm, Protocol):
    """An arm with a tool changer and a rest position."""

    @property
    def rest_point(self) -> tuple[float, float, float] | None:
        """The position of its tool at rest, in the world, as far as that is known."""

    async def rest(self, aside_rad: float = 0.0, speed_radps: float = JOINT_SPEED_RADPS) -> None:
        """Moves to the rest position, turned aside about the first, upright axis."""

    async def change_tool(self, *, lock: bool) -> None:
        """Locks the tool that is under the flange, or lets go of the one that is on it."""


@dataclass
class HolderOffset:
    """The place of a tool holder as a robot has felt it, from where it was believed to be.

    Attributes:
        name: The holder.
        offset_m: x, y, z in the world; zeros when nothing was felt.
        is_felt: Whether something was.
        above_m: How much higher than drawn everything was taken to be there then.
    """

    name: str
    offset_m: Array = field(default_factory=lambda: np.zeros(3))
    is_felt: bool = False
    above_m: float = 0.0

    def follow(self, above_m: float) -> None:
        """Stays where it was felt, when the table below it has been touched since."""
        if self.is_felt:
            self.offset_m = self.offset_m + [0.0, 0.0, self.above_m - above_m]
        self.above_m = above_m

    @property
    def text(self) -> str:
        """The finding in words; empty when it is where it is drawn."""
        if not self.is_felt or np.linalg.norm(self.offset_m) < AS_DRAWN_M:
            return ""
        x, y, z = 1000 * (self.offset_m + [0.0, 0.0, self.above_m])
        return f"{self.name} is felt about ({x:.0f}, {y:.0f}, {z:.0f}) mm from where it is drawn"


class HolderWay:
    """The way to a tool holder and up from it: turned towards it at rest, across to above it, down.

    A long tool hangs lower at rest than the rails of the holder are: the arm is not turned all the way then, and the
    tool drawn up before it comes to the holder.

    Args:
        arm: The robot.
        hand: Its hand, which knows the tool that is on it.
        holder: The pose of the holder in the world.
        base: The pose of the robot's base there.
        tool: The tool to be taken or left.
        known: What the robot has felt of the holder before; is told what it feels now.
    """

    def __init__(
        self,
        arm: ChangingArm,
        hand: RobotHand,
        holder: Pose,
        base: Pose,
        tool: str,
        known: HolderOffset | None = None,
    ) -> None:
        self._arm = arm
        self._feeling = arm if isinstance(arm, ArmClient) and arm.feels_force else None
        self._name = tool
        self.known = known or HolderOffset("the holder")
        self._hand = hand
        self._holder = holder
        self._above_m = float(_reach(tool).position[2]) + CLEAR_M
        self._base_m = float(base.position[2])
        self._rest = np.array(self._arm.rest_point or self._holder.position) - base.position
        goal = self._holder.position - base.position
        turn_rad = atan2(goal[1], goal[0]) - atan2(self._rest[1], self._rest[0])
        self._turn_rad = (turn_rad + pi) % (2 * pi) - pi
        self._aside_rad = copysign(max(abs(self._turn_rad) - ASIDE_RAD, 0.0), self._turn_rad)
        turned = Pose.from_xyz_rpy((0.0, 0.0, 0.0), (0.0, 0.0, self._aside_rad)).apply(self._rest)
        self._beside = self._holder.inverse().apply(base.position + turned)[:2]

    async def turn(self) -> bool:
        """Moves to the rest position, turned towards the holder; returns whether the tool hangs too low to turn all."""
        hangs_low = self._hangs_low(await self._tool())
        await self._arm.rest(self._aside_rad if hangs_low else self._turn_rad, JOINT_SPEED_RADPS)
        return hangs_low

    async def come(self) -> None:
        """Moves to where the changer locks and unlocks."""
        if await self.turn():
            await self._go(self._above_m, aside=True, straight=False)
        await self._go(self._above_m, straight=False)
        await self._go(NEAR_M, is_free=True)
        await self._come_down()

    async def _come_down(self) -> None:
        """Moves to where the changer locks and unlocks; stops at what it meets before, and takes that for the place.

        A tool is let down until it stands on the rails, where the holder was not felt before.
        """
        arm, known = self._feeling, self.known
        if arm is None:
            await self._go(GAP_M)
            return
        short_m = await arm.press(await self._pose(GAP_M), arm.recipe.slow_mps, CONTACT_N)
        if short_m > 0.0:
            if short_m > NEAR_M - BACK_M:
                raise StepFailed(FailureKind.BLOCKED, f"contact {short_m * 1000:.0f} mm above {known.name}")
            known.offset_m = known.offset_m + [0.0, 0.0, short_m + BACK_M]
            await self._go(GAP_M)
        has_tool = bool(await self._tool())
        if (short_m > 0.0 or (has_tool and not known.is_felt)) and not await self._feel_height(arm) and has_tool:
            raise StepFailed(FailureKind.NOT_THERE, f"{known.name} is not met {self._searched}")

    @property
    def _searched(self) -> str:
        return f"down to {DEEP_M * 1000:.0f} mm below its place: run cellwright calibrate"

    async def _feel_height(self, arm: ArmClient) -> bool:
        """Comes down slowly from where it is; returns whether something was met: that is the place."""
        low = await self._pose(GAP_M - DEEP_M)
        met = await arm.touch(low)
        if met is None:
            await self._go(GAP_M)
            return False
        met_m = 0.0 if await self._tool() else -TOOL_CHANGER.gap_m  # as drawn: wings on rails, or the two faces
        up_m = float(met.position[2] - low.position[2]) + GAP_M - DEEP_M - met_m
        self.known.offset_m = self.known.offset_m + [0.0, 0.0, up_m]
        self.known.is_felt = True
        await self._go(GAP_M)
        return True

    async def change(self, *, lock: bool) -> None:
        """Locks the tool that is there, or lets go of the one that is on the arm.

        A lock that finds no tool is tried again round the place: first the height of what is there is felt, then the
        lock closes at places that are no farther apart than it catches.

        Raises:
            StepFailed: There is no tool as far as it was felt.
        """
        arm = self._feeling
        if not lock or arm is None:
            await self._arm.change_tool(lock=lock)
            return
        if await _locks(arm):
            return
        if not await self._feel_height(arm):
            raise StepFailed(FailureKind.NOT_THERE, f"{self._name} is not met in {self.known.name} {self._searched}")
        drawn = self.known.offset_m
        for offset in (place for number in range(SEARCH_RINGS + 1) for place in hexagon(SEARCH_PITCH_M, number)):
            self.known.offset_m = drawn + [*offset, 0.0]
            await self._go(SEARCH_GAP_M)
            if await _locks(arm):
                return
        self.known.offset_m = drawn
        far_mm = SEARCH_PITCH_M * SEARCH_RINGS * 1000
        met = f"something is met {drawn[2] * 1000:.1f} mm above the drawn height of {self._name} in {self.known.name}"
        why = f"{met}, and the lock finds no tool within {far_mm:.0f} mm: run cellwright calibrate"
        raise StepFailed(FailureKind.NOT_THERE, why)

    async def rise(self) -> None:
        """Moves up from the holder after a change that was none."""
        await self._go(NEAR_M)
        await self._go(self._above_m, is_free=True)

    async def leave(self) -> None:
        """Moves up, and off the holder with a tool that hangs low."""
        await self._go(NEAR_M)
        await self._go(self._above_m, is_free=True)
        if self._hangs_low(await self._tool()):
            await self._go(self._above_m, aside=True, straight=False)

    async def _tool(self) -> str:
        return (await self._hand.read()).gripper

    def _hangs_low(self, tool: str) -> bool:
        """Returns whether the end of a tool is lower at rest than it has to be above the holder."""
        rails_m = self._holder.position[2] + TOOL_HOLDER.rail_top_m + CLEAR_M
        return bool(tool) and float(self._base_m + self._rest[2] - _reach(tool).position[2]) < rails_m

    async def _go(self, up_m: float, *, aside: bool = False, straight: bool = True, is_free: bool = False) -> None:
        """Moves the flange over the holder or beside it; with a tool, the controlled point is that tool's.

        Args:
            up_m: How far above where the changer locks.
            aside: Whether beside the holder.
            straight: Whether along a line; otherwise as fast as the flange goes when the arm turns.
            is_free: Whether the halves of the changer, or tool and holder, are apart all along the line.
        """
        pose = await self._pose(up_m, aside=aside)
        recipe = self._arm.recipe
        on_line_mps = recipe.fast_mps if is_free else recipe.slow_mps
        turning_mps = max(JOINT_SPEED_RADPS * float(np.hypot(*self._rest[:2])), recipe.fast_mps)
        await self._arm.move(pose, on_line_mps if straight else turning_mps, straight=straight)

    async def _pose(self, up_m: float, *, aside: bool = False) -> Pose:
        """Returns the pose of the tool, or of the flange without one, over the holder or beside it."""
        (x, y, z), turn = TOOL_HOLDER.flange_xyz_rpy(TOOL_CHANGER, up_m)
        if aside:
            x, y = (float(value) for value in self._beside)
        pose = self._holder @ Pose.from_xyz_rpy((x, y, z), turn) @ _reach(await self._tool())
        return Pose(pose.position + self.known.offset_m, pose.quaternion)


async def _locks(arm: ArmClient) -> bool:
    """Closes the lock; returns whether it found a tool."""
    try:
        await arm.change_tool(lock=True)
    except ArmFailed as error:
        if error.is_lost_robot:
            raise
        await arm.prepare()
        return False
    return True


def _reach(tool: str) -> Pose:
    """Returns the centre point of a tool in the flange; the flange itself without one."""
    return Pose.from_xyz_rpy(TOOL_CHANGER.tcp_in_flange_m(TOOLS.get(tool).tcp_xyz_m) if tool else (0.0, 0.0, 0.0))
