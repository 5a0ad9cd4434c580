"""Monitoring of a grasped part by the true state: whether it is held, how far it slips, what else was moved."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cellwright.core.pose import Pose
from cellwright.execution import PickPlacePhase
from cellwright.lab import Lab
from cellwright.sim.stepper import TickOrder

__all__ = ["MOVED_M", "MOVED_RAD", "GraspMonitor", "GraspOutcome"]

RATE_HZ = 50.0
MOVED_M = 0.003  # farther, or turned by more, another object has been knocked
MOVED_RAD = np.radians(2.0)


@dataclass(frozen=True)
class GraspOutcome:
    """The outcome of one trial; plain values, because it comes from another process.

    Attributes:
        trial: The trial, for a person.
        problem: Why it failed, or empty.
        slip_m: The motion of the part between the pads from grasp to release; NaN when it was never grasped.
        turn_rad: Its rotation there.
        place_error_m: Its final distance from the target, in the plane.
        seated: The judge's verdict on the slot; of a bottle, whether it stands upright.
    """

    trial: str
    problem: str
    slip_m: float
    turn_rad: float
    place_error_m: float
    seated: bool

    @property
    def success(self) -> bool:
        """Whether it was in the hand all the way and set down where it should be, with nothing else disturbed."""
        return not self.problem

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data, for JSON."""
        return asdict(self)


class GraspMonitor:
    """Monitors one part and the gripper that carries it, fifty times a second between grasp and release.

    Whether pads touch is no good measure: stiff ones may lose touch for single steps. A
    part counts as lost when the point that the pads closed on is farther from their middle than half a pad's width.
    """

    def __init__(self, lab: Lab, robot: str, part: str) -> None:
        self._world = lab.world
        self._robot = robot
        self._part = part
        self._start = {name: lab.world.pose_of(name) for name in lab.world.objects}
        self._grasp: Pose | None = None  # the part in the hand when the fingers had closed
        self._carrying = False
        tool = lab.world.robot(robot).gripper
        assert tool is not None
        self._pad_m = tool.figures.pad_size_m[1] / 2
        self._lost_s: float | None = None
        self.slip_m = self.turn_rad = float("nan")
        period = lab.world.clock.period_ticks(RATE_HZ)
        lab.stepper.every(period, self._look, order=TickOrder.JUDGE, name="grasp watch")

    def on_phase(self, phase: PickPlacePhase, _thing: str) -> None:
        """Follows a pick and place: from closed fingers to opening ones."""
        if phase is PickPlacePhase.LIFT:
            self.close()
        elif phase is PickPlacePhase.RELEASE:
            self.open()

    def close(self) -> None:
        """Begins when the fingers have closed: from here on the part must stay between them."""
        self._grasp = self._in_hand()
        self._carrying = True

    def open(self) -> None:
        """Ends when the fingers are about to open."""
        if self._carrying:
            self._look()
        self._carrying = False

    def problem(self) -> str:
        """Returns the failure in the hand or around it; empty without one."""
        if self._grasp is None:
            return "it was never grasped"
        if self._lost_s is not None:
            return f"it was lost from the hand at {self._lost_s:.2f} s"
        return self._disturbed()

    def _disturbed(self) -> str:
        """Returns which other object was moved, and how far; empty without one."""
        for name, before in self._start.items():
            now = self._world.pose_of(name)
            moved_m, turned_rad = before.distance_m(now), before.angle_rad(now)
            if name != self._part and (moved_m > MOVED_M or turned_rad > MOVED_RAD):
                return f"{name} was moved by {moved_m * 1000:.1f} mm and {np.degrees(turned_rad):.1f} deg"
        return ""

    def _in_hand(self) -> Pose:
        return self._world.tcp_pose(self._robot).inverse() @ self._world.pose_of(self._part)

    def _look(self) -> None:
        if not self._carrying or self._lost_s is not None:
            return
        assert self._grasp is not None
        now = self._in_hand()
        between_pads = self._grasp.inverse().position  # the point of the part that the pads closed on
        self.slip_m = float(np.linalg.norm(now.apply(between_pads)))
        self.turn_rad = self._grasp.angle_rad(now)
        if self.slip_m > self._pad_m:
            self._lost_s = self._world.clock.time_s
