"""A part or a tray is taken away."""

from __future__ import annotations

from typing import Literal

from cellwright.judge.faults.cfg import FaultCfg
from cellwright.judge.faults.fault import Fault
from cellwright.judge.faults.fault_state import FaultState
from cellwright.judge.tray_contents import poses_on_tray

__all__ = ["RemoveCfg", "RemoveFault"]


class RemoveCfg(FaultCfg):
    """A part, or a tray with what lies in it, is taken away for good."""

    kind: Literal["remove"] = "remove"


class RemoveFault(Fault[RemoveCfg]):
    """The part leaves the world, or the tray with all that lies on it."""

    Cfg = RemoveCfg

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins when no hand holds it."""
        name = self.choose(fault_state)
        if name is None:
            return None
        x, y, z = self.world.pose_of(name).position
        on_it = sorted(poses_on_tray(self.world, name)) if self.cfg.tray is not None else []
        for thing in (name, *on_it):
            self.world.remove(thing)
        return f"taken away from {x:.3f} {y:.3f} {z:.3f}" + (f" with {', '.join(on_it)}" if on_it else "")
