"""Faults: disturbances of a trial, when they happen, and what is physically done to the world.

Its parts are imported when they are used: a fault's text can be checked without a simulator.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.judge.faults.cfg import FaultCfg, LastingFaultCfg, Quantity
    from cellwright.judge.faults.detector_offset import FilteredSensor
    from cellwright.judge.faults.detectors import BlackoutCfg, DetectorFault, DetectorFaultCfg, OffsetCfg
    from cellwright.judge.faults.drop import DropCfg
    from cellwright.judge.faults.fault import Fault, LastingFault
    from cellwright.judge.faults.fault_state import FaultState
    from cellwright.judge.faults.library import FAULTS
    from cellwright.judge.faults.push import PushCfg
    from cellwright.judge.faults.remove import RemoveCfg
    from cellwright.judge.faults.scheduler import FaultScheduler
    from cellwright.judge.faults.spec import AnyFault, fault_kind, parse_fault
    from cellwright.judge.faults.swap import SwapCfg
    from cellwright.judge.faults.weak_gripper import WeakGripperCfg

__all__ = [
    "FAULTS",
    "AnyFault",
    "BlackoutCfg",
    "DetectorFault",
    "DetectorFaultCfg",
    "DropCfg",
    "Fault",
    "FaultCfg",
    "FaultScheduler",
    "FaultState",
    "FilteredSensor",
    "LastingFault",
    "LastingFaultCfg",
    "OffsetCfg",
    "PushCfg",
    "Quantity",
    "RemoveCfg",
    "SwapCfg",
    "WeakGripperCfg",
    "fault_kind",
    "parse_fault",
]

__getattr__ = lazy_names(
    __name__,
    {
        ".cfg": "FaultCfg LastingFaultCfg Quantity",
        ".detector_offset": "FilteredSensor",
        ".detectors": "BlackoutCfg DetectorFault DetectorFaultCfg OffsetCfg",
        ".drop": "DropCfg",
        ".fault": "Fault LastingFault",
        ".fault_state": "FaultState",
        ".library": "FAULTS",
        ".push": "PushCfg",
        ".remove": "RemoveCfg",
        ".scheduler": "FaultScheduler",
        ".spec": "AnyFault fault_kind parse_fault",
        ".swap": "SwapCfg",
        ".weak_gripper": "WeakGripperCfg",
    },
)
