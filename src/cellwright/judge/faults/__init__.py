"""Faults: what goes wrong in a trial, when, and what is physically done to the world.

Its parts are imported when they are used: a fault's text can be checked without a simulator.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellwright.judge.faults.cfg import (
        FAULTS,
        BlackoutCfg,
        DropCfg,
        FaultCfg,
        OffsetCfg,
        PushCfg,
        RemoveCfg,
        SwapCfg,
        WeakGripperCfg,
    )
    from cellwright.judge.faults.scheduler import FaultScheduler
    from cellwright.judge.faults.seen import FilteredSensor
    from cellwright.judge.faults.spec import AnyFault, parse_fault

__all__ = [
    "FAULTS",
    "AnyFault",
    "BlackoutCfg",
    "DropCfg",
    "FaultCfg",
    "FaultScheduler",
    "FilteredSensor",
    "OffsetCfg",
    "PushCfg",
    "RemoveCfg",
    "SwapCfg",
    "WeakGripperCfg",
    "parse_fault",
]

_HOMES = {
    "AnyFault": "spec",
    "BlackoutCfg": "cfg",
    "DropCfg": "cfg",
    "FAULTS": "cfg",
    "FaultCfg": "cfg",
    "FaultScheduler": "scheduler",
    "FilteredSensor": "seen",
    "OffsetCfg": "cfg",
    "PushCfg": "cfg",
    "RemoveCfg": "cfg",
    "SwapCfg": "cfg",
    "WeakGripperCfg": "cfg",
    "parse_fault": "spec",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
