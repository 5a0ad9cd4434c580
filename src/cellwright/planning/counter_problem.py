"""The relaxed problem of two robots and counters: a planning problem in which parts, kits and places have no names.

Only how many trays are laid, parts placed and kits taken away is counted, and which tools the robots have. Whatever is
possible in the cell is possible for the counters, so no plan is shorter than the shortest one of the counters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate

from cellwright.planning.actions import Durations
from cellwright.planning.eligible import Eligible
from cellwright.planning.planner import KitJob
from cellwright.planning.state import HeldKind, PlannerRobot
from cellwright.planning.work import Work

__all__ = ["CounterProblem", "sole_tools"]


@dataclass(frozen=True)
class CounterProblem:
    """The relaxed problem, in counters.

    Tools are numbered; number 0 handles kit trays. Parts are counted by class: a tool, and the robots that reach
    something of it.

    Attributes:
        names: Tool of each number.
        classes: For each class of parts its tool's number, and the robots that can fetch such parts.
        kits: The number of trays to be laid.
        on_tables: The number of kits on tables to be taken away besides.
        tables: The number of kits that fit at once and are taken away later.
        occupied_s: Number of trays to be laid -> how long so many new kits keep their tables in sum, at least.
        room: Number of laid trays -> for each class, how many parts such kits can take at most.
        staying: For each class, how many parts kits lack that stay where they are.
        least: Number of kits taken away -> for each class, how many parts must have been placed at least.
        wrong: For each class, how many wrong parts have to be taken out.
        reusable: For each class, whether some kit lacks such a wrong part.
        several: New kits need two tools or more besides the one for trays.
        tools: For each robot, the tool on it; -1 for one that nothing needs.
        hands: For each robot, what it holds: a part's class, -1 for one that no kit lacks, `tray`, `kit` or nothing.
        wanted: For each robot, whether it holds a kit that was ordered.
        returnable: For each robot, whether what it holds can go back where it came from.
        able: For each robot, the tools that it can get.
        lays: The robots that can lay trays.
        clears: The robots that can take kits away.
        new: For each tray to be laid, its parts by class, the robots that can lay it, and those that can take it away.
    """

    durations: Durations
    names: tuple[str, ...]
    classes: tuple[tuple[int, frozenset[int]], ...]
    kits: int
    on_tables: int
    tables: int
    occupied_s: tuple[float, ...]
    room: tuple[tuple[int, ...], ...]
    staying: tuple[int, ...]
    least: tuple[tuple[int, ...], ...]
    wrong: tuple[int, ...]
    reusable: tuple[bool, ...]
    several: bool
    tools: tuple[int | None, int | None]
    hands: tuple[int | str | None, int | str | None]
    wanted: tuple[bool, bool]
    returnable: tuple[bool, bool]
    able: tuple[frozenset[int], frozenset[int]]
    lays: frozenset[int]
    clears: frozenset[int]
    new: tuple[tuple[tuple[int, ...], frozenset[int], frozenset[int]], ...] = ()

    @staticmethod
    def of(work: Work) -> CounterProblem | None:
        """Returns the counters of two robots' work; None when tools are interchangeable or there are donor kits."""
        sole, eligible = sole_tools(work), Eligible(work)
        demand = [(job, dict(job.started.needed if job.started else job.design.parts)) for job in work.jobs]
        wrong = Counter(pair[0] for job in work.jobs if job.started for pair in job.started.wrong)
        wanted = {sku for _, needs in demand for sku in needs}
        trays = {sole.get(job.design.tray_sku, "") for job in work.jobs}
        if len(work.robots) != 2 or len(trays) != 1 or "" in trays or not wanted | set(wrong) <= sole.keys():
            return None
        if work.donors:
            return None
        names = (*trays, *sorted({sole[sku] for sku in wanted | set(wrong)} - trays))
        number = {name: index for index, name in enumerate(names)}
        class_of, classes = _classes(work, eligible, {sku: number[sole[sku]] for sku in wanted | set(wrong)})

        def count(job: KitJob | None, needs: Mapping[str, int]) -> tuple[int, ...]:
            counts = [0] * len(classes)
            for sku, many in needs.items():
                counts[class_of[job.name if job else "", sku]] += many
            return tuple(counts)

        held = [job.name for job in work.jobs if job.started and not job.started.place]
        new = [count(job, needs) for job, needs in demand if job.started is None]
        begun = [count(job, n) for job, n in demand if job.started and not job.started.fixed and job.name not in held]
        staying = [count(job, needs) for job, needs in demand if job.started and job.started.fixed]
        usable = {table for tables in work.tables_of.values() for table in tables}
        usable |= {j.started.place for j in work.jobs if j.started and not j.started.fixed and j.started.place}
        loose = {sku: class_of["", sku] for key, sku in class_of if not key}
        hands = [_hand(robot, loose, wanted) for robot in work.robots]
        on_robots = [None if r.tool is None else number.get(r.tool, -1) for r in work.robots]
        ordered = [bool(r.hand and r.hand.kit and r.hand.kit in held) for r in work.robots]
        back = [_returnable(work, robot, wanted) for robot in (0, 1)]
        able = [frozenset(number[t] for t in work.tools_of[r.name] if t in number) for r in work.robots]
        by_tool = {needs: _by_tool(needs, classes, len(names)) for needs in set(new)}
        d = work.request.durations
        jobs = [job for job in work.jobs if job.name not in held]
        reusable = {class_of["", sku] for sku in wrong if sku in wanted}
        return CounterProblem(
            durations=d,
            names=names,
            classes=classes,
            kits=len(new),
            on_tables=len(begun),
            tables=max(len(usable), 1),
            occupied_s=tuple(accumulate(sorted(_occupied_s(by_tool[needs], d) for needs in new), initial=0.0)),
            room=_sums(new, [sum(column) for column in zip(*begun, strict=True)] or [0] * len(classes), True),
            staying=tuple(sum(needs[j] for needs in staying) for j in range(len(classes))),
            least=_sums(new + begun, [0] * len(classes), False),
            wrong=count(None, wrong),
            reusable=tuple(j in reusable for j in range(len(classes))),
            several=all(sum(many > 0 for many in needs[1:]) > 1 for needs in by_tool.values()),
            tools=(on_robots[0], on_robots[1]),
            hands=(hands[0], hands[1]),
            wanted=(ordered[0], ordered[1]),
            returnable=(back[0], back[1]),
            able=(able[0], able[1]),
            lays=frozenset[int]().union(*(eligible.lays(job) for job in jobs if job.started is None)),
            clears=frozenset[int]().union(
                *(eligible.clears(job) for job in jobs if not (job.started and job.started.fixed))
            ),
            new=tuple(
                (count(job, n), eligible.lays(job), eligible.clears(job)) for job, n in demand if job.started is None
            ),
        )

    def one_kit(self, needs: tuple[int, ...], lays: frozenset[int], clears: frozenset[int]) -> CounterProblem:
        """Returns the same cell with nothing but one new kit, which has a table to itself."""
        nothing = (0,) * len(self.classes)
        return replace(
            self,
            kits=1,
            on_tables=0,
            tables=1,
            occupied_s=(0.0, 0.0),
            room=(nothing, needs),
            staying=nothing,
            least=(nothing, needs),
            wrong=nothing,
            several=False,
            hands=(None, None),
            wanted=(False, False),
            lays=lays,
            clears=clears,
        )


