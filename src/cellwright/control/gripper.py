"""A parallel gripper as its controller sees it: a width, a commanded width, a motor force."""

from __future__ import annotations

from cellwright.core.loop import WaitClock
from cellwright.sim import World

__all__ = ["Gripper"]

POLL_S = 0.02
STILL_MPS = 0.002
LIMIT_S = 2.0


class Gripper:
    """Opens and closes, and tells how wide it stands. Knows nothing of what is between its fingers."""

    def __init__(self, world: World, robot: str, clock: WaitClock) -> None:
        self._world, self._robot, self._clock = world, robot, clock
        world.bind(self._look_up)

    def _look_up(self) -> None:
        tool = self._world.robot(self._robot).tool
        assert tool is not None
        self._tool = tool

    @property
    def width_m(self) -> float:
        """Distance between the pads."""
        return float(self._world.data.qpos[self._tool.qpos].sum())

    async def open(self) -> float:
        """Opens fully; returns the width at which it came to rest."""
        return await self._move(self._tool.figures.open_m)

    async def close(self) -> float:
        """Closes until something or the stop is met; returns the width at which it came to rest."""
        return await self._move(self._tool.figures.closed_m)

    async def _move(self, finger_m: float) -> float:
        data = self._world.data
        data.ctrl[self._tool.ctrl] = finger_m
        waited_s = 0.0
        while waited_s < LIMIT_S:
            await self._clock.sleep(POLL_S)
            waited_s += POLL_S
            moving = abs(self._world.data.qvel[self._tool.dof]).max() > STILL_MPS
            if waited_s >= 3 * POLL_S and not moving:
                break
        return self.width_m
