"""The executor's own loop: it ends with the reason when no robot can work any more."""

import asyncio
from types import SimpleNamespace

import pytest

from cellwright.execution import ExecutionSettings, Executor


def test_when_the_last_robot_that_works_is_out_of_service_its_reason_is_told_and_nothing_is_planned():
    """Another robot, which only makes way, may still be sound."""
    executor = Executor.__new__(Executor)
    executor.settings = ExecutionSettings()
    executor._team = SimpleNamespace(failure_reason="fanuc: 6 grasps in a row failed; the last: contact above gear_4")

    async def plan(_orders):
        pytest.fail("there is no robot to plan for")

    executor._plan = plan
    assert asyncio.run(executor._work([], 0.0)) == "fanuc: 6 grasps in a row failed; the last: contact above gear_4"
