"""A robot's hand as its controller knows it: what the fingers feel and hold, and how that hangs in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cellwright.catalogue import part_grasp, tool_grasp_xyz_m
from cellwright.core.pose import Pose
from cellwright.execution.arm import ArmClient, ArmFailed, HandReading
from cellwright.execution.async_clock import AsyncClock
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.grasps import gripper_figures, hanging
from cellwright.execution.held_objects import note_held, note_released
from cellwright.execution.part_poses import PartPose, SlotPose
from cellwright.execution.predicates import ToolState
from cellwright.execution.settings import Recipe
from cellwright.execution.view import CellView

__all__ = ["DISC_M", "RobotHand"]

IN_HAND_M = 0.02  # a part this near to the tool's centre point is what the fingers are closed on
DISC_M = 0.050  # how far a held part reaches sideways: what leans hangs lower by some of that
SLIPPED_M, SLIPPED_RAD = 0.004, float(np.radians(6.0))  # a part that is seen so far from where it was taken has slipped
AT_HAND_M = 0.040  # a part that is seen farther off is not what the fingers hold
FRESH_S = 0.5  # what was seen earlier may have been on its way
STILL_M = 0.00005  # by which fingers that stand still may seem to move between two readings
BETWEEN_M = 0.001  # fingers that are neither shut nor open by more than this have met something, or move
MOST_READINGS = 5


@dataclass
class RobotHand:
    """The hand of a robot.

    Attributes:
        arm: The robot.
        view: What is believed.
        tool: Its end effector, as the database calls it.
        found: The part that was looked for.
        seat: The slot that was looked for.
        held: The part, the kit tray or the kit in its hand.
        slipped_m: How far the part in the hand is seen from where it was taken, and how much lower it may hang.
        misses: Parts in a row that were not gripped, or lost.
        reading: The last reading of its tool.
        read_s: The time of that reading.
    """

    arm: ArmClient
    view: CellView
    clock: AsyncClock
    tool: str
    found: str = ""
    seat: SlotPose | None = None
    held: str = ""
    slipped_m: float = 0.0
    misses: int = 0
    reading: HandReading | None = None
    read_s: float = -1.0

    @property
    def name(self) -> str:
        """The name of the robot."""
        return self.arm.name

    @property
    def recipe(self) -> Recipe:
        """The recipe for its motions."""
        return self.arm.recipe

    async def read(self) -> HandReading:
        """Returns the current reading of the tool; fingers that tremble on something are watched for a moment.

        A gripper with little force reports now and then that its fingers move, though they stay where they are.
        """
        try:
            reading = await self.arm.read()
            for _ in range(MOST_READINGS):
                if reading.holding or not _between(reading):
                    break
                await self.arm.dwell(self.recipe.settle_s)
                again = await self.arm.read()
                is_still = abs(again.width_m - reading.width_m) <= STILL_M
                reading = replace(again, holding=True) if is_still else again
        except ArmFailed as error:
            raise self._failed(error) from None
        self.reading, self.read_s = reading, self.clock.time_s
        return reading

    def report(self) -> ToolState | None:
        """Returns the last reading for predicates; None for a bare flange."""
        if self.reading is None or not self.reading.gripper:
            return None
        known = self.reading
        return ToolState(self.name, known.gripper, known.pose_tool_in_world, known.width_m, known.holding, self.read_s)

    def holds_well(self, reading: HandReading, part: PartPose) -> bool:
        """Returns whether the fingers stand as they do around that part."""
        width_m = part_grasp(part.figures, gripper_figures(reading.gripper)).width_m
        return reading.holding and abs(reading.width_m - width_m) <= self.recipe.grip_tolerance_m

    async def open(self) -> None:
        """Lets go."""
        try:
            self.reading = await self.arm.open()
        except ArmFailed as error:
            raise self._failed(error) from None

    async def close(self) -> HandReading:
        """Closes the fingers and waits until they stand still: weak ones creep."""
        try:
            reading = await self.arm.close()
        except ArmFailed as error:
            raise self._failed(error) from None
        for _ in range(2 * MOST_READINGS):
            before_m = reading.width_m
            await self.dwell(self.recipe.settle_s)
            reading = await self.read()
            if abs(reading.width_m - before_m) <= STILL_M:
                break
        return reading

    async def suck(self) -> None:
        """Draws on what is below its cups."""
        try:
            self.reading = await self.arm.suck(on=True)
        except ArmFailed as error:
            raise self._failed(error) from None

    async def let_go(self) -> None:
        """Stops the pump of its cups."""
        try:
            self.reading = await self.arm.suck(on=False)
        except ArmFailed as error:
            raise self._failed(error) from None

    async def dwell(self, duration_s: float) -> None:
        """Waits without moving."""
        try:
            await self.arm.dwell(duration_s)
        except ArmFailed as error:
            raise self._failed(error) from None

    @property
    def carries_tray(self) -> bool:
        """True if it holds a kit tray or a kit, rather than a part or nothing."""
        return bool(self.held) and self.view.facts.things[self.held].kind != "Part"

    @property
    def held_sku(self) -> str:
        """The SKU of what it holds; of a kit, that of its tray."""
        return self.view.facts.things[self.view.detected_as(self.held)].sku if self.held else ""

    def note_held(self, part: str) -> None:
        """Stores that it holds a part, a kit tray or a kit."""
        note_held(self.view.belief, self.tool, part)
        self.view.refresh()
        self.held, self.found, self.slipped_m = part, "", 0.0

    def note_released(self) -> None:
        """Stores that it holds nothing."""
        note_released(self.view.belief, self.tool)
        self.view.refresh()
        self.held, self.seat, self.slipped_m = "", None, 0.0

    def part_in_hand(self, reading: HandReading) -> Pose:
        """Returns the pose of the held part: as it was taken, unless it is seen to have slipped or to lean."""
        tool, part = reading.pose_tool_in_world, self.view.part(self.held)
        meant, seen = hanging(tool, part, reading.gripper), part.pose_in_world
        fresh = self.view.belief.age_s(part.name, self.clock.time_s) <= FRESH_S
        off_m, lean_rad = meant.distance_m(seen), _angle_rad(meant, seen)
        has_slipped = fresh and off_m <= AT_HAND_M and (off_m > SLIPPED_M or lean_rad > SLIPPED_RAD)
        self.slipped_m = off_m + float(np.sin(lean_rad)) * DISC_M if has_slipped else 0.0
        return seen if has_slipped else meant

    def at_hand(self, reading: HandReading) -> PartPose | None:
        """Returns the part between the fingers, by where it is seen; cups carry trays, and no other is near then."""
        figures = gripper_figures(reading.gripper)
        if self.carries_tray or figures is None:
            return None
        point = reading.pose_tool_in_world.position
        near = [
            (
                float(((part.pose_in_world.apply(tool_grasp_xyz_m(part.figures, figures)) - point) ** 2).sum() ** 0.5),
                part,
            )
            for part in [*self.view.parts(), *([self.view.part(self.held)] if self.held else [])]
        ]
        best = min(near, key=lambda pair: pair[0], default=None)
        return best[1] if best is not None and best[0] <= IN_HAND_M else None

    def _failed(self, error: ArmFailed) -> StepFailed:
        return StepFailed(FailureKind.ARM, str(error), self.held or self.found, is_lost_robot=error.is_lost)


def _angle_rad(first: Pose, second: Pose) -> float:
    """Returns the angle between the upright axes of two parts, whatever their turns about them."""
    cosine = first.rotation_matrix[:, 2] @ second.rotation_matrix[:, 2]
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _between(reading: HandReading) -> bool:
    """Returns whether the fingers are neither shut nor open."""
    tool = gripper_figures(reading.gripper)
    if tool is None:
        return False
    return 2 * tool.closed_m + BETWEEN_M < reading.width_m < 2 * tool.open_m - BETWEEN_M
