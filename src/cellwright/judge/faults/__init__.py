"""Faults: what goes wrong in a trial, when, and what is physically done to the world."""

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
