"""Contents of trays and kits, from the believed poses: a part is in the slot that it is near to.

Only a part without a pose is taken to be where the database says it belongs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.catalogue.seating import IN_SLOT
from cellwright.knowledge.belief_state import BeliefState
from cellwright.knowledge.believed_objects import BelievedObject, Unknown
from cellwright.knowledge.tray_layout import design_slots
from cellwright.orders import KitDesign

__all__ = ["ALL_PARTS", "SlotContents", "SupplyFilter"]

Array = npt.NDArray[np.float64]
NEAR_M = 2 * IN_SLOT.beside_m  # what is farther aside from all slots is in none


@dataclass(frozen=True)
class SupplyFilter:
    """The parts that count as supply: those that were seen lately enough, and well enough.

    Attributes:
        now_s: The cell's clock.
        max_age_s: Since a part was last seen.
        max_deviation_m: Standard deviation of its position in what it lies in.
        excluded: Parts that are there and not to be counted on.
    """

    now_s: float = 0.0
    max_age_s: float = np.inf
    max_deviation_m: float = np.inf
    excluded: frozenset[str] = frozenset()

    def accepts(self, part: str, state: BeliefState) -> bool:
        """Returns whether the part counts as supply; one without a pose or a deviation does."""
        if part in self.excluded or self.max_age_s == self.max_deviation_m == np.inf:
            return part not in self.excluded
        row, deviation_m = state.tree.index.get(part), state.deviation_m(part)
        is_old = row is not None and self.now_s - state.tree.seen_s[row] > self.max_age_s
        is_vague = not isinstance(deviation_m, Unknown) and deviation_m > self.max_deviation_m
        return not is_old and not is_vague


ALL_PARTS = SupplyFilter()


class SlotContents:
    """The parts of a cell that no robot holds, by the slots that they are in."""

    def __init__(self, state: BeliefState, supply_filter: SupplyFilter = ALL_PARTS) -> None:
        self._state = state
        self._filter = supply_filter
        taken = {*state.held.values(), *state.missing}
        free = [part for part in state.of_kind("Part") if part.name not in taken]
        self._placed = [part for part in free if state.has_pose(part.name)]
        self._unplaced = [part for part in free if not state.has_pose(part.name)]
        rows = np.array([state.tree.index[part.name] for part in self._placed], int)
        self._points: Array = state.tree.in_world[rows][:, :3, 3]

    def parts_in(self, slots: Array) -> list[BelievedObject | None]:
        """Returns the part in each of the slots, which are given in the world."""
        found: list[BelievedObject | None] = [None] * len(slots)
        if not self._placed or not len(slots):
            return found
        low, high = slots[:, :2].min(axis=0) - NEAR_M, slots[:, :2].max(axis=0) + NEAR_M
        near = ((self._points[:, :2] >= low) & (self._points[:, :2] <= high)).all(axis=1).nonzero()[0]
        if not len(near):
            return found
        apart = self._points[near] - slots[:, None]
        across = np.hypot(apart[..., 0], apart[..., 1])
        across[np.abs(apart[..., 2]) > IN_SLOT.above_m] = np.inf
        nearest = across.argmin(axis=1)
        for number in (across[np.arange(len(slots)), nearest] <= IN_SLOT.beside_m).nonzero()[0].tolist():
            found[number] = self._placed[near[nearest[number]]]
        return found

    def supply(self, vessel: BelievedObject) -> tuple[str, int, int] | None:
        """Returns the SKU that a vessel supplies, how many it has and how many fit; None for no kind of part.

        A parts tray has what lies in its slots, a bin what is said to be in it. A part that the filter does not accept,
        and one of another kind, is no supply and takes up room.
        """
        state = self._state
        sku, slots = state.part_sku.get(vessel.name), state.relations.slots.get(vessel.name)
        if sku is None:
            return None
        there = [part for part in self._unplaced if part.reference == vessel.name]
        if slots is None or not state.has_pose(vessel.name):
            there += [part for part in self._placed if part.reference == vessel.name]
            room = len(there) if slots is None else len(slots)
        else:
            seen = [part for part in self.parts_in(self._points_on(vessel.name, slots)) if part is not None]
            there, room = [*seen, *there], len(slots)
        there = there[:room]
        count = sum(part.sku == sku and self._filter.accepts(part.name, state) for part in there)
        return sku, count, room - (len(there) - count)

    def filled(self, kit: str, design: KitDesign) -> tuple[str | None, ...]:
        """Returns the SKU in each slot of a kit."""
        skus: list[str | None] = [None] * len(design.slots)
        if self._state.has_pose(kit):
            parts = self.parts_in(self._points_on(kit, self._slot_points(design)))
            skus = [part.sku if part else None for part in parts]
        for part in self._unplaced:
            if part.reference == kit:
                open_slots = [n for n, slot in enumerate(design.slots) if skus[n] is None and slot.sku == part.sku]
                if open_slots:
                    skus[open_slots[0]] = part.sku
        return tuple(skus)

    def _points_on(self, name: str, points: Array) -> Array:
        """Returns points of an object's frame in the world's."""
        tree = self._state.tree
        matrix = tree.in_world[tree.index[name]]
        return np.asarray(points @ matrix[:3, :3].T + matrix[:3, 3])

    def _slot_points(self, design: KitDesign) -> Array:
        """Returns the positions of the slots of a kit in its frame, n x 3."""
        relations = self._state.relations
        if relations.designs.get(design.name) == design:
            return relations.slot_points[design.name]
        return np.array([place.pose_part_in_tray.position for place in design_slots(design)])
