"""Plans and bounds of two robots of different reach against the optimum, which a search that knows no planner finds.

Kits stay where they are, so there is nothing but parts, tools, hand-overs and zones. Every order in which the robots
could do their moves is tried, each move as soon as it can be; among those orders is a shortest plan.
"""

import random
from dataclasses import replace

import pytest

from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.planning import Durations, KitState, PartSupply, PlanRequest, PlanStatus, ToolHolderState, Verb, plan
from cellwright.planning.validator import validate_timed

D = Durations()
A, B, E = "sku_part_a", "sku_part_b", "sku_part_e"


def draw(cell, seed):
    """Two fixed kits with two to four open slots, three kinds of parts, two tools, places that not all reach."""
    rng = random.Random(seed)
    state = cell(2, 2)
    kits, lines = [], []
    for number in range(rng.choice((1, 2))):
        counts = dict.fromkeys(rng.sample((A, B, E), rng.randint(1, 2)), 1)
        design = KitDesign.of(f"kit_{number}", "sku_kit_tray", counts)
        filled = [None] * len(design.slots)
        if rng.random() < 0.3:
            filled[0] = rng.choice([sku for sku in (A, B, E) if sku != design.slots[0].sku])
        kits.append(KitState(f"there_{number}", design, state.tables[number], tuple(filled), fixed=True))
        lines.append(OrderLine(design, 1))
    stock = {"left_a": (A, 3), "mid_a": (A, rng.choice((0, 0, 2))), "tray_b": (B, 3), "tray_e": (E, 3)}
    trays = tuple(PartSupply(name, sku, count, 9) for name, (sku, count) in stock.items())
    tools = [tool for tool in state.tools if tool.name != "tray_gripper"]
    holders = (ToolHolderState("holder_1"), ToolHolderState("holder_2"))
    first, second = rng.sample([tool.name for tool in tools], 2)
    on_first = rng.choice((first, None))
    holders = holders if on_first else (ToolHolderState("holder_1", first), ToolHolderState("holder_2"))
    state = replace(state, parts_trays=trays, tray_stacks=(), outlets=(), tables=state.tables[: len(kits)],
                    tools=tuple(tools), holders=holders, kits=tuple(kits),
                    robots=tuple(replace(r, reach=frozenset()) for r in state.robots))  # fmt: skip
    who = {place: rng.choice(((0,), (1,), (0, 1), (0, 1))) for place in sorted(state.places)}
    reach = [frozenset(place for place in state.places if number in who[place]) for number in (0, 1)]
    robots = (
        replace(state.robots[0], reach=reach[0], tool=on_first),
        replace(state.robots[1], reach=reach[1], tool=second),
    )
    shared = [place for place in sorted(state.places) if len(who[place]) == 2]
    zones = tuple((place, "zone") for place in shared if rng.random() < 0.6)
    return PlanRequest(replace(state, robots=robots, zones=zones), (Order("order", tuple(lines)),), iterations=60)


