"""The objects that belief is about, side by side as arrays, and how new ones come into the database."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from cellwright.catalogue import TRAYS
from cellwright.catalogue.trays import TrayKind
from cellwright.core.errors import BadInput, UnknownName
from cellwright.knowledge.database import Database
from cellwright.knowledge.generated import records
from cellwright.knowledge.pose_store import COVARIANCES, covariances_from
from cellwright.knowledge.sighting import BeliefCfg
from cellwright.knowledge.workstation_records import DRAWINGS
from cellwright.knowledge.world_model import WorldModel

__all__ = ["Believed", "add_objects", "move_to_slot"]

Array = npt.NDArray[np.float64]


class Believed:
    """The objects of a kind (with a stock keeping unit) that have a pose.

    Attributes:
        names: One for each row of the others.
        rows: Their rows in the transform tree.
        tree_names: The rows of that tree; another list is another tree.
        slots: Part -> the slot it lies in.
        skus: What they are.
        variances: x, y, z and yaw in the world when they were seen last.
        seen_s: When that was, or when drawings said so.
        never: Whether no sensor has seen them.
        sources: Which sensor saw them, or empty.
        first_missed_s: Since when they should have been seen and were not; infinite when they were.
        reported_missing: Whether anybody was told so.
        kits: Tray -> the kit that is built on it, and moves when the tray is seen to have moved.
        strange_turns: How many times in a row they were seen in a direction that does not fit.
    """

    def __init__(self, model: WorldModel, cfg: BeliefCfg) -> None:
        pose = aliased(records.PoseLocation, flat=True)
        kit = aliased(records.Kit, flat=True)
        question = (
            select(records.SkuObject.name, records.StockKeepingUnit.name, pose.timestamp, pose.evidence)
            .add_columns(*(getattr(pose, name) for name in COVARIANCES))
            .join(records.StockKeepingUnit, records.SkuObject.sku_id == records.StockKeepingUnit.id)
            .join(pose, records.SkuObject.primary_location_id == pose.id)
            .order_by(records.SkuObject.id)
        )
        trays = select(records.KitTray.name, kit.name).join(kit, kit.kit_tray_id == records.KitTray.id)
        with model.database.session() as session:
            found = session.execute(question).all()
            kits = {row[0]: row[1] for row in session.execute(trays)}
            filled = select(records.Part.name, records.Slot.name).join(
                records.Slot, records.Slot.slot_part_id == records.Part.id
            )
            self.slots = {row[0]: row[1] for row in session.execute(filled)}
        self.names = [row[0] for row in found]
        self.index = {name: i for i, name in enumerate(self.names)}
        tree = model.tree
        self.rows, self.tree_names = tree.indices(self.names), tree.names
        self.kits = {t: k for t, k in kits.items() if k in tree.index and tree.parent[tree.index[t]] == tree.index[k]}
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
        self.strange_turns = np.zeros(len(found), int)

    def of_sku(self, sku: str) -> npt.NDArray[np.int64]:
        """The rows of the objects of a kind."""
        return np.flatnonzero(self.skus == sku)

    def remember(self, other: Believed) -> None:
        """Takes over what is not stored: who was missed, and who looked strange."""
        for name, old in other.index.items():
            if (new := self.index.get(name)) is not None:
                self.first_missed_s[new] = other.first_missed_s[old]
                self.reported_missing[new] = other.reported_missing[old]
                self.strange_turns[new] = other.strange_turns[old]


def variances_from(numbers: Sequence[float], axes: Array) -> Array:
    """Variances along the world's axes, and of yaw, from the stored covariances in a reference's frame."""
    position, orientation = covariances_from(numbers)
    return np.array([*np.diag(axes @ position @ axes.T), (axes @ orientation @ axes.T)[2, 2]])


def add_objects(database: Database, skus: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """Makes parts and trays that were seen and are not known, on the workstation; returns their names.

    Args:
        database: Where.
        skus: What they are; a stock keeping unit that is not known becomes known.
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
    """Trays that the catalogue knows are trays; everything else goes into them."""
    kinds = {TRAYS.get(name).sku: TRAYS.get(name).kind for name in TRAYS}
    trays = {TrayKind.PARTS: records.PartsTray, TrayKind.KIT: records.KitTray}
    return trays[kinds[sku]] if sku in kinds else records.Part


def free_name(sku: str, taken: set[str]) -> str:
    """`medium_gear_seen_1` and so on: it tells from the names of drawings."""
    base = sku.removeprefix("sku_").removeprefix("part_")
    number = 1
    while f"{base}_seen_{number}" in taken:
        number += 1
    return f"{base}_seen_{number}"


def move_to_slot(database: Database, name: str, slot: str) -> str | None:
    """Relates a part to the slot it was seen in, or to none; returns what it lies in or on then, None if as before."""
    with database.session() as session:
        part = session.scalars(select(records.Part).filter_by(name=name)).first()
        if part is None:
            return None
        old = session.scalars(select(records.Slot).filter_by(slot_part_id=part.id)).first()
        if (old.name if old else "") == slot:
            return None
        if old is not None:
            old.slot_part, old.is_occupied = None, False
            for owner in owners_of(session, old):
                if part in owner.part:
                    owner.part.remove(part)
        if not slot:
            return records.KittingWorkstation.all(session)[0].name
        new = records.Slot.get(session, slot)
        owners = owners_of(session, new)
        if not owners:
            raise UnknownName("slot of a tray or kit", slot, [], "database")
        new.slot_part, new.is_occupied = part, True
        for owner in owners:
            if part not in owner.part:
                owner.part.append(part)
        return owners[0].name


def owners_of(session: Session, slot: records.Slot) -> list[records.PartsVessel | records.Kit]:
    """The tray or kit whose slot it is."""
    vessel, kit, here = records.PartsVessel, records.Kit, records.Slot.id == slot.id
    vessels = session.scalars(select(vessel).where(vessel.slot.any(here))).all()
    return [*vessels, *session.scalars(select(kit).where(kit.slot.any(here)))]
