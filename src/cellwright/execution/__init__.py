"""Actions on the cell from what is sensed; no truth here.

Its parts are imported when they are used: settings alone need no motion planner.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
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
    from cellwright.execution.scene import AveragedScene, Sighting
    from cellwright.execution.settings import ExecutionSettings, Latencies, Recipe, RecoveryMode
    from cellwright.execution.straight_ways import Way
    from cellwright.execution.transfer import Transfer, TransferArm
    from cellwright.execution.waiting import JobStep, Waiting

__all__ = [
    "ActionRecord",
    "AveragedScene",
    "Evaluated",
    "ExecutionSettings",
    "Executor",
    "JobStep",
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
    "Sighting",
    "SlotReport",
    "Transfer",
    "TransferArm",
    "Unobtainable",
    "Waiting",
    "Way",
]

__getattr__ = lazy_names(
    __name__,
    {
        ".executor": "Executor",
        ".outcome": "ActionRecord Evaluated KitReport OrderReport OrderStatus SlotReport Unobtainable",
        ".pick_place": "PathArm PickPlace",
        ".pick_plan": "PickPlacePlan PickPlacePlanner PickPlaceSettings",
        ".scene": "AveragedScene Sighting",
        ".settings": "ExecutionSettings Latencies Recipe RecoveryMode",
        ".straight_ways": "Way",
        ".transfer": "Transfer TransferArm",
        ".waiting": "JobStep Waiting",
    },
)
