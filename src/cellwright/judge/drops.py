"""Drops: parts and trays that left a hand and fell, from where, how far, onto what."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from cellwright.catalogue import FURNITURE
from cellwright.catalogue.furniture_kinds import FloorFigures
from cellwright.core.pose import Pose
from cellwright.judge.hand_events import HandEvent, HandEventKind
from cellwright.judge.hand_monitor import HandMonitor
from cellwright.judge.seating import judge_slots
from cellwright.judge.tray_contents import is_still_on_tray
from cellwright.sim import Stepper, TickOrder, World
from cellwright.sim.contacts import owner

__all__ = ["DropEvent", "DropMonitor"]

RATE_HZ = 50.0
STILL_MPS, STILL_RADPS = 0.01, 0.2
STILL_LOOKS = 5
LIMIT_S = 3.0
GENTLE_M = 0.010  # who opens the hand no higher above the ground sets a part down


@dataclass(frozen=True, kw_only=True)
class DropEvent:
    """A part or a tray that fell out of a hand, or a part that fell off a tray in a hand.

    Attributes:
        part: Which.
        robot: Out of whose hand.
        time_s: When it left.
        opened: Whether the hand opened; otherwise it lost the part.
        from_m: Its position then, in the world.
        end_m: The position at which it came to rest.
        height_m: How far down that is.
        landed_on: What it touched last: trays, parts, furniture.
        slot: The slot in which it is seated, as `tray/slot`, if it fell into one.
        on_floor: Whether it is out of every robot's reach, on the floor.
        tray: The tray that a part rode in, or nothing.
    """

    part: str
    robot: str
    time_s: float
    opened: bool
    from_m: tuple[float, float, float]
    end_m: tuple[float, float, float]
    height_m: float
    landed_on: tuple[str, ...]
    slot: str
    on_floor: bool
    tray: str = ""

    def __str__(self) -> str:
        how = "was let go by" if self.opened else "slipped from"
        how = f"fell off {self.tray} of" if self.tray else how
        where = self.slot or ", ".join(self.landed_on) or "nothing"
        return f"{self.part} {how} {self.robot} at {self.time_s:.2f} s, fell {self.height_m * 1000:.0f} mm onto {where}"


@dataclass
class _Fall:
    event: HandEvent
    pose_in_tray: Pose | None = None
    landed_on: tuple[str, ...] = ()
    still: int = 0


class DropMonitor:
    """Follows every part and tray that leaves a hand until it rests. What was never lifted cannot be dropped.

    Parts in a tray that falls are dropped when they leave the tray.

    Attributes:
        drops: What was found, in order.
    """

    def __init__(self, world: World, stepper: Stepper, hand_monitor: HandMonitor, name: str = "drop monitor") -> None:
        self.drops: list[DropEvent] = []
        self.on_drop: Callable[[DropEvent], None] = lambda _drop: None
        self._world = world
        self._falls: list[_Fall] = []
        models = {name: FURNITURE.get(fixture.model) for name, fixture in world.cell.fixtures.items()}
        self._floors = {name for name, figures in models.items() if isinstance(figures, FloorFigures)}
        hand_monitor.listen(self._hear)
        world.add_component(name, self)
        stepper.every(world.clock.period_ticks(RATE_HZ), self._tick, order=TickOrder.JUDGE, name=name)

    def save(self) -> tuple[tuple[DropEvent, ...], list[_Fall]]:
        """Returns the drops so far, and what is falling."""
        return tuple(self.drops), deepcopy(self._falls)

    def load(self, state: tuple[tuple[DropEvent, ...], list[_Fall]]) -> None:
        """Goes back to it."""
        self.drops[:] = state[0]
        self._falls = [fall for fall in deepcopy(state[1]) if fall.event.part in self._world.objects]

    def let_go(self, part: str) -> None:
        """Stops following a part that is taken or put elsewhere: where it would have come to rest is unknown."""
        self._falls = [fall for fall in self._falls if fall.event.part != part]

    def _hear(self, event: HandEvent) -> None:
        if event.moment in (HandEventKind.RELEASE, HandEventKind.LOSS) and event.lifted:
            self._falls.append(_Fall(event))
            world_in_tray = self._world.pose_of(event.part).inverse()
            for part in event.parts_in_tray:
                x, y, z = (float(value) for value in self._world.pose_of(part).position)
                rider = replace(event, part=part, position_m=(x, y, z), parts_in_tray=(), tray=event.part)
                self._falls.append(_Fall(rider, world_in_tray @ self._world.pose_of(part)))
        elif event.moment is HandEventKind.GRASP:
            for fall in [fall for fall in self._falls if fall.event.part in (event.part, *event.parts_in_tray)]:
                self._end(fall)

    def _tick(self) -> None:
        for fall in tuple(self._falls):
            item = self._world.objects[fall.event.part]
            below = tuple(name for name in self._below(item.body) if name not in fall.event.parts_in_tray)
            fall.landed_on = below or fall.landed_on
            speed_mps, spin_radps = (
                np.abs(self._world.data.qvel[item.dof : item.dof + 6]).reshape(2, 3).max(axis=1).tolist()
            )
            fall.still = fall.still + 1 if speed_mps < STILL_MPS and spin_radps < STILL_RADPS else 0
            if fall.still >= STILL_LOOKS or self._world.clock.time_s - fall.event.time_s > LIMIT_S:
                self._end(fall)

    def _below(self, body: int) -> tuple[str, ...]:
        """Returns the objects that a thing touches besides robots and their tools; none once it sleeps."""
        model, data = self._world.model, self._world.data
        if not data.ncon:
            return ()
        pairs = data.contact.geom
        touching = pairs[(model.geom_bodyid[pairs] == body).any(axis=1)]
        names = {owner(model, int(geom)) for geom in touching.ravel() if model.geom_bodyid[geom] != body}
        arms = {*self._world.robots, *self._world.cell.tools}
        return tuple(sorted(name for name in names if name.partition("/")[0] not in arms))

    def _end(self, fall: _Fall) -> None:
        self._falls.remove(fall)
        if fall.pose_in_tray is not None and self._stayed(fall.event, fall.pose_in_tray):
            return
        event, opened = fall.event, fall.event.moment is HandEventKind.RELEASE
        pose = self._world.pose_of(event.part)
        height_m = event.position_m[2] - float(pose.position[2])
        if height_m < GENTLE_M and (opened or self._slot(event.part)):
            return
        x, y, z = (float(value) for value in pose.position)
        on_floor = bool(self._floors & set(fall.landed_on))
        drop = DropEvent(
            part=event.part,
            robot=event.robot,
            time_s=event.time_s,
            opened=opened,
            from_m=event.position_m,
            end_m=(x, y, z),
            height_m=height_m,
            landed_on=fall.landed_on,
            slot=self._slot(event.part),
            on_floor=on_floor,
            tray=event.tray,
        )
        self.drops.append(drop)
        self.on_drop(drop)

    def _stayed(self, event: HandEvent, pose_in_tray: Pose) -> bool:
        """Returns whether a part came down with its tray."""
        return event.tray in self._world.objects and is_still_on_tray(self._world, event.tray, event.part, pose_in_tray)

    def _slot(self, part: str) -> str:
        """Returns the slot in which it is seated."""
        here = self._world.pose_of(part)
        for name, item in self._world.objects.items():
            if item.is_tray and self._world.pose_of(name).distance_m(here) < max(item.figures.size_m):  # type: ignore[union-attr]
                for seating in judge_slots(self._world, name):
                    if seating.part == part and seating.seated:
                        return seating.slot
        return ""
