"""The queries behind `read_facts`, as SQL.

The queries are built once: to put one together takes longer than to have it answered. They read tables rather than
access classes; the names of all objects are in the topmost table.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import aliased

from cellwright.knowledge.generated import records

__all__ = [
    "CAPACITY",
    "DESIGNS",
    "HANDLES",
    "HELD",
    "IN_HOLDER",
    "KIT_DESIGN",
    "KIT_TRAY",
    "ON_ROBOT",
    "REACH",
    "SIZES",
    "SKUS",
    "SLOTS",
    "STATIONARY",
    "SUPPLIED",
    "THINGS",
]


def _table(record: type[records.Record]) -> Any:
    return aliased(record.__table__)


def _columns(table: Any, *names: str) -> list[Any]:
    return [table.c[name] for name in names]


def _linked(record: type[records.Record], column: str, root: type[records.Record]) -> Select[Any]:
    """Returns the query for names of objects and of what a column of theirs refers to."""
    solid, own, other = _table(records.SolidObject), _table(record), _table(root)
    return (
        select(solid.c.name, other.c.name)
        .join(own, own.c.id == solid.c.id)
        .join(other, own.c[column] == other.c.id)
        .order_by(solid.c.id)
    )


def _things() -> Select[Any]:
    solid, where, pose = (_table(r) for r in (records.SolidObject, records.PhysicalLocation, records.PoseLocation))
    other, xyz = _table(records.SolidObject), [f"position_covariance_{axes}" for axes in ("xx", "yy", "zz")]
    columns = [*_columns(solid, "name", "kind"), other.c.name, where.c.timestamp]
    return (
        select(*columns, *_columns(pose, "position_standard_deviation", *xyz))
        .outerjoin(where, solid.c.primary_location_id == where.c.id)
        .outerjoin(pose, pose.c.id == where.c.id)
        .outerjoin(other, where.c.ref_object_id == other.c.id)
        .order_by(solid.c.id)
    )


def _handles() -> Select[Any]:
    solid, thing, use = (
        _table(records.SolidObject),
        _table(records.DataThing),
        records.stock_keeping_unit_usable_end_effector,
    )
    return (
        select(solid.c.name, thing.c.name)
        .join(use, use.c.target_id == solid.c.id)
        .join(thing, thing.c.id == use.c.owner_id)
    )


def _reach() -> Select[Any]:
    solid, volume, use = _table(records.SolidObject), _table(records.BoxVolume), records.robot_work_volume
    corners = [f"{end}_point_{axis}" for end in ("minimum", "maximum") for axis in "xyz"]
    return (
        select(solid.c.name, *_columns(volume, *corners))
        .join(use, use.c.owner_id == solid.c.id)
        .join(volume, volume.c.id == use.c.target_id)
    )


def _slots() -> Select[Any]:
    solid, slot, ref = _table(records.SolidObject), _table(records.Slot), _table(records.PartRefAndPose)
    has = records.parts_vessel_slot
    return (
        select(solid.c.name, *_columns(ref, "point_x", "point_y", "point_z"))
        .join(has, has.c.owner_id == solid.c.id)
        .join(slot, slot.c.id == has.c.target_id)
        .join(ref, slot.c.slot_design_id == ref.c.id)
        .order_by(has.c.id)
    )


def _designs() -> Select[Any]:
    design, kit, ref = _table(records.TrayDesign), _table(records.KitDesign), _table(records.PartRefAndPose)
    named, tray, place, part = (_table(records.DataThing) for _ in range(4))
    has = records.tray_design_part_ref_and_pose
    return (
        select(named.c.name, tray.c.name, place.c.name, part.c.name, *_columns(ref, "point_x", "point_y", "point_z"))
        .join(design, design.c.id == named.c.id)
        .join(kit, kit.c.id == design.c.id)
        .join(tray, design.c.tray_sku_id == tray.c.id)
        .join(has, has.c.owner_id == design.c.id)
        .join(ref, ref.c.id == has.c.target_id)
        .join(place, place.c.id == ref.c.id)
        .join(part, ref.c.part_ref_sku_id == part.c.id)
        .order_by(named.c.id, has.c.id)
    )


def _capacity() -> Select[Any]:
    solid, box = _table(records.SolidObject), _table(records.LargeBoxWithKits)
    return select(solid.c.name, box.c.capacity).join(box, box.c.id == solid.c.id)


def _stationary() -> Select[Any]:
    solid, kit = _table(records.SolidObject), _table(records.Kit)
    return select(solid.c.name).join(kit, kit.c.id == solid.c.id).where(kit.c.stationary)


def _sizes() -> Select[Any]:
    """Returns the query for the sizes of objects without a SKU."""
    thing, of, shape = _table(records.SolidObject), _table(records.NoSkuObject), _table(records.BoxyShape)
    return (
        select(thing.c.name, *_columns(shape, "shape_length", "shape_width", "shape_height"))
        .join(of, of.c.id == thing.c.id)
        .join(shape, shape.c.id == of.c.internal_shape_id)
    )


THINGS, HANDLES, REACH, SLOTS, DESIGNS = _things(), _handles(), _reach(), _slots(), _designs()
CAPACITY, STATIONARY, SIZES = _capacity(), _stationary(), _sizes()
SKUS = _linked(records.SkuObject, "sku_id", records.DataThing)
ON_ROBOT = _linked(records.Robot, "end_effector_id", records.SolidObject)
IN_HOLDER = _linked(records.EndEffectorHolder, "end_effector_id", records.SolidObject)
HELD = _linked(records.EndEffector, "held_object_id", records.SolidObject)
SUPPLIED = _linked(records.PartsVessel, "part_sku_id", records.DataThing)
KIT_DESIGN = _linked(records.Kit, "kit_design_id", records.DataThing)
KIT_TRAY = _linked(records.Kit, "kit_tray_id", records.SolidObject)
