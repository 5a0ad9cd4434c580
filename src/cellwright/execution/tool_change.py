"""Changing tools over CRCL: to the holder, lock or unlock, away; and what is believed of tools afterwards.

Whether a tool is on a robot is what the robot itself reports: its changer has switches, and a tool tells its name. No
camera looks at the holders. Where they are is known from the drawings.
"""

from __future__ import annotations

from math import atan2, copysign, pi
from typing import Protocol

import numpy as np

from cellwright.catalogue import TOOLS
from cellwright.catalogue.changer import TOOL_CHANGER, TOOL_HOLDER
from cellwright.core.pose import Pose
from cellwright.execution.arm import Arm
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.outcome import Evaluated
from cellwright.execution.predicates import Truth
from cellwright.execution.robot_hand import RobotHand
from cellwright.knowledge.belief_writer import note_tool
from cellwright.planning import Action, Verb

__all__ = ["CHANGES", "HolderWay", "change_tool", "tool_conditions"]

CHANGES = (Verb.ATTACH, Verb.DETACH)
GAP_M = 0.0005  # between the two halves of the changer when the lock closes: they need not touch
ASIDE_RAD = 0.6  # how far off a holder an arm is with a tool that hangs lower than the rails; estimated
JOINT_SPEED_RADPS = 1.5  # with nothing in the hand; estimated
NEAR_M = 0.03  # above where it locks: so far the halves of the changer, and a tool in its holder, guide each other
CLEAR_M = 0.03  # from the holder to the end of a tool that is out of it


async def change_tool(manipulator: Manipulator, action: Action) -> str:
    """Attaches or detaches a tool; says what was done.

    Raises:
        StepFailed: The robot did not get there, or its changer found no tool; nothing is believed otherwise then.
    """
    if manipulator.held:
        raise StepFailed(
            FailureKind.WRONG, f"{manipulator.name} holds {manipulator.held}: a hand must be empty to be changed"
        )
    attach, believed = action.verb is Verb.ATTACH, manipulator.believed
    holder, base = believed.pose(action.place), believed.pose(manipulator.name)
    way = HolderWay(manipulator.arm, manipulator.hand, holder, base, action.tool)
    # From above other places the way to where it turns may lead through holders.
    await manipulator.withdraw(JOINT_SPEED_RADPS)
    await way.come()
    await manipulator.arm.change_tool(lock=attach)
    note_tool(manipulator.belief, action.robot, action.tool, None if attach else action.place, action.place)
    manipulator.tool = action.tool if attach else ""
    await way.leave()
    await manipulator.withdraw(JOINT_SPEED_RADPS)  # which is aside when other robots work below
    return f"{action.tool} is {'on ' + action.robot if attach else 'in ' + action.place}"


class ChangingArm(Arm, Protocol):
    """An arm with a tool changer and a rest position."""

    @property
    def rest_point(self) -> tuple[float, float, float] | None:
        """The position of its tool at rest, in the world, as far as that is known."""

    async def rest(self, aside_rad: float = 0.0, speed_radps: float = JOINT_SPEED_RADPS) -> None:
        """Moves to the rest position, turned aside about the first, upright axis."""

    async def change_tool(self, *, lock: bool) -> None:
        """Locks the tool that is under the flange, or lets go of the one that is on it."""


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
    """

    def __init__(self, arm: ChangingArm, hand: RobotHand, holder: Pose, base: Pose, tool: str) -> None:
        self._arm = arm
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
        await self._go(GAP_M)

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
        (x, y, z), turn = TOOL_HOLDER.flange_xyz_rpy(TOOL_CHANGER, up_m)
        if aside:
            x, y = (float(value) for value in self._beside)
        pose = self._holder @ Pose.from_xyz_rpy((x, y, z), turn) @ _reach(await self._tool())
        recipe = self._arm.recipe
        on_line_mps = recipe.fast_mps if is_free else recipe.slow_mps
        turning_mps = max(JOINT_SPEED_RADPS * float(np.hypot(*self._rest[:2])), recipe.fast_mps)
        await self._arm.move(pose, on_line_mps if straight else turning_mps, straight=straight)


def _reach(tool: str) -> Pose:
    """Returns the centre point of a tool in the flange; the flange itself without one."""
    return Pose.from_xyz_rpy(TOOL_CHANGER.tcp_in_flange_m(TOOLS.get(tool).tcp_xyz_m) if tool else (0.0, 0.0, 0.0))


def tool_conditions(manipulator: Manipulator, action: Action, *, after: bool) -> list[Evaluated]:
    """Returns the conditions of a tool change, before or after it, by what the robot reports."""
    attach = action.verb is Verb.ATTACH
    on_robot = attach is after
    reported = manipulator.hand.reading.gripper if manipulator.hand.reading is not None else ""
    tools = manipulator.believed.tool_of
    when = "effect" if after else "precondition"
    says = f"{action.robot} reports {reported or 'no tool'}"
    stored = tools.get(action.place)

    def row(predicate: str, objects: tuple[str, ...], value: bool, evidence: str) -> Evaluated:
        return Evaluated(predicate, objects, str(Truth.of(value)), evidence, when, float(value))

    on, there = (action.robot, action.tool), (action.place, action.tool)
    written = f"the database has {stored or 'nothing'} in {action.place}"
    if on_robot:
        return [
            row("robot-has-endEffector", on, reported == action.tool, says),
            row("not endEffectorHolder-has-endEffector", there, stored is None, written),
        ]
    return [
        row("robot-has-no-endEffector", (action.robot,), not reported, says),
        row("endEffectorHolder-has-endEffector", there, stored == action.tool, written),
    ]
