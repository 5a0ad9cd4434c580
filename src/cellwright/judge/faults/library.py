"""The kinds of faults by name: those of this package, and those of plugins and other packages."""

from __future__ import annotations

from typing import Any

from cellwright.core.registry import Registry
from cellwright.judge.faults.detectors import BlackoutFault, BlindFault, ClockFault, DetectorOffsetFault, RepeatFault
from cellwright.judge.faults.drop import DropFault
from cellwright.judge.faults.fault import Fault
from cellwright.judge.faults.heavy import HeavyFault
from cellwright.judge.faults.push import PushFault
from cellwright.judge.faults.remove import RemoveFault
from cellwright.judge.faults.swap import SwapFault
from cellwright.judge.faults.weak_gripper import WeakGripperFault

__all__ = ["FAULTS"]

FAULTS: Registry[type[Fault[Any]]] = Registry("kind of fault", "cellwright.faults", of_plugins=True)
"""Kind -> the class that applies it, with its configuration as `Cfg`."""

for _name, _kind in (
    ("drop", DropFault),
    ("push", PushFault),
    ("remove", RemoveFault),
    ("swap", SwapFault),
    ("weak_gripper", WeakGripperFault),
    ("heavy", HeavyFault),
    ("blackout", BlackoutFault),
    ("blind", BlindFault),
    ("repeat", RepeatFault),
    ("clock", ClockFault),
    ("offset", DetectorOffsetFault),
):
    FAULTS.add(_name, _kind)
