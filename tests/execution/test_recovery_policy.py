"""What follows from failures: parts that are left out, robots that are taken out of service, with the reason."""

from types import SimpleNamespace

import pytest

from cellwright.execution import ExecutionSettings, RecoveryMode
from cellwright.execution.failure import FailureKind
from cellwright.execution.plan_runner import ActionFailure
from cellwright.execution.recovery import RecoveryPolicy
from cellwright.planning import Action, Verb


def blocked(verb):
    action = Action(verb, "fanuc", "fanuc_tool", "sku_part_medium_gear", "kit", "kit")
    return ActionFailure("fanuc", action, FailureKind.ARM, "the straight way is blocked: tool touches post", "gear_1")


def test_a_robot_that_cannot_put_down_what_it_holds_is_taken_out_of_service_with_the_reason():
    policy = RecoveryPolicy(ExecutionSettings())
    robot = SimpleNamespace(out_of_service="", misses=0, name="fanuc", held="gear_1")
    ends = [policy.conclude([blocked(Verb.PLACE_PART)], {"fanuc": robot}) for _ in range(7)]
    assert ends[:6] == [""] * 6
    assert "gear_1" in policy.left_out
    assert ends[6] == "fanuc: place-part failed 7 times: the straight way is blocked: tool touches post"


def test_parts_that_failed_have_one_more_chance_when_nothing_else_is_left():
    policy = RecoveryPolicy(ExecutionSettings(), left_out={"gear_1": "slipped"})
    assert policy.second_chance()
    assert not policy.left_out
    policy.left_out |= {"gear_1": "slipped again", "gear_2": "slipped"}
    assert policy.second_chance(), "of the other one"
    assert policy.left_out == {"gear_1": "slipped again"}
    assert not policy.second_chance()


@pytest.mark.parametrize("recovery", [RecoveryMode.NONE, RecoveryMode.RETRY])
def test_only_full_recovery_gives_second_chances(recovery):
    policy = RecoveryPolicy(ExecutionSettings(recovery=recovery), left_out={"gear_1": "slipped"})
    assert not policy.second_chance()
    assert policy.left_out
