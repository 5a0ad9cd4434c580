"""Placeholders: one object for all parts that are alike, where parts are counted and not named."""

from __future__ import annotations

from cellwright.knowledge.pddl.snapshot import PddlSnapshot
from cellwright.knowledge.pddl.source import PlanningOntology

__all__ = ["replace_parts", "supply_missing_vessels"]


def supply_missing_vessels(snapshot: PddlSnapshot, ontology: PlanningOntology, skus: list[str]) -> None:
    """Adds an empty tray for every kind without one: where parts are counted by trays, nothing else names the kind."""
    supplied = {snapshot.one(vessel, "partSku") for vessel in snapshot.of_class(ontology, "PartsVessel")}
    for sku in skus:
        if sku not in supplied:
            name = f"no_supply_of_{sku}"
            snapshot.kinds[name] = "PartsTray"
            snapshot.links["partSku"][name] = [sku]
            snapshot.quantity[name] = 0


def replace_parts(snapshot: PddlSnapshot, ontology: PlanningOntology, placeholder: str) -> dict[str, str]:
    """Replaces the parts that are held or supplied by one part for each kind, or for each tray.

    Returns:
        Placeholder -> its name in planning files.
    """
    vessels = snapshot.of_class(ontology, "PartsVessel")
    by_sku: dict[str, list[str]] = {}
    for vessel in vessels:
        by_sku.setdefault(snapshot.one(vessel, "partSku"), []).append(vessel)
    skus = {part: snapshot.one(part, "sku") for part in snapshot.of_class(ontology, "Part")}
    kits_with: dict[str, list[str]] = {}
    for kit, parts in snapshot.contents.items():
        for sku in sorted({skus[part] for part in parts}):
            kits_with.setdefault(sku, []).append(kit)
    for name, kind in list(snapshot.kinds.items()):
        if kind == "Part":
            del snapshot.kinds[name]
    called: dict[str, str] = {}
    location, sku_of = dict(snapshot.links["location"]), dict(snapshot.links["sku"])
    for part in skus:
        location.pop(part, None)
        sku_of.pop(part, None)
    names = snapshot.of_class(ontology, "StockKeepingUnit") if placeholder == "sku" else vessels
    for name in names:
        part = f"part of {name}"
        called[part] = name
        snapshot.kinds[part] = "Part"
        sku_of[part] = [name] if placeholder == "sku" else snapshot.to(name, "partSku")
        location[part] = by_sku.get(name, []) + kits_with.get(name, []) if placeholder == "sku" else [name]
    held = {}
    for tool, things in snapshot.links["heldObject"].items():
        held[tool] = [_placeholder(thing, skus, by_sku, placeholder) for thing in things]
    snapshot.links |= {"location": location, "sku": sku_of, "heldObject": held}
    return called


def _placeholder(thing: str, skus: dict[str, str], by_sku: dict[str, list[str]], placeholder: str) -> str:
    if thing not in skus:
        return thing
    return f"part of {skus[thing] if placeholder == 'sku' else by_sku[skus[thing]][0]}"
