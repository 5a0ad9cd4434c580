"""Assignment of parts to slots of trays, from where both are seen and the figures of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PARTS, TRAYS, seated_height_m

__all__ = ["SlotMap"]

Array = npt.NDArray[np.float64]


class SlotMap:
    """The slots of all trays among some objects, and the parts among them.

    Args:
        skus: Of the objects.
        holders: Whose slots they are, slot_1 of `kit` being `kit_slot_1`; those without a name are left out.
    """

    def __init__(self, skus: Sequence[str], holders: Sequence[str]) -> None:
        trays = {TRAYS.get(name).sku: TRAYS.get(name) for name in TRAYS}
        parts = {PARTS.get(name).sku: PARTS.get(name) for name in PARTS}
        self._parts = np.array([i for i, sku in enumerate(skus) if sku in parts], np.intp)
        held = [(i, trays[sku]) for i, sku in enumerate(skus) if sku in trays and holders[i]]
        slots = [(i, tray, slot) for i, tray in held for slot in tray.slots]
        self._tray_of_slot = np.array([i for i, _, _ in slots], np.intp)
        self._local: Array = np.array([slot.xy_m for _, _, slot in slots]).reshape(-1, 2)
        self._names = [f"{holders[i]}_{slot.name}" for i, _, slot in slots]
        cache: dict[tuple[str, str, str], float] = {}
        for sku in {skus[i] for i in self._parts}:
            for _, tray, slot in slots:
                cache.setdefault((sku, tray.sku, slot.name), seated_height_m(tray, slot, parts[sku]))
        self._seats: Array = np.array(
            [[cache[skus[i], tray.sku, slot.name] for _, tray, slot in slots] for i in self._parts]
        ).reshape(len(self._parts), len(slots))

    def find(
        self, positions: Array, quaternions: Array, usable: npt.NDArray[np.bool_], in_slot_m: float, above_m: float
    ) -> dict[int, str]:
        """Returns object -> the slot that it lies in.

        Args:
            positions: Of all objects, n x 3.
            quaternions: Likewise, n x 4.
            usable: Objects whose pose is known.
            in_slot_m: How far beside a slot's middle counts.
            above_m: How far from the height at which the part would be seated.
        """
        if not len(self._parts) or not len(self._local):
            return {}
        trays = self._tray_of_slot
        w, x, y, z = quaternions[trays].T
        along_x, along_y = self._local.T
        slot_x, slot_y, _ = positions[trays].T
        slot_x = slot_x + (1 - 2 * (y * y + z * z)) * along_x + 2 * (x * y - w * z) * along_y
        slot_y = slot_y + 2 * (x * y + w * z) * along_x + (1 - 2 * (x * x + z * z)) * along_y
        part_x, part_y, part_z = positions[self._parts].T
        squares = (part_x[:, None] - slot_x) ** 2 + (part_y[:, None] - slot_y) ** 2
        parts, slots = (squares <= in_slot_m**2).nonzero()
        good = usable[self._parts[parts]] & usable[trays[slots]]
        parts, slots = parts[good], slots[good]
        w, x, y, z, along_x, along_y = (of_slot[slots] for of_slot in (w, x, y, z, along_x, along_y))
        floor_m = positions[trays[slots], 2] + 2 * (x * z - w * y) * along_x + 2 * (y * z + w * x) * along_y
        good = np.abs(part_z[parts] - floor_m - self._seats[parts, slots]) <= above_m
        parts, slots = parts[good], slots[good]
        nearest: dict[int, tuple[float, int]] = {}
        rows, distances = self._parts[parts].tolist(), squares[parts, slots].tolist()
        for row, square, slot in zip(rows, distances, slots.tolist(), strict=True):
            if row not in nearest or square < nearest[row][0]:
                nearest[row] = square, slot
        return {row: self._names[slot] for row, (_, slot) in nearest.items()}
