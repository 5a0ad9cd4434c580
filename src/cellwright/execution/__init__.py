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

_HOMES = {
    "ActionRecord": "outcome",
    "Arm": "transfer",
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
    "Scene": "scene",
    "Sighting": "scene",
    "SlotReport": "outcome",
    "Step": "waiting",
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