class Exact:
    """All orders of moves, without those that another one makes useless."""

    def __init__(self, request):
        self.request, self.state = request, request.state
        self.handles = {tool.name: tool.handles for tool in self.state.tools}
        self.zones = dict(self.state.zones)
        self.seen = {}

    def shorter_than(self, limit_s):
        """The least makespan below the limit, or the limit."""
        self.best_s = limit_s
        robots = tuple((0.0, r.tool, r.hand.sku if r.hand else None) for r in self.state.robots)
        holders = tuple((h.tool, 0.0) for h in self.state.holders)
        trays = tuple((0.0,) * tray.count for tray in self.state.parts_trays)
        kits = tuple((tuple(sorted(k.open_slots.items())), tuple(sorted(k.wrong)), 0.0) for k in self.state.kits)
        self.go(robots, holders, trays, kits, {}, 0.0)
        return self.best_s

    def go(self, robots, holders, trays, kits, busy, end_s):
        lacking = sum(n for missing, _, _ in kits for _, n in missing) + sum(len(wrong) for _, wrong, _ in kits)
        if not lacking and not any(hand for _, _, hand in robots):
            self.best_s = min(self.best_s, end_s)
            return
        held = sum(hand is not None for _, _, hand in robots)
        left_s = lacking * (D.look_slot_s + D.place_part_s) + max(lacking - held, 0) * min(4.0, D.remove_part_s)
        if max(end_s, (robots[0][0] + robots[1][0] + left_s) / 2) >= self.best_s - 1e-6:
            return
        key = (
            tuple(r[1:] for r in robots),
            tuple(h[0] for h in holders),
            tuple(map(len, trays)),
            tuple(k[:2] for k in kits),
        )
        names = sorted({self.zones.get(p, p) for p in self.state.places})
        times = [r[0] for r in robots] + [h[1] for h in holders] + [t for tray in trays for t in tray]
        times += [k[2] for k in kits] + [busy.get(name, 0.0) for name in names]
        known = self.seen.setdefault(key, [])
        if any(all(a <= b + 1e-9 for a, b in zip(old, times, strict=True)) for old in known):
            return
        known.append(times)
        for number in (0, 1):
            for move in self.moves(number, robots, holders, trays, kits):
                self.make(number, move, robots, holders, trays, kits, busy, end_s)

    def moves(self, number, robots, holders, trays, kits):
        """What a robot could do: place, before what, how long, since when, and how the cell is changed."""
        _, tool, hand = robots[number]
        reach = self.state.robots[number].reach
        wanted = {sku for missing, _, _ in kits for sku, _ in missing} | {b for _, wrong, _ in kits for _, b in wrong}
        handles = self.handles.get(tool, frozenset())
        for at, holder in enumerate(self.state.holders):
            there, since_s = holders[at]
            if holder.name in reach and tool is None and there:
                yield holder.name, 0.0, D.attach_s, since_s, ("holder", at, None, there)
            if holder.name in reach and tool and hand is None and there is None:
                yield holder.name, 0.0, D.detach_s, since_s, ("holder", at, tool, None)
        for at, tray in enumerate(self.state.parts_trays):
            if tray.name in reach and hand == tray.sku and len(trays[at]) < tray.capacity:
                yield tray.name, 0.0, D.return_part_s, 0.0, ("return", at)
            if tray.name in reach and hand is None and trays[at] and tray.sku in handles & wanted:
                yield tray.name, D.look_part_s + D.set_grasp_s, D.take_part_s, min(trays[at]), ("take", at)
        for at, kit in enumerate(self.state.kits):
            missing, wrong, since_s = kits[at]
            if kit.place in reach and hand in dict(missing):
                yield kit.place, D.look_slot_s, D.place_part_s, since_s, ("place", at)
            for pair in set(wrong):
                if kit.place in reach and hand is None and pair[0] in handles:
                    yield kit.place, 0.0, D.remove_part_s, 0.0, ("remove", at, pair)

    def make(self, number, move, robots, holders, trays, kits, busy, end_s):
        place, before_s, duration_s, since_s, (kind, at, *how) = move
        time_s, tool, hand = robots[number]
        zone = self.zones.get(place, place)
        pace = self.state.robots[number].pace
        start_s = max(max(time_s, since_s) + before_s * pace, busy.get(zone, 0.0))
        done_s = start_s + duration_s * pace
        if kind == "holder":
            put, tool = how
            holders = (*holders[:at], (put, done_s), *holders[at + 1 :])
        elif kind == "take":
            hand, rest = self.state.parts_trays[at].sku, sorted(trays[at])[1:]
            trays = (*trays[:at], tuple(rest), *trays[at + 1 :])
        elif kind == "return":
            trays = (*trays[:at], tuple(sorted((*trays[at], done_s))), *trays[at + 1 :])
            hand = None
        else:
            missing, wrong, since_s = kits[at]
            counts = dict(missing)
            if kind == "place":
                counts[hand] -= 1
                hand = None
            else:
                (pair,) = how
                wrong = list(wrong)
                wrong.remove(pair)
                counts[pair[1]] = counts.get(pair[1], 0) + 1
                hand, since_s = pair[0], done_s
            missing = tuple(sorted((sku, n) for sku, n in counts.items() if n))
            kits = (*kits[:at], (missing, tuple(wrong), since_s), *kits[at + 1 :])
        moved = (done_s, tool, hand)
        robots = (moved, robots[1]) if number == 0 else (robots[0], moved)
        self.go(robots, holders, trays, kits, {**busy, zone: done_s}, max(end_s, done_s))


