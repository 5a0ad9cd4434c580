"""The laboratory: wires one of everything for a cell, and does jobs in it.

Its doors are imported when they are used: CRCL alone takes longer than the rest of a small command.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cellwright.lab.job import JobReport, TransferJob, run_transfer
from cellwright.lab.lab import Lab

if TYPE_CHECKING:
    from cellwright.lab.crcl_doors import CrclDoors
    from cellwright.lab.crcl_robot import ArmDoor, CrclArm
    from cellwright.lab.vision_doors import VisionDoors

__all__ = ["ArmDoor", "CrclArm", "CrclDoors", "JobReport", "Lab", "TransferJob", "VisionDoors", "run_transfer"]

_DOORS = {"ArmDoor": "crcl_robot", "CrclArm": "crcl_robot", "CrclDoors": "crcl_doors", "VisionDoors": "vision_doors"}


def __getattr__(name: str) -> Any:
    if name not in _DOORS:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"cellwright.lab.{_DOORS[name]}"), name)
    return value
