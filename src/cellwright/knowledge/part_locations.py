"""The slots in which parts lie, found from the believed poses: a part is in the slot that it is near to.

Only a part without a pose is taken to be where the database says it belongs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.knowledge.belief_facts import BeliefFacts, ObjectFacts
from cellwright.orders import KitDesign

__all__ = ["ALL_PARTS", "PartLocations", "SupplyFilter"]

IN_SLOT_M = 0.015  # from a part's axis to the middle of the slot that it lies in
ON_SLOT_M = 0.020  # the same for the height
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SupplyFilter:
    """The parts that count as supply: those that were seen lately enough, and well enough.

    Attributes:
        now_s: The cell's clock.
        max_age_s: Since a part was last seen.
        max_deviation_m: Standard deviation of its position in what it lies in.
        excluded: Parts that are there and not to be counted on.
        missing: Parts and trays that are not where they are believed to be, nor anywhere else that is known.
    """

    now_s: float = 0.0
    max_age_s: float = np.inf
    max_deviation_m: float = np.inf
    excluded: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()

    def accepts(self, part: ObjectFacts) -> bool:
        """Returns whether the part counts as supply."""
        if part.name in self.excluded:
            return False
        age_s = self.now_s - part.time_s if part.time_s is not None else 0.0
        return age_s <= self.max_age_s and (part.deviation_m or 0.0) <= self.max_deviation_m


ALL_PARTS = SupplyFilter()


class PartLocations:
    """The parts of a cell that no robot holds.

    Attributes:
        gripped: Names of what robots hold.
        missing: Names of what is in no known place.
    """

    def __init__(self, facts: BeliefFacts, supply_filter: SupplyFilter = ALL_PARTS) -> None:
        self._facts, self._filter = facts, supply_filter
        self.gripped, self.missing = set(facts.held.values()), supply_filter.missing
        free = [part for part in facts.of_kind("Part") if part.name not in self.gripped | self.missing]
        self._placed = [part for part in free if part.name in facts.tree.index]
        self._unplaced = [part for part in free if part.name not in facts.tree.index]
        rows = np.array([facts.tree.index[part.name] for part in self._placed], int)
        self._points: Array = facts.tree.in_world[rows][:, :3, 3]

    def in_slots(self, slots: Array) -> list[ObjectFacts | None]:
        """Returns the part in each of the slots, which are given in the workstation's frame."""
        found: list[ObjectFacts | None] = [None] * len(slots)
        if not self._placed:
            return found
        for number, slot in enumerate(slots):
            apart = self._points - slot
            across = np.hypot(apart[:, 0], apart[:, 1])
            across[np.abs(apart[:, 2]) > ON_SLOT_M] = np.inf
            nearest = int(across.argmin())
            if across[nearest] <= IN_SLOT_M:
                found[number] = self._placed[nearest]
        return found

    def supply(self, vessel: ObjectFacts) -> tuple[str, int, int] | None:
        """Returns the SKU that a vessel supplies, how many it has and how many fit; None for no kind of part.

        A parts tray has what lies in its slots, a bin what is said to be in it. A part that the filter does not accept,
        and one of another kind, is no supply and takes up room.
        """
        sku, slots = self._facts.part_sku.get(vessel.name), self._facts.slots.get(vessel.name)
        if sku is None:
            return None
        there = [part for part in self._unplaced if part.reference == vessel.name]
        if slots is None or vessel.name not in self._facts.tree.index:
            there += [part for part in self._placed if part.reference == vessel.name]
            room = len(there) if slots is None else len(slots)
        else:
            seen = [part for part in self.in_slots(self._facts.points_on(vessel.name, slots)) if part is not None]
            there, room = [*seen, *there], len(slots)
        there = there[:room]
        count = sum(part.sku == sku and self._filter.accepts(part) for part in there)
        return sku, count, room - (len(there) - count)

    def filled(self, kit: ObjectFacts, design: KitDesign) -> tuple[str | None, ...]:
        """Returns the SKU in each slot of a kit."""
        skus: list[str | None] = [None] * len(design.slots)
        if kit.name in self._facts.tree.index:
            slots = self._facts.points_on(kit.name, self._facts.slots_of_design(design))
            skus = [part.sku if part else None for part in self.in_slots(slots)]
        for part in self._unplaced:
            if part.reference == kit.name:
                open_slots = [n for n, slot in enumerate(design.slots) if skus[n] is None and slot.sku == part.sku]
                if open_slots:
                    skus[open_slots[0]] = part.sku
        return tuple(skus)
