"""Belief as plain data, read from a database in a few queries: names and numbers, no records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Select
from sqlalchemy.orm import Session

from cellwright.knowledge import belief_queries
from cellwright.knowledge.database import Database
from cellwright.knowledge.transform_tree import TransformTree
from cellwright.knowledge.tray_layout import design_slots
from cellwright.knowledge.world_model import WorldModel
from cellwright.orders import KitDesign, KitSlot

__all__ = ["BeliefFacts", "ObjectFacts", "read_facts"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ObjectFacts:
    """An object: its class, what it lies in or on, and the deviation and time of its pose."""

    name: str
    kind: str
    reference: str | None
    time_s: float | None
    deviation_m: float | None
    sku: str = ""


@dataclass
class BeliefFacts:
    """The believed state of a cell, as planning and execution need it.

    Attributes:
        things: Name -> object, in the order in which they were made.
        tree: Their poses.
        handles: Tool -> SKUs.
        tool_of: Robot or holder -> the tool that is there.
        held: Tool -> the object that it holds.
        boxes: Robot -> corners of the boxes that it reaches, n x 2 x 3.
        part_sku: Parts vessel -> the SKU that it supplies.
        slots: Parts vessel -> the positions of its slots in its frame, n x 3.
        designs: Name -> kit design.
        kit_design: Kit -> name of its design; absent when it has none.
        tray_of: Kit -> its kit tray.
        stationary: Kits that stay where they are.
        capacity: Box of kits -> the number that fits.
        sizes: Table or box -> its extent, or that of the room in it.
        slot_points: Kit design -> the positions of its slots in the frame of the tray, n x 3.
    """

    tree: TransformTree
    things: dict[str, ObjectFacts] = field(default_factory=dict)
    handles: dict[str, set[str]] = field(default_factory=dict)
    tool_of: dict[str, str] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)
    boxes: dict[str, Array] = field(default_factory=dict)
    part_sku: dict[str, str] = field(default_factory=dict)
    slots: dict[str, Array] = field(default_factory=dict)
    designs: dict[str, KitDesign] = field(default_factory=dict)
    kit_design: dict[str, str] = field(default_factory=dict)
    tray_of: dict[str, str] = field(default_factory=dict)
    stationary: set[str] = field(default_factory=set)
    capacity: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    slot_points: dict[str, Array] = field(default_factory=dict)

    def of_kind(self, *kinds: str) -> list[ObjectFacts]:
        """Returns all objects of these classes."""
        return [thing for thing in self.things.values() if thing.kind in kinds]

    def point(self, name: str) -> Array | None:
        """Returns the position of an object's origin in the workstation; None when it is not known."""
        row = self.tree.index.get(name)
        return None if row is None else self.tree.in_world[row][:3, 3]

    def points_on(self, name: str, points: Array) -> Array:
        """Returns points of an object's frame in the workstation's."""
        matrix = self.tree.in_world[self.tree.index[name]]
        return np.asarray(points @ matrix[:3, :3].T + matrix[:3, 3])

    def slots_of_design(self, design: KitDesign) -> Array:
        """Returns the positions of the slots of a kit in its frame, n x 3."""
        if self.designs.get(design.name) == design:
            return self.slot_points[design.name]
        return np.array([place.pose_part_in_tray.position for place in design_slots(design)])


def read_facts(source: Database | WorldModel) -> BeliefFacts:
    """Reads a database; the poses of a world model are taken as it has them."""
    model = source if isinstance(source, WorldModel) else WorldModel(source)
    facts = BeliefFacts(model.tree)
    with model.database.session() as session:
        _read_things(session, facts)
        _read_tools(session, facts)
        _read_vessels(session, facts)
        _read_designs(session, facts)
        _read_kits(session, facts)
    return facts


def _read_things(session: Session, facts: BeliefFacts) -> None:
    skus = dict(_pairs(session, belief_queries.SKUS))
    for name, kind, reference, time_s, deviation_m, *variances in session.execute(belief_queries.THINGS):
        known = [variance for variance in variances if variance is not None]
        deviation_m = float(max(known) ** 0.5) if known else deviation_m
        facts.things[name] = ObjectFacts(name, kind, reference, time_s, deviation_m, skus.get(name, ""))


def _read_tools(session: Session, facts: BeliefFacts) -> None:
    for tool, sku in _pairs(session, belief_queries.HANDLES):
        facts.handles.setdefault(tool, set()).add(sku)
    facts.tool_of = dict([*_pairs(session, belief_queries.ON_ROBOT), *_pairs(session, belief_queries.IN_HOLDER)])
    facts.held = dict(_pairs(session, belief_queries.HELD))
    boxes: dict[str, list[list[float]]] = {}
    for robot, *numbers in session.execute(belief_queries.REACH):
        if None not in numbers:
            boxes.setdefault(robot, []).append(numbers)
    facts.boxes = {robot: np.array(rows).reshape(-1, 2, 3) for robot, rows in boxes.items()}


def _read_vessels(session: Session, facts: BeliefFacts) -> None:
    facts.part_sku = dict(_pairs(session, belief_queries.SUPPLIED))
    points: dict[str, list[list[float]]] = {}
    for name, *numbers in session.execute(belief_queries.SLOTS):
        if None not in numbers:
            points.setdefault(name, []).append(numbers)
    facts.slots = {name: np.array(rows) for name, rows in points.items()}
    facts.capacity = {name: capacity or 0 for name, capacity in session.execute(belief_queries.CAPACITY)}
    facts.sizes = {name: (x, y, z) for name, x, y, z in session.execute(belief_queries.SIZES) if x and y and z}


def _read_designs(session: Session, facts: BeliefFacts) -> None:
    rows: dict[tuple[str, str], list[tuple[KitSlot, list[float]]]] = {}
    for name, tray_sku, ref_name, sku, *point in session.execute(belief_queries.DESIGNS):
        slot = KitSlot(ref_name.removeprefix(f"{name}_"), sku)
        rows.setdefault((name, tray_sku), []).append((slot, point))
    for (name, tray_sku), places in rows.items():
        facts.designs[name] = KitDesign(name, tray_sku, tuple(slot for slot, _ in places))
        facts.slot_points[name] = np.array([point for _, point in places], float)


def _read_kits(session: Session, facts: BeliefFacts) -> None:
    facts.stationary = set(session.scalars(belief_queries.STATIONARY))
    facts.kit_design = dict(_pairs(session, belief_queries.KIT_DESIGN))
    facts.tray_of = dict(_pairs(session, belief_queries.KIT_TRAY))


def _pairs(session: Session, query: Select[Any]) -> list[tuple[str, str]]:
    return [(first, second) for first, second in session.execute(query)]
