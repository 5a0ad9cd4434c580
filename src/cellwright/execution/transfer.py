"""Taking a gear from a parts tray and setting it into a slot of a kit tray, from what is seen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from cellwright.catalogue import (
    GearFigures,
    GripperFigures,
    SlotFigures,
    TrayFigures,
    part_of_sku,
    seated_pose,
    tool_grasp_xyz_m,
)
from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.execution.async_clock import AsyncClock, JobStep
from cellwright.execution.scene import AveragedScene, Sighting
from cellwright.motion import LineSpeed

__all__ = ["JobStep", "Transfer", "TransferArm"]

APPROACH_M = 0.05  # the lab's own constants
FAST = LineSpeed(speed_mps=0.4)
SLOW = LineSpeed(speed_mps=0.12, acceleration_mps2=0.6, jerk_mps3=6.0)
RELEASE_ABOVE_SEAT_M = 0.002
SETTLE_S = 0.05
MOVE_SPEED = 0.6
HOLDING_TOLERANCE_M = 0.0025  # rubber pads give way: a light gear is held at 1.5 mm less than its peg


class TransferArm(Protocol):
    """The robot of a transfer; any controller that offers it will do."""

    async def move_tool(self, pose_tool_in_world: Pose, speed: float = 1.0) -> None:
        """The tool to a pose, by any path."""

    async def move_tool_straight(self, pose_tool_in_world: Pose, speed: LineSpeed) -> None:
        """The tool to a pose along a line."""

    async def move_home(self, speed: float = 1.0) -> None:
        """To the start configuration."""

    async def open_gripper(self) -> float:
        """Opens; returns the width."""

    async def close_gripper(self) -> float:
        """Closes; returns the width."""


@dataclass
class Transfer:
    """One transfer; `steps` tells what was done.

    Attributes:
        arm: The robot.
        clock: Time to wait by.
        look: Gives what is in view now; takes its time.
        supply: The kind of tray to take from.
        kit: The kind of tray to fill.
        slot: The slot of the kit tray.
        kit_expected_m: Where the drawings have the kit tray; of several in view the nearest is meant.
        on_step: Told of every step that starts, ends or fails.
        tool: Figures of the arm's gripper: with long fingers a gear is taken higher.
    """

    arm: TransferArm
    clock: AsyncClock
    look: Callable[[], Awaitable[AveragedScene]]
    supply: TrayFigures
    kit: TrayFigures
    slot: SlotFigures
    kit_expected_m: np.ndarray
    on_step: Callable[[JobStep, str], None] = lambda _step, _phase: None
    tool: GripperFigures | None = None
    steps: list[JobStep] = field(default_factory=list)

    async def run(self) -> None:
        """Looks, takes, places, checks with its own eyes.

        Raises:
            JobFailed: with the reason, when a step cannot be done.
        """
        gear = part_of_sku(self.slot.accepts)
        assert isinstance(gear, GearFigures)
        async with self._step("look") as step:
            scene = await self.look()
            source = self._choose(scene, self._trays(scene, self.supply), gear)
            kit = self._trays(scene, self.kit)[0]
            seat = kit.pose_in_world @ seated_pose(self.kit, self.slot, gear)
            self._refuse_filled(scene, seat)
            step.detail = f"{len(scene.sightings)} objects in view"
        async with self._step("take") as step:
            step.detail = await self._take(source.pose_in_world, gear)
        async with self._step("place") as step:
            step.detail = await self._place(seat, gear)
        async with self._step("withdraw"):
            await self.arm.move_home(MOVE_SPEED)
        async with self._step("look again") as step:
            step.detail = self._verify(await self.look(), seat, gear)

    async def _take(self, pose_gear_in_world: Pose, gear: GearFigures) -> str:
        grasp = _tool_down(pose_gear_in_world.apply(tool_grasp_xyz_m(gear, self.tool)))
        await self.arm.open_gripper()
        await self.arm.move_tool(_raised(grasp, APPROACH_M), MOVE_SPEED)
        await self.arm.move_tool_straight(grasp, SLOW)
        await self.clock.sleep(SETTLE_S)
        width_m = await self.arm.close_gripper()
        if abs(width_m - gear.grasp_width_m) > HOLDING_TOLERANCE_M:
            raise JobFailed(
                f"nothing was grasped: the gripper closed to {width_m * 1000:.1f} mm, "
                f"a held {gear.title.lower()} gives {gear.grasp_width_m * 1000:.1f} mm"
            )
        await self.clock.sleep(SETTLE_S)
        await self.arm.move_tool_straight(_raised(grasp, APPROACH_M), FAST)
        return f"gripper at {width_m * 1000:.1f} mm"

    async def _place(self, pose_seat_in_world: Pose, gear: GearFigures) -> str:
        x, y, height_m = tool_grasp_xyz_m(gear, self.tool)
        release = _tool_down(pose_seat_in_world.apply([x, y, height_m + RELEASE_ABOVE_SEAT_M]))
        await self.arm.move_tool(_raised(release, APPROACH_M), MOVE_SPEED)
        await self.arm.move_tool_straight(release, SLOW)
        await self.clock.sleep(SETTLE_S)
        width_m = await self.arm.open_gripper()
        await self.clock.sleep(SETTLE_S)
        await self.arm.move_tool_straight(_raised(release, APPROACH_M), FAST)
        return f"gripper at {width_m * 1000:.1f} mm"

    def _trays(self, scene: AveragedScene, tray: TrayFigures) -> list[Sighting]:
        """Returns the trays of a kind in view, beginning with the one nearest to the kit's place."""
        seen = scene.near(tray.sku, self.kit_expected_m)
        if not seen:
            raise JobFailed(f"no {tray.title.lower()} is in view")
        return seen

    def _choose(self, scene: AveragedScene, supplies: list[Sighting], gear: GearFigures) -> Sighting:
        """Returns the gear to take: in the first slot, in the tray's own order, that holds one."""
        for supply in supplies:
            for slot in self.supply.slots:
                found = scene.near(gear.sku, supply.pose_in_world.apply([*slot.xy_m, 0]), slot.top_radius_m / 2)
                if found:
                    return found[0]
        raise JobFailed(f"the {self.supply.title.lower()} in view holds no {gear.title.lower()}")

    def _refuse_filled(self, scene: AveragedScene, pose_seat_in_world: Pose) -> None:
        """Whatever lies in the slot, right or wrong, another gear must not be set on top of it."""
        for seen in scene.sightings:
            if seen.sku != self.kit.sku and seen.distance_m(pose_seat_in_world.position) < self.slot.top_radius_m:
                raise JobFailed(f"{self.slot.name} of the {self.kit.title.lower()} is already filled: {seen.sku}")

    def _verify(self, scene: AveragedScene, pose_seat_in_world: Pose, gear: GearFigures) -> str:
        found = scene.near(gear.sku, pose_seat_in_world.position, self.slot.top_radius_m)
        if not found:
            raise JobFailed(f"no {gear.title.lower()} is seen at {self.slot.name} after placing")
        offset_m = np.hypot(*(found[0].pose_in_world.position - pose_seat_in_world.position)[:2])
        return f"seen {offset_m * 1000:.1f} mm from the slot's centre"

    @asynccontextmanager
    async def _step(self, name: str) -> AsyncIterator[JobStep]:
        step = JobStep(name, self.clock.time_s)
        self.steps.append(step)
        self.on_step(step, "start")
        phase = "fail"
        try:
            yield step
            phase = "end"
        except JobFailed as error:
            step.detail = str(error)
            raise
        except asyncio.CancelledError:
            step.detail = "interrupted"
            raise
        finally:
            step.end_s = self.clock.time_s
            self.on_step(step, phase)


def _tool_down(position: np.ndarray) -> Pose:
    """Returns a tool pointing at the floor."""
    return Pose.from_xyz_rpy(position, [np.pi, 0, 0])


def _raised(pose: Pose, height_m: float) -> Pose:
    return Pose(pose.position + np.array([0.0, 0.0, height_m]), pose.quaternion)
