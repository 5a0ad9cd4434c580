"""The kits of the goal: those that stand in the cell already, and those that have to be begun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cellwright.knowledge.cell_relations import CellRelations
from cellwright.orders import KitDesign, Order

__all__ = ["GoalKit", "add_wanted_kits", "kit_contents"]


@dataclass(frozen=True)
class GoalKit:
    """A kit that shall be finished."""

    name: str
    design: KitDesign
    stationary: bool


def kit_contents(relations: CellRelations, kit: str) -> Counter[str]:
    """Returns kind of part -> the number in the kit."""
    return Counter(relations.one(part, "sku") for part in relations.contents.get(kit, ()))


def add_wanted_kits(
    relations: CellRelations,
    orders: Sequence[Order],
    kits: Sequence[tuple[str, KitDesign]] | None = None,
) -> list[GoalKit]:
    """Returns the wanted kits, most urgent first; new ones are added to the relations, each with a tray of its kind.

    Args:
        relations: The cell.
        orders: The orders.
        kits: Names and designs, where it is decided already which kits serve the orders.
    """
    trays = _free_trays(relations)
    stationary = set(relations.flags.get(("Kit", "stationary"), ()))
    found = []
    for name, design in _chosen(relations, orders, stationary) if kits is None else kits:
        fitting = trays.get(design.tray_sku, [])
        if name not in relations.kinds and fitting:
            named = next((tray for tray in fitting if name == f"{tray}_kit"), fitting[0])
            fitting.remove(named)
            relations.links["kitTray"][name] = [named]
        relations.kinds[name] = "Kit"
        found.append(GoalKit(name, design, name in stationary))
        relations.design_of[name] = design.name
        relations.designs[design.name] = design
        for sku in (design.tray_sku, *design.parts):
            relations.kinds.setdefault(sku, "StockKeepingUnit")
    carried = [kit for kit in relations.of_class("Kit") if kit not in stationary]
    for places in relations.links["reach"].values():
        places += [kit for kit in carried if kit not in places]  # it stands on whichever table it is put
    return found


def _chosen(relations: CellRelations, orders: Sequence[Order], stationary: set[str]) -> list[tuple[str, KitDesign]]:
    """Returns names and designs. Kits that are there serve the most urgent order first, the most advanced first.

    A tray that stays where it is becomes a kit of any design that is built on such a tray, rather where robots reach
    what it lacks; a tray that stands on a table becomes the next kit, under its own name.
    """
    existing, used = relations.of_class("Kit"), set[str]()
    standing = _free_trays(relations, on_tables=True)
    numbers, found = Counter[str](), list[tuple[str, KitDesign]]()
    demands = [
        line.design
        for order in sorted(orders, key=lambda order: -order.priority)
        for line in order.lines
        for _ in range(line.quantity)
    ]
    for design in demands:
        left = [kit for kit in existing if kit not in used]
        same = [kit for kit in left if relations.design_of.get(kit) == design.name]
        fixed = [kit for kit in left if kit in stationary and _tray_sku(relations, kit) == design.tray_sku]
        moving = [kit for kit in same if kit not in stationary]
        if moving:
            name = max(moving, key=lambda kit: (_advance(relations, kit, design), kit))
        elif fixed:
            able = {kit: _can_be_filled(relations, kit, design) for kit in fixed}
            name = max(
                fixed, key=lambda kit: (able[kit], _advance(relations, kit, design))
            )  # of equals the first drawn
        elif standing.get(design.tray_sku):
            name = f"{standing[design.tray_sku].pop(0)}_kit"
        else:
            name = ""
            while not name or name in relations.kinds:
                numbers[design.name] += 1
                name = f"{design.name}_{numbers[design.name]}"
        used.add(name)
        found.append((name, design))
    return found


def _advance(relations: CellRelations, kit: str, design: KitDesign) -> tuple[bool, bool, int]:
    have, want = kit_contents(relations, kit), Counter(design.parts)
    boxed = any(kit in kits for kits in relations.links["kit"].values())
    return boxed, not have - want, -sum((want - have).values())


def _can_be_filled(relations: CellRelations, kit: str, design: KitDesign) -> bool:
    """Returns whether the robots that reach the kit also reach enough of every kind that it lacks."""
    missing = Counter(design.parts) - kit_contents(relations, kit)
    reached = {place for places in relations.links["reach"].values() if kit in places for place in places}
    supply = Counter[str]()
    for vessel in reached & set(relations.links["partSku"]):
        supply[relations.one(vessel, "partSku")] += relations.quantity.get(vessel, 0)
    return missing <= supply


def _tray_sku(relations: CellRelations, kit: str) -> str:
    return relations.one(relations.one(kit, "kitTray"), "sku")


def _free_trays(relations: CellRelations, *, on_tables: bool = False) -> dict[str, list[str]]:
    """Returns kind of kit tray -> trays of no kit: those on tables first, then those in hand, then the supply."""
    bound = {tray for trays in relations.links["kitTray"].values() for tray in trays}
    held = {name for names in relations.links["heldObject"].values() for name in names}
    tables = set(relations.of_class("WorkTable"))
    boxed = {tray for trays in relations.links["emptyKitTray"].values() for tray in trays}

    def rank(tray: str) -> int:
        if tray in held:
            return 1
        return 0 if relations.one(tray, "location") in tables else 2 if tray in boxed else 3

    most = 0 if on_tables else 2
    usable = [t for t in relations.of_class("KitTray") if t not in bound and rank(t) <= most]
    found: dict[str, list[str]] = {}
    for tray in sorted(usable, key=rank):
        found.setdefault(relations.one(tray, "sku"), []).append(tray)
    return found
