"""Execution: carries out plans over CRCL from sensed data alone; the simulator's truth is not used.

Its parts are imported when they are used: settings alone need no motion planner.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.execution.async_clock import AsyncClock, JobStep
    from cellwright.execution.executor import Executor
    from cellwright.execution.grasp_paths import GraspPath
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
    from cellwright.execution.transfer import Transfer, TransferArm

__all__ = [
    "ActionRecord",
    "AsyncClock",
    "AveragedScene",
    "Evaluated",
    "ExecutionSettings",
    "Executor",
    "GraspPath",
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
        ".grasp_paths": "GraspPath",
        ".transfer": "Transfer TransferArm",
        ".async_clock": "AsyncClock JobStep",
    },
)
