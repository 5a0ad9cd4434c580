"""Relations of a cell, as the database has them: objects, relations between them, designs, sizes, counts.

Which relations there are follows from the ontology.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from copy import copy
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cellwright.knowledge.believed_objects import Unknown
from cellwright.knowledge.planning_ontology import PlanningOntology
from cellwright.orders import KitDesign

__all__ = ["CellRelations"]

Array = npt.NDArray[np.float64]
Links = dict[str, list[str]]
PLACES = {"WorkTable": "objectOnTable", "LargeBoxWithEmptyKitTrays": "emptyKitTray", "LargeBoxWithKits": "kit"}
LISTED = {"emptyKitTray": "KitTray", "kit": "Kit"}


@dataclass
class CellRelations:
    """The relations of a cell at one time.

    Attributes:
        ontology: Says which classes and relations there are.
        kinds: Object, or stock keeping unit -> its class; objects first, in the order in which they were made.
        links: Property -> object -> the objects it leads to. Besides the ontology's properties `location` leads to
            what an object is located by, and `kitTraySku` to a tray's kind.
        flags: Class and property -> objects for which it is true.
        designs: Name -> kit design.
        slot_points: Kit design -> the positions of its slots in the frame of the tray, n x 3.
        design_of: Kit -> name of its design; absent when it has none.
        contents: Kit -> the parts in it.
        slot_parts: Part -> the slot it lies in.
        slot_names: All slots; a kit has those of its design, which need not be all that its tray has.
        slots: Parts vessel -> the positions of its slots in its frame, n x 3.
        slot_count: Parts vessel -> how many places it has.
        quantity: Parts vessel -> how many parts it is said to hold.
        located: Parts vessel -> how many objects are located by it.
        capacity: Box of kits -> how many fit.
        sizes: Table or box -> its extent, or that of the room in it.
        boxes: Robot -> corners of the boxes that it reaches, n x 2 x 3.
    """

    ontology: PlanningOntology
    kinds: dict[str, str] = field(default_factory=dict)
    links: dict[str, Links] = field(default_factory=dict)
    flags: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    designs: dict[str, KitDesign] = field(default_factory=dict)
    slot_points: dict[str, Array] = field(default_factory=dict)
    design_of: dict[str, str] = field(default_factory=dict)
    contents: dict[str, set[str]] = field(default_factory=dict)
    slot_parts: dict[str, str] = field(default_factory=dict)
    slot_names: frozenset[str] = frozenset()
    slots: dict[str, Array] = field(default_factory=dict)
    slot_count: dict[str, int] = field(default_factory=dict)
    quantity: dict[str, int] = field(default_factory=dict)
    located: Counter[str] = field(default_factory=Counter)
    capacity: dict[str, int | Unknown] = field(default_factory=dict)
    sizes: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    boxes: dict[str, Array] = field(default_factory=dict)

    def to(self, name: str, link: str) -> list[str]:
        """Returns the objects to which a property leads from an object."""
        return self.links.get(link, {}).get(name, [])

    def one(self, name: str, link: str) -> str:
        """Returns the same where there is at most one; empty when there is none."""
        found = self.to(name, link)
        return found[0] if found else ""

    def ones(self, link: str) -> dict[str, str]:
        """Returns object -> where a property leads that has at most one value."""
        return {name: found[0] for name, found in self.links[link].items() if found}

    def of_class(self, kind: str) -> list[str]:
        """Returns the objects of a class or of classes below it."""
        wanted = self.ontology.below[kind]
        return [name for name, found in self.kinds.items() if found in wanted]

    def design(self, kit: str) -> KitDesign | None:
        """Returns what the database says that a kit becomes; None when it says nothing."""
        return self.designs.get(self.design_of.get(kit, ""))

    def pairs(self, owner: str, link: str) -> list[tuple[str, str]]:
        """Returns objects of a class and what a property of that class leads to."""
        below, kinds = self.ontology.below[owner], self.kinds
        return [(name, end) for name, ends in self.links[link].items() if kinds[name] in below for end in ends]

    def set(self, name: str, link: str, *ends: str) -> None:
        """Sets where a property leads from an object; without any, nowhere."""
        self.links[link].pop(name, None)
        if ends:
            self.links[link][name] = list(ends)

    def put_part(self, part: str, slot: str, owner: str) -> None:
        """Puts a part into a slot of a tray or kit, or out of its slot; it is in nothing else then."""
        self.slot_parts.pop(part, None)
        for listed in self.links["part"].values():
            if part in listed:
                listed.remove(part)
        for inside in self.contents.values():
            inside.discard(part)
        if slot:
            self.slot_parts[part] = slot
            self.links["part"].setdefault(owner, []).append(part)
            if self.kinds[owner] == "Kit":
                self.contents.setdefault(owner, set()).add(part)

    def put_tray(self, thing: str, place: str) -> None:
        """Lists a kit tray or a kit with the table or box that it is on or in, and with nothing else."""
        for link in PLACES.values():
            for things in self.links[link].values():
                if thing in things:
                    things.remove(thing)
        link = PLACES.get(self.kinds[place], "")
        if link and self.kinds[thing] == LISTED.get(link, self.kinds[thing]):
            self.links[link].setdefault(place, []).append(thing)

    def without(self, names: Collection[str]) -> CellRelations:
        """Returns a copy without some objects, which can be changed."""
        other = copy(self)
        left = set(names)
        other.kinds = {name: kind for name, kind in self.kinds.items() if name not in left}
        other.links = {
            link: {
                name: kept
                for name, ends in of.items()
                if name not in left and (kept := [end for end in ends if end not in left])
            }
            for link, of in self.links.items()
        }
        other.flags = {key: [name for name in of if name not in left] for key, of in self.flags.items()}
        other.contents = {name: parts - left for name, parts in self.contents.items() if name not in left}
        other.designs, other.design_of, other.quantity = dict(self.designs), dict(self.design_of), dict(self.quantity)
        return other