def _classes(
    work: Work, eligible: Eligible, tool_of: Mapping[str, int]
) -> tuple[dict[tuple[str, str], int], tuple[tuple[int, frozenset[int]], ...]]:
    """Returns kit and SKU -> class, and the classes.

    A part that is in a robot's hand or wrong in a kit is the same for all kits, and may come from there: those have a
    class without a kit, too.
    """
    loose = {pair[0] for job in work.jobs if job.started for pair in job.started.wrong}
    loose |= {robot.hand.sku for robot in work.robots if robot.hand}
    anywhere = _reaching(work, [*work.request.state.places])
    kinds: dict[tuple[str, str], tuple[int, frozenset[int]]] = {}
    for job in work.jobs:
        for sku in job.started.needed if job.started else job.design.parts:
            kinds[job.name, sku] = (tool_of[sku], anywhere if sku in loose else eligible.fills(job, sku))
    for sku in loose & tool_of.keys():
        kinds["", sku] = (tool_of[sku], anywhere)
    classes = tuple(sorted(set(kinds.values()), key=lambda kind: (kind[0], sorted(kind[1]))))
    return {key: classes.index(kind) for key, kind in kinds.items()}, classes


def _reaching(work: Work, places: list[str]) -> frozenset[int]:
    """Returns robots that reach one of the places, and a table at which there is something to do."""
    tables = {table for tables in work.tables_of.values() for table in tables}
    tables |= {job.started.place for job in work.jobs if job.started}
    return frozenset(i for i, robot in enumerate(work.robots) if robot.reach & set(places) and robot.reach & tables)


