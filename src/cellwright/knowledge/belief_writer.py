"""Writes what belief knows beside poses into the database, and into the belief state, which follows.

Nothing else may write these: held objects, tools, slots, kits that begin and end, objects that are new.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Table, delete, insert, select, update
from sqlalchemy.orm import Session

from cellwright.catalogue import TRAYS
from cellwright.catalogue.trays import TrayKind
from cellwright.core.errors import BadInput, UnknownName
from cellwright.knowledge.database import Database
from cellwright.knowledge.generated import records
from cellwright.knowledge.held_pose import in_hands
from cellwright.knowledge.location_records import locate
from cellwright.knowledge.workstation import Place, Spread

if TYPE_CHECKING:
    from cellwright.knowledge.belief import Belief

__all__ = [
    "add_objects",
    "begin_kit",
    "end_kit",
    "move_to_slot",
    "note_held",
    "note_released",
    "note_tool",
    "set_down",
]

BUILT = "execution"
Thing = TypeVar("Thing", bound=records.SolidObject)
KINDS: tuple[Any, ...] = (
    records.SolidObject,
    records.Part,
    records.KittingWorkstation,
    records.DataThing,
    records.Slot,
)
TABLES: list[Table] = [kind.__table__ for kind in KINDS]
OBJECT, PART, STATION, DATA, SLOT = TABLES
CONTENTS = (
    (records.parts_vessel_slot, records.parts_vessel_part),
    (records.kit_slot, records.kit_part),
)
"""Of trays and of kits: their slots, and the parts in them."""


# ------------------------------------------------------------ hands and tools


def note_held(belief: Belief, tool: str, thing: str) -> None:
    """Notes that the tool holds a part, a kit tray or a kit: it is there, whatever detectors missed before."""
    with belief.world_model.database.session() as session:
        records.EndEffector.get(session, tool).held_object = records.SolidObject.get(session, thing)
    belief.state.relations.set(tool, "heldObject", thing)
    belief.state.relations_changed()
    belief.state.missing -= in_hands(belief.state)


def note_released(belief: Belief, tool: str) -> None:
    """Notes that the tool holds nothing; what it held is where it is seen."""
    with belief.world_model.database.session() as session:
        records.EndEffector.get(session, tool).held_object = None
    belief.state.relations.set(tool, "heldObject")
    belief.state.relations_changed()


def note_tool(belief: Belief, robot: str, tool: str, holder: str | None, emptied: str) -> None:
    """Notes where a tool is now: in a holder, or else on the robot; the other place is empty."""
    with belief.world_model.database.session() as session:
        made = records.EndEffector.get(session, tool)
        machine, place = records.Robot.get(session, robot), records.EndEffectorHolder.get(session, emptied)
        machine.end_effector, place.end_effector = (None, made) if holder else (made, None)
    belief.world_model.attach({tool: holder or robot})
    belief.state.relations.set(robot, "endEffector", *([] if holder else [tool]))
    belief.state.relations.set(emptied, "endEffector", *([tool] if holder else []))
    belief.state.relations_changed()


# ------------------------------------------------------------ kit trays and kits


def begin_kit(belief: Belief, kit: str, design: str, tray: str, time_s: float) -> None:
    """Makes an empty kit of a kit tray, where it stands; the tray is a part of the kit from now on."""
    model = belief.world_model
    reference = model.tree.names[model.tree.parent[model.tree.index[tray]]]
    pose, variances = model.pose_in(tray, reference), belief.state.variances(tray)
    x, y, z, roll, pitch, yaw = (float(variance) ** 0.5 for variance in variances)
    with model.database.session() as session:
        made = records.Kit(name=kit, stationary=False, finished=False)
        made.kit_design = drawn = records.KitDesign.get(session, design)
        made.kit_tray = records.KitTray.get(session, tray)
        made.primary_location = place = records.PoseLocationOn(name=f"{kit}_location")
        below = records.SolidObject.get(session, reference)
        locate(place, below, Place(pose, spread=Spread((x, y, z), (roll, pitch, yaw))), BUILT, time_s)
        for ref in drawn.part_ref_and_pose:
            slot = ref.name.removeprefix(f"{design}_")
            made.slot.append(records.Slot(name=f"{kit}_{slot}", slot_design=ref, slot_id=slot, is_occupied=False))
        if isinstance(below, records.WorkTable):
            below.object_on_table = [*(o for o in below.object_on_table if o.name != tray), made]
        stations = records.KittingWorkstation.all(session)
        stations[0].station_object.append(made)
    belief.reload()
    belief.world_model.attach({tray: kit})
    belief.reload()


def set_down(belief: Belief, thing: str, place: str) -> None:
    """Relates a kit tray or a kit to what it is in or on now, and to nothing else; its pose stays."""
    with belief.world_model.database.session() as session:
        made = records.SolidObject.get(session, thing)
        _take_off_lists(session, thing)
        session.flush()  # a thing is listed in one place only
        there = records.SolidObject.get(session, place)
        if isinstance(there, records.WorkTable):
            there.object_on_table.append(made)
        elif isinstance(there, records.LargeBoxWithEmptyKitTrays) and isinstance(made, records.KitTray):
            there.empty_kit_tray.append(made)
        elif isinstance(there, records.LargeBoxWithKits) and isinstance(made, records.Kit):
            there.kit.append(made)
    belief.world_model.attach({thing: place})
    belief.state.relations.put_tray(thing, place)


def end_kit(belief: Belief, kit: str) -> None:
    """Removes a kit whose tray is gone; its parts are on the workstation again, at the same poses."""
    model = belief.world_model
    tree = model.tree
    inside = [tree.names[row] for row in range(len(tree.names)) if tree.parent[row] == tree.index[kit]]
    with model.database.session() as session:
        station = records.KittingWorkstation.all(session)[0].name
    model.attach(dict.fromkeys(inside, station))
    with model.database.session() as session:
        made = records.Kit.get(session, kit)
        _take_off_lists(session, kit)
        for workstation in records.KittingWorkstation.all(session):
            workstation.station_object = _without(workstation.station_object, kit)
        slots, place = list(made.slot), made.primary_location
        made.kit_tray, made.slot, made.part, made.primary_location = None, [], [], None
        session.flush()
        for record in (made, place, *slots):
            session.delete(record)
    belief.reload()


def _take_off_lists(session: Session, thing: str) -> None:
    """Takes a kit tray or a kit off the lists of tables and boxes."""
    for table in records.WorkTable.all(session):
        table.object_on_table = _without(table.object_on_table, thing)
    for stack in records.LargeBoxWithEmptyKitTrays.all(session):
        stack.empty_kit_tray = _without(stack.empty_kit_tray, thing)
    for box in records.LargeBoxWithKits.all(session):
        box.kit = _without(box.kit, thing)


def _without(things: list[Thing], name: str) -> list[Thing]:
    return [thing for thing in things if thing.name != name]


# ------------------------------------------------------------ parts in slots, objects that are new


def add_objects(belief: Belief, names: Sequence[str], skus: Sequence[str]) -> None:
    """Adds parts and trays that were seen and are not known, on the workstation; a SKU that is not known is added.

    Raises:
        BadInput: There is no workstation that they could be on.
    """
    database = belief.world_model.database
    with database.session() as session:
        stations = records.KittingWorkstation.all(session)
        if not stations:
            raise BadInput(f"belief: {database.url} has no workstation that a new object could be on; make one first")
        for name, sku in zip(names, skus, strict=True):
            unit = session.scalars(select(records.StockKeepingUnit).filter_by(name=sku)).first()
            if unit is None:
                unit = records.StockKeepingUnit(name=sku)
                session.add(unit)
            place = records.PoseLocationOn(name=f"{name}_location", ref_object=stations[0])
            session.add(class_of(sku)(name=name, sku=unit, primary_location=place))
    belief.world_model.reload()
    belief.state.read()


def class_of(sku: str) -> type[records.SkuObject]:
    """Returns the class of a SKU: trays that the catalogue knows are trays, everything else goes into them."""
    kinds = {TRAYS.get(name).sku: TRAYS.get(name).kind for name in TRAYS}
    trays = {TrayKind.PARTS: records.PartsTray, TrayKind.KIT: records.KitTray}
    return trays[kinds[sku]] if sku in kinds else records.Part


def move_to_slot(belief: Belief, name: str, slot: str) -> bool:
    """Relates a part to the slot it was seen in, or to none; returns whether that is a change."""
    owner = _write_slot(belief.world_model.database, name, slot)
    if owner is None:
        return False
    belief.world_model.attach({name: owner})
    belief.state.relations.put_part(name, slot, owner)
    return True


def _write_slot(database: Database, name: str, slot: str) -> str | None:
    """Writes in which slot a part is; returns what it lies in or on then, None if as before.

    Plain statements: with the access classes all that the trays hold would be read.
    """
    with database.transaction() as connection:
        part = connection.scalar(select(OBJECT.c.id).join(PART, PART.c.id == OBJECT.c.id).where(OBJECT.c.name == name))
        if part is None:
            return None
        slots = select(SLOT.c.id, DATA.c.name).join(DATA, DATA.c.id == SLOT.c.id)
        old = connection.execute(slots.where(SLOT.c.slot_part_id == part)).first()
        if (old[1] if old else "") == slot:
            return None
        if old is not None:
            connection.execute(update(SLOT).where(SLOT.c.id == old[0]).values(slot_part_id=None, is_occupied=False))
            for owner, parts in owners_of(connection, old[0]):
                there = (parts.c.owner_id == owner) & (parts.c.target_id == part)
                connection.execute(delete(parts).where(there))
        if not slot:
            return connection.scalar(select(OBJECT.c.name).join(STATION, STATION.c.id == OBJECT.c.id))
        new = connection.execute(slots.where(DATA.c.name == slot)).first()
        if new is None:
            raise UnknownName("Slot", slot, [row[1] for row in connection.execute(slots)], "database")
        owners = owners_of(connection, new[0])
        if not owners:
            raise UnknownName("slot of a tray or kit", slot, [], "database")
        connection.execute(update(SLOT).where(SLOT.c.id == new[0]).values(slot_part_id=part, is_occupied=True))
        for owner, parts in owners:
            there = (parts.c.owner_id == owner) & (parts.c.target_id == part)
            if connection.scalar(select(parts.c.id).where(there)) is None:
                connection.execute(insert(parts).values(owner_id=owner, target_id=part))
        return connection.scalar(select(OBJECT.c.name).where(OBJECT.c.id == owners[0][0]))


def owners_of(connection: Connection, slot: int) -> list[tuple[int, Table]]:
    """Returns the tray or kit whose slot it is, and the table of what that holds."""
    return [
        (owner, parts)
        for slots, parts in CONTENTS
        for owner in connection.scalars(select(slots.c.owner_id).where(slots.c.target_id == slot))
    ]
