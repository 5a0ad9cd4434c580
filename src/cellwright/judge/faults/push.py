"""A hand moves a part or a tray."""

from __future__ import annotations

from typing import Literal

import numpy as np

from cellwright.core.config import draw
from cellwright.core.pose import Pose
from cellwright.judge.faults.carrying import CarryMotion, carry
from cellwright.judge.faults.cfg import FaultCfg, Shift, Turn, drawn_shift_m
from cellwright.judge.faults.fault import Fault
from cellwright.judge.faults.fault_state import FaultState

__all__ = ["PushCfg", "PushFault"]


class PushCfg(FaultCfg):
    """A hand lifts a part, or the tray that is named, sets it down elsewhere and lets it go.

    Attributes:
        by_mm: The way along x and y of the world, or a distance in a direction that is drawn.
        yaw_deg: The turn about z.
    """

    kind: Literal["push"] = "push"
    by_mm: Shift = 40.0
    yaw_deg: Turn = 0.0


class PushFault(Fault[PushCfg]):
    """A hand carries the thing along a low arc."""

    Cfg = PushCfg
    needs_physics = True
    every_step = True

    def draw_values(self) -> None:
        """Draws where to."""
        self._shift_m = drawn_shift_m(self.cfg.by_mm, self.rng)
        self._yaw_rad = np.radians(draw(self.cfg.yaw_deg, self.rng))

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins when no gripper holds it or is about to."""
        name = self.choose(fault_state)
        if name is None:
            return None
        start = self.world.pose_of(name)
        turn = Pose.from_xyz_rpy([0, 0, 0], [0, 0, self._yaw_rad])
        end = Pose(start.position + [*self._shift_m, 0.0], (turn @ start).quaternion)
        fault_state.motion = CarryMotion(name, self.world.clock.time_s, start, end)
        carry(self.world, fault_state.motion)
        x_mm, y_mm = (1000 * value for value in self._shift_m)
        return f"a hand moves it by {x_mm:.1f}/{y_mm:.1f} mm and turns it by {np.degrees(self._yaw_rad):.1f} deg"

    def go_on(self, fault_state: FaultState) -> bool:
        """Returns whether it still lasts: until the hand has let go."""
        assert fault_state.motion is not None
        return fault_state.subject in self.world.objects and carry(self.world, fault_state.motion)
