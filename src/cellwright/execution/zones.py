"""Exclusive zones: a robot stays in its zone until another one wants to enter, then leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.manipulator import Manipulator

__all__ = ["Zones"]


class Zones:
    """The zones of one plan.

    Args:
        manipulators: All robots, also those that have nothing to do.
        used: Zone -> the robots that work there by the plan.
    """

    def __init__(self, manipulators: Mapping[str, Manipulator], used: Mapping[str, Sequence[str]]) -> None:
        self._manipulators = manipulators
        self._contested = {zone for zone, robots in used.items() if len(set(robots)) > 1}
        self._used = used
        self._owner: dict[str, str] = {}
        self._blocked: dict[str, str] = {}
        self._waiting: dict[str, set[str]] = {zone: set() for zone in used}
        self._changed = asyncio.Event()

    async def clear(self, places: Mapping[str, Sequence[str]]) -> None:
        """Sends robots out of the way that stand where another will work, before anything moves.

        Args:
            places: Zone -> the places in it.
        """
        for zone, robots in self._used.items():
            for name, manipulator in self._manipulators.items():
                if set(robots) != {name} and not manipulator.out_of_service and await manipulator.is_near(places[zone]):
                    await manipulator.go_away(places[zone])
        for zone in self._contested:
            for manipulator in self._manipulators.values():
                manipulator.keep_from(places[zone])

    async def enter(self, robot: str, zone: str) -> None:
        """Waits until no other robot is there; leaves the zone where the robot was.

        Raises:
            StepFailed: The robot that is there cannot leave.
        """
        for other in [z for z, owner in self._owner.items() if owner == robot and z != zone]:
            await self._leave(robot, other)
        if zone not in self._contested:
            return
        self._waiting[zone].add(robot)
        try:
            while self._owner.get(zone, robot) != robot:
                if zone in self._blocked:
                    raise StepFailed(FailureKind.ARM, f"{zone} is blocked: {self._blocked[zone]}")
                self._changed.clear()
                await self._changed.wait()
        finally:
            self._waiting[zone].discard(robot)
        self._owner[zone] = robot

    def is_contested(self, zone: str) -> bool:
        """Returns whether several robots work in a zone by the plan."""
        return zone in self._contested

    async def make_way(self, robot: str) -> None:
        """Leaves the zone when another robot waits for it."""
        for zone in [z for z, owner in self._owner.items() if owner == robot and self._waiting[z] - {robot}]:
            await self._leave(robot, zone)

    async def give_up(self, robot: str) -> None:
        """Leaves in any case; a robot that cannot blocks its zone."""
        for zone in [z for z, owner in self._owner.items() if owner == robot]:
            try:
                await self._leave(robot, zone)
            except StepFailed as failure:
                self._blocked[zone] = str(failure)
                self._changed.set()

    async def _leave(self, robot: str, zone: str) -> None:
        async with self._manipulators[robot].busy:
            await self._manipulators[robot].withdraw()
        del self._owner[zone]
        self._changed.set()
