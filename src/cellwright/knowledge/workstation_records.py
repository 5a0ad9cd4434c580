"""Writes the description of a workstation into a database, as one change: the belief before anything is seen."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.knowledge.database import Database, copy_template, keep_template
from cellwright.knowledge.generated import records
from cellwright.knowledge.location_records import axes_of, locate, point_of
from cellwright.knowledge.tray_layout import SlotPlace, TrayLayout, design_slots, is_tray_sku, sku_figures, tray_layout
from cellwright.knowledge.workstation import (
    FixedKit,
    PartInTray,
    Place,
    StackOfTrays,
    SupplyTray,
    Vector3,
    Workstation,
    WorkstationTool,
)
from cellwright.orders import KitDesign

__all__ = ["fill", "filled_database"]

CONTAINER_SKU = "sku_large_container"


def fill(database: Database, workstation: Workstation, designs: Sequence[KitDesign]) -> None:
    """Writes everything that stands in the workstation, and the designs that can be built, in one change.

    Args:
        database: Without a workstation so far.
        workstation: The description.
        designs: The designs that may be ordered; a fixed kit tray becomes a kit of the first that is built on such a
            tray.

    Raises:
        BadInput: The database holds a workstation already.
        UnknownName: A SKU that is not known.
    """
    with database.session(exclusive=True) as session:  # of several that begin at once, one fills it
        there = session.scalars(select(records.KittingWorkstation)).first()
        if there is not None:
            raise BadInput(f"database {database.url} holds the workstation '{there.name}' already; use an empty one")
        session.add(_Writer(session, workstation, designs).station)


def filled_database(url: str | Path, workstation: Workstation, designs: Sequence[KitDesign]) -> Database:
    """Returns a new database with a workstation in it; one in memory is copied, if this process made it before."""
    database = Database(url)
    content = pickle.dumps((workstation, repr(list(designs)))) if database.in_memory else b""
    if not content or not copy_template(database.engine, content):
        try:
            fill(database, workstation, designs)
        except BaseException:
            database.close()
            raise
        if content:
            keep_template(database.engine, content)
    return database


class _Writer:
    """Makes the records one by one; what is referred to is made before what refers to it."""

    def __init__(self, session: Session, workstation: Workstation, designs: Sequence[KitDesign]) -> None:
        self.session = session
        self.of = workstation
        station = records.KittingWorkstation(name=workstation.name)
        station.angle_unit, station.length_unit, station.weight_unit = "radian", "meter", "kilogram"
        self.station = station
        self.objects = dict[str, records.SolidObject]({workstation.name: station})
        self.skus: dict[str, records.StockKeepingUnit] = {}
        self.designs: dict[str, records.TrayDesign] = {}
        self.tools = {tool.name: self._tool(tool) for tool in workstation.tools}
        kit_designs = {design.name: design for design in designs}
        for design in kit_designs.values():
            self._design(records.KitDesign(name=design.name), design.tray_sku, design_slots(design))
        self._furniture()
        for tray in workstation.supplies:
            self._supply(tray)
        for kit in workstation.kits:
            self._kit(kit, [d for d in kit_designs.values() if d.tray_sku == kit.tray_sku])
        for part in workstation.loose:
            self._part(part, records.PoseOnlyLocation)
        self._machines()

    # ------------------------------------------------------------ furniture, trays and parts

    def _furniture(self) -> None:
        for table in self.of.tables:
            made = records.WorkTable(name=table.name, internal_shape=_box(table.name, table.size_m))
            self._put(made, table.place, records.PoseOnlyLocation)
        for stack in self.of.stacks:
            box = records.LargeBoxWithEmptyKitTrays(name=stack.name, internal_shape=_room(stack.name, stack.size_m))
            self._put(box, stack.place, records.PoseOnlyLocation)
            box.large_container = self._container(stack.name)
            for name, place in stack.trays or _stacked(stack):
                tray = records.KitTray(name=name, sku=self.sku(stack.tray_sku))
                self._put(tray, place, records.PoseLocationIn)
                box.empty_kit_tray.append(tray)
        for box_of_kits in self.of.boxes:
            full = records.LargeBoxWithKits(name=box_of_kits.name, capacity=box_of_kits.capacity)
            full.internal_shape = _room(box_of_kits.name, box_of_kits.size_m)
            self._put(full, box_of_kits.place, records.PoseOnlyLocation)
            full.large_container = self._container(box_of_kits.name)

    def _container(self, owner: str) -> records.LargeContainer:
        made = records.LargeContainer(name=f"{owner}_container", sku=self.sku(CONTAINER_SKU))
        self._put(made, Place(reference=owner), records.PoseOnlyLocation)
        return made

    def _supply(self, tray: SupplyTray) -> None:
        layout = tray_layout(tray.sku)
        made = records.PartsTray(name=tray.name, sku=self.sku(tray.sku), part_quantity=len(tray.parts))
        kinds = {slot.sku for slot in layout.slots}
        made.part_sku = self.sku(kinds.pop()) if len(kinds) == 1 else None
        made.tray_design = self._tray_design(layout)
        self._put(made, tray.place, records.PoseLocationOn)
        made.slot, made.part = self._contents(tray.name, made.tray_design, layout.slots, tray.parts)

    def _kit(self, kit: FixedKit, designs: Sequence[KitDesign]) -> None:
        made = records.Kit(name=kit.name, stationary=True)
        self._put(made, kit.place, records.PoseLocationOn)
        tray = records.KitTray(name=f"{kit.name}_tray", sku=self.sku(kit.tray_sku))
        self._put(tray, Place(reference=kit.name), records.PoseLocationIn)
        made.kit_tray = tray
        if designs:
            design = self.designs[designs[0].name]
            assert isinstance(design, records.KitDesign)
            made.kit_design = design
            made.slot, made.part = self._contents(kit.name, design, design_slots(designs[0]), kit.parts)
            right = {part.slot: part.sku for part in kit.parts}
            made.finished = all(right.get(slot.name) == slot.sku for slot in designs[0].slots)
        else:
            made.part = [self._part(part, records.PoseLocationIn) for part in kit.parts]
            made.finished = False

    def _contents(
        self, owner: str, design: records.TrayDesign, places: Sequence[SlotPlace], parts: Iterable[PartInTray]
    ) -> tuple[list[records.Slot], list[records.Part]]:
        slots = {
            place.name: records.Slot(
                name=f"{owner}_{place.name}", slot_design=ref, slot_id=place.name, is_occupied=False
            )
            for place, ref in zip(places, design.part_ref_and_pose, strict=True)
        }
        made = []
        for part in parts:
            made.append(self._part(part, records.PoseLocationIn))
            if part.slot in slots:
                slots[part.slot].slot_part, slots[part.slot].is_occupied = made[-1], True
        return list(slots.values()), made

    def _part(self, part: PartInTray, kind: type[records.PoseLocation]) -> records.Part:
        made = records.Part(name=part.name, sku=self.sku(part.sku))
        self._put(made, part.place, kind)
        return made

    # ------------------------------------------------------------ robots and tools

    def _tool(self, tool: WorkstationTool) -> records.EndEffector:
        made: records.EndEffector = getattr(records, tool.kind)(name=tool.name)
        made.description, made.weight = tool.description, tool.mass_kg
        if isinstance(made, records.GripperEffector):
            made.max_grip_width = tool.width_m
        if isinstance(made, records.VacuumEffector):
            made.cup_diameter = tool.cup_m
        if isinstance(made, records.MultiCupEffector) and tool.cups is not None:
            made.array_number, made.array_radius = tool.cups
        for sku in tool.handles:
            self.sku(sku).usable_end_effector.append(made)
        return made

    def _machines(self) -> None:
        volumes: dict[str, records.BoxVolume] = {}
        for robot in self.of.robots:
            made = records.Robot(name=robot.name, description=robot.description)
            self._put(made, robot.place, records.PoseOnlyLocation, listed=False)
            for box in robot.reach:  # robots may share one
                if box.name not in volumes:
                    low, high = point_of(box.low_m), point_of(box.high_m)
                    volumes[box.name] = records.BoxVolume(name=box.name, minimum_point=low, maximum_point=high)
                made.work_volume.append(volumes[box.name])
            made.end_effector = self._mounted(robot.tool, robot.name)
            self.station.robot.append(made)
        for changer in self.of.changers:
            station = records.EndEffectorChangingStation(name=changer.name)
            self._put(station, changer.place, records.PoseOnlyLocation, listed=False)
            for holder in changer.holders:
                one = records.EndEffectorHolder(name=holder.name)
                self._put(one, holder.place, records.PoseLocationOn)
                one.end_effector = self._mounted(holder.tool, holder.name)
                station.end_effector_holder.append(one)
            self.station.changing_station.append(station)

    def _mounted(self, tool: str | None, where: str) -> records.EndEffector | None:
        if tool is None:
            return None
        self._put(self.tools[tool], Place(reference=where), records.PoseLocationOn)
        return self.tools[tool]

    # ------------------------------------------------------------ SKUs and designs

    def sku(self, name: str) -> records.StockKeepingUnit:
        """Returns the kind of object of that name, made when it is first asked for."""
        if name not in self.skus:
            made = records.StockKeepingUnit(name=name)
            if name == CONTAINER_SKU:
                made.description = "A box for trays or kits"
            elif is_tray_sku(name):
                layout = tray_layout(name)
                made.description, made.weight = layout.title, layout.mass_kg
                made.internal_shape = _box(name, layout.size_m)
            else:
                part = sku_figures(name)
                made.description, made.weight = part.title, part.mass_kg
                made.internal_shape = records.CylindricalShape(
                    name=f"{name}_shape", shape_diameter=part.diameter_m, shape_height=part.height_m, has_top=True
                )
            self.skus[name] = made
            self.station.station_sku.append(made)
        return self.skus[name]

    def _tray_design(self, layout: TrayLayout) -> records.TrayDesign:
        name = layout.sku.removeprefix("sku_") + "_design"
        if name not in self.designs:
            self._design(records.PartsTrayDesign(name=name), layout.sku, layout.slots)
        return self.designs[name]

    def _design(self, made: records.TrayDesign, tray_sku: str, places: Sequence[SlotPlace]) -> None:
        made.tray_sku = self.sku(tray_sku)
        for place in places:
            ref = records.PartRefAndPose(name=f"{made.name}_{place.name}", part_ref_sku=self.sku(place.sku))
            ref.point, ref.x_axis, ref.z_axis = axes_of(place.pose_part_in_tray)
            made.part_ref_and_pose.append(ref)
        self.designs[made.name] = made
        self.station.station_design.append(made)

    def _put(
        self,
        thing: records.SolidObject,
        place: Place,
        kind: type[records.PoseLocation],
        *,
        listed: bool = True,
    ) -> None:
        reference = self.objects[place.reference or self.of.name]
        thing.primary_location = location = kind(name=f"{thing.name}_location")
        locate(location, reference, place)
        self.objects[thing.name] = thing
        if isinstance(reference, records.WorkTable):
            reference.object_on_table.append(thing)
        if listed:
            self.station.station_object.append(thing)


def _box(owner: str, size_m: Vector3) -> records.BoxyShape:
    x, y, z = size_m
    return records.BoxyShape(name=f"{owner}_shape", shape_length=x, shape_width=y, shape_height=z, has_top=True)


def _room(owner: str, size_m: Vector3 | None) -> records.BoxyShape | None:
    """Returns the inner shape of an open box, if its size is known."""
    if size_m is None:
        return None
    shape = _box(owner, size_m)
    shape.has_top = False
    return shape


def _stacked(stack: StackOfTrays) -> Iterable[tuple[str, Place]]:
    """Yields trays of which no more is known than that they lie on each other."""
    height_m = tray_layout(stack.tray_sku).size_m[2]
    for number in range(stack.count):
        pose = Pose.from_xyz_rpy([0.0, 0.0, number * height_m])
        yield f"{stack.name}_tray_{number + 1}", Place(pose, stack.name)
