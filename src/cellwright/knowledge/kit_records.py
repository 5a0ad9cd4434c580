"""Records of kit trays and kits that are carried about, after a robot set them down."""

from __future__ import annotations

from typing import TypeVar

from cellwright.knowledge.belief import Belief
from cellwright.knowledge.generated import records
from cellwright.knowledge.location_records import locate
from cellwright.knowledge.workstation import Place, Spread

__all__ = ["begin_kit", "end_kit", "set_down"]

BUILT = "execution"
Thing = TypeVar("Thing", bound=records.SolidObject)


def begin_kit(belief: Belief, kit: str, design: str, tray: str, time_s: float) -> None:
    """Makes an empty kit of a kit tray, where it stands; the tray is a part of the kit from now on."""
    model = belief.world_model
    reference = model.tree.names[model.tree.parent[model.tree.index[tray]]]
    pose, variances = model.pose_in(tray, reference), belief.covariance(tray).diagonal()
    x, y, z, yaw = (float(variance) ** 0.5 for variance in variances)
    with model.database.session() as session:
        made = records.Kit(name=kit, stationary=False, finished=False)
        made.kit_design = drawn = records.KitDesign.get(session, design)
        made.kit_tray = records.KitTray.get(session, tray)
        made.primary_location = place = records.PoseLocationOn(name=f"{kit}_location")
        below = records.SolidObject.get(session, reference)
        locate(place, below, Place(pose, spread=Spread((x, y, z), (0.0, 0.0, yaw))), BUILT, time_s)
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
        for table in records.WorkTable.all(session):
            table.object_on_table = _without(table.object_on_table, thing)
        for stack in records.LargeBoxWithEmptyKitTrays.all(session):
            stack.empty_kit_tray = _without(stack.empty_kit_tray, thing)
        for box in records.LargeBoxWithKits.all(session):
            box.kit = _without(box.kit, thing)
        session.flush()  # a thing is listed in one place only
        there = records.SolidObject.get(session, place)
        if isinstance(there, records.WorkTable):
            there.object_on_table.append(made)
        elif isinstance(there, records.LargeBoxWithEmptyKitTrays) and isinstance(made, records.KitTray):
            there.empty_kit_tray.append(made)
        elif isinstance(there, records.LargeBoxWithKits) and isinstance(made, records.Kit):
            there.kit.append(made)
    belief.world_model.attach({thing: place})


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
        for table in records.WorkTable.all(session):
            table.object_on_table = _without(table.object_on_table, kit)
        for box in records.LargeBoxWithKits.all(session):
            box.kit = _without(box.kit, kit)
        for workstation in records.KittingWorkstation.all(session):
            workstation.station_object = _without(workstation.station_object, kit)
        slots, place = list(made.slot), made.primary_location
        made.kit_tray, made.slot, made.part, made.primary_location = None, [], [], None
        session.flush()
        for record in (made, place, *slots):
            session.delete(record)
    belief.reload()


def _without(things: list[Thing], name: str) -> list[Thing]:
    return [thing for thing in things if thing.name != name]
