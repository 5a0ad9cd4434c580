"""The order of tools for one robot: the fewest changes with which all kits get laid, filled and taken away.

Every kit needs the same moves in any order; only the number of tool changes differs. So the search does not see parts:
a kit is the set of things it still needs a tool for, and a thing is the set of tools that can handle it. Where a wrong
part has to come out before the right one goes in, two things make a chain. Doing all that a tool can do before changing
it is never worse.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import combinations_with_replacement, count
from math import ceil

from cellwright.planning.phase_problem import PhaseProblem, Phases, ToolPhase

__all__ = ["find_phases"]


_Thing = tuple[str, ...]
_Needs = tuple[tuple[_Thing, ...], ...]
_Open = tuple[_Needs, tuple[str, ...]]  # needs of a kit on a table, and the tools that clear it
_Node = tuple[str | None, tuple[_Open, ...], tuple[int, ...]]


class _Space:
    def __init__(self, problem: PhaseProblem) -> None:
        self.kinds = tuple(kind for kind, _ in problem.waiting)
        self.tables = problem.tables
        self.tools = problem.tools
        self._bounds: dict[_Node, int] = {}
        self._splits: dict[_Needs, tuple[tuple[str, ...], tuple[_Thing, ...]]] = {}
        self._rests: dict[tuple[_Needs, str | None], _Needs] = {}

    def root(self, problem: PhaseProblem) -> _Node:
        tables = tuple(sorted((kind.needs, kind.clear or kind.tray) for kind in problem.on_tables))
        return problem.tool, tables, tuple(number for _, number in problem.waiting)

    def phase_ends(self, node: _Node, few: bool) -> Iterator[tuple[_Node, tuple[int, ...]]]:
        """Yields all ends of the phase in which the node's tool does what it can, with the kinds laid on the way."""
        tool, tables, waiting = node
        lays: list[int] = []
        number = list(waiting)
        left: list[_Open] = []
        for needs, tray in tables:
            rest = self._after(needs, tool)
            if rest or (tray and tool not in tray):
                left.append((rest, tray))
        free = self.tables - sum(1 for _, tray in left if tray)
        if free > 0:  # kits that this tool does alone use a table only for a moment
            for index, kind in enumerate(self.kinds):
                alone = tool in kind.tray and tool in (kind.clear or kind.tray) and not self._after(kind.needs, tool)
                if alone and self._first(number, kind.rank):
                    lays += [index] * number[index]
                    number[index] = 0
        for chosen in self._choices(number, tool, free, few):
            after, opened = list(number), list(left)
            for index in chosen:
                after[index] -= 1
                kind = self.kinds[index]
                opened.append((self._after(kind.needs, tool), kind.clear or kind.tray))
            yield (tool, tuple(sorted(opened)), tuple(after)), (*lays, *chosen)

    def _after(self, needs: _Needs, tool: str | None) -> _Needs:
        """Returns the needs that are left when the tool has done what it can."""
        key = (needs, tool)
        if key not in self._rests:
            left = set()
            for chain in needs:
                done = 0
                while done < len(chain) and tool in chain[done]:
                    done += 1
                if done < len(chain):
                    left.add(chain[done:])
            self._rests[key] = tuple(sorted(left))
        return self._rests[key]

    def _first(self, number: list[int], rank: int) -> bool:
        return all(not n or kind.rank >= rank for kind, n in zip(self.kinds, number, strict=True))

    def _choices(self, number: list[int], tool: str | None, free: int, few: bool) -> Iterator[tuple[int, ...]]:
        """Yields what to lay on the free tables: as many as there are of the first ranks; with `few`, few choices."""
        able = [i for i, kind in enumerate(self.kinds) if number[i] and tool in kind.tray]
        if free <= 0 or not able:
            yield ()
            return
        if few:
            for start in range(len(able)):
                rotated = sorted(able[start:] + able[:start], key=lambda i: self.kinds[i].rank)
                every = [i for i in rotated for _ in range(min(number[i], free))]
                yield tuple(every[:free])
            return
        for size in range(min(free, sum(number[i] for i in able)), -1, -1):
            for chosen in combinations_with_replacement(able, size):
                if self._allowed(chosen, number):
                    yield chosen

    def _allowed(self, chosen: tuple[int, ...], number: list[int]) -> bool:
        if any(chosen.count(i) > number[i] for i in set(chosen)):
            return False
        last = max((self.kinds[i].rank for i in chosen), default=0)
        before = [i for i, kind in enumerate(self.kinds) if kind.rank < last]
        return all(chosen.count(i) == number[i] for i in before)

    def bound(self, node: _Node) -> int:
        """Returns the fewest tools to attach after this phase, counting each thing that one tool alone can do."""
        if node not in self._bounds:
            self._bounds[node] = self._bound(node)
        return self._bounds[node]

    def _bound(self, node: _Node) -> int:
        _, tables, waiting = node
        moving: dict[str, float] = {}  # tool -> kits that it has to work on, in tables full
        lays: dict[str, int] = {}
        once: set[str] = set()
        shared: set[tuple[str, ...]] = set()
        for needs, clear in tables:
            sole, several = self._split(needs)
            shared.update(several)
            if clear:
                self._count(moving, 1, sole, needs, (clear,))
                self._note_tray(clear, once, shared)
            once.update(sole)
        for kind, number in zip(self.kinds, waiting, strict=True):
            if number:
                clear = kind.clear or kind.tray
                sole, several = self._split(kind.needs)
                shared.update(several)
                once.update(sole)
                self._count(moving, number, sole, kind.needs, (kind.tray, clear))
                for tray in (kind.tray, clear):
                    self._note_tray(tray, once, shared)
                if len(kind.tray) == 1 and kind.tray == clear and self._after(kind.needs, kind.tray[0]):
                    lays[kind.tray[0]] = lays.get(kind.tray[0], 0) + number
        width = max(self.tables, 1)
        least = {tool: ceil(number / width - 1e-9) for tool, number in moving.items()}
        for tool, number in lays.items():
            # After the last tray was laid, the tool has to come back to take the kit away.
            least[tool] = max(least.get(tool, 0), -(-number // width) + 1)
        for tool in once:
            least[tool] = max(least.get(tool, 0), 1)
        uncovered = any(not any(tool in least for tool in need) for need in shared)
        return sum(least.values()) + uncovered

    def _count(
        self,
        moving: dict[str, float],
        number: int,
        sole: tuple[str, ...],
        needs: _Needs,
        trays: tuple[tuple[str, ...], ...],
    ) -> None:
        """Adds the share of all tables that the kits take up while a tool works on them.

        A kit that cannot come or go while the tool is on the robot has a table to itself. One that only needs another
        tool besides may make room for a second one; one that needs nothing else takes up nothing.
        """
        for tool in sole:
            if any(tool not in tray for tray in trays):
                moving[tool] = moving.get(tool, 0.0) + number
            elif self._after(needs, tool):
                moving[tool] = moving.get(tool, 0.0) + number / 2

    @staticmethod
    def _note_tray(tray: tuple[str, ...], once: set[str], shared: set[tuple[str, ...]]) -> None:
        if len(tray) == 1:
            once.add(tray[0])
        else:
            shared.add(tray)

    def _split(self, needs: _Needs) -> tuple[tuple[str, ...], tuple[_Thing, ...]]:
        """Returns the tools that cannot be done without, and the things that several tools can do."""
        if needs not in self._splits:
            things = [thing for chain in needs for thing in chain]
            sole = tuple({thing[0] for thing in things if len(thing) == 1})
            self._splits[needs] = (sole, tuple(thing for thing in things if len(thing) > 1))
        return self._splits[needs]


def find_phases(problem: PhaseProblem, iterations: int) -> Phases | None:
    """Returns the best phases found within the budget, and a bound; None when the tools do not suffice."""
    space = _Space(problem)
    found = _dive(space, problem)
    roots = list(space.phase_ends(space.root(problem), few=False))
    bound = min(space.bound(node) for node, _ in roots)
    if found and len(found) - 1 == bound:
        return Phases(found, bound, bound, 0)
    better, bound, used = _search(space, roots, iterations, len(found) - 1 if found else None)
    best = better or found
    return Phases(best, len(best) - 1, min(bound, len(best) - 1), used) if best else None


def _done(node: _Node) -> bool:
    return not node[1] and not any(node[2])


def _dive(space: _Space, problem: PhaseProblem) -> tuple[ToolPhase, ...] | None:
    """Searches greedily: always the most promising next phase, never back."""
    phases: list[ToolPhase] = []
    options = list(space.phase_ends(space.root(problem), few=True))
    seen: dict[tuple[str | None, tuple[_Open, ...]], tuple[tuple[int, ...], int]] = {}
    while options:
        node, lays = min(options, key=lambda option: (space.bound(option[0]), sum(option[0][2])))
        phases.append(ToolPhase(node[0], tuple(space.kinds[i] for i in lays)))
        if _done(node):
            return tuple(phases)
        tool, tables, waiting = node
        before, length = seen.get((tool, tables), (None, 0))
        if before is not None:
            fewer = [a - b for a, b in zip(before, waiting, strict=True)]
            if not any(fewer):
                return None
            # The same again with fewer kits: what was done since can be done over and over.
            times = min(number // by for number, by in zip(waiting, fewer, strict=True) if by) - 1
            if times > 0:
                phases += phases[length:] * times
                node = tool, tables, tuple(n - times * by for n, by in zip(waiting, fewer, strict=True))
        seen[tool, tables] = (node[2], len(phases))
        options = [
            option
            for tool in space.tools
            if tool != node[0]
            for option in space.phase_ends((tool, node[1], node[2]), few=True)
            if option[0][1:] != node[1:]
        ]
    return None


def _search(
    space: _Space, roots: list[tuple[_Node, tuple[int, ...]]], iterations: int, known: int | None
) -> tuple[tuple[ToolPhase, ...] | None, int, int]:
    """Searches by A* with an admissible heuristic; returns phases if better than known, the bound and the effort."""
    ticket = count()
    parents: dict[_Node, tuple[_Node | None, tuple[int, ...], int]] = {}
    frontier: list[tuple[int, int, int, _Node]] = []
    for node, lays in roots:
        if node not in parents:
            parents[node] = (None, lays, 0)
            heapq.heappush(frontier, (space.bound(node), 0, next(ticket), node))
    used = 0
    while frontier:
        estimate, depth, _, node = heapq.heappop(frontier)
        if known is not None and estimate >= known:
            return None, known, used
        if -depth > parents[node][2]:
            continue
        if _done(node):
            return _trace(space, parents, node), estimate, used
        if used >= iterations:
            return None, estimate, used
        cost = parents[node][2] + 1
        for tool in space.tools:
            if tool == node[0]:
                continue
            for after, lays in space.phase_ends((tool, node[1], node[2]), few=False):
                used += 1
                if after[1:] != node[1:] and (after not in parents or parents[after][2] > cost):
                    parents[after] = (node, lays, cost)
                    heapq.heappush(frontier, (cost + space.bound(after), -cost, next(ticket), after))
    return None, known if known is not None else 0, used


def _trace(
    space: _Space, parents: dict[_Node, tuple[_Node | None, tuple[int, ...], int]], end: _Node
) -> tuple[ToolPhase, ...]:
    phases: list[ToolPhase] = []
    node: _Node | None = end
    while node is not None:
        before, lays, _ = parents[node]
        phases.append(ToolPhase(node[0], tuple(space.kinds[i] for i in lays)))
        node = before
    return tuple(reversed(phases))
