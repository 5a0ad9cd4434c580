from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.orders import Order, OrderLine, find_order
from cellwright.planning import KitState, PlanRequest, ToolHolderState, plan, validate_sequence
from cellwright.planning.external import (
    PlanLine,
    PlannerDialect,
    PlannerFailed,
    choose_work,
    decode,
    encode,
    read_plan_file,
    task_of,
)
from cellwright.planning.external.symbols import Symbols


def sequenced(request):
    """Our own plan for the robot that other planners would plan for."""
    work = choose_work(request)
    robots = tuple(replace(robot, available=robot.name == work.robots[0].name) for robot in request.state.robots)
    return work, plan(replace(request, state=replace(request.state, robots=robots)), "sequencer")


def check_both_ways(request, form, machine, as_lines):
    """Our plan is one in the PDDL files too, at the same cost, and comes back from there as it was."""
    work = choose_work(request)
    if not work.jobs:
        return False
    work, ours = sequenced(request)
    if not ours.actions:
        return False
    encoding = encode(task_of(work), form)
    lines = as_lines(encoding, ours.actions)
    world = machine(encoding.domain, encoding.problem)
    for line in lines:
        assert not world.done()
        world.do(line)
    assert world.done()
    if form is PlannerDialect.NUMERIC:
        assert world.numbers[("total-cost",)] == pytest.approx(1000 * ours.cost)
    back = decode(encoding, read_plan_file("\n".join(f"({line})" for line in lines), "test"), "test")
    assert back.cost == pytest.approx(ours.cost)
    assert validate_sequence(request, back).valid
    return True


@pytest.mark.parametrize("form", PlannerDialect)
def test_our_plans_are_plans_of_the_files_and_come_back(request_from, machine, as_lines, form):
    requests = [request_from(seed, harsh=seed % 2 == 0, largest=3) for seed in range(40)]
    assert sum(check_both_ways(request, form, machine, as_lines) for request in requests) > 20


@pytest.mark.parametrize("form", PlannerDialect)
def test_of_two_robots_the_better_one_is_planned_for(request_from, machine, as_lines, form):
    requests = [request_from(seed, robots=2, largest=3) for seed in range(30)]
    assert sum(check_both_ways(request, form, machine, as_lines) for request in requests) > 8


@pytest.mark.parametrize("form", PlannerDialect)
def test_kits_that_stay_and_a_tool_that_stays(cell, machine, as_lines, form):
    """As in the lab's cells: trays stand where they stand, the gripper has no holder."""
    design = find_order("kit_m2l1").lines[0].design
    state = cell(tables=3)
    kits = tuple(KitState(f"kit_{n}", design, f"table_{n}", (None,) * len(design.slots), fixed=True) for n in (1, 2))
    robot = replace(state.robots[0], tool="part_gripper", reach=state.robots[0].reach - {"table_3", "holder_2"})
    holders = tuple(ToolHolderState(h.name, None if h.tool == "part_gripper" else h.tool) for h in state.holders)
    request = PlanRequest(replace(state, robots=(robot,), holders=holders, kits=kits), (find_order("kit_m2l1", 2),))
    assert not task_of(choose_work(request)).changeable
    assert check_both_ways(request, form, machine, as_lines)


@pytest.mark.parametrize("form", PlannerDialect)
def test_wrong_parts_are_taken_out(scrambled, machine, as_lines, form):
    checked = 0
    for seed in range(80):
        request = scrambled(seed)
        work = choose_work(request)
        if work.jobs and task_of(work).mistakes and validate_sequence(request, sequenced(request)[1]).valid:
            checked += check_both_ways(request, form, machine, as_lines)
    assert checked >= 8


def test_the_files_do_not_depend_on_the_run(request_from):
    first, second = (encode(task_of(choose_work(request_from(5)))) for _ in range(2))
    assert (first.domain, first.problem) == (second.domain, second.problem)


def test_the_files_grow_with_the_designs_and_not_with_the_kits(cell):
    few, many = (PlanRequest(cell(), (find_order("a2b3c3d1e1", number),)) for number in (10, 100))
    sizes = [len(encode(task_of(choose_work(request)), PlannerDialect.NUMERIC).problem) for request in (few, many)]
    assert sizes[1] - sizes[0] <= 1  # a digit more


