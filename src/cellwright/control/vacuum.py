"""A vacuum tool as its controller sees it: a pump that runs or not, and a vacuum switch."""

from __future__ import annotations

from cellwright.core.errors import JobFailed, OutOfRange
from cellwright.core.loop import WaitClock
from cellwright.sim import World
from cellwright.sim.tool_index import VacuumIndex

__all__ = ["Vacuum"]

POLL_S = 0.02
SWITCH = 0.6  # share of the pump's vacuum at which the switch says that something is held
FULL = 0.95
LIMIT_S = 0.6


class Vacuum:
    """Switches the pump, and reads the vacuum. Whether the cup seals depends on what it touches."""

    kind = "vacuum"

    def __init__(self, world: World, robot: str, clock: WaitClock) -> None:
        self._world = world
        self._robot = robot
        self._clock = clock

    @property
    def _tool(self) -> VacuumIndex:
        tool = self._world.robot(self._robot).vacuum
        if tool is None:
            raise JobFailed(f"{self._robot} has no vacuum tool")
        return tool

    @property
    def name(self) -> str:
        """Its model, or the name that the cell gives it."""
        return self._world.robot(self._robot).tool_name

    @property
    def power(self) -> float:
        """The commanded power of the pump, 0 to 1."""
        return float(self._world.data.ctrl[self._tool.power])

    @property
    def powered(self) -> bool:
        """Whether the pump runs."""
        return self.power > 0.0

    @property
    def level(self) -> float:
        """The vacuum under the cup, or the least of several, as a share of what holds the rated load."""
        return self._tool.level(self._world.data)

    @property
    def holding(self) -> bool:
        """Whether the vacuum switch is on."""
        return self.powered and self.level > SWITCH * self.power

    async def open(self) -> float:
        """Stops the pump and lets air in; returns the vacuum that is left."""
        await self.set(0.0)
        return self.level

    async def close(self) -> float:
        """Runs the pump until the cup holds, or until it is clear that it does not; returns the vacuum."""
        await self.set(1.0)
        return self.level

    async def set(self, fraction: float) -> None:
        """Sets the power of the pump, and waits for the vacuum to settle."""
        if not 0.0 <= fraction <= 1.0:
            raise OutOfRange(f"{self._robot} vacuum power", fraction, 0.0, 1.0)
        self._world.data.ctrl[self._tool.power] = fraction
        waited_s = 0.0
        while waited_s < 3 * POLL_S or (fraction > 0.0 and self.level < FULL * fraction and waited_s < LIMIT_S):
            await self._clock.sleep(POLL_S)
            waited_s += POLL_S
