"""A cell as the database has it, read at once: objects, relations, numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from sqlalchemy import Connection, TableClause, column, func, select, table

from cellwright.knowledge.database import Database
from cellwright.knowledge.pddl.reach import reached_places
from cellwright.knowledge.pddl.source import PlanningOntology

__all__ = ["PddlSnapshot", "read_snapshot"]

Links = dict[str, list[str]]


@dataclass
class PddlSnapshot:
    """A cell at one time.

    Attributes:
        kinds: Object -> its class.
        links: Property -> object -> the objects it leads to. Besides the ontology's properties `location` leads to
            what an object is located by, `reach` to the places that a robot reaches, `kitTraySku` to a tray's kind.
        flags: Class and property -> objects for which it is true.
        designs: Kit design -> how many parts of each kind.
        design_of: Kit -> its design.
        contents: Kit -> the parts in it.
        quantity: Parts vessel -> how many parts it is believed to hold.
        located: Parts vessel -> how many objects are located by it.
        slots: Parts vessel -> how many places it has.
        capacity: Box of kits -> how many fit.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    links: dict[str, Links] = field(default_factory=dict)
    by_owner: dict[tuple[str, str], list[tuple[str, str]]] = field(default_factory=dict)
    flags: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    designs: dict[str, Counter[str]] = field(default_factory=dict)
    design_of: dict[str, str] = field(default_factory=dict)
    contents: dict[str, set[str]] = field(default_factory=dict)
    quantity: dict[str, int] = field(default_factory=dict)
    located: Counter[str] = field(default_factory=Counter)
    slots: dict[str, int] = field(default_factory=dict)
    capacity: dict[str, int] = field(default_factory=dict)

    def to(self, name: str, link: str) -> list[str]:
        """Returns the objects to which a property leads from an object."""
        return self.links.get(link, {}).get(name, [])

    def one(self, name: str, link: str) -> str:
        """Returns the same where there is at most one; empty when there is none."""
        found = self.to(name, link)
        return found[0] if found else ""

    def of_class(self, ontology: PlanningOntology, kind: str) -> list[str]:
        """Returns the objects of a class or of classes below it."""
        wanted = ontology.below[kind]
        return [name for name, found in self.kinds.items() if found in wanted]


def read_snapshot(
    database: Database, ontology: PlanningOntology, without: Collection[str] = (), *, supply: bool = True
) -> PddlSnapshot:
    """Reads everything but the objects that are left out, and without `supply` the parts that lie in vessels."""
    snapshot = PddlSnapshot()
    with database.transaction() as connection:
        names = {root: _names(connection, root, supply) for root in sorted(set(ontology.tables.values()))}
        keys: dict[str, dict[int, str]] = {root: {} for root in names}
        for root, rows in names.items():
            for key, (name, kind) in rows.items():
                if kind in ontology.parents and ontology.tables[kind] == root and name not in without:
                    keys[root][key] = name if name not in snapshot.kinds else f"{name}_{kind}"
                    snapshot.kinds[keys[root][key]] = kind
        for relation in ontology.relations:
            owners, targets = keys[ontology.tables[relation.owner]], keys[ontology.tables[relation.target]]
            found = snapshot.links.setdefault(relation.property, defaultdict(list))
            pairs = snapshot.by_owner.setdefault((relation.owner, relation.property), [])
            reader = _many if relation.many else _one
            for owner, target in reader(connection, relation.table, relation.column):
                if owner in owners and target in targets:
                    found[owners[owner]].append(targets[target])
                    pairs.append((owners[owner], targets[target]))
        for flag in ontology.flags:
            owners = keys[ontology.tables[flag.owner]]
            true = (owner for owner, value in _values(connection, flag.table, flag.column) if value)
            snapshot.flags[flag.owner, flag.property] = [owners[owner] for owner in true if owner in owners]
        bodies, things = keys["solid_object"], {key: name for key, (name, _) in names["data_thing"].items()}
        locations = _locations(connection)
        snapshot.links["location"] = {bodies[o]: [bodies[r]] for o, r in locations if o in bodies and r in bodies}
        vessels = set(snapshot.of_class(ontology, "PartsVessel"))
        snapshot.located = Counter(bodies[r] for _, r in locations if r in bodies and bodies[r] in vessels)
        for field_name, at, what in (
            ("quantity", "parts_vessel", "part_quantity"),
            ("capacity", "large_box_with_kits", "capacity"),
        ):
            found_values = {bodies[o]: v for o, v in _values(connection, at, what) if o in bodies}
            setattr(snapshot, field_name, found_values)
        slots = table("parts_vessel_slot", column("owner_id"))
        counted = select(slots.c.owner_id, func.count()).group_by(slots.c.owner_id)
        snapshot.slots = {bodies[o]: n for o, n in connection.execute(counted).all() if o in bodies}
        snapshot.design_of = {
            bodies[kit]: things[design] for kit, design in _one(connection, "kit", "kit_design") if kit in bodies
        }
        trays = snapshot.of_class(ontology, "KitTray")
        snapshot.links["kitTraySku"] = {tray: snapshot.to(tray, "sku") for tray in trays}
        _read_designs(connection, snapshot, things)
        _read_contents(connection, snapshot, bodies)
        reach = reached_places(connection, bodies)
        robots = snapshot.of_class(ontology, "Robot")
        everything = [name for name, kind in snapshot.kinds.items() if ontology.tables[kind] == "solid_object"]
        snapshot.links["reach"] = {robot: reach.get(robot, everything) for robot in robots}
    return snapshot


