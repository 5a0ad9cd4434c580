"""Drawings: prior knowledge of a controller about a cell, and the database that its belief starts from.

The names are imported when they are used: the tables of the database take a second to load.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.drawings.calibration import calibrated_drawings, drawn_places
    from cellwright.drawings.database import designs_for, planning_database, planning_workstation
    from cellwright.drawings.prior import Drawings
    from cellwright.drawings.workstation import workstation_of

__all__ = [
    "Drawings",
    "calibrated_drawings",
    "designs_for",
    "drawn_places",
    "planning_database",
    "planning_workstation",
    "workstation_of",
]

__getattr__ = lazy_names(
    __name__,
    {
        ".calibration": "calibrated_drawings drawn_places",
        ".database": "designs_for planning_database planning_workstation",
        ".prior": "Drawings",
        ".workstation": "workstation_of",
    },
)