def _hand(robot: PlannerRobot, class_of: Mapping[str, int], wanted: set[str]) -> int | str | None:
    if robot.hand is None:
        return None
    if robot.hand.kind is HeldKind.PART:
        return class_of[robot.hand.sku] if robot.hand.sku in wanted else -1
    return "tray" if robot.hand.kind is HeldKind.KIT_TRAY else "kit"


def _by_tool(needs: tuple[int, ...], classes: tuple[tuple[int, frozenset[int]], ...], tools: int) -> list[int]:
    return [sum(many for many, kind in zip(needs, classes, strict=True) if kind[0] == x) for x in range(tools)]


def _occupied_s(needs: list[int], d: Durations) -> float:
    """Returns the least time from when a tray is fetched for a table until the kit has been taken from it.

    With two tools for parts, one of them is not on a robot when the tray has been laid. Either the robot that laid it
    changes there and back, or the robots swap their tools, or one robot does all parts. One part may be in hand
    before the tray is there.
    """
    parts_s = [many * d.part_s for many in needs[1:] if many]
    fill_s = max(parts_s, default=0.0)
    if len(parts_s) == 2:
        change_s, (one_s, two_s) = d.change_s, parts_s
        there_and_back_s = min(max(one_s, 2 * change_s + two_s), max(two_s, 2 * change_s + one_s))
        fill_s = min(there_and_back_s, change_s + fill_s, one_s + two_s + change_s)
    return d.lay_s + max(fill_s - (d.part_s - d.held_part_s), 0.0) + d.take_kit_s


def _sums(kits: list[tuple[int, ...]], first: list[int], largest: bool) -> tuple[tuple[int, ...], ...]:
    """Returns, for 0, 1, 2 ... kits and each class, the most or the fewest parts that so many kits need."""
    columns = []
    for j, start in enumerate(first):
        columns.append(list(accumulate(sorted((needs[j] for needs in kits), reverse=largest), initial=start)))
    return tuple(zip(*columns, strict=True)) if columns else ((),) * (len(kits) + 1)


def _returnable(work: Work, robot: int, wanted: set[str]) -> bool:
    arm, state = work.robots[robot], work.request.state
    if arm.hand is None or arm.hand.sku in wanted:  # taking one makes room
        return True
    trays = (tray for tray in state.parts_trays if tray.name in arm.reach and tray.count < tray.capacity)
    stacks = (stack for stack in state.tray_stacks if stack.name in arm.reach)
    return arm.hand.sku in {tray.sku for tray in trays} | {stack.sku for stack in stacks}


def sole_tools(work: Work) -> dict[str, str]:
    """Returns SKU -> the tool, where only one can be had that handles it."""
    tools: set[str] = set().union(*work.tools_of.values())
    able: dict[str, list[str]] = {}
    for tool in work.request.state.tools:
        if tool.name in tools:
            for sku in tool.handles:
                able.setdefault(sku, []).append(tool.name)
    return {sku: names[0] for sku, names in able.items() if len(names) == 1}
