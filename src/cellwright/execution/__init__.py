"""Actions on the cell from what is sensed; no truth here."""

from cellwright.execution.executor import Executor
from cellwright.execution.outcome import (
    ActionRecord,
    Evaluated,
    KitReport,
    OrderReport,
    OrderStatus,
    SlotReport,
    Unobtainable,
)
from cellwright.execution.pick_place import PathArm, PickPlace
from cellwright.execution.pick_plan import PickPlacePlan, PickPlacePlanner, PickPlaceSettings
from cellwright.execution.scene import Scene, Sighting
from cellwright.execution.settings import ExecutionSettings, Latencies, Recipe, RecoveryMode
from cellwright.execution.straight_ways import Way
from cellwright.execution.transfer import Arm, Transfer
from cellwright.execution.waiting import Step, Waiting

__all__ = [
    "ActionRecord",
    "Arm",
    "Evaluated",
    "ExecutionSettings",
    "Executor",
    "KitReport",
    "Latencies",
    "OrderReport",
    "OrderStatus",
    "PathArm",
    "PickPlace",
    "PickPlacePlan",
    "PickPlacePlanner",
    "PickPlaceSettings",
    "Recipe",
    "RecoveryMode",
    "Scene",
    "Sighting",
    "SlotReport",
    "Step",
    "Transfer",
    "Unobtainable",
    "Waiting",
    "Way",
]
