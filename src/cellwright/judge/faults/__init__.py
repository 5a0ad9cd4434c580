"""Faults: disturbances of a trial, when they happen, and what is physically done to the world.

Its parts are imported when they are used: a fault's text can be checked without a simulator.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

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
    from cellwright.judge.faults.detector_offset import FilteredSensor
    from cellwright.judge.faults.scheduler import FaultScheduler
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

__getattr__ = lazy_names(
    __name__,
    {
        ".cfg": "BlackoutCfg DropCfg FAULTS FaultCfg OffsetCfg PushCfg RemoveCfg SwapCfg WeakGripperCfg",
        ".scheduler": "FaultScheduler",
        ".detector_offset": "FilteredSensor",
        ".spec": "AnyFault parse_fault",
    },
)
