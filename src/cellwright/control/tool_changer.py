"""A tool changer as its controller sees it: a lock, and switches that tell whether a tool is under it."""

from __future__ import annotations

from cellwright.core.errors import JobFailed
from cellwright.core.loop import WaitClock
from cellwright.sim import World

__all__ = ["NoToolThere", "ToolChanger"]


class NoToolThere(JobFailed):
    """Raised when the lock did not close: its switches find no tool within its reach."""

    def __init__(self, robot: str, lateral_m: float, axial_m: float, turn_deg: float) -> None:
        super().__init__(
            f"{robot} tool changer finds no tool: a coupling must be within {lateral_m * 1000:.1f} mm sideways, "
            f"{axial_m * 1000:.1f} mm up and down and {turn_deg:.0f} deg"
        )


class ToolChanger:
    """Locks the tool that is under it and releases it. A tool that is released in mid air falls."""

    def __init__(self, world: World, robot: str, clock: WaitClock) -> None:
        self._world = world
        self._robot = robot
        self._clock = clock
        changer = world.robot(robot).changer
        assert changer is not None
        self._figures = changer.figures

    @property
    def tool(self) -> str | None:
        """The tool that is locked; every coupling has a plug that tells its name."""
        return self._world.mounts.on.get(self._robot)

    @property
    def locked(self) -> bool:
        """Whether a tool is locked."""
        return self.tool is not None

    async def close(self) -> str:
        """Locks the tool that is there, and returns its name.

        Raises:
            NoToolThere: when the two halves are not together.
            JobFailed: when a tool is locked already.
        """
        if self.tool is not None:
            raise JobFailed(f"{self._robot} tool changer holds {self.tool} already")
        tool = self._world.mounts.ready(self._robot)
        if tool is None:
            figures = self._figures
            raise NoToolThere(self._robot, figures.lateral_m, figures.axial_m, figures.turn_rad * 57.29577951308232)
        self._world.mounts.lock(self._robot, tool)
        await self._clock.sleep(self._figures.lock_s)
        return tool

    async def open(self) -> str:
        """Releases the tool, wherever it is, and returns its name.

        Raises:
            JobFailed: when there is none.
        """
        if self.tool is None:
            raise JobFailed(f"{self._robot} tool changer holds no tool")
        tool = self._world.mounts.unlock(self._robot)
        await self._clock.sleep(self._figures.lock_s)
        return tool
