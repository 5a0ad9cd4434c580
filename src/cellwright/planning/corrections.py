"""Wrong parts in kits: the order in which they come out so that as few as possible go back into a tray.

A wrong part goes straight into an open slot for its kind, if there is one, and leaves its own slot open for another
kind. So an opening wanders from kind to kind, and each wrong part is a way that it has to go once. Where no opening is,
a part goes back into its tray and makes one, and has to be fetched again if it is wanted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from cellwright.planning.booking import Booking
from cellwright.planning.hands import put_down_part
from cellwright.planning.resources import OpenKit, RobotSchedule

__all__ = ["correct", "fewest_returns"]


def fewest_returns(wrong: Iterable[tuple[str, str]], openings: Mapping[str, int]) -> int:
    """Returns the fewest wrong parts that must go back into trays, whatever the order.

    Args:
        wrong: SKU that is in a slot, and the SKU that belongs there.
        openings: SKU -> how many slots are open for it.
    """
    surplus: Counter[str] = Counter()  # ways out of a kind, less ways into it
    group: dict[str, set[str]] = {}
    for there, belongs in wrong:
        surplus[there] += 1
        surplus[belongs] -= 1
        joined = group.get(there, {there}) | group.get(belongs, {belongs})
        for sku in joined:
            group[sku] = joined
    returns = 0
    for together in {id(skus): skus for skus in group.values()}.values():
        begun = any(surplus[sku] > 0 or openings.get(sku, 0) > 0 for sku in together)
        lacking = sum(max(surplus[sku] - openings.get(sku, 0), 0) for sku in together)
        returns += lacking if begun else 1  # a ring of parts that are in each other's slots
    return returns


def correct(booking: Booking, arm: RobotSchedule, handles: frozenset[str]) -> bool:
    """Takes out wrong parts that the robot's tool handles while there is a place for them; returns whether any."""
    any_done = False
    while step := _next(booking, arm, handles):
        kit, sku = step
        booking.remove_part(arm, kit, sku)
        put_down_part(booking, arm, sku)
        any_done = True
    return any_done


def _next(booking: Booking, arm: RobotSchedule, handles: frozenset[str]) -> tuple[OpenKit, str] | None:
    """Returns the wrong part after which the fewest have to go back, itself included; of equals one that need not."""
    kits = [kit for kit in booking.kits.values() if kit.place in arm.reach]
    wrong = [pair for kit in kits for pair in kit.wrong]
    if not wrong:
        return None
    openings: Counter[str] = Counter()
    for kit in kits:
        openings.update(kit.missing)
    best, least = None, (0, False)
    for kit in kits:
        first = dict(reversed(kit.wrong))  # of several such parts the first slot's
        for sku, belongs in first.items():
            if sku not in handles or not booking.takes_part(arm, sku):
                continue
            back = openings[sku] == 0
            others = list(wrong)
            others.remove((sku, belongs))
            after = openings + Counter({belongs: 1}) - Counter({sku: 0 if back else 1})
            found = (fewest_returns(others, after) + back, back)
            if best is None or found < least:
                best, least = (kit, sku), found
    return best
