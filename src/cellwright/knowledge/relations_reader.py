"""Reads the relations of a cell from the database; on tables, not on access classes, which are slower."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache, lru_cache
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, column, func, select, table

from cellwright.knowledge.believed_objects import Unknown
from cellwright.knowledge.cell_relations import CellRelations
from cellwright.knowledge.database import Database
from cellwright.knowledge.planning_ontology import PlanningOntology, planning_ontology
from cellwright.orders import KitDesign, KitSlot

__all__ = ["read_relations"]

XYZ = ("point_x", "point_y", "point_z")
CORNERS = tuple(f"{end}_point_{axis}" for end in ("minimum", "maximum") for axis in "xyz")
NO_CAPACITY = Unknown("the database does not say how many kits fit")


def read_relations(
    database: Database, ontology: PlanningOntology | None = None, *, supply: bool = True
) -> CellRelations:
    """Reads everything but, without `supply`, the parts that lie in vessels: there may be very many."""
    ontology = ontology or planning_ontology()
    found = CellRelations(ontology)
    with database.transaction() as connection:
        things = _names(connection, "data_thing")
        bodies = _names(connection, "solid_object", supply)
        keys: dict[str, dict[int, str]] = {"solid_object": {}, "data_thing": {}}
        for root, rows in (("solid_object", bodies), ("data_thing", things)):
            for key, (name, kind) in rows.items():
                if kind in ontology.parents:
                    keys[root][key] = shown = name if name not in found.kinds else f"{name}_{kind}"
                    found.kinds[shown] = kind
        _read_links(connection, found, keys)
        names = {key: name for key, (name, _) in things.items()}
        _read_designs(connection, found, keys["solid_object"], names)
        _read_numbers(connection, found, keys["solid_object"], names)
        _read_contents(connection, found, keys["solid_object"], names)
    return found


def _read_links(connection: Connection, found: CellRelations, keys: dict[str, dict[int, str]]) -> None:
    ontology = found.ontology
    for relation in ontology.relations:
        owners, targets = keys[ontology.tables[relation.owner]], keys[ontology.tables[relation.target]]
        links = found.links.setdefault(relation.property, defaultdict(list))
        for owner, target in (_many if relation.many else _one)(connection, relation.table, relation.column):
            if owner in owners and target in targets:
                links[owners[owner]].append(targets[target])
    for flag in ontology.flags:
        owners = keys[ontology.tables[flag.owner]]
        true = (owner for owner, value in _values(connection, flag.table, flag.column) if value)
        found.flags[flag.owner, flag.property] = [owners[owner] for owner in true if owner in owners]
    bodies, rows = keys["solid_object"], connection.execute(_location_query())
    located = [(o, bodies[r]) for o, r in rows if r in bodies]
    found.links["location"] = {bodies[o]: [place] for o, place in located if o in bodies}
    vessels = set(found.of_class("PartsVessel"))
    found.located = Counter(place for _, place in located if place in vessels)
    found.links["kitTraySku"] = {tray: found.to(tray, "sku") for tray in found.of_class("KitTray")}


@cache
def _location_query() -> Select[Any]:
    body, place = _located()
    return (
        select(body.c.id, place.c.ref_object_id)
        .join(place, body.c.primary_location_id == place.c.id)
        .where(place.c.ref_object_id.is_not(None))
        .order_by(body.c.id)
    )


def _read_designs(connection: Connection, found: CellRelations, bodies: dict[int, str], names: dict[int, str]) -> None:
    rows: dict[tuple[str, str], list[tuple[KitSlot, list[float]]]] = {}
    for design, tray_sku, place, sku, *point in connection.execute(_design_query()):
        if tray_sku in names and sku in names:
            slot = KitSlot(names[place].removeprefix(f"{names[design]}_"), names[sku])
            rows.setdefault((names[design], names[tray_sku]), []).append((slot, point))
    for (name, tray_sku), places in rows.items():
        found.designs[name] = KitDesign(name, tray_sku, tuple(slot for slot, _ in places))
        found.slot_points[name] = np.array([point for _, point in places], float)
    kits = _one(connection, "kit", "kit_design")
    found.design_of = {bodies[kit]: names[design] for kit, design in kits if kit in bodies}


@cache
def _design_query() -> Select[Any]:
    ref, has = _rows("part_ref_and_pose", "id", "part_ref_sku_id", *XYZ), _association("tray_design_part_ref_and_pose")
    tray, kit = _rows("tray_design", "id", "tray_sku_id"), _rows("kit_design", "id")
    return (
        select(kit.c.id, tray.c.tray_sku_id, ref.c.id, ref.c.part_ref_sku_id, *(ref.c[axis] for axis in XYZ))
        .join(tray, tray.c.id == kit.c.id)
        .join(has, has.c.owner_id == kit.c.id)
        .join(ref, ref.c.id == has.c.target_id)
        .order_by(kit.c.id, has.c.id)
    )


def _read_numbers(connection: Connection, found: CellRelations, bodies: dict[int, str], names: dict[int, str]) -> None:
    found.quantity = {bodies[o]: v for o, v in _values(connection, "parts_vessel", "part_quantity") if o in bodies}
    boxes, sizes, volumes, counted, slots = _number_queries()
    known = connection.execute(boxes).all()
    found.capacity = {bodies[o]: NO_CAPACITY if v is None else v for o, v in known if o in bodies}
    sides = connection.execute(sizes)
    found.sizes = {bodies[o]: (x, y, z) for o, x, y, z in sides if o in bodies and x and y and z}
    corners: dict[str, list[list[float]]] = {}
    for robot, *numbers in connection.execute(volumes):
        if None not in numbers and robot in bodies:
            corners.setdefault(bodies[robot], []).append(numbers)
    found.boxes = {robot: np.array(rows).reshape(-1, 2, 3) for robot, rows in corners.items()}
    found.slot_count = {bodies[o]: n for o, n in connection.execute(counted) if o in bodies}
    points: dict[str, list[list[float]]] = {}
    for vessel, *numbers in connection.execute(slots):
        if None not in numbers and vessel in bodies:
            points.setdefault(bodies[vessel], []).append(numbers)
    found.slots = {name: np.array(rows) for name, rows in points.items()}


@cache
def _number_queries() -> tuple[Select[Any], ...]:
    """Returns the queries for capacities of boxes, sizes, work volumes, and numbers and places of slots."""
    box, body = _rows("large_box_with_kits", "id", "capacity"), _rows("no_sku_object", "id", "internal_shape_id")
    shape = _rows("boxy_shape", "id", "shape_length", "shape_width", "shape_height")
    sides = select(body.c.id, shape.c.shape_length, shape.c.shape_width, shape.c.shape_height)
    volume, owned = _rows("box_volume", "id", *CORNERS), _association("robot_work_volume")
    corners = select(owned.c.owner_id, *(volume.c[c] for c in CORNERS)).join(volume, volume.c.id == owned.c.target_id)
    has, slot = _association("parts_vessel_slot"), _rows("slot", "id", "slot_design_id")
    ref = _rows("part_ref_and_pose", "id", *XYZ)
    places = select(has.c.owner_id, *(ref.c[axis] for axis in XYZ)).join(slot, slot.c.id == has.c.target_id)
    return (
        select(box).order_by(box.c.id),
        sides.join(shape, shape.c.id == body.c.internal_shape_id),
        corners.order_by(owned.c.id),
        select(has.c.owner_id, func.count()).group_by(has.c.owner_id),
        places.join(ref, slot.c.slot_design_id == ref.c.id).order_by(has.c.id),
    )


def _read_contents(connection: Connection, found: CellRelations, bodies: dict[int, str], names: dict[int, str]) -> None:
    """Reads the parts that are located in a kit or its tray, that the kit lists, or that are in one of its slots."""
    kit_of = {tray: kit for kit, tray in found.ones("kitTray").items()}
    contents: dict[str, set[str]] = defaultdict(set)
    for name, places in found.links["location"].items():
        if found.kinds[name] == "Part":
            contents[kit_of.get(places[0], places[0])].add(name)
    for kit, part in found.pairs("Kit", "part"):
        contents[kit].add(part)
    in_slot = dict(_one(connection, "slot", "slot_part"))
    for kit_key, slot in _many(connection, "kit", "slot"):
        if slot in in_slot and kit_key in bodies and in_slot[slot] in bodies:
            contents[bodies[kit_key]].add(bodies[in_slot[slot]])
    found.contents = {name: parts for name, parts in contents.items() if found.kinds[name] == "Kit"}
    found.slot_parts = {bodies[part]: names[slot] for slot, part in in_slot.items() if part in bodies}
    found.slot_names = frozenset(names[key] for key in connection.scalars(select(_rows("slot", "id").c.id)))


# ------------------------------------------------------------ tables


@lru_cache
def _rows(name: str, *columns: str) -> Any:
    return table(name, *(column(word) for word in columns))


def _association(name: str) -> Any:
    return _rows(name, "id", "owner_id", "target_id")


def _located() -> tuple[Any, Any]:
    return _rows("solid_object", "id", "primary_location_id", "kind"), _rows("physical_location", "id", "ref_object_id")


def _names(connection: Connection, root: str, supply: bool = True) -> dict[int, tuple[str, str]]:
    return {key: (name, kind) for key, name, kind in connection.execute(_names_query(root, supply)).all()}


@cache
def _names_query(root: str, supply: bool) -> Select[Any]:
    rows = _rows(root, "id", "name", "kind")
    query = select(rows).order_by(rows.c.id)
    if not supply:
        (body, place), vessel = _located(), _rows("parts_vessel", "id")
        supplied = (
            select(body.c.id)
            .join(place, body.c.primary_location_id == place.c.id)
            .join(vessel, place.c.ref_object_id == vessel.c.id)
            .where(body.c.kind == "Part")
        )
        query = query.where(rows.c.id.not_in(supplied))
    return query


def _one(connection: Connection, name: str, what: str) -> list[tuple[int, int]]:
    return _values(connection, name, f"{what}_id")


def _values(connection: Connection, name: str, what: str) -> list[tuple[int, int]]:
    return [(key, value) for key, value in connection.execute(_values_query(name, what)).all()]


@cache
def _values_query(name: str, what: str) -> Select[Any]:
    """Returns a query; to build one, and to find out that it is known, takes longer than to run it."""
    rows = _rows(name, "id", what)
    return select(rows).where(rows.c[what].is_not(None)).order_by(rows.c.id)


def _many(connection: Connection, name: str, what: str) -> list[tuple[int, int]]:
    return [(owner, target) for owner, target in connection.execute(_many_query(name, what)).all()]


@cache
def _many_query(name: str, what: str) -> Select[Any]:
    rows = _association(f"{name}_{what}")
    return select(rows.c.owner_id, rows.c.target_id).order_by(rows.c.owner_id, rows.c.id)
