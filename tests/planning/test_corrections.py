"""Wrong parts: how many have to go back into their trays, and plans that send back no more."""

import random
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.planning import KitState, PlanRequest, PlanStatus, Verb
from cellwright.planning.corrections import fewest_returns


def tried_out(wrong, openings):
    """The fewest returns by trying every order."""

    @cache
    def least(left, there):
        if not left:
            return 0
        found = []
        for at, (sku, belongs) in enumerate(left):
            counts = Counter(dict(there))
            back = counts[sku] == 0
            counts[sku] -= not back
            counts[belongs] += 1
            found.append(back + least(left[:at] + left[at + 1 :], tuple(sorted(counts.items()))))
        return min(found)

    return least(tuple(sorted(wrong)), tuple(sorted(openings.items())))


@pytest.mark.parametrize("seed", range(60))
def test_the_formula_is_what_trying_every_order_gives(seed):
    rng = random.Random(seed)
    wrong = [tuple(rng.sample("abcd", 2)) for _ in range(rng.randint(0, 6))]
    openings = Counter(rng.choice("abcd") for _ in range(rng.randint(0, 2)))
    assert fewest_returns(wrong, openings) == tried_out(wrong, openings)


def mixed(cell, wanted, filled):
    """A kit on a table in which each slot holds a letter's part, or none."""
    design = KitDesign.of("mixed", "sku_kit_tray", Counter(f"sku_part_{letter}" for letter in wanted))
    assert "".join(slot.sku[-1] for slot in design.slots) == wanted
    there = tuple(None if letter == "-" else f"sku_part_{letter}" for letter in filled)
    state = cell(tables=1)
    trays = tuple(replace(tray, count=tray.capacity - 100) for tray in state.parts_trays)
    kit = KitState("kit", design, "table_1", there)
    return PlanRequest(replace(state, parts_trays=trays, kits=(kit,)), (Order("order", (OrderLine(design, 1),)),))


@pytest.mark.parametrize(
    ("wanted", "filled", "back"),
    [
        ("aabcc", "acb-c", 0),  # the opening wanders from b to c to a
        ("aabcc", "bcbca", 1),  # a ring has to be opened
        ("aabcc", "aabac", 1),  # an a for which no slot is left
        ("aabbc", "bbaa-", 1),
        ("aabbc", "bbcc-", 1),  # two c for one slot
    ],
)
def test_a_wrong_part_goes_straight_where_it_belongs(cell, checked, wanted, filled, back):
    result = checked(mixed(cell, wanted, filled))
    assert sum(action.verb is Verb.RETURN_PART for action in result.actions) == back
    assert result.status is PlanStatus.OPTIMAL
    assert result.cost == result.lower_bound
