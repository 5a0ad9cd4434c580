from dataclasses import replace

import pytest

from cellwright.core.errors import BadInput, UnknownName
from cellwright.orders import DESIGNS, find_order
from cellwright.planning import (
    TASK_PLANNERS,
    KitState,
    PlanRequest,
    PlanStatus,
    ToolHolderState,
    Verb,
)

NAMES = ["a2b1c1", "a2b2c1", "a4b3c3", "a4b4c2", "a2b3c5", "a4b3c2d1", "a2b3c3d1e1", "s2b2", "kit_s2l2", "kit_m2l1"]


@pytest.mark.parametrize("name", NAMES)
def test_every_order_has_the_shortest_plan(cell, name, checked):
    result = checked(PlanRequest(cell(), (find_order(name),)))
    tools = 2 if set("de") & set(name) and name[0] == "a" else 1
    # attach, lay a tray in three steps, per tool detach and attach, five steps a part, change again, clear in two
    assert len(result.actions) == 1 + 3 + 2 * tools + 5 * len(DESIGNS.get(name).slots) + 2 + 2
    assert result.status is PlanStatus.OPTIMAL
    assert result.cost == result.lower_bound == result.makespan_s


def test_tables_save_tool_changes(cell, checked):
    order = find_order("a2b3c3d1e1", 12)
    alone = checked(PlanRequest(cell(tables=1), (order,)))
    batched = checked(PlanRequest(cell(tables=4), (order,)))
    changes = [sum(a.verb is Verb.ATTACH for a in made.actions) for made in (alone, batched)]
    assert changes == [3 * 12 + 1, 3 * 3 + 1]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("kits", "tables"), [(1, 1), (2, 2), (9, 1), (10, 2)])
def test_two_robots_with_equal_kits_come_close_to_the_bound(cell, name, kits, tables, checked):
    result = checked(PlanRequest(cell(2, tables), (find_order(name, kits),), iterations=60))
    assert result.ratio <= 1.1
    assert {action.robot for action in result.actions} == {"robot_1", "robot_2"}


def test_more_iterations_never_make_it_worse(cell, checked):
    orders = (find_order("a2b1c1", 3), find_order("a2b3c3d1e1", 3))
    request = PlanRequest(cell(2, 2), orders)
    spans = [checked(replace(request, iterations=n)).makespan_s for n in (0, 12, 400)]
    assert spans == sorted(spans, reverse=True)


def test_a_shared_zone_is_never_entered_by_two(cell, checked):
    state = cell(2, 2)
    zones = tuple((place, "middle") for place in ("table_1", "table_2", "parts_a", "parts_b"))
    free = checked(PlanRequest(state, (find_order("a2b3c3d1e1", 4),)))
    tight = checked(PlanRequest(replace(state, zones=zones), (find_order("a2b3c3d1e1", 4),), iterations=40))
    assert tight.makespan_s > free.makespan_s


def test_reach_decides_who_does_what(cell, checked):
    state = cell(2, 2)
    no_a = replace(state.robots[0], reach=state.robots[0].reach - {"parts_a"})
    result = checked(PlanRequest(replace(state, robots=(no_a, state.robots[1])), (find_order("a2b1c1", 3),)))
    assert not result.unfinished
    assert {a.robot for a in result.actions if a.sku == "sku_part_a"} == {"robot_2"}


def test_kits_that_are_finished_need_nothing(cell, checked):
    design = DESIGNS.get("a2b1c1")
    kit = KitState("done", design, "outlet", tuple(slot.sku for slot in design.slots))
    result = checked(PlanRequest(replace(cell(), kits=(kit,)), (find_order("a2b1c1"),)))
    assert (result.status, result.actions) == (PlanStatus.OPTIMAL, ())


def test_bad_requests_are_one_line(cell):
    with pytest.raises(UnknownName, match=r"available: .*scheduler, sequencer"):
        TASK_PLANNERS.get("sequenzer")
    with pytest.raises(BadInput, match="at least one order"):
        PlanRequest(cell(), ())
    with pytest.raises(BadInput, match="2 places"):
        replace(
            cell(), holders=(ToolHolderState("holder_1", "tray_gripper"), ToolHolderState("holder_2", "tray_gripper"))
        )
    trays = cell().parts_trays
    with pytest.raises(BadInput, match="which takes 0 to 2000"):
        replace(cell(), parts_trays=(replace(trays[0], count=2001), *trays[1:]))
