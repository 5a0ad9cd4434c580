"""The objects that belief is about, as arrays, and the addition of new ones to the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Table, delete, insert, select, update
from sqlalchemy.orm import aliased

from cellwright.catalogue import TRAYS
from cellwright.catalogue.trays import TrayKind
from cellwright.core.errors import BadInput, UnknownName
from cellwright.knowledge.database import Database
from cellwright.knowledge.generated import records
from cellwright.knowledge.location_records import DRAWINGS
from cellwright.knowledge.pose_fusion import BeliefCfg
from cellwright.knowledge.pose_store import COVARIANCES, covariances_from
from cellwright.knowledge.world_model import WorldModel

__all__ = ["BelievedObjects", "add_objects", "move_to_slot"]

Array = npt.NDArray[np.float64]
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


class BelievedObjects:
    """The objects of a kind (with a stock keeping unit) that have a pose.

    Attributes:
        names: One for each row of the others.
        rows: Their rows in the transform tree.
        tree_names: The rows of that tree; another list is another tree.
        slots: Part -> the slot it lies in.
        slot_names: All slots; a kit has those of its design, which need not be all that its tray has.
        skus: Their SKUs.
        variances: x, y, z and yaw in the world when they were seen last.
        seen_s: The time of that, or of the drawings.
        never: Whether no sensor has seen them.
        sources: The sensor that saw them, or empty.
        first_missed_s: The time since when they should have been seen and were not; infinite when they were.
        reported_missing: Whether that was published.
        kits: Tray -> the kit that is built on it, and moves when the tray is seen to have moved.
        turn_outliers: The number of times in a row that they were seen in a direction that does not fit.
    """

    def __init__(self, model: WorldModel, cfg: BeliefCfg) -> None:
        pose = aliased(records.PoseLocation, flat=True)
        kit = aliased(records.Kit, flat=True)
        query = (
            select(records.SkuObject.name, records.StockKeepingUnit.name, pose.timestamp, pose.evidence)
            .add_columns(*(getattr(pose, name) for name in COVARIANCES))
            .join(records.StockKeepingUnit, records.SkuObject.sku_id == records.StockKeepingUnit.id)
            .join(pose, records.SkuObject.primary_location_id == pose.id)
            .order_by(records.SkuObject.id)
        )
        trays = select(records.KitTray.name, kit.name).join(kit, kit.kit_tray_id == records.KitTray.id)
        with model.database.session() as session:
            found = session.execute(query).all()
            kits = {row[0]: row[1] for row in session.execute(trays)}
            filled = select(records.Part.name, records.Slot.name).join(
                records.Slot, records.Slot.slot_part_id == records.Part.id
            )
            self.slots = {row[0]: row[1] for row in session.execute(filled)}
            self.slot_names = frozenset(session.scalars(select(DATA.c.name).join(SLOT, SLOT.c.id == DATA.c.id)))
        self.names = [row[0] for row in found]
        self.index = {name: i for i, name in enumerate(self.names)}
        tree, self._kit_of_tray = model.tree, kits
        self.look_up(model)
        self.skus = np.array([row[1] for row in found], object)
        self.seen_s: Array = tree.seen_s[self.rows].copy()
        self.never = np.array([row[3] in (None, DRAWINGS) or None in row[4:] for row in found], bool)
        self.sources = ["" if never else str(row[3]) for row, never in zip(found, self.never, strict=True)]
        prior = np.array([cfg.prior_sd_m] * 3 + [cfg.prior_sd_rad]) ** 2
        parents = tree.parent[self.rows]
        axes = np.where((parents >= 0)[:, None, None], tree.in_world[parents], np.eye(4))[:, :3, :3]
        self.variances: Array = np.array(
            [prior if None in row[4:] else variances_from(row[4:], axis) for row, axis in zip(found, axes, strict=True)]
        ).reshape(-1, 4)
        self.variances[self.never] = np.maximum(self.variances[self.never], prior)  # the reference is not exact, either
        self.first_missed_s: Array = np.full(len(found), np.inf)
        self.reported_missing = np.zeros(len(found), bool)
        self.turn_outliers = np.zeros(len(found), int)

    def look_up(self, model: WorldModel) -> None:
        """Finds the objects in the transform tree anew, after some were attached to others."""
        tree = model.tree
        self.rows, self.tree_names = tree.indices(self.names), tree.names
        self.kits = {
            tray: kit
            for tray, kit in self._kit_of_tray.items()
            if kit in tree.index and tree.parent[tree.index[tray]] == tree.index[kit]
        }

    def of_sku(self, sku: str) -> npt.NDArray[np.int64]:
        """Returns the rows of the objects of a kind."""
        return np.flatnonzero(self.skus == sku)

    def take_over(self, other: BelievedObjects) -> None:
        """Takes over what is not stored: the objects that were missed, and outliers in their turns."""
        for name, old in other.index.items():
            if (new := self.index.get(name)) is not None:
                self.first_missed_s[new] = other.first_missed_s[old]
                self.reported_missing[new] = other.reported_missing[old]
                self.turn_outliers[new] = other.turn_outliers[old]


def variances_from(numbers: Sequence[float], axes: Array) -> Array:
    """Returns variances along the world's axes, and of yaw, from the stored covariances in a reference's frame."""
    position, orientation = covariances_from(numbers)
    return np.array([*np.diag(axes @ position @ axes.T), (axes @ orientation @ axes.T)[2, 2]])


def add_objects(database: Database, skus: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """Makes parts and trays that were seen and are not known, on the workstation; returns their names.

    Args:
        database: The database.
        skus: Their SKUs; a stock keeping unit that is not known becomes known.
        names: Their names; without them they are named after their kind.

    Raises:
        BadInput: There is no workstation that they could be on.
    """
    made = []
    with database.session() as session:
        stations = records.KittingWorkstation.all(session)
        if not stations:
            raise BadInput(f"belief: {database.url} has no workstation that a new object could be on; make one first")
        taken = set(session.scalars(select(records.SolidObject.name)))
        for i, sku in enumerate(skus):
            name = free_name(sku, taken) if names is None else names[i]
            taken.add(name)
            unit = session.scalars(select(records.StockKeepingUnit).filter_by(name=sku)).first()
            if unit is None:
                unit = records.StockKeepingUnit(name=sku)
                session.add(unit)
            place = records.PoseLocationOn(name=f"{name}_location", ref_object=stations[0])
            session.add(class_of(sku)(name=name, sku=unit, primary_location=place))
            made.append(name)
    return made


def class_of(sku: str) -> type[records.SkuObject]:
    """Returns the class of a SKU: trays that the catalogue knows are trays, everything else goes into them."""
    kinds = {TRAYS.get(name).sku: TRAYS.get(name).kind for name in TRAYS}
    trays = {TrayKind.PARTS: records.PartsTray, TrayKind.KIT: records.KitTray}
    return trays[kinds[sku]] if sku in kinds else records.Part


def free_name(sku: str, taken: set[str]) -> str:
    """Returns `medium_gear_seen_1` and so on, unlike the names in drawings."""
    base = sku.removeprefix("sku_").removeprefix("part_")
    number = 1
    while f"{base}_seen_{number}" in taken:
        number += 1
    return f"{base}_seen_{number}"


def move_to_slot(database: Database, name: str, slot: str) -> str | None:
    """Relates a part to the slot it was seen in, or to none; returns what it lies in or on then, None if as before.

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
