"""The occupancy of tables by new kits: the shortest plan for one kit, whatever tools the robots have at its start."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import accumulate, product

from cellwright.planning.counter_problem import CounterProblem
from cellwright.planning.counter_search import search_counters

__all__ = ["with_occupancy"]


def with_occupancy(counters: CounterProblem, states: int) -> CounterProblem:
    """Returns the counters with a better bound on how long kits keep their tables.

    Args:
        counters: The relaxed problem.
        states: The most states that may be expanded for one kit.
    """
    d, times_s = counters.durations, list[float]()
    # When its tray is fetched a part may be in each hand, wrong parts come in sooner than others, a tray may be in hand
    # already, and when a kit leaves its table it is not yet in its outlet.
    early_s = d.fetch_part_s + sum(counters.wrong) * max(d.fetch_part_s - d.remove_part_s, 0.0) + d.place_kit_s
    early_s += d.take_tray_s if "tray" in counters.hands else 0.0
    for (needs, lays, clears), number in Counter(counters.new).items():
        one = counters.one_kit(needs, lays, clears)
        best_s = float("inf")
        for first, second in product((None, *sorted(counters.able[0])), (None, *sorted(counters.able[1]))):
            if first is None or first != second:
                best_s = min(best_s, search_counters(replace(one, tools=(first, second)), states, best_s).bound_s)
        times_s += [best_s - early_s] * number
    better_s = accumulate(sorted(times_s), initial=0.0)
    return replace(counters, occupied_s=tuple(map(max, better_s, counters.occupied_s)))
