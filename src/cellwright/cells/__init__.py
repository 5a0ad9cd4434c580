"""Cells: what stands where, by the drawings and in fact."""

from cellwright.cells.layout import Layout, Placement, actual_layout, nominal_layout
from cellwright.cells.library import CELLS, load_cell
from cellwright.cells.schema import Cell, PoseCfg, RobotCfg

__all__ = [
    "CELLS",
    "Cell",
    "Layout",
    "Placement",
    "PoseCfg",
    "RobotCfg",
    "actual_layout",
    "load_cell",
    "nominal_layout",
]
