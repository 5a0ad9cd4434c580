"""The initial values of the functions in planning files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from cellwright.knowledge.believed_objects import Unknown
from cellwright.knowledge.cell_relations import CellRelations
from cellwright.knowledge.pddl.goal_kits import GoalKit, kit_contents

__all__ = ["Counts"]


class Counts:
    """Numbers of one cell and its orders, by the ontology's measures.

    Read from the relations before their parts are replaced.

    Args:
        relations: The cell.
        wanted: The kits to be finished.
        vessels: The parts vessels.
        named: Whether parts have names: then a vessel holds as many as are named, else its stated quantity.
        taken: Kit and vessel -> how many parts a plan takes, where kits count by vessels and a plan is there already.
    """

    def __init__(
        self,
        relations: CellRelations,
        wanted: Sequence[GoalKit],
        vessels: Sequence[str],
        named: bool,
        taken: Mapping[tuple[str, str], int] | None = None,
    ) -> None:
        self._taken = Counter(taken)
        kits = [name for name, kind in relations.kinds.items() if kind == "Kit"]
        self.have = {kit: kit_contents(relations, kit) for kit in kits}
        designs = {kit: relations.designs.get(relations.design_of.get(kit, "")) for kit in kits}
        self.want = {kit: Counter(design.parts if design else ()) for kit, design in designs.items()}
        self.demand = Counter[str]()
        for kit in wanted:
            self.demand += self.want[kit.name] - self.have[kit.name]
        located, stated = relations.located, {} if named else relations.quantity
        self.stock = {vessel: stated.get(vessel, located[vessel]) for vessel in vessels}
        self.room = {v: max(relations.slot_count.get(v, 0), stock) - stock for v, stock in self.stock.items()}
        self.sku_of = {vessel: relations.one(vessel, "partSku") for vessel in vessels}
        self.kits_in = {box: len(kits) for box, kits in relations.links["kit"].items()}
        self.trays_in = {box: len(trays) for box, trays in relations.links["emptyKitTray"].items()}
        self.capacity = {box: most for box, most in relations.capacity.items() if not isinstance(most, Unknown)}
        self.open_kits = [kit for kit in wanted if not kit.stationary and not self._boxed(relations, kit.name)]
        self._vessels = vessels
        self._in_hand = [
            relations.one(thing, "sku")
            for things in relations.links["heldObject"].values()
            for thing in things
            if relations.kinds[thing] == "Part"
        ]
        self._measures: dict[str, Callable[[Mapping[str, str]], int]] = {
            "partsInVessel": lambda of: self.stock[of["partsVessel"]],
            "vesselCapacity": lambda of: self.stock[of["partsVessel"]] + self.room[of["partsVessel"]],
            "partsInKit": self._in_kit,
            "partsWanted": self._for_kit,
            "allPartsInKit": lambda of: self.have[of["kit"]].total(),
            "allPartsWanted": lambda of: self.want[of["kit"]].total(),
            "traysInBox": lambda of: self.trays_in.get(of["lbwekt"], 0),
            "kitsInBox": lambda of: self.kits_in.get(of["lbwk"], 0),
            "boxCapacity": self._box_capacity,
        }

    @staticmethod
    def _boxed(relations: CellRelations, kit: str) -> bool:
        return any(kit in kits for kits in relations.links["kit"].values())

    def value(self, measure: str, of: Mapping[str, str]) -> float:
        """Returns the number of a measure for objects by parameter."""
        return self._measures[measure](of)

    def _in_kit(self, of: Mapping[str, str]) -> int:
        return self.have[of["kit"]][of["sku"]] if "sku" in of else self._shares[0][of["kit"], of["partsVessel"]]

    def _for_kit(self, of: Mapping[str, str]) -> int:
        return self.want[of["kit"]][of["sku"]] if "sku" in of else self._shares[1][of["kit"], of["partsVessel"]]

    def _box_capacity(self, of: Mapping[str, str]) -> int:
        """Returns the capacity of a box; one of unknown capacity takes what is wanted."""
        return self.capacity.get(of["lbwk"], self.kits_in.get(of["lbwk"], 0) + len(self.open_kits))

    def is_plenty(self, measure: str, of: Mapping[str, str], level: float, robots: int) -> bool:
        """Returns whether a level can never run out, so that a planner need not count it."""
        match measure:
            case "partsInVessel":
                return level >= self.demand[self.sku_of[of["partsVessel"]]] > 0
            case "vesselCapacity":
                return level >= robots  # no more parts than hands can come back
            case "traysInBox":
                return level > 0  # which trays are there is said by name
            case "boxCapacity":
                return level >= len(self.open_kits)
        return False

    @cached_property
    def _shares(self) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
        """The number of parts of each vessel that a kit has and wants, where kits count by vessels and not by kinds."""
        by_sku: dict[str, list[str]] = {}
        for vessel in self._vessels:
            by_sku.setdefault(self.sku_of[vessel], []).append(vessel)
        left = dict(self.stock)
        for sku in self._in_hand:
            left[by_sku[sku][0]] += 1
        for (_, vessel), count in self._taken.items():
            left[vessel] -= count
        have, want = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for kit in self.have:
            for sku in {**self.have[kit], **self.want[kit]}:
                if sku not in by_sku:
                    continue  # of a kit that no order wants
                there, missing = self.have[kit][sku], max(0, self.want[kit][sku] - self.have[kit][sku])
                first = by_sku[sku][0]
                have[kit, first] += there
                want[kit, first] += min(there, self.want[kit][sku])
                for vessel in by_sku[sku]:
                    want[kit, vessel] += self._taken[kit, vessel]
                    missing -= self._taken[kit, vessel]
                for vessel in by_sku[sku] if missing > 0 else ():
                    share = min(missing, left[vessel])
                    want[kit, vessel] += share
                    left[vessel] -= share
                    missing -= share
                    if not missing:
                        break
                want[kit, first] += max(0, missing)  # nothing supplies these; the problem has no solution, and says so
        return have, want
