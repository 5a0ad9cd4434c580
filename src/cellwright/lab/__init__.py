"""The laboratory: wires one of everything for a cell, and does jobs in it.

Doors and jobs are imported when they are used: CRCL or a database alone takes longer than the rest of a small command.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cellwright.lab.lab import Lab

if TYPE_CHECKING:
    from cellwright.lab.arm_door import ArmDoor
    from cellwright.lab.crcl_doors import CrclDoors
    from cellwright.lab.crcl_robot import CrclArm
    from cellwright.lab.job import JobReport, TransferJob, run_transfer
    from cellwright.lab.kitting import RunCfg, run_order
    from cellwright.lab.kitting_report import KittingReport, KittingStatus
    from cellwright.lab.vision_doors import VisionDoors

__all__ = [
    "ArmDoor",
    "CrclArm",
    "CrclDoors",
    "JobReport",
    "KittingReport",
    "KittingStatus",
    "Lab",
    "RunCfg",
    "TransferJob",
    "VisionDoors",
    "run_order",
    "run_transfer",
]

_HOMES = {
    "ArmDoor": "arm_door",
    "CrclArm": "crcl_robot",
    "CrclDoors": "crcl_doors",
    "JobReport": "job",
    "KittingReport": "kitting_report",
    "KittingStatus": "kitting_report",
    "RunCfg": "kitting",
    "TransferJob": "job",
    "VisionDoors": "vision_doors",
    "run_order": "kitting",
    "run_transfer": "job",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"cellwright.lab.{_HOMES[name]}"), name)
    return value
