"""Bounds against searches that try everything the rules allow."""

import pickle
from dataclasses import replace

import pytest

from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.planning import MOVES, Action, KitState, PlanRequest, Verb, plan
from cellwright.planning.rules import BrokenRule, RuleState

ONE = KitDesign.of("one", "sku_kit_tray", {"sku_part_a": 1})


def order(design, kits=1):
    return (Order("order", (OrderLine(design, kits),)),)


def all_steps(request):
    """Every step that could make sense anywhere."""
    state, steps = request.state, []
    skus = {sku for job in request.jobs for sku in job.design.parts}
    skus |= {sku for kit in state.kits for sku in kit.filled if sku} | {r.hand.sku for r in state.robots if r.hand}
    needed = {job.design.tray_sku for job in request.jobs} | skus
    for robot in state.robots:
        for tool in (tool for tool in state.tools if tool.handles & needed):
            here = (robot.name, tool.name)
            for holder in state.holders:
                steps += [Action(verb, *here, "", holder.name) for verb in (Verb.ATTACH, Verb.DETACH)]
            parts = [tray for tray in state.parts_trays if tray.sku in tool.handles & skus]
            steps += [Action(Verb.RETURN_PART, *here, tray.sku, tray.name) for tray in parts]
            for job in request.jobs:
                tray = job.design.tray_sku
                for table in state.tables:
                    if tray in tool.handles:
                        steps.append(Action(Verb.TAKE_TRAY, *here, tray, "stack_kit_tray", job.name, table))
                        steps.append(Action(Verb.PLACE_TRAY, *here, tray, table, job.name))
                        steps.append(Action(Verb.CREATE_KIT, *here, "", table, job.name))
                        steps.append(Action(Verb.TAKE_KIT, *here, tray, table, job.name))
                    for part in parts:
                        for verb in (Verb.LOOK_SLOT, Verb.PLACE_PART, Verb.REMOVE_PART):
                            steps.append(Action(verb, *here, part.sku, table, job.name))
                if tray in tool.handles:
                    steps.append(Action(Verb.PLACE_KIT, *here, tray, "outlet", job.name))
                for part in parts:
                    for verb in (Verb.LOOK_PART, Verb.SET_GRASP, Verb.TAKE_PART):
                        steps.append(Action(verb, *here, part.sku, part.name, job.name))
    return [step._replace(duration_s=request.durations.of(step.verb)) for step in steps]


def least_left_s(request, records):
    """A time that the only kit still needs, whatever the robots have begun."""
    d, (job,) = request.durations, request.jobs
    kit = records.kits[job.name]
    busy = any(robot.closed for robot in records.robots.values())
    if kit.finished:
        return 0.0
    if not kit.missing and not kit.place:
        return 0.0 if busy else d.place_kit_s
    left_s = 0.0 if kit.fixed else d.clear_s
    number = sum(kit.missing.values()) + len(kit.wrong)
    if number:
        left_s += number * d.place_part_s
        left_s += 0.0 if busy or any(r.hand for r in records.robots.values()) else d.take_part_s + d.look_slot_s
    if not kit.place and not busy:
        left_s += d.place_tray_s
    return left_s


def is_there_a_plan(request, before_s):
    """Whether any plan ends earlier: at every end of a step, every robot begins anything it may, or nothing."""
    steps = {r.name: [s for s in all_steps(request) if s.robot == r.name] for r in request.state.robots}
    zones, world = dict(request.state.zones), RuleState(request)
    frontier, seen = [(0.0, pickle.dumps(world.records), ())], set()
    while frontier:
        now_s, packed, running = frontier.pop()
        world.records = pickle.loads(packed)
        for end_s, step in running:
            if end_s <= now_s:
                world.finish(step)
        running = tuple(one for one in running if one[0] > now_s)
        if not world.open_kits():
            return True
        if now_s + least_left_s(request, world.records) >= before_s - 1e-6:
            continue
        packed = pickle.dumps(world.records)
        key = (packed, now_s, tuple(running))
        if key in seen:
            continue
        seen.add(key)
        options = [(packed, running)]
        for robot, own in steps.items():
            if any(step.robot == robot for _, step in running):
                continue
            for before, others in list(options):
                inside = {zones.get(s.place, s.place) for _, s in others if s.verb in MOVES}
                for step in own:
                    if step.verb in MOVES and zones.get(step.place, step.place) in inside:
                        continue
                    world.records = pickle.loads(before)
                    try:
                        world.begin(step)
                    except BrokenRule:
                        continue
                    options.append((pickle.dumps(world.records), (*others, (now_s + step.duration_s, step))))
        for after, begun in options:
            if begun:
                frontier.append((min(end_s for end_s, _ in begun), after, begun))
    return False


def small(cell, robots, tools, **changes):
    """A cell with few tools and holders, so that everything can be tried."""
    state = cell(robots, 1, stock=50)
    holders = tuple(holder for holder in state.holders if holder.tool in tools)
    gone = {holder.name for holder in state.holders} - {holder.name for holder in holders}
    arms = tuple(replace(robot, reach=robot.reach - gone) for robot in state.robots)
    kept = tuple(tool for tool in state.tools if tool.name in tools)
    trays = tuple(replace(tray, count=40) for tray in state.parts_trays)
    return replace(state, robots=arms, tools=kept, holders=holders, parts_trays=trays, **changes)


def on_table(design, *skus, fixed=False):
    return (KitState("kit", design, "table_1", skus, fixed=fixed),)


@pytest.mark.parametrize(
    ("robots", "sku"), [(1, None), pytest.param(1, "sku_part_b", marks=pytest.mark.long), (2, ""), (2, None)]
)
def test_nothing_beats_the_bound(cell, robots, sku):
    """A kit to be laid, a kit with a wrong part, and for two robots a kit that lacks its part."""
    kits = () if sku is None else on_table(ONE, sku or None)
    state = small(cell, robots, ("tray_gripper", "part_gripper"), kits=kits)
    request = PlanRequest(state, order(ONE))
    result = plan(request)
    assert result.makespan_s == result.lower_bound
    assert not is_there_a_plan(request, result.lower_bound)
    assert is_there_a_plan(request, result.lower_bound + 0.1)


def test_nothing_beats_the_bound_of_two_tools_at_one_table(cell):
    design = KitDesign.of("two", "sku_kit_tray", {"sku_part_a": 1, "sku_part_d": 1})
    kits = (KitState("kit", design, "table_1", (None, None), fixed=True),)
    request = PlanRequest(small(cell, 2, ("part_gripper", "vacuum_gripper"), kits=kits), order(design))
    result = plan(request)
    assert result.makespan_s == result.lower_bound == 23.5  # either robot is in the table's zone for 4.5 s
    assert not is_there_a_plan(request, result.lower_bound)


@pytest.mark.parametrize(
    ("kits", "tables", "parts", "best_s"),
    [(1, 2, (4, 4), 92.0), (1, 2, (4, 2), 86.0), (2, 2, (4, 4), 148.0), (3, 2, (3, 2), 176.0)],
)
def test_what_a_constraint_solver_proved_optimal(cell, kits, tables, parts, best_s):
    """OR-tools' CP-SAT proved these for a coarser model: all parts of a tool in a kit in one go, by one robot."""
    design = KitDesign.of("solved", "sku_kit_tray", {"sku_part_a": parts[0], "sku_part_d": parts[1]})
    result = plan(PlanRequest(cell(2, tables), order(design, kits)))
    assert result.lower_bound <= best_s <= result.makespan_s + 1e-6
    assert result.makespan_s <= 1.02 * best_s
