"""The effect of each kind of fault on the world. Each waits until it is possible, then begins, then ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np

from cellwright.core.config import draw
from cellwright.core.pose import Pose
from cellwright.judge.faults.carrying import CarryMotion, carry
from cellwright.judge.faults.cfg import (
    DropCfg,
    FaultCfg,
    PushCfg,
    RemoveCfg,
    SwapCfg,
    WeakGripperCfg,
    matches,
    matches_name,
)
from cellwright.judge.faults.exchange import exchange
from cellwright.judge.faults.fault_state import FaultState
from cellwright.judge.faults.grip import WeakenedGrip, tool_of
from cellwright.judge.faults.trays import free_trays
from cellwright.judge.hand_monitor import HandMonitor
from cellwright.judge.tray_contents import poses_on_tray
from cellwright.sim import World

__all__ = ["DropFault", "Fault", "PushFault", "RemoveFault", "SwapFault", "WeakGripperFault", "drawn_shift_m"]

C = TypeVar("C", bound=FaultCfg)

CLEAR_M = 0.030  # a tool nearer to a part than this is about to take it, or has just let it go
SLIPPED_M = 0.050
SLIP_LIMIT_S = 2.0


class Fault(ABC, Generic[C]):
    """One fault of one run; its memory is its state."""

    every_step = False

    def __init__(self, cfg: C, world: World, hand_monitor: HandMonitor, rng: np.random.Generator) -> None:
        self.cfg, self.world, self.hand_monitor, self.rng = cfg, world, hand_monitor, rng

    @abstractmethod
    def begin(self, fault_state: FaultState) -> str | None:
        """Applies the fault and says what was done; None when it is not possible yet."""

    def go_on(self, fault_state: FaultState) -> bool:
        """Returns whether it is still at work."""
        return False

    def _choose(self, fault_state: FaultState) -> str | None:
        """Returns the object of the event; if that does not match or is in a hand, a free one that matches."""
        world, free = self.world, self._free_ones()
        known = world.objects.get(fault_state.subject)
        if known is None or not self.cfg.is_about(known) or self.hand_monitor.holds(fault_state.subject):
            if not free:
                return None
            fault_state.subject = free[int(self.rng.integers(len(free)))]
        return fault_state.subject if fault_state.subject in free else None

    def _free_ones(self) -> list[str]:
        """Returns parts, or trays, that match and that a person could take now."""
        if self.cfg.tray is not None:
            return free_trays(self.world, self.hand_monitor, self.cfg)
        return sorted(n for n, i in self.world.objects.items() if self.cfg.is_about(i) and self._free(n))

    def _free(self, part: str) -> bool:
        return not self.hand_monitor.holds(part) and self.hand_monitor.distance_m(part) > CLEAR_M


class DropFault(Fault[DropCfg]):
    """The pads lose their friction and most of their force, or the pump its vacuum, until the thing has slipped out."""

    def __init__(self, cfg: DropCfg, world: World, hand_monitor: HandMonitor, rng: np.random.Generator) -> None:
        super().__init__(cfg, world, hand_monitor, rng)
        self._way_m = draw(cfg.way_mm, rng) / 1000

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins when the part is far enough on its way."""
        for robot, hold in self.hand_monitor.held.items():
            wanted = (
                hold.part == fault_state.subject
                if fault_state.subject
                else self.cfg.is_about(self.world.objects[hold.part])
            )
            if wanted and matches_name(robot, self.cfg.robot) and hold.carried and hold.way_m >= self._way_m:
                fault_state.subject, fault_state.robot, fault_state.tool = hold.part, robot, tool_of(self.world, robot)
                fault_state.grip = WeakenedGrip(0.1, slippery=True)
                self._unlock(hold.part)
                height_m = self.world.pose_of(hold.part).position[2]
                return f"slips out of {robot}'s hand after {hold.way_m * 1000:.0f} mm, at a height of {height_m:.3f} m"
        return None

    def go_on(self, fault_state: FaultState) -> bool:
        """Returns whether it still lasts: until the part has left the hand."""
        if (
            fault_state.subject not in self.world.objects
            or self.world.clock.time_s - fault_state.start_s > SLIP_LIMIT_S
        ):
            return False
        held = self.hand_monitor.holds(fault_state.subject)
        if held:
            self._unlock(fault_state.subject)
        return held or self.hand_monitor.distance_m(fault_state.subject) < SLIPPED_M

    def _unlock(self, part: str) -> None:
        """Opens a grasp lock, which opens when a part is put somewhere: here, where it is, at the speed it has."""
        if not self.world.cell.grasp_lock:
            return
        known, item = self.hand_monitor.save(), self.world.objects[part]
        speed = self.world.data.qvel[item.dof : item.dof + 6].copy()
        self.world.place(part, self.world.pose_of(part))
        self.world.data.qvel[item.dof : item.dof + 6] = speed
        self.hand_monitor.load(known)


