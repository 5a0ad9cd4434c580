"""From figures to a MuJoCo specification, whatever they are figures of."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from cellwright.catalogue import ArmFigures, Figures, FurnitureFigures, GearFigures, GripperFigures, TrayFigures
from cellwright.models.arm import build_arm
from cellwright.models.furniture import build_furniture
from cellwright.models.gear import build_gear
from cellwright.models.gripper import build_gripper
from cellwright.models.tray import build_tray

__all__ = ["build"]


@singledispatch
def build(figures: Figures) -> Any:
    """An `MjSpec` with one root body. Other packages add kinds with `build.register`."""
    raise TypeError(f"no builder for {type(figures).__name__}")


build.register(ArmFigures, build_arm)
build.register(GripperFigures, build_gripper)
build.register(GearFigures, build_gear)
build.register(TrayFigures, build_tray)
build.register(FurnitureFigures, build_furniture)
