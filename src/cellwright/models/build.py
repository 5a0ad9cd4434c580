"""From catalogue figures of any kind to a MuJoCo specification."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from cellwright.catalogue import (
    ArmFigures,
    ChangerFigures,
    Figures,
    FurnitureFigures,
    GearFigures,
    GripperFigures,
    LinkageGripperFigures,
    MobileFigures,
    ObjectFigures,
    TrayFigures,
    VacuumFigures,
)
from cellwright.models.arm import build_arm
from cellwright.models.changer import build_changer
from cellwright.models.furniture import build_furniture
from cellwright.models.gear import build_gear
from cellwright.models.gripper import build_gripper
from cellwright.models.linkage_gripper import build_linkage_gripper
from cellwright.models.mobile import build_mobile
from cellwright.models.object import build_object
from cellwright.models.tray import build_tray
from cellwright.models.vacuum import build_vacuum

__all__ = ["build", "builder"]


MOST_KEPT = 100  # more kinds than a cell has; a process that imports thousands of files does not keep them all
_built: dict[int, tuple[Figures, Any]] = {}


def build(figures: Figures) -> Any:
    """Returns an `MjSpec` with one root body, the caller's own.

    Shapes are made once per figures as long as they are in use: a cell has twenty gears of three kinds.
    """
    kept = _built.pop(id(figures), None) or (figures, builder(figures))
    _built[id(figures)] = kept  # the last one used is the last one given up
    if len(_built) > MOST_KEPT:
        del _built[next(iter(_built))]
    return kept[1].copy()


@singledispatch
def builder(figures: Figures) -> Any:
    """Makes the specification; other packages add kinds of figures with `builder.register`."""
    raise TypeError(f"no builder for {type(figures).__name__}")


builder.register(ArmFigures, build_arm)
builder.register(GripperFigures, build_gripper)
builder.register(LinkageGripperFigures, build_linkage_gripper)
builder.register(VacuumFigures, build_vacuum)
builder.register(ChangerFigures, build_changer)
builder.register(MobileFigures, build_mobile)
builder.register(GearFigures, build_gear)
builder.register(ObjectFigures, build_object)
builder.register(TrayFigures, build_tray)
builder.register(FurnitureFigures, build_furniture)
