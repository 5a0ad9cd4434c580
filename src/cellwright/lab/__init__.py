"""The laboratory: wires one of everything for a cell."""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names
from cellwright.lab.cell_picture import CellPicture
from cellwright.lab.lab import Lab

if TYPE_CHECKING:
    from cellwright.lab.direct_arm import DirectArm
    from cellwright.lab.plan import plan_order

__all__ = ["CellPicture", "DirectArm", "Lab", "plan_order"]

__getattr__ = lazy_names(
    __name__,
    {
        ".direct_arm": "DirectArm",
        ".plan": "plan_order",
    },
)
