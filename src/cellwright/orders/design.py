"""The design of a kit: a tray and the slots that have to be filled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from cellwright.catalogue import PARTS, TRAYS, TrayFigures, TrayKind
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, UnknownName

__all__ = ["PAPER_PART_SKUS", "PAPER_TRAY_SKU", "KitDesign", "KitSlot", "known_part_skus", "known_tray_skus"]

PAPER_PART_SKUS: Mapping[str, str] = MappingProxyType({letter: f"sku_part_{letter}" for letter in "abcde"})
"""Parts A to E of the kitting papers: known by name only, they have no figures in the catalogue."""

PAPER_TRAY_SKU = "sku_kit_tray"
"""The kitting papers' kit tray: it takes any parts, ten at most."""

PAPER_TRAY_SLOTS = 10


@dataclass(frozen=True, slots=True)
class KitSlot:
    """A place in a kit for one part.

    Attributes:
        name: Name inside the kit.
        sku: The part that belongs there.
    """

    name: str
    sku: str


@dataclass(frozen=True)
class KitDesign:
    """A kind of kit.

    Attributes:
        name: Its name in orders.
        tray_sku: The kit tray that it is built on.
        slots: The slots and their parts; at least one.
    """

    name: str
    tray_sku: str
    slots: tuple[KitSlot, ...]

    @cached_property
    def parts(self) -> Mapping[str, int]:
        """SKU -> the number of such parts."""
        return MappingProxyType(Counter(slot.sku for slot in self.slots))

    @classmethod
    def of(cls, name: str, tray_sku: str, parts: Mapping[str, int]) -> KitDesign:
        """Returns a design from part counts; the tray must exist and have a slot for every part.

        >>> pair = cw.KitDesign.of("pair", "sku_kit_m2l1_vessel", {"sku_part_medium_gear": 2})
        >>> [slot.name for slot in pair.slots]
        ['slot_1', 'slot_2']

        Raises:
            BadInput: All that is wrong: unknown SKUs, with those that exist; parts that do not fit the tray.
        """
        where, errors = f"kit '{name}'", ErrorCollector()
        for sku, count in parts.items():
            with errors.collecting():
                if sku not in known_part_skus():
                    raise UnknownName("part SKU", sku, known_part_skus(), where)
                if count < 1:
                    raise BadInput(f"{where}: {count} of {sku} cannot be asked for, 1 or more can")
        with errors.collecting():
            if tray_sku not in known_tray_skus():
                raise UnknownName("kit tray SKU", tray_sku, known_tray_skus(), where)
        if not parts:
            errors.add(BadInput(f"{where}: has no parts, 1 or more are needed"))
        errors.raise_errors()
        if tray_sku == PAPER_TRAY_SKU:
            total = sum(parts.values())
            if total > PAPER_TRAY_SLOTS:
                raise BadInput(f"{where}: {total} parts do not fit {tray_sku}, which has {PAPER_TRAY_SLOTS} slots")
            skus = [sku for sku, count in parts.items() for _ in range(count)]
            return cls(name, tray_sku, tuple(KitSlot(f"slot_{n}", sku) for n, sku in enumerate(skus, start=1)))
        return cls(name, tray_sku, _slots_in(_kit_tray(tray_sku), parts, where))


def known_part_skus() -> list[str]:
    """Returns every SKU that a kit may contain."""
    return sorted({*(PARTS.get(name).sku for name in PARTS), *PAPER_PART_SKUS.values()})


def known_tray_skus() -> list[str]:
    """Returns every SKU that a kit may be built on."""
    kit_trays = (TRAYS.get(name) for name in TRAYS)
    return sorted({*(tray.sku for tray in kit_trays if tray.kind is TrayKind.KIT), PAPER_TRAY_SKU})


def _kit_tray(sku: str) -> TrayFigures:
    trays = (TRAYS.get(name) for name in TRAYS)
    return next(tray for tray in trays if tray.sku == sku and tray.kind is TrayKind.KIT)


def _slots_in(tray: TrayFigures, parts: Mapping[str, int], where: str) -> tuple[KitSlot, ...]:
    """Returns the tray's slots that these parts take, in the tray's order."""
    room = Counter(slot.accepts for slot in tray.slots)
    for sku, count in parts.items():
        if count > room[sku]:
            offered = ", ".join(f"{number} of {accepted}" for accepted, number in sorted(room.items()))
            raise BadInput(f"{where}: {count} of {sku} do not fit {tray.sku}, which takes {offered}")
    left = Counter(parts)
    slots = []
    for slot in tray.slots:
        if left[slot.accepts] > 0:
            left[slot.accepts] -= 1
            slots.append(KitSlot(slot.name, slot.accepts))
    return tuple(slots)
