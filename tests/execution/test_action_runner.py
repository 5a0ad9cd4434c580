"""What is said of a step that failed, and of what failed while it was to be tried again."""

import asyncio
from types import SimpleNamespace

import pytest

from cellwright.execution import ExecutionSettings
from cellwright.execution.action_runner import ActionRunner
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.planning import Action, Verb


def test_a_failure_between_two_attempts_is_of_the_part_that_the_first_was_about():
    """Otherwise the part is not left out, and is tried plan after plan."""
    runner = ActionRunner.__new__(ActionRunner)
    runner._settings, runner.steps, runner.retries = ExecutionSettings(), SimpleNamespace(turned=0, attempt=1), 0

    async def attempt(_step, _attempt):
        raise StepFailed(FailureKind.MISSED, "the fingers closed to 2.0 mm", "medium_gear_4")

    async def retry_steps(_action, _failure, _step):
        raise StepFailed(FailureKind.ARM, "the straight way of fanuc is blocked: tool touches board")

    runner._attempt, runner._retry_steps = attempt, retry_steps
    action = Action(Verb.TAKE_PART, "fanuc", "fanuc_tool", "sku_part_medium_gear", "tray", "kit")
    with pytest.raises(StepFailed, match="tool touches board") as caught:
        asyncio.run(runner._act(action))
    assert caught.value.part == "medium_gear_4"
