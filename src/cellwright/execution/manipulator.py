"""One robot at work: its current part and grasp, and its moves, which always travel above everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.execution.arm import JOINT_SPEED_RADPS, ArmFailed, raised, tool_down
from cellwright.execution.grasps import GraspChoice
from cellwright.execution.robot_hand import DISC_M, RobotHand

__all__ = ["Manipulator"]

LEANING_RAD = float(np.radians(2.0))
NEAR_M = 0.40  # an arm whose tool is this near to a place is in the way there
NEAR_HOLDER_M = 0.60  # the same for a holder of tools
Array = npt.NDArray[np.float64]
TURNS_RAD = tuple(float(x) for x in np.radians([0.0, 60.0, -60.0, 90.0, -90.0, 120.0, -120.0]))
HANG_M = 0.030  # how far below the tool's centre point a held part reaches


@dataclass
class Manipulator(RobotHand):
    """A robot with its chosen part and grasp.

    Attributes:
        grasp: How to take the part that was found; None before that is decided.
        out_of_service: Why it does not work any more; empty while it does.
    """

    grasp: GraspChoice | None = None
    out_of_service: str = ""
    _aside_rad: float = 0.0

    def travel_m(self, lean_rad: float = 0.0) -> float:
        """Returns the height of the tool at which nothing is in the way, whatever it holds and however that leans."""
        hang_m = HANG_M + self.slipped_m + float(np.sin(lean_rad)) * DISC_M
        return self.view.top_m(self.name) + hang_m + self.recipe.clearance_m

    @property
    def travel_mps(self) -> float:
        """The speed of travel that the grip allows."""
        if self.carries_tray:
            return self.recipe.carry_mps
        return self.recipe.slow_mps if self.slipped_m or (self.held and self.misses) else self.recipe.fast_mps

    async def rise(self) -> None:
        """Moves straight up to the travel height; a tool that leans is set upright there."""
        reading = await self.read()
        pose, lean_rad = reading.pose_tool_in_world, _lean_rad(reading.pose_tool_in_world)
        height_m = self.travel_m(lean_rad)
        if pose.position[2] < height_m - 1e-3:
            pose = raised(pose, height_m)
            await self._move(pose, self.recipe.slow_mps if self.held else self.recipe.fast_mps)
        if lean_rad > LEANING_RAD:
            await self._move_freely(tool_down(pose.position, yaw_rad(pose)), self.recipe.slow_mps)

    async def go_above(self, pose: Pose) -> None:
        """Moves to above a pose, at travel height, with the fingers either way round."""
        await self.rise()
        start = self._start(pose)
        above = raised(start, max(self.travel_m(_lean_rad(pose)), float(start.position[2])))
        await self._move_freely(above, self.travel_mps)

    @property
    def turned_rad(self) -> float:
        """The turn of the fingers about the vertical at the last reading."""
        return yaw_rad(self.reading.pose_tool_in_world) if self.reading else 0.0

    async def approach(self, pose: Pose) -> None:
        """Moves from above a pose to where slow motion begins, on the axis of the tool at that pose."""
        start = self._start(pose)
        reading = await self.read()
        if reading.pose_tool_in_world.position[2] > start.position[2] + 0.005:
            await self._move(start, self.travel_mps)

    async def reach(self, pose: Pose, speed_mps: float) -> None:
        """Moves the last distance to a pose."""
        await self._move(pose, speed_mps)

    async def lift(self, pose: Pose, speed_mps: float) -> None:
        """Moves from a pose to the travel height: straight up with a part, along its own axis without one."""
        lean_rad, start = _lean_rad(pose), self._start(pose)
        if lean_rad > LEANING_RAD and not self.held:
            await self._move(start, speed_mps)
            pose = start
        await self._move(raised(pose, max(self.travel_m(lean_rad), float(start.position[2]))), speed_mps)
        if lean_rad > LEANING_RAD:
            await self.rise()

    def _start(self, pose: Pose) -> Pose:
        """Returns the pose at which slow motion to a pose begins."""
        return pose @ Pose.from_xyz_rpy([0.0, 0.0, -self.recipe.approach_m])

    async def withdraw(self, speed_radps: float = JOINT_SPEED_RADPS) -> None:
        """Moves to the rest position, turned aside if another robot works below it."""
        await self.rise()
        try:
            await self.arm.rest(self._aside_rad, speed_radps)
        except ArmFailed as error:
            raise self._failed(error) from None

    async def is_near(self, places: Sequence[str]) -> bool:
        """Returns whether the tool stands about where one of the places is."""
        point = (await self.read()).pose_tool_in_world.position[:2]
        return any(np.linalg.norm(at - point) < near_m for at, near_m in self._kept_free(places))

    def _kept_free(self, places: Sequence[str]) -> list[tuple[Array, float]]:
        """Returns points where other robots work with the distances to keep: arms swing widely near a holder."""
        facts = self.view.facts
        known = [place for place in places if place in facts.tree.index]
        at_holder = {holder.name for holder in facts.of_kind("EndEffectorHolder")}
        return [(self.view.pose(name).position[:2], NEAR_HOLDER_M if name in at_holder else NEAR_M) for name in known]

    def keep_from(self, places: Sequence[str]) -> None:
        """Turns the rest position aside from now on, as far as needed to be off these places."""
        kept_free = self._kept_free(places)
        if self.arm.rest_point is None or not kept_free:
            return
        centre = self.view.base(self.name).position[:2]
        lever = np.array(self.arm.rest_point)[:2] - centre

        def room_m(turn_rad: float) -> float:
            c, s = np.cos(turn_rad), np.sin(turn_rad)
            stands = centre + np.array([c * lever[0] - s * lever[1], s * lever[0] + c * lever[1]])
            return min(float(np.linalg.norm(stands - point)) - near_m for point, near_m in kept_free)

        self._aside_rad = next((turn for turn in TURNS_RAD if room_m(turn) >= 0.0), max(TURNS_RAD, key=room_m))

    async def go_away(self, places: Sequence[str]) -> None:
        """Moves off these places."""
        self.keep_from(places)
        await self.withdraw()

    async def recover(self) -> str:
        """Recovers after a failure: ends the robot's error, rises, and finds out what is in the hand.

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
        near = self.at_hand(reading) if reading.holding else None
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

    async def _move(self, pose: Pose, speed_mps: float) -> None:
        try:
            await self.arm.move(pose, speed_mps)
        except ArmFailed as error:
            raise self._failed(error) from None

    async def _move_freely(self, pose: Pose, speed_mps: float) -> None:
        """Moves through free space: along a line, with the fingers either way round, or else by joint motion."""
        half_turn = pose @ Pose.from_xyz_rpy([0.0, 0.0, 0.0], [0.0, 0.0, np.pi])
        ways = [(pose, True), (half_turn, True), (pose, False)]
        for number, (target, straight) in enumerate(ways, start=1):
            try:
                await self.arm.move(target, speed_mps, straight=straight)
                return
            except ArmFailed as error:
                if error.is_lost or number == len(ways):
                    raise self._failed(error) from None
            try:
                await self.arm.prepare()
            except ArmFailed as error:
                raise self._failed(error) from None


def _lean_rad(pose_tool: Pose) -> float:
    """Returns the angle between a tool's axis and straight down."""
    return float(np.arccos(np.clip(-pose_tool.rotation_matrix[2, 2], -1.0, 1.0)))


def yaw_rad(pose_tool: Pose) -> float:
    """Returns the turn of the fingers about the vertical."""
    x, y, _ = pose_tool.rotation_matrix[:, 0]
    return float(np.arctan2(y, x))
