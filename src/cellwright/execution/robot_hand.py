"""A robot's hand: fingers or cups, opened and closed, and what they feel."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cellwright.catalogue import TOOLS
from cellwright.catalogue.vacuum import VacuumFigures
from cellwright.execution.arm import Arm, HandReading
from cellwright.execution.async_clock import AsyncClock
from cellwright.execution.hand_scale import DOUBT, ENOUGH, HandScale, Weight
from cellwright.knowledge.held_pose import gripper_figures

__all__ = ["RobotHand"]

STILL_M = 0.00025  # by which fingers that stand still may seem to move: the noise of two reports of their width
BETWEEN_M = 0.001  # fingers that are neither shut nor open by more than this have met something, or move
MOST_READINGS = 5
SAMPLE_S = 0.02  # between two measurements of a wrist; estimated
FIRST_SAMPLES = 5  # that are waited for when nothing was measured yet
WEIGHINGS = 8  # more measurements of a weight that is not as it should be
OPEN, CLOSED = 1.0, 0.0  # settings of fingers
PUMPING, VENTED = 1.0, 0.0  # settings of cups
SUCK_S, VENT_S = 0.3, 0.2  # until the vacuum is there, and gone


@dataclass
class RobotHand:
    """The hand of a robot.

    Attributes:
        arm: The robot.
        clock: Time of the readings.
        reading: The last reading of its tool.
        read_s: The time of that reading.
        scale: Weighs what is in it.
    """

    arm: Arm
    clock: AsyncClock
    reading: HandReading | None = None
    read_s: float = -1.0
    scale: HandScale = field(default_factory=HandScale)

    @property
    def has_cups(self) -> bool:
        """True for a vacuum tool, False for fingers or a bare flange."""
        tool = self.reading.gripper if self.reading else ""
        return tool in TOOLS and isinstance(TOOLS.get(tool), VacuumFigures)

    async def read(self) -> HandReading:
        """Returns the current reading of the tool; fingers that tremble on something are watched for a moment.

        A gripper with little force reports now and then that its fingers move, though they stay where they are.
        """
        reading = await self.arm.read()
        for _ in range(MOST_READINGS):
            if reading.holding or not _between(reading):
                break
            await self.settle()
            again = await self.arm.read()
            is_still = abs(again.width_m - reading.width_m) <= STILL_M
            reading = replace(again, holding=True) if is_still else again
        self.reading = reading
        self.read_s = self.clock.time_s
        self.scale.take(reading)
        return reading

    async def release(self) -> None:
        """Opens the fingers, or stops the pump."""
        if self.reading is None:  # what kind of tool it is, is not known yet
            await self.read()
        self.reading = await self.arm.set_tool(VENTED if self.has_cups else OPEN)
        self.scale.begin(laden=False)

    async def close(self) -> None:
        """Closes empty fingers."""
        self.reading = await self.arm.set_tool(CLOSED)

    async def grasp(self) -> HandReading:
        """Closes the fingers and waits until they stand still, or draws on what is below the cups.

        Returns:
            What is felt then.
        """
        self.scale.begin(laden=None)
        if self.has_cups:
            self.reading = await self.arm.set_tool(PUMPING)
            await self.arm.dwell(SUCK_S)
            return await self.read()
        await self.settle()
        reading = await self.arm.set_tool(CLOSED)
        if self.arm.waits_for_tool:
            return await self.read()
        for _ in range(2 * MOST_READINGS):
            before_m = reading.width_m
            await self.settle()
            reading = await self.read()
            if abs(reading.width_m - before_m) <= STILL_M:
                break
        return reading

    async def tare(self) -> None:
        """Measures what the empty hand weighs with this tool, unless that is known; nothing where no wrist tells."""
        self.scale.begin(laden=False)
        for _ in range(2 * ENOUGH):
            reading = await self.read()
            if self.scale.is_tared or reading.pull_n is None or not reading.gripper:
                return
            await self.clock.sleep(SAMPLE_S)

    async def weigh(self, mass_kg: float) -> Weight | None:
        """Returns the weight of what hangs in it; when it is not as expected, it is measured for longer.

        By what was measured while the arm stood still anyway, this takes no time when all is well.

        Args:
            mass_kg: What it should be.
        """
        for _ in range(FIRST_SAMPLES):
            if self.scale.weight is not None or not self.scale.is_tared:
                break
            await self.clock.sleep(SAMPLE_S)
            await self.read()
        found = self.scale.weight
        if found is None or found.is_like(mass_kg, DOUBT):
            return found
        for _ in range(WEIGHINGS):
            await self.settle()
            await self.read()
        return self.scale.weight

    async def settle(self) -> None:
        """Waits until what moved has come to rest."""
        await self.arm.dwell(self.arm.recipe.settle_s)

    async def settle_open(self) -> None:
        """Waits until what was let go lies by itself; cups hold on for a moment."""
        await self.arm.dwell(VENT_S if self.has_cups else self.arm.recipe.settle_s)


def _between(reading: HandReading) -> bool:
    """Returns whether the fingers are neither shut nor open."""
    tool = gripper_figures(reading.gripper)
    if tool is None:
        return False
    return 2 * tool.closed_m + BETWEEN_M < reading.width_m < 2 * tool.open_m - BETWEEN_M
