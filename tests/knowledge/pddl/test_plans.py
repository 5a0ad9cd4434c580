"""Plans of ours in the words of planning files: accepted as they are, refused with a step less; and back."""

import pytest

from cellwright.core.errors import BadInput
from cellwright.knowledge.pddl import PddlError, PddlStep, planning_files
from cellwright.orders import DESIGNS, find_order
from cellwright.planning import plan, validate_sequence
from cellwright.planning.belief import request_of
from cellwright.planning.pddl_steps import actions_of, steps_of


def planned(database, orders, form="numeric", parts="counted", durations=None):
    request = request_of(database, orders)
    result = plan(request)
    kits = [(job.name, job.design) for job in request.jobs]
    files = planning_files(database, orders, form=form, parts=parts, durations=durations, kits=kits)
    return request, result, files


@pytest.mark.parametrize("name", list(DESIGNS))
def test_our_plan_of_every_order_is_accepted_and_with_a_step_less_refused(name, paper_cell, simulate, refused):
    _, result, files = planned(paper_cell, [find_order(name)], parts="named" if name == "a2b1c1" else "counted")
    steps = steps_of(result.actions, files.problem)
    assert len(steps) == len(result.actions) > 20
    simulate(files.problem, steps)
    for index in range(len(steps)):
        with pytest.raises(refused):
            simulate(files.problem, steps[:index] + steps[index + 1 :])


@pytest.mark.parametrize("parts", ["counted", "named"])
def test_there_and_back_changes_nothing(parts, paper_cell):
    request, result, files = planned(paper_cell, [find_order("a4b3c2d1")], parts=parts)
    steps = steps_of(result.actions, files.problem)
    shouted = [PddlStep(s.name.upper(), tuple(a.upper() for a in s.arguments)) for s in steps]
    assert actions_of(shouted, files.problem, files.names, request.durations) == result.actions


def test_times_are_kept_and_moved_apart(gear_cell, durations):
    _, result, files = planned(gear_cell, [find_order("kit_s2l2")], "temporal", durations=durations)
    steps = steps_of(result.actions, files.problem, epsilon_s=0.001)
    starts = [step.start_s for step in steps]
    assert len({round(start, 6) for start in starts}) == len(starts)
    assert actions_of(steps_of(result.actions, files.problem), files.problem, files.names) == tuple(
        sorted(result.actions, key=lambda action: action.start_s)
    )
    assert {step.arguments[-1] for step in steps if step.name == "place-part"} == {"shared_table"}


@pytest.mark.parametrize("parts", ["counted", "named"])
@pytest.mark.parametrize("state", ["tool", "part", "unwanted part", "tray", "kit", "kit and part"])
def test_any_state_can_be_planned_from(state, parts, small_cell, disturb, simulate):
    order = find_order("a2b1c1")
    database = small_cell
    if state == "tool":
        disturb.mount(database, "part_gripper")
    if state in ("part", "kit and part"):
        disturb.mount(database, "part_gripper")
        disturb.hold(database, "part_gripper", "part_b_2")
    if state in ("kit", "kit and part"):
        disturb.begin_kit(database, "a2b1c1", ["part_a_1", "part_a_2"])
    if state == "unwanted part":
        disturb.begin_kit(database, "a2b1c1", ["part_a_1", "part_a_2"])
        disturb.mount(database, "part_gripper")
        disturb.hold(database, "part_gripper", "part_a_3")
    if state == "tray":
        disturb.mount(database, "tray_gripper")
        disturb.hold(database, "tray_gripper", "empty_kit_tray_supply_tray_1")
    request, result, files = planned(database, [order], parts=parts)
    assert validate_sequence(request, result).valid
    assert not result.unfinished
    steps = steps_of(result.actions, files.problem)
    simulate(files.problem, steps)
    names = [step.name for step in steps]
    assert ("return-part" in names) == (state in ("part", "unwanted part"))  # no kit is there that would take it
    assert names.count("take-part") == {"kit": 2, "kit and part": 1, "unwanted part": 2}.get(state, 4)


def test_what_cannot_be_translated_is_refused(paper_cell):
    _, result, files = planned(paper_cell, [find_order("a2b1c1")], "classical")
    with pytest.raises(BadInput, match="numeric or temporal"):
        steps_of(result.actions, files.problem)
    _, _, files = planned(paper_cell, [find_order("a2b1c1")])
    with pytest.raises(PddlError, match="take-kit has 1 arguments"):
        actions_of([PddlStep("take-kit", ("robot_1",))], files.problem, files.names)
