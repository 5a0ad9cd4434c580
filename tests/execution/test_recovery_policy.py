"""What follows from failures: parts that are left out, robots that are taken out of service, with the reason."""

from dataclasses import replace
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


def hidden(verb, part):
    action = Action(verb, "motoman", "tray_vacuum", "sku_kit_m2l1_vessel", "work_table", "kit_1")
    return ActionFailure("motoman", action, FailureKind.HIDDEN, f"{part} is in no camera's view", part)


@pytest.mark.parametrize("retries", [0, 2])
def test_what_no_camera_sees_ends_the_work_after_as_many_tries_as_are_allowed(retries):
    policy = RecoveryPolicy(ExecutionSettings(retries=retries))
    robot = SimpleNamespace(out_of_service="", misses=0, name="motoman", held="")
    ends = [policy.conclude([hidden(Verb.TAKE_KIT, "tray_2")], {"motoman": robot}) for _ in range(retries + 1)]
    assert ends[:-1] == [""] * retries
    assert ends[-1] == "take-kit by motoman: tray_2 is in no camera's view"


def test_a_kit_that_is_not_complete_is_not_tried_to_be_taken_plan_after_plan():
    policy = RecoveryPolicy(ExecutionSettings())
    robot = SimpleNamespace(out_of_service="", misses=0, name="motoman", held="")
    failure = replace(hidden(Verb.TAKE_KIT, "kit_1"), kind=FailureKind.WRONG, reason="kit-is-complete(kit_1) is false")
    assert policy.conclude([failure], {"motoman": robot}) == "take-kit by motoman: kit-is-complete(kit_1) is false"


def test_a_part_that_no_camera_sees_is_left_out_and_another_one_taken():
    policy = RecoveryPolicy(ExecutionSettings())
    robot = SimpleNamespace(out_of_service="", misses=0, name="motoman", held="")
    assert not any(policy.conclude([hidden(Verb.LOOK_PART, "gear_1")], {"motoman": robot}) for _ in range(4))
    assert "gear_1" in policy.left_out
