"""Actions on the cell from what is sensed; no truth here."""

from cellwright.execution.pick_place import PathArm, PickPlace
from cellwright.execution.pick_plan import PickPlacePlan, PickPlacePlanner, PickPlaceSettings
from cellwright.execution.scene import Scene, Sighting
from cellwright.execution.straight_ways import Way
from cellwright.execution.transfer import Arm, Step, Transfer

__all__ = [
    "Arm",
    "PathArm",
    "PickPlace",
    "PickPlacePlan",
    "PickPlacePlanner",
    "PickPlaceSettings",
    "Scene",
    "Sighting",
    "Step",
    "Transfer",
    "Way",
]
