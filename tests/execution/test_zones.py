"""Two robots and one zone: never both, never neither for ever."""

from __future__ import annotations

import asyncio

import pytest

from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.zones import Zones


class Robot:
    """As much of a robot as zones need: something that can withdraw, or cannot."""

    def __init__(self, stuck: bool = False) -> None:
        self.stuck, self.withdrawn, self.busy = stuck, 0, asyncio.Lock()

    async def withdraw(self) -> None:
        if self.stuck:
            raise StepFailed(FailureKind.ARM, "it is stuck")
        await asyncio.sleep(0)
        self.withdrawn += 1


def zones_of(**robots):
    return Zones(robots, {"table": list(robots)})


def test_a_robot_stays_until_another_one_comes():
    async def work():
        robots = {"a": Robot(), "b": Robot()}
        zones = zones_of(**robots)
        await zones.enter("a", "table")
        await zones.make_way("a")
        assert robots["a"].withdrawn == 0
        waiting = asyncio.ensure_future(zones.enter("b", "table"))
        await asyncio.sleep(0)
        assert not waiting.done()
        await zones.make_way("a")
        await asyncio.wait_for(waiting, 1)
        assert robots["a"].withdrawn == 1

    asyncio.run(work())


def test_a_robot_that_goes_elsewhere_leaves_first():
    async def work():
        robots = {"a": Robot(), "b": Robot()}
        zones = zones_of(**robots)
        await zones.enter("a", "table")
        await zones.enter("a", "own")
        assert robots["a"].withdrawn == 1
        await asyncio.wait_for(zones.enter("b", "table"), 1)

    asyncio.run(work())


def test_whoever_waits_for_a_robot_that_is_stuck_is_told():
    async def work():
        zones = zones_of(a=Robot(stuck=True), b=Robot())
        await zones.enter("a", "table")
        waiting = asyncio.ensure_future(zones.enter("b", "table"))
        await asyncio.sleep(0)
        await zones.give_up("a")
        with pytest.raises(StepFailed, match="table is blocked: it is stuck"):
            await asyncio.wait_for(waiting, 1)

    asyncio.run(work())
