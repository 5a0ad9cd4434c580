"""The kits of the goal: those that stand in the cell already, and those that have to be begun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cellwright.knowledge.pddl.snapshot import PddlSnapshot
from cellwright.knowledge.pddl.source import PlanningOntology
from cellwright.orders import KitDesign, Order

__all__ = ["GoalKit", "add_wanted_kits", "kit_contents"]


@dataclass(frozen=True)
class GoalKit:
    """A kit that shall be finished."""

    name: str
    design: KitDesign
    stationary: bool


def kit_contents(snapshot: PddlSnapshot, kit: str) -> Counter[str]:
    """Returns kind of part -> the number in the kit."""
    return Counter(snapshot.one(part, "sku") for part in snapshot.contents.get(kit, ()))


def add_wanted_kits(
    snapshot: PddlSnapshot,
    ontology: PlanningOntology,
    orders: Sequence[Order],
    kits: Sequence[tuple[str, KitDesign]] | None = None,
) -> list[GoalKit]:
    """Returns the wanted kits, most urgent first; new ones are added to the snapshot, each with a tray of its kind.

    Args:
        snapshot: The cell.
        ontology: The ontology of its classes.
        orders: The orders.
        kits: Names and designs, where it is decided already which kits serve the orders.
    """
    trays = _free_trays(snapshot, ontology)
    stationary = set(snapshot.flags.get(("Kit", "stationary"), ()))
    found = []
    for name, design in _chosen(snapshot, ontology, orders, stationary) if kits is None else kits:
        fitting = trays.get(design.tray_sku, [])
        if name not in snapshot.kinds and fitting:
            named = next((tray for tray in fitting if name == f"{tray}_kit"), fitting[0])
            fitting.remove(named)
            snapshot.links["kitTray"][name] = [named]
        snapshot.kinds[name] = "Kit"
        found.append(GoalKit(name, design, name in stationary))
        snapshot.design_of[name] = design.name
        snapshot.designs[design.name] = Counter(design.parts)
        for sku in (design.tray_sku, *design.parts):
            snapshot.kinds.setdefault(sku, "StockKeepingUnit")
    carried = [kit for kit in snapshot.of_class(ontology, "Kit") if kit not in stationary]
    for places in snapshot.links["reach"].values():
        places += [kit for kit in carried if kit not in places]  # it stands on whichever table it is put
    return found


def _chosen(
    snapshot: PddlSnapshot, ontology: PlanningOntology, orders: Sequence[Order], stationary: set[str]
) -> list[tuple[str, KitDesign]]:
    """Returns names and designs. Kits that are there serve the most urgent order first, the most advanced first.

    A tray that stays where it is becomes a kit of any design that is built on such a tray, rather where robots reach
    what it lacks; a tray that stands on a table becomes the next kit, under its own name.
    """
    existing, used = snapshot.of_class(ontology, "Kit"), set[str]()
    standing = _free_trays(snapshot, ontology, on_tables=True)
    numbers, found = Counter[str](), list[tuple[str, KitDesign]]()
    demands = [
        line.design
        for order in sorted(orders, key=lambda order: -order.priority)
        for line in order.lines
        for _ in range(line.quantity)
    ]
    for design in demands:
        left = [kit for kit in existing if kit not in used]
        same = [kit for kit in left if snapshot.design_of.get(kit) == design.name]
        fixed = [kit for kit in left if kit in stationary and _tray_sku(snapshot, kit) == design.tray_sku]
        moving = [kit for kit in same if kit not in stationary]
        if moving:
            name = max(moving, key=lambda kit: (_advance(snapshot, kit, design), kit))
        elif fixed:
            able = {kit: _can_be_filled(snapshot, kit, design) for kit in fixed}
            name = max(fixed, key=lambda kit: (able[kit], _advance(snapshot, kit, design)))  # of equals the first drawn
        elif standing.get(design.tray_sku):
            name = f"{standing[design.tray_sku].pop(0)}_kit"
        else:
            name = ""
            while not name or name in snapshot.kinds:
                numbers[design.name] += 1
                name = f"{design.name}_{numbers[design.name]}"
        used.add(name)
        found.append((name, design))
    return found


def _advance(snapshot: PddlSnapshot, kit: str, design: KitDesign) -> tuple[bool, bool, int]:
    have, want = kit_contents(snapshot, kit), Counter(design.parts)
    boxed = any(kit in kits for kits in snapshot.links["kit"].values())
    return boxed, not have - want, -sum((want - have).values())


def _can_be_filled(snapshot: PddlSnapshot, kit: str, design: KitDesign) -> bool:
    """Returns whether the robots that reach the kit also reach enough of every kind that it lacks."""
    missing = Counter(design.parts) - kit_contents(snapshot, kit)
    reached = {place for places in snapshot.links["reach"].values() if kit in places for place in places}
    supply = Counter[str]()
    for vessel in reached & set(snapshot.links["partSku"]):
        supply[snapshot.one(vessel, "partSku")] += snapshot.quantity.get(vessel, 0)
    return missing <= supply


def _tray_sku(snapshot: PddlSnapshot, kit: str) -> str:
    return snapshot.one(snapshot.one(kit, "kitTray"), "sku")


def _free_trays(snapshot: PddlSnapshot, ontology: PlanningOntology, *, on_tables: bool = False) -> dict[str, list[str]]:
    """Returns kind of kit tray -> trays of no kit: those on tables first, then those in hand, then the supply."""
    bound = {tray for trays in snapshot.links["kitTray"].values() for tray in trays}
    held = {name for names in snapshot.links["heldObject"].values() for name in names}
    tables = set(snapshot.of_class(ontology, "WorkTable"))
    boxed = {tray for trays in snapshot.links["emptyKitTray"].values() for tray in trays}

    def rank(tray: str) -> int:
        if tray in held:
            return 1
        return 0 if snapshot.one(tray, "location") in tables else 2 if tray in boxed else 3

    most = 0 if on_tables else 2
    usable = [t for t in snapshot.of_class(ontology, "KitTray") if t not in bound and rank(t) <= most]
    found: dict[str, list[str]] = {}
    for tray in sorted(usable, key=rank):
        found.setdefault(snapshot.one(tray, "sku"), []).append(tray)
    return found