def paced(request, *paces):
    robots = tuple(replace(robot, pace=pace) for robot, pace in zip(request.state.robots, paces, strict=True))
    return replace(request, state=replace(request.state, robots=robots))


def compare(cell, seeds, paces=(1.0, 1.0)):
    """Number of plans, of bounds that are the optimum, and of plans that are; checks all of them."""
    plans = tight = best = handed = 0
    for seed in seeds:
        request = paced(draw(cell, seed), *paces)
        result = plan(request)
        if not result.actions or result.unfinished:
            continue
        verdict = validate_timed(request, result)
        assert verdict.valid, (seed, verdict.reason)
        optimum_s = Exact(request).shorter_than(result.makespan_s)
        assert 0.0 <= result.lower_bound <= optimum_s + 1e-6, seed
        assert (result.status is PlanStatus.OPTIMAL) == (result.lower_bound >= result.makespan_s - 1e-6), seed
        plans, tight = plans + 1, tight + (result.lower_bound > optimum_s / 1.01)
        best += result.makespan_s <= optimum_s + 1e-6
        handed += any(a.verb is Verb.RETURN_PART for a in result.actions)
    return plans, tight, best, handed


def test_no_bound_is_above_the_optimum_of_small_problems(cell):
    plans, tight, best, handed = compare(cell, range(40))
    assert plans >= 12
    assert tight >= plans // 3  # a bound that is one per cent too high is noticed
    assert best >= plans * 3 // 4
    assert handed


@pytest.mark.parametrize("paces", [(1.0, 1.3), (1.5, 1.0)])
def test_no_bound_is_above_the_optimum_where_one_robot_is_slower(cell, paces):
    plans, _, best, _ = compare(cell, range(20), paces)
    assert plans >= 5
    assert best >= plans // 2


def test_of_two_robots_the_quicker_one_does_what_both_can(cell):
    design = KitDesign.of("kit", "sku_kit_tray", {A: 1})
    state = cell(2, 1)
    state = replace(state, kits=(KitState("there", design, state.tables[0], (None,), fixed=True),))
    request = PlanRequest(state, (Order("order", (OrderLine(design, 1),)),))
    for paces, quicker in (((3.0, 1.0), "robot_2"), ((1.0, 3.0), "robot_1")):
        for planner in (None, "sequencer", "scheduler"):
            unequal = paced(request, *paces)
            result = plan(unequal, planner)
            assert {action.robot for action in result.actions} == {quicker}
            assert validate_timed(unequal, result).valid
            assert result.lower_bound <= result.makespan_s + 1e-6
            slower = validate_timed(paced(request, 1.1, 1.1), result)
            assert not slower.valid
            assert "not" in slower.reason


def test_what_is_called_unsolvable_has_no_plan(cell):
    proven = 0
    for seed in range(30):
        request = draw(cell, seed)
        result = plan(request)
        if result.status is PlanStatus.UNSOLVABLE and len(request.jobs) == 1:
            proven += 1
            assert Exact(request).shorter_than(50.0) == 50.0, seed
    assert proven >= 2


@pytest.mark.long
def test_no_bound_is_above_the_optimum_of_many_small_problems(cell):
    plans, tight, best, _ = compare(cell, range(40, 1000))
    assert plans >= 300
    assert tight >= plans // 3
    assert best >= plans * 3 // 4
