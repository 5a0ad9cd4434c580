"""Cells: the layout of a work cell, by the drawings and in fact."""

from cellwright.cells.cameras import nominal_cameras
from cellwright.cells.deviations import LayoutDeviation, layout_deviations
from cellwright.cells.drawn import drawn_layout
from cellwright.cells.error_sizes import ERROR_SIZES
from cellwright.cells.errors import CellConfigErrors
from cellwright.cells.interfaces import CrclCfg, VisionCfg
from cellwright.cells.layout import Layout, actual_layout, nominal_layout
from cellwright.cells.library import CELLS, load_cell
from cellwright.cells.lint import cell_hints
from cellwright.cells.mobile_places import MobilePlacement
from cellwright.cells.mobiles import ArenaCfg, MobileCfg
from cellwright.cells.models import own_name, with_models
from cellwright.cells.placement import Placement
from cellwright.cells.plugins import load_plugins
from cellwright.cells.safety import SafetyCfg
from cellwright.cells.schema import Cell, PoseCfg, RobotCfg, cell_json_schema
from cellwright.cells.targets import CellTargetsCfg, DetectorTargetCfg, RobotTargetCfg
from cellwright.cells.text import cell_yaml, renamed_text

__all__ = [
    "CELLS",
    "ERROR_SIZES",
    "ArenaCfg",
    "Cell",
    "CellConfigErrors",
    "CellTargetsCfg",
    "CrclCfg",
    "DetectorTargetCfg",
    "Layout",
    "LayoutDeviation",
    "MobileCfg",
    "MobilePlacement",
    "Placement",
    "PoseCfg",
    "RobotCfg",
    "RobotTargetCfg",
    "SafetyCfg",
    "VisionCfg",
    "actual_layout",
    "cell_hints",
    "cell_json_schema",
    "cell_yaml",
    "drawn_layout",
    "layout_deviations",
    "load_cell",
    "load_plugins",
    "nominal_cameras",
    "nominal_layout",
    "own_name",
    "renamed_text",
    "with_models",
]