class PushFault(Fault[PushCfg]):
    """A hand carries the thing along a low arc."""

    every_step = True

    def __init__(self, cfg: PushCfg, world: World, hand_monitor: HandMonitor, rng: np.random.Generator) -> None:
        super().__init__(cfg, world, hand_monitor, rng)
        self._shift_m, self._yaw_rad = drawn_shift_m(cfg.by_mm, rng), np.radians(draw(cfg.yaw_deg, rng))

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins when no gripper holds it or is about to."""
        name = self._choose(fault_state)
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


class RemoveFault(Fault[RemoveCfg]):
    """The part leaves the world, or the tray with all that lies on it."""

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins when no hand holds it."""
        name = self._choose(fault_state)
        if name is None:
            return None
        x, y, z = self.world.pose_of(name).position
        on_it = sorted(poses_on_tray(self.world, name)) if self.cfg.tray is not None else []
        for thing in (name, *on_it):
            self.world.remove(thing)
        return f"taken away from {x:.3f} {y:.3f} {z:.3f}" + (f" with {', '.join(on_it)}" if on_it else "")


class SwapFault(Fault[SwapCfg]):
    """Two parts, or two trays, change places."""

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins when no hand holds either."""
        part = self._choose(fault_state)
        if part is None:
            return None
        world, here = self.world, self.world.pose_of(part)
        others = [
            (here.distance_m(world.pose_of(name)), name)
            for name in self._candidates()
            if world.objects[name].sku != world.objects[part].sku and matches(world.objects[name], self.cfg.other)
        ]
        if not others:
            return None
        exchange(world, part, min(others)[1])
        return f"changed places with {min(others)[1]}"

    def _free_ones(self) -> list[str]:
        """Returns free parts, or free empty trays: what lay in them would hang in the air."""
        return [name for name in super()._free_ones() if self.cfg.tray is None or not poses_on_tray(self.world, name)]

    def _candidates(self) -> list[str]:
        """Returns the objects that may come in its place."""
        anything = self.cfg.model_copy(update={"part": "*", "tray": None if self.cfg.tray is None else "*"})
        return SwapFault(anything, self.world, self.hand_monitor, self.rng)._free_ones()


class WeakGripperFault(Fault[WeakGripperCfg]):
    """Less force, or less vacuum, of the tool that the robot has, from the event on."""

    def begin(self, fault_state: FaultState) -> str | None:
        """Begins at once, or when a robot has a tool."""
        fault_state.robot = fault_state.robot or self._any_robot()
        if not fault_state.robot or not (tool := tool_of(self.world, fault_state.robot)):
            return None
        fault_state.subject, fault_state.tool, fault_state.grip = fault_state.robot, tool, WeakenedGrip(self.cfg.factor)
        length = "for good" if self.cfg.for_s is None else f"for {self.cfg.for_s:g} s"
        how = "grips" if self.world.robots[fault_state.robot].tool else "draws"
        what = "force" if how == "grips" else "vacuum"
        return f"{how} with {self.cfg.factor:g} of its {what} {length}"

    def go_on(self, fault_state: FaultState) -> bool:
        """Returns whether it still lasts: until its time is over."""
        return self.cfg.for_s is None or self.world.clock.time_s < fault_state.start_s + self.cfg.for_s

    def _any_robot(self) -> str:
        robots = sorted(n for n, r in self.world.robots.items() if r.hand and matches_name(n, self.cfg.robot))
        return robots[int(self.rng.integers(len(robots)))] if robots else ""


def drawn_shift_m(shift_mm: Any, rng: np.random.Generator) -> tuple[float, float]:
    """Returns the shift along x and y: as given, or of a given length in a random direction."""
    if isinstance(shift_mm, tuple):
        return shift_mm[0] / 1000, shift_mm[1] / 1000
    length_m, angle_rad = draw(shift_mm, rng) / 1000, rng.uniform(0, 2 * np.pi)
    return float(length_m * np.cos(angle_rad)), float(length_m * np.sin(angle_rad))
