"""The laboratory: wires one of everything for a cell, and does jobs in it."""

from cellwright.lab.crcl_doors import CrclDoors
from cellwright.lab.crcl_robot import ArmDoor, CrclArm
from cellwright.lab.job import JobReport, TransferJob, run_transfer
from cellwright.lab.lab import Lab

__all__ = ["ArmDoor", "CrclArm", "CrclDoors", "JobReport", "Lab", "TransferJob", "run_transfer"]
