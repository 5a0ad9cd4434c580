"""The shortest plan of the counters: a lower bound for two robots, and moves that can be refined to a plan.

A* with an admissible heuristic. When the budget is used up, the least estimate that is left is still a bound.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

from cellwright.planning.counter_node import CounterMove, CounterNode, MoveKind
from cellwright.planning.counter_problem import CounterProblem
from cellwright.planning.counter_rules import CounterRules

__all__ = ["CounterSearchResult", "search_counters"]

_EPS = 1e-9
_WORK = frozenset((MoveKind.LAY, MoveKind.FILL, MoveKind.CORRECT, MoveKind.CLEAR))


@dataclass(frozen=True)
class CounterSearchResult:
    """A time that no plan beats, the moves to it when it was reached, and the number of expanded states."""

    bound_s: float
    moves: tuple[CounterMove, ...] | None
    states: int


def search_counters(problem: CounterProblem, states: int, known_s: float, weight: float = 0.0) -> CounterSearchResult:
    """Searches until a shortest plan is found, the budget is used up or nothing is better than what is known.

    Args:
        problem: The counters.
        states: The most states that may be expanded.
        known_s: Plans that take as long are of no use.
        weight: Additional weight of the heuristic, as in weighted A*; the bound is one only with weight 0.
    """
    search, ticket = CounterRules(problem), count()
    root = search.start()
    first_s = search.estimate_s(root)
    frontier: list[tuple[float, int, int, CounterNode, object]] = [(first_s, 0, next(ticket), root, None)]
    seen: dict[object, list[tuple[float, float]]] = {}
    used, bound_s = 0, first_s
    while frontier:
        estimate_s, _, _, node, path = heapq.heappop(frontier)
        if weight:
            estimate_s = search.estimate_s(node)
        bound_s = max(bound_s, estimate_s)
        if estimate_s >= known_s - _EPS:
            return CounterSearchResult(known_s, None, used)
        if search.done(node):
            return CounterSearchResult(bound_s, _trace(path), used)
        if used >= states:
            return CounterSearchResult(bound_s, None, used)
        if _beaten(search, seen, node):
            continue
        used += 1
        moves = search.moves(node)
        if weight and any(move.kind is not MoveKind.FILL_STAYING and move.kind in _WORK for move, _ in moves):
            moves = [one for one in moves if one[0].kind is not MoveKind.FILL_STAYING]  # what stays can wait
        for move, after in moves:
            worth_s = max(estimate_s, search.estimate_s(after))
            if worth_s < known_s - _EPS:
                progress = after.laid + after.cleared + sum(after.placed) + sum(after.stayed)
                heapq.heappush(
                    frontier, (worth_s + weight * (worth_s - after.now_s), -progress, next(ticket), after, (move, path))
                )
    return CounterSearchResult(known_s, None, used)


def _beaten(search: CounterRules, seen: dict[object, list[tuple[float, float]]], node: CounterNode) -> bool:
    """Returns whether the same counters were reached as early before; notes them if not."""
    doing = node.doing if node.other_s > node.now_s else None
    robot = 0 if search.symmetric else node.robot
    earlier = seen.setdefault((node[2:6], doing, node[7:12], robot, node.waited), [])
    if any(now_s <= node.now_s + _EPS and other_s <= node.other_s + _EPS for now_s, other_s in earlier):
        return True
    earlier.append((node.now_s, node.other_s))
    return False


def _trace(path: object) -> tuple[CounterMove, ...]:
    moves = []
    while isinstance(path, tuple):
        moves.append(path[0])
        path = path[1]
    return tuple(reversed(moves))
