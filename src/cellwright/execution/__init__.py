"""Actions on the cell from what is sensed; no truth here.

Its parts are imported when they are used: settings alone need no motion planner.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_HOMES = {
    "ActionRecord": "outcome",
    "TransferArm": "transfer",
    "Evaluated": "outcome",
    "ExecutionSettings": "settings",
    "Executor": "executor",
    "KitReport": "outcome",
    "Latencies": "settings",
    "OrderReport": "outcome",
    "OrderStatus": "outcome",
    "PathArm": "pick_place",
    "PickPlace": "pick_place",
    "PickPlacePlan": "pick_plan",
    "PickPlacePlanner": "pick_plan",
    "PickPlaceSettings": "pick_plan",
    "Recipe": "settings",
    "RecoveryMode": "settings",
    "AveragedScene": "scene",
    "Sighting": "scene",
    "SlotReport": "outcome",
    "JobStep": "waiting",
    "Transfer": "transfer",
    "Unobtainable": "outcome",
    "Waiting": "waiting",
    "Way": "straight_ways",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