def test_urgent_kits_get_their_trays_first(cell, machine):
    orders = (find_order("a2b1c1", 2), find_order("kit_m2l1", priority=1))
    encoding = encode(task_of(choose_work(PlanRequest(cell(tables=4), orders))))
    world = machine(encoding.domain, encoding.problem)
    world.do("attach-endeffector tray_gripper")
    with pytest.raises(AssertionError, match="waiting"):
        world.do("lay-kittray-a2b1c1 tray_gripper table_1")
    world.do("lay-kittray-kit_m2l1 tray_gripper table_1")
    world.do("lay-kittray-a2b1c1 tray_gripper table_2")


def test_one_design_with_two_priorities_is_two_classes(cell, machine, as_lines):
    design = find_order("a2b1c1").lines[0].design
    orders = tuple(Order(f"order_{n}", (OrderLine(design, 2),), n) for n in (0, 1))
    request = PlanRequest(cell(tables=2), orders)
    assert {kits.name for kits in task_of(choose_work(request)).classes} == {"a2b1c1_priority_0", "a2b1c1_priority_1"}
    assert check_both_ways(request, PlannerDialect.CLASSICAL, machine, as_lines)


def lines_of(text):
    return [PlanLine(n, *_split(row)) for n, row in enumerate(text.strip().splitlines(), start=1)]


def _split(row):
    name, *arguments = row.split()
    return name, tuple(arguments)


GOOD = """
attach-endeffector tray_gripper
lay-kittray-a2b1c1 tray_gripper table_1
"""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("fly away", r"line 3 \(fly away\): there is no such step"),
        ("lay-kittray-a2b1c1 tray_gripper table_1", "line 3.*table_1 is not free"),
        ("lay-kittray-a9 tray_gripper table_2", "no kit of that class is waiting"),
        ("move-part part_gripper sku_part_a table_1", "robot_1 has tray_gripper, not part_gripper"),
        ("move-part tray_gripper sku_part_a table_1", "line 3.*tray_gripper does not handle sku_part_a"),
        ("move-part tray_gripper sku_part_e table_1", "there is no sku 'sku_part_e'"),
        ("move-part tray_gripper", "a sku is missing"),
        ("clear-kit tray_gripper sku_kit_tray table_1", "line 3.*kit a2b1c1_1 is not full"),
        ("clear-kit tray_gripper sku_kit_tray table_2", "there is no kit on table_2"),
        ("attach-endeffector part_gripper", "part_gripper cannot be attached now"),
        ("attach-endeffector hammer", "there is no tool 'hammer'"),
        ("place-part table_1", "robot_1 holds nothing"),
        ("discard-part-mistake_1 tray_gripper", "there is no mistake 'mistake_1'"),
        ("detach-endeffector tray_gripper", "at the end of the plan kit a2b1c1_1 lacks"),
    ],
)
def test_a_wrong_plan_is_refused_with_line_and_reason(cell, more, said):
    encoding = encode(task_of(choose_work(PlanRequest(cell(tables=2), (find_order("a2b1c1"),)))))
    with pytest.raises(PlannerFailed, match=said) as failed:
        decode(encoding, lines_of(GOOD + more), "theirs")
    assert str(failed.value).startswith("planner theirs: ")
    assert failed.value.exit_code == 1


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), data=st.data())
def test_any_plan_is_valid_or_refused(request_from, as_lines, seed, data):
    """A good plan with lines lost, doubled and exchanged never crashes the decoder, and never gets through invalid."""
    request = request_from(seed, harsh=False, largest=2)
    if not choose_work(request).jobs:
        return
    work, ours = sequenced(request)
    encoding = encode(task_of(work))
    lines = as_lines(encoding, ours.actions)
    if lines:
        picks = data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=len(lines) + 3))
        lines = [lines[pick] for pick in picks] if data.draw(st.booleans()) else sorted(lines, key=lambda _: 0)
    try:
        result = decode(encoding, lines_of("\n".join(lines)) if lines else [], "theirs")
    except PlannerFailed:
        return
    assert validate_sequence(request, result).valid


@given(st.lists(st.tuples(st.sampled_from(["tool", "spot", "sku"]), st.text(max_size=8)), unique=True, max_size=20))
def test_symbols_are_plain_different_and_can_be_read_back(things):
    symbols = Symbols()
    made = {thing: symbols.of(*thing) for thing in things}
    assert len(set(made.values())) == len(things)
    for (kind, name), symbol in made.items():
        assert symbol == symbol.lower()
        assert symbol.isascii()
        assert symbol[0].isalpha()
        assert " " not in symbol
        assert symbols.name(kind, symbol.upper()) == name
        assert symbols.name("class", symbol) is None
