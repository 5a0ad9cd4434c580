"""One robot at work: what it has found, how it will grasp, what it holds; and its moves, always above everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cellwright.core.pose import Pose
from cellwright.execution.arm import Arm, ArmFailed, HandReading, raised, tool_down
from cellwright.execution.binding import GraspChoice
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.hands import note_held, note_released
from cellwright.execution.predicates import ToolState
from cellwright.execution.settings import Recipe
from cellwright.execution.view import CellView, Seat, Seen
from cellwright.execution.waiting import Waiting

__all__ = ["Worker"]

IN_HAND_M = 0.02  # a part this near to the tool's centre point is what the fingers are closed on
LEANING_RAD = float(np.radians(2.0))
NEAR_M = 0.40  # an arm whose tool is this near to a place is in the way there
TURNS_RAD = tuple(float(x) for x in np.radians([0.0, 60.0, -60.0, 90.0, -90.0, 120.0, -120.0]))
HANG_M = 0.030  # how far below the tool's centre point a held part reaches


@dataclass
class Worker:
    """A robot and what it has in mind.

    Attributes:
        arm: The robot.
        view: What is believed.
        tool: Its end effector, as the database calls it.
        found: The part that was looked for.
        grasp: How to take it; None before that is decided.
        seat: The slot that was looked for.
        held: The part in its hand.
        misses: Grasps in a row that failed.
        out_of_service: Why it does not work any more; empty while it does.
        reading: What it last said of its tool.
        read_s: When.
    """

    arm: Arm
    view: CellView
    clock: Waiting
    tool: str
    found: str = ""
    grasp: GraspChoice | None = None
    seat: Seat | None = None
    held: str = ""
    misses: int = 0
    out_of_service: str = ""
    reading: HandReading | None = None
    read_s: float = -1.0
    _aside_rad: float = 0.0

    @property
    def name(self) -> str:
        """The robot's."""
        return self.arm.name

    @property
    def recipe(self) -> Recipe:
        """How it moves."""
        return self.arm.recipe

    # ------------------------------------------------------------ ways

    def travel_m(self) -> float:
        """The height of the tool at which nothing is in the way, whatever hangs in the hand."""
        return self.view.top_m(self.name) + HANG_M + self.recipe.clearance_m

    async def rise(self) -> None:
        """Straight up, to where it may travel; a tool that leans, because something stopped it, is set upright."""
        reading = await self.read()
        pose, height_m = reading.pose_tool_in_world, self.travel_m()
        if pose.position[2] < height_m - 1e-3:
            pose = raised(pose, height_m)
            await self._move(pose, self.recipe.slow_mps if self.held else self.recipe.fast_mps)
        if pose.rotation_matrix[2, 2] > -np.cos(LEANING_RAD):
            await self._move(tool_down(pose.position, float(pose.rpy[2])), self.recipe.slow_mps)

    async def go_above(self, pose: Pose) -> None:
        """To above a pose, at a height where nothing is in the way; along a line unless the arm cannot follow it."""
        await self.rise()
        height_m = max(self.travel_m(), float(pose.position[2]) + self.recipe.approach_m)
        above = raised(pose, height_m)
        try:
            await self.arm.move(above, self.recipe.fast_mps)
        except ArmFailed as error:
            if error.is_lost:
                raise self._failed(error) from None
            try:
                await self.arm.prepare()
                await self.arm.move(above, self.recipe.fast_mps, straight=False)
            except ArmFailed as again:
                raise self._failed(again) from None

    async def go_down(self, pose: Pose, speed_mps: float) -> None:
        """From above it to a pose, fast as far as the approach."""
        approach_m = float(pose.position[2]) + self.recipe.approach_m
        reading = await self.read()
        if reading.pose_tool_in_world.position[2] > approach_m + 0.005:
            await self._move(raised(pose, approach_m), self.recipe.fast_mps)
        await self._move(pose, speed_mps)

    async def lift(self, pose: Pose, speed_mps: float) -> None:
        """Straight up from a pose, to where it may travel."""
        height_m = max(self.travel_m(), float(pose.position[2]) + self.recipe.approach_m)
        await self._move(raised(pose, height_m), speed_mps)

    async def withdraw(self) -> None:
        """Out of everybody's way: to its rest, turned aside if somebody works below that."""
        await self.rise()
        try:
            await self.arm.rest(self._aside_rad)
        except ArmFailed as error:
            raise self._failed(error) from None

    async def is_near(self, places: Sequence[str]) -> bool:
        """Whether the tool stands about where one of the places is."""
        point = (await self.read()).pose_tool_in_world.position[:2]
        known = [place for place in places if place in self.view.facts.tree.index]
        return any(np.linalg.norm(self.view.pose(place).position[:2] - point) < NEAR_M for place in known)

    def keep_from(self, places: Sequence[str]) -> None:
        """Its rest is turned aside from now on, as far as it must be to be off these places."""
        points = [self.view.pose(place).position[:2] for place in places if place in self.view.facts.tree.index]
        if self.arm.rest_point is None or not points:
            return
        centre = self.view.base(self.name).position[:2]
        lever = np.array(self.arm.rest_point)[:2] - centre

        def room_m(turn_rad: float) -> float:
            c, s = np.cos(turn_rad), np.sin(turn_rad)
            stands = centre + np.array([c * lever[0] - s * lever[1], s * lever[0] + c * lever[1]])
            return min(float(np.linalg.norm(stands - point)) for point in points)

        self._aside_rad = next((turn for turn in TURNS_RAD if room_m(turn) >= NEAR_M), max(TURNS_RAD, key=room_m))

    async def go_away(self, places: Sequence[str]) -> None:
        """Off these places."""
        self.keep_from(places)
        await self.withdraw()

    # ------------------------------------------------------------ the hand

    async def read(self) -> HandReading:
        """What the robot says of its tool now."""
        try:
            self.reading, self.read_s = await self.arm.read(), self.clock.time_s
        except ArmFailed as error:
            raise self._failed(error) from None
        return self.reading

    def report(self) -> ToolState | None:
        """The same, as predicates want it."""
        if self.reading is None:
            return None
        known = self.reading
        return ToolState(self.name, known.gripper, known.pose_tool_in_world, known.width_m, known.holding, self.read_s)

    def holds_well(self, reading: HandReading, part: Seen) -> bool:
        """Whether the fingers stand as they do around that part."""
        width_m = part.figures.grasp_width_m
        return reading.holding and abs(reading.width_m - width_m) <= self.recipe.grip_tolerance_m

    async def open(self) -> None:
        """Lets go."""
        try:
            self.reading = await self.arm.open()
        except ArmFailed as error:
            raise self._failed(error) from None

    async def close(self) -> HandReading:
        """Closes the fingers."""
        try:
            self.reading = await self.arm.close()
        except ArmFailed as error:
            raise self._failed(error) from None
        return self.reading

    async def dwell(self, duration_s: float) -> None:
        """Stands still."""
        try:
            await self.arm.dwell(duration_s)
        except ArmFailed as error:
            raise self._failed(error) from None

    def note_held(self, part: str) -> None:
        """It has the part now."""
        note_held(self.view.belief, self.tool, part)
        self.view.refresh()
        self.held, self.found = part, ""

    def note_released(self) -> None:
        """It holds nothing now."""
        note_released(self.view.belief, self.tool)
        self.view.refresh()
        self.held, self.seat = "", None

    async def sort_out(self) -> str:
        """After something went wrong: ends the robot's error, rises, and finds out what is in the hand.

        Returns:
            What was found out; empty when all is as it was believed.
        """
        try:
            self.reading = await self.arm.prepare()
        except ArmFailed as error:
            raise self._failed(error) from None
        await self.rise()
        reading = await self.read()
        self.found, self.grasp, self.seat = "", None, None
        near = self._at_hand(reading) if reading.holding else None
        if self.held and not reading.holding:
            lost = self.held
            self.note_released()
            return f"{lost} is not in the hand any more"
        if reading.holding and near is not None and near.name != self.held:
            if self.held:
                self.note_released()
            self.note_held(near.name)
            return f"{near.name} is in the hand"
        if reading.holding and not self.held:
            return "something that nobody sees is between the fingers"
        return ""

    def _at_hand(self, reading: HandReading) -> Seen | None:
        """The part between the fingers, by where it is seen."""
        point = reading.pose_tool_in_world.position
        near = [
            (float(((part.pose_in_world.apply(part.figures.grasp_xyz_m) - point) ** 2).sum() ** 0.5), part)
            for part in [*self.view.parts(), *([self.view.part(self.held)] if self.held else [])]
        ]
        best = min(near, key=lambda pair: pair[0], default=None)
        return best[1] if best is not None and best[0] <= IN_HAND_M else None

    async def _move(self, pose: Pose, speed_mps: float) -> None:
        try:
            await self.arm.move(pose, speed_mps)
        except ArmFailed as error:
            raise self._failed(error) from None

    def _failed(self, error: ArmFailed) -> StepFailed:
        return StepFailed(FailureKind.ARM, str(error), self.held or self.found, is_lost_robot=error.is_lost)
