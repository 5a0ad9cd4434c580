"""The state that orders lead to: a copy of a database in which the wanted kits are finished."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from sqlalchemy import select
from sqlalchemy.orm import Session

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.knowledge.database import Database
from cellwright.knowledge.generated import records
from cellwright.knowledge.instances.store import copy_of
from cellwright.knowledge.location_records import locate
from cellwright.knowledge.tray_layout import SlotPlace, design_slots, tray_layout
from cellwright.knowledge.workstation import Place
from cellwright.orders import KitDesign, Order

__all__ = ["goal_of"]

EVIDENCE = "goal"


def goal_of(database: Database, orders: Sequence[Order], into: Database | None = None) -> Database:
    """Returns the goal of orders as another database: kits full, in the box of kits or where their trays stay.

    Which part of a SKU goes where is of no importance, and is chosen by the order of the records. What the orders do
    not speak of stays as it is.

    Args:
        database: The belief now.
        orders: The orders.
        into: An empty database; one in memory when not given.

    Raises:
        BadInput: Parts, trays or room are missing, or a design that the database does not know; says which.
    """
    goal = copy_of(database, into)
    with goal.session() as session, session.no_autoflush:
        maker = _Maker(session)
        for order in sorted(orders, key=lambda order: -order.priority):
            for line in order.lines:
                for kit in maker.kits(line.design, line.quantity):
                    maker.finish(kit, line.design)
    return goal


class _Maker:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._station = records.KittingWorkstation.all(session)[0]
        self._trays = records.PartsVessel.all(session)
        self._tools = records.EndEffector.all(session)
        self._names = set(session.scalars(select(records.SolidObject.name)))
        self._used: set[str] = set()

    def kits(self, design: KitDesign, quantity: int) -> list[records.Kit]:
        """Returns so many kits of a design: those that stay in place, those that were begun, then new ones."""
        there = [kit for kit in records.Kit.all(self._session) if kit.name not in self._used]
        fixed = [k for k in there if k.stationary and k.kit_tray and k.kit_tray.sku.name == design.tray_sku]
        begun = [k for k in there if not k.stationary and k.kit_design and k.kit_design.name == design.name]
        found = (fixed + begun)[:quantity]
        found += [self._new_kit(design) for _ in range(quantity - len(found))]
        self._used |= {kit.name for kit in found}
        return found

    def _new_kit(self, design: KitDesign) -> records.Kit:
        name = next(n for i in count(1) if (n := f"{design.name}_{i}") not in self._names)
        for box in records.LargeBoxWithEmptyKitTrays.all(self._session):
            fitting = [tray for tray in box.empty_kit_tray if tray.sku.name == design.tray_sku]
            if fitting:
                tray = fitting[-1]
                box.empty_kit_tray.remove(tray)
                kit = records.Kit(name=name, kit_tray=tray)
                self._session.add(kit)
                self._names.add(name)
                self._move(tray, kit, Pose.identity())
                self._station.station_object.append(kit)
                return kit
        raise BadInput(f"kit {name}: no kit tray {design.tray_sku} is left")

    def finish(self, kit: records.Kit, design: KitDesign) -> None:
        """Fills every slot, and puts the kit where finished kits go."""
        known = records.KitDesign.get(self._session, design.name)
        kit.kit_design = known
        slots = {slot.name: slot for slot in kit.slot}
        kept = []
        for place, ref in zip(design_slots(design), known.part_ref_and_pose, strict=True):
            slot = slots.pop(f"{kit.name}_{place.name}", None) or records.Slot(name=f"{kit.name}_{place.name}")
            slot.slot_design, slot.slot_id = ref, place.name
            if slot.slot_part is not None and slot.slot_part.sku.name != place.sku:
                self._put_back(kit, slot)
            if slot.slot_part is None:
                self._fill(kit, slot, place)
            kept.append(slot)
        kit.slot = kept
        for slot in slots.values():
            self._session.delete(slot)
        kit.finished = True
        if not kit.stationary:
            self._deliver(kit)

    def _fill(self, kit: records.Kit, slot: records.Slot, place: SlotPlace) -> None:
        part = self._take(place.sku, kit.name)
        kit.part.append(part)
        slot.slot_part, slot.is_occupied = part, True
        self._move(part, kit, place.pose_part_in_tray)

    def _take(self, sku: str, kit: str) -> records.Part:
        for tool in self._tools:
            part = tool.held_object
            if isinstance(part, records.Part) and part.sku.name == sku:
                tool.held_object = None
                return part
        for tray in self._trays:
            for part in tray.part:
                if part.sku.name == sku:
                    tray.part.remove(part)
                    tray.part_quantity = len(tray.part)
                    for slot in tray.slot:
                        if slot.slot_part is part:
                            slot.slot_part, slot.is_occupied = None, False
                    return part
        raise BadInput(f"kit {kit}: no {sku} is left")

    def _put_back(self, kit: records.Kit, wrong: records.Slot) -> None:
        part = wrong.slot_part
        assert part is not None
        for tray in self._trays:
            free = [slot for slot in tray.slot if slot.slot_part is None]
            if free and tray.part_sku is part.sku:
                kit.part.remove(part)
                tray.part.append(part)
                tray.part_quantity = len(tray.part)
                free[0].slot_part, free[0].is_occupied = part, True
                wrong.slot_part, wrong.is_occupied = None, False
                places = {slot.name: slot.pose_part_in_tray for slot in tray_layout(tray.sku.name).slots}
                self._move(part, tray, places[str(free[0].slot_id)])
                return
        raise BadInput(f"kit {kit.name}: {part.name} does not belong there, and no parts tray has room for it")

    def _deliver(self, kit: records.Kit) -> None:
        boxes = records.LargeBoxWithKits.all(self._session)
        if any(kit in box.kit for box in boxes):
            return
        for box in boxes:
            if len(box.kit) < (box.capacity or 0):
                self._move(kit, box, Pose.from_xyz_rpy([0.0, 0.0, 0.1 * len(box.kit)]))
                box.kit.append(kit)
                break
        else:
            raise BadInput(f"kit {kit.name}: no box of finished kits has room for it")
        for table in records.WorkTable.all(self._session):
            if kit in table.object_on_table:
                table.object_on_table.remove(kit)
        for tool in self._tools:
            if tool.held_object is kit:
                tool.held_object = None

    def _move(self, thing: records.SolidObject, reference: records.SolidObject, pose: Pose) -> None:
        location = thing.primary_location
        if not isinstance(location, records.PoseLocationIn):
            if location is not None:
                self._session.delete(location)
            thing.primary_location = location = records.PoseLocationIn(name=f"{thing.name}_location")
        locate(location, reference, Place(pose), EVIDENCE)