def _rows(name: str, *columns: str) -> TableClause:
    return table(name, *(column(word) for word in columns))


def _names(connection: Connection, root: str, supply: bool) -> dict[int, tuple[str, str]]:
    rows = _rows(root, "id", "name", "kind")
    query = select(rows).order_by(rows.c.id)
    if root == "solid_object" and not supply:
        body, place, vessel = _rows(root, "id", "primary_location_id", "kind"), _places(), _rows("parts_vessel", "id")
        supplied = (
            select(body.c.id)
            .join(place, body.c.primary_location_id == place.c.id)
            .join(vessel, place.c.ref_object_id == vessel.c.id)
            .where(body.c.kind == "Part")
        )
        query = query.where(rows.c.id.not_in(supplied))
    return {key: (name, kind) for key, name, kind in connection.execute(query).all()}


def _places() -> TableClause:
    return _rows("physical_location", "id", "ref_object_id")


def _one(connection: Connection, name: str, what: str) -> list[tuple[int, int]]:
    return [(o, t) for o, t in _values(connection, name, f"{what}_id") if t is not None]


def _values(connection: Connection, name: str, what: str) -> list[tuple[int, int]]:
    rows = _rows(name, "id", what)
    query = select(rows).where(rows.c[what].is_not(None)).order_by(rows.c.id)
    return [(key, value) for key, value in connection.execute(query).all()]


def _many(connection: Connection, name: str, what: str) -> list[tuple[int, int]]:
    rows = _rows(f"{name}_{what}", "id", "owner_id", "target_id")
    query = select(rows.c.owner_id, rows.c.target_id).order_by(rows.c.owner_id, rows.c.id)
    return [(owner, target) for owner, target in connection.execute(query).all()]


def _locations(connection: Connection) -> list[tuple[int, int]]:
    body, place = _rows("solid_object", "id", "primary_location_id"), _places()
    query = select(body.c.id, place.c.ref_object_id).join(place, body.c.primary_location_id == place.c.id)
    return [(o, r) for o, r in connection.execute(query.order_by(body.c.id)).all() if r is not None]


def _read_designs(connection: Connection, snapshot: PddlSnapshot, things: dict[int, str]) -> None:
    refs = dict(_one(connection, "part_ref_and_pose", "part_ref_sku"))
    for design, ref in _many(connection, "tray_design", "part_ref_and_pose"):
        if ref in refs:
            snapshot.designs.setdefault(things[design], Counter())[things[refs[ref]]] += 1


def _read_contents(connection: Connection, snapshot: PddlSnapshot, bodies: dict[int, str]) -> None:
    """Reads the parts that are located in a kit or its tray, that the kit lists, or that are in one of its slots."""
    kit_of = {tray: kit for kit, trays in snapshot.links["kitTray"].items() for tray in trays}
    contents: dict[str, set[str]] = defaultdict(set)
    for name, places in snapshot.links["location"].items():
        if snapshot.kinds[name] == "Part":
            contents[kit_of.get(places[0], places[0])].add(name)
    for kit, part in snapshot.by_owner["Kit", "part"]:
        contents[kit].add(part)
    in_slot = dict(_one(connection, "slot", "slot_part"))
    for kit_key, slot in _many(connection, "kit", "slot"):
        if slot in in_slot and kit_key in bodies and in_slot[slot] in bodies:
            contents[bodies[kit_key]].add(bodies[in_slot[slot]])
    snapshot.contents = {name: parts for name, parts in contents.items() if snapshot.kinds[name] == "Kit"}
