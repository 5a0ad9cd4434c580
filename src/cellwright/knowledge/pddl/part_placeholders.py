"""Placeholders: one object for all parts that are alike, where parts are counted and not named."""

from __future__ import annotations

from cellwright.knowledge.cell_relations import CellRelations

__all__ = ["replace_parts", "supply_missing_vessels"]


def supply_missing_vessels(relations: CellRelations, skus: list[str]) -> None:
    """Adds an empty tray for every kind without one: where parts are counted by trays, nothing else names the kind."""
    supplied = {relations.one(vessel, "partSku") for vessel in relations.of_class("PartsVessel")}
    for sku in skus:
        if sku not in supplied:
            name = f"no_supply_of_{sku}"
            relations.kinds[name] = "PartsTray"
            relations.links["partSku"][name] = [sku]
            relations.quantity[name] = 0


def replace_parts(relations: CellRelations, placeholder: str) -> dict[str, str]:
    """Replaces the parts that are held or supplied by one part for each kind, or for each tray.

    Returns:
        Placeholder -> its name in planning files.
    """
    vessels = relations.of_class("PartsVessel")
    by_sku: dict[str, list[str]] = {}
    for vessel in vessels:
        by_sku.setdefault(relations.one(vessel, "partSku"), []).append(vessel)
    skus = {part: relations.one(part, "sku") for part in relations.of_class("Part")}
    kits_with: dict[str, list[str]] = {}
    for kit, parts in relations.contents.items():
        for sku in sorted({skus[part] for part in parts}):
            kits_with.setdefault(sku, []).append(kit)
    for name, kind in list(relations.kinds.items()):
        if kind == "Part":
            del relations.kinds[name]
    called: dict[str, str] = {}
    location, sku_of = dict(relations.links["location"]), dict(relations.links["sku"])
    for part in skus:
        location.pop(part, None)
        sku_of.pop(part, None)
    names = relations.of_class("StockKeepingUnit") if placeholder == "sku" else vessels
    for name in names:
        part = f"part of {name}"
        called[part] = name
        relations.kinds[part] = "Part"
        sku_of[part] = [name] if placeholder == "sku" else relations.to(name, "partSku")
        location[part] = by_sku.get(name, []) + kits_with.get(name, []) if placeholder == "sku" else [name]
    held = {}
    for tool, things in relations.links["heldObject"].items():
        held[tool] = [_placeholder(thing, skus, by_sku, placeholder) for thing in things]
    relations.links |= {"location": location, "sku": sku_of, "heldObject": held}
    return called


def _placeholder(thing: str, skus: dict[str, str], by_sku: dict[str, list[str]], placeholder: str) -> str:
    if thing not in skus:
        return thing
    return f"part of {skus[thing] if placeholder == 'sku' else by_sku[skus[thing]][0]}"
