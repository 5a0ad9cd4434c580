"""The objects that grippers and cups really hold: by contacts, vacuum and poses, whatever a controller believes."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cellwright.catalogue import PartFigures, TrayFigures, tray_grasp
from cellwright.core.pose import Pose
from cellwright.judge.hand_events import HandEvent, HandEventKind, HeldObject
from cellwright.judge.tray_contents import is_covered, is_still_on_tray, poses_on_tray
from cellwright.sim import GripperIndex, ObjectIndex, Stepper, TickOrder, World
from cellwright.sim.tool_index import VacuumIndex

__all__ = ["HandMonitor"]

RATE_HZ = 50.0
FIRM_LOOKS = 2  # so often both pads touch, or a cup draws, before it counts as held
GONE_LOOKS = 2  # so often none does before it counts as left
DRAWN = 0.05  # share of the vacuum from which on a cup draws
LIFTED_M = 0.010
CARRIED_M = 0.020  # sideways, once lifted
OVER_M = 0.015  # an empty hand is over a part when it is so near to its axis,
ABOVE_M = 0.100  # at most so far above where it would grasp,
SLOW_MPS = 0.05  # and slow, or on its way down
AWAY_M = 0.120  # a hand that let go of a part has left it at this distance
OPENING_M = 0.0005


@dataclass
class _Hand:
    hold: HeldObject | None = None
    touched: str = ""
    looks: int = 0
    over: str = ""
    let_go: str = ""
    tcp_m: Any = field(default_factory=lambda: np.full(3, np.nan))


class HandMonitor:
    """Checks every hand fifty times a second, and tells its listeners what happened.

    A gripper holds what both of its pads touch; a vacuum tool what a cup with vacuum touches. A hand is what a robot
    has on its flange: it comes and goes where tools are changed.
    """

    def __init__(self, world: World, stepper: Stepper, name: str = "hand watch") -> None:
        self._world = world
        self._period_s = world.clock.period_ticks(RATE_HZ) * world.clock.tick_s
        self._listeners: list[Callable[[HandEvent], None]] = []
        self._hands = {robot: _Hand() for robot in world.robots}
        world.bind(self._look_up)
        world.add_component(name, self)
        stepper.every(world.clock.period_ticks(RATE_HZ), self._tick, order=TickOrder.JUDGE, name=name)

    def listen(self, listener: Callable[[HandEvent], None]) -> None:
        """Calls back with every event, in order."""
        self._listeners.append(listener)

    @property
    def held(self) -> dict[str, HeldObject]:
        """Robot -> the object that it holds now."""
        return {robot: hand.hold for robot, hand in self._hands.items() if hand.hold is not None}

    def holds(self, part: str) -> bool:
        """Returns whether any hand holds that."""
        return any(hold.part == part for hold in self.held.values())

    def distance_m(self, name: str) -> float:
        """Returns the distance from the nearest tool centre point to where a part or a tray would be grasped."""
        if name not in self._numbers:
            return float("inf")
        point = self._grasp_points(np.array([self._numbers[name]]))[0]
        return min((float(np.linalg.norm(self._tcp(tool) - point)) for tool in self._tools.values()), default=np.inf)

    def save(self) -> dict[str, _Hand]:
        """Returns the state of each hand."""
        return deepcopy(self._hands)

    def load(self, state: dict[str, _Hand]) -> None:
        """Goes back to it; what has left the world since is forgotten."""
        self._hands = deepcopy(state)
        for hand in self._hands.values():
            if hand.hold is not None and hand.hold.part not in self._world.objects:
                hand.hold = None

    def let_go(self, part: str) -> None:
        """Forgets a part that is taken away or put elsewhere: no hand holds it, and none has lost it."""
        for hand in self._hands.values():
            if hand.hold is not None:
                hand.hold.parts_in_tray.pop(part, None)
                if hand.hold.part == part:
                    hand.hold = None

    def _look_up(self) -> None:
        world, model = self._world, self._world.model
        self._tools: dict[str, GripperIndex | VacuumIndex] = {r: i.hand for r, i in world.robots.items() if i.hand}
        for robot, hand in self._hands.items():  # a tool that is gone holds nothing for its robot
            if robot not in self._tools:
                hand.hold = None
        names = {item.body: name for name, item in world.objects.items()}
        self._object_of = [names.get(int(model.body_rootid[body]), "") for body in model.geom_bodyid]
        grippers = {r: t for r, t in self._tools.items() if isinstance(t, GripperIndex)}
        self._pads = {pad: (name, side) for name, tool in grippers.items() for pad, side in tool.pads.items()}
        self._lips = {
            lip: (name, cup.activation)
            for name, tool in self._tools.items()
            if isinstance(tool, VacuumIndex)
            for cup in tool.cups
            for lip in cup.lip
        }
        self._numbers = {name: number for number, name in enumerate(world.objects)}
        items = list(world.objects.values())
        self._names = list(world.objects)
        self._bodies = np.array([item.body for item in items], dtype=np.intp)
        self._heights = np.array([[_grasp_height_m(item)] for item in items]).reshape(-1, 1)
        self._takes = {
            robot: np.array([n for n, item in enumerate(items) if _takes(tool, item)], dtype=np.intp)
            for robot, tool in self._tools.items()
        }
        self._rows = {r: {self._names[n]: row for row, n in enumerate(takes)} for r, takes in self._takes.items()}

    def _tick(self) -> None:
        touched = self._touched()
        for robot, tool in self._tools.items():
            hand, tcp_m = self._hands[robot], self._tcp(tool)
            pressed = touched.get(robot, {})
            if hand.hold is None:
                self._look_at_empty(robot, hand, tcp_m, next((part for part, pads in pressed.items() if pads == 3), ""))
            else:
                self._look_at_hold(robot, hand, hand.hold, tool, hand.hold.part in pressed)
            hand.tcp_m = tcp_m

    def _touched(self) -> dict[str, dict[str, int]]:
        """Returns robot -> object -> the pads that touch it: 1 the left, 2 the right, 3 both, or a cup with vacuum."""
        found: dict[str, dict[str, int]] = {}
        if not self._world.data.ncon:
            return found
        pads, lips = self._pads, self._lips
        for first, second in self._world.data.contact.geom.tolist():
            if first in pads or second in pads:
                pad, other = (first, second) if first in pads else (second, first)
                robot, side = pads[pad]
                bits = side + 1
            elif first in lips or second in lips:
                lip, other = (first, second) if first in lips else (second, first)
                robot, vacuum = lips[lip]
                bits = 3 if self._world.data.act[vacuum] > DRAWN else 0
            else:
                continue
            if bits and self._object_of[other]:
                pressed = found.setdefault(robot, {})
                pressed[self._object_of[other]] = pressed.get(self._object_of[other], 0) | bits
        return found

    def _look_at_empty(self, robot: str, hand: _Hand, tcp_m: Any, touched: str) -> None:
        if touched:
            hand.looks = hand.looks + 1 if touched == hand.touched else 1
            hand.touched = touched
            if hand.looks >= FIRM_LOOKS:
                here_m = self._position(touched)
                hand.hold = HeldObject(touched, here_m, here_m, parts_in_tray=self._parts_in_tray(touched))
                hand.over = hand.let_go = ""
                self._tell(HandEventKind.GRASP, robot, touched, parts_in_tray=tuple(hand.hold.parts_in_tray))
            return
        hand.touched, hand.looks = "", 0
        if len(self._takes[robot]) and tcp_m.tolist() != hand.tcp_m.tolist():
            self._look_below(robot, hand, tcp_m)

    def _parts_in_tray(self, name: str) -> dict[str, Pose]:
        return poses_on_tray(self._world, name) if self._world.objects[name].is_tray else {}

    def _look_below(self, robot: str, hand: _Hand, tcp_m: Any) -> None:
        """Checks whether the empty hand has come to a part: over it, and slow or on its way down."""
        takes, rows = self._takes[robot], self._rows[robot]
        offsets = tcp_m - self._grasp_points(takes)
        x, y, z = offsets.T
        if hand.let_go in rows and _length(offsets[rows[hand.let_go]]) > AWAY_M:
            hand.let_go = ""
        near = (np.abs(x) < OVER_M).nonzero()[0]  # mostly none, and then there is nothing else to reckon
        below = near[(np.hypot(x[near], y[near]) < OVER_M) & (z[near] > 0) & (z[near] < ABOVE_M)] if len(near) else near
        if not len(below):
            hand.over = ""
            return
        part = self._names[int(takes[below[z[below].argmin()]])]
        if is_covered(self._world, part):
            return
        velocity = (tcp_m - hand.tcp_m) / self._period_s
        descends = velocity[2] < -SLOW_MPS / 2 and np.hypot(*velocity[:2]) < -velocity[2]
        if part not in (hand.over, hand.let_go) and (descends or _length(velocity) < SLOW_MPS):
            hand.over = part
            self._tell(HandEventKind.APPROACH, robot, part)

    def _look_at_hold(
        self, robot: str, hand: _Hand, hold: HeldObject, tool: GripperIndex | VacuumIndex, touched: bool
    ) -> None:
        hold.looks_without = 0 if touched else hold.looks_without + 1
        if hold.looks_without >= GONE_LOOKS:
            hand.hold, hand.touched, hand.looks, hand.let_go = None, "", 0, hold.part
            moment = HandEventKind.RELEASE if self._opens(tool) else HandEventKind.LOSS
            self._tell(moment, robot, hold.part, hold.lifted, hold.last_m, tuple(hold.parts_in_tray))
            return
        here_m = self._position(hold.part)
        if touched:
            hold.last_m = here_m
        way = here_m - hold.start_m
        hold.lifted = hold.lifted or way[2] > LIFTED_M
        hold.way_m = float(np.hypot(way[0], way[1]))
        if hold.lifted and not hold.carried and hold.way_m > CARRIED_M:
            hold.carried = True
            self._tell(HandEventKind.TRANSFER, robot, hold.part, True, parts_in_tray=tuple(hold.parts_in_tray))
        if hold.parts_in_tray:
            self._check_parts_in_tray(robot, hold)

    def _check_parts_in_tray(self, robot: str, hold: HeldObject) -> None:
        """Checks the parts in a held tray: one that leaves has fallen off, unless another hand has taken it."""
        for part, pose in tuple(hold.parts_in_tray.items()):
            if not is_still_on_tray(self._world, hold.part, part, pose):
                del hold.parts_in_tray[part]
                if part in self._world.objects and not self.holds(part):
                    self._tell(HandEventKind.LOSS, robot, part, hold.lifted, tray=hold.part)

    def _opens(self, tool: GripperIndex | VacuumIndex) -> bool:
        """Returns whether a tool is told to let go: to open, or to stop its pump."""
        data = self._world.data
        if isinstance(tool, VacuumIndex):
            return bool(data.ctrl[tool.power] <= 0.0)
        wanted_m, figures = data.ctrl[tool.ctrl], tool.figures
        is_open = wanted_m > (figures.closed_m + figures.open_m) / 2  # told so, and there already
        return bool(wanted_m > data.qpos[tool.qpos].mean() + OPENING_M or is_open)

    def _grasp_points(self, numbers: Any) -> Any:
        data, bodies = self._world.data, self._bodies[numbers]
        return data.xpos.take(bodies, 0) + data.xmat.take(bodies, 0)[:, 2::3] * self._heights[numbers]

    def _tcp(self, tool: GripperIndex | VacuumIndex) -> Any:
        return self._world.data.site_xpos[tool.tcp_site].copy()

    def _position(self, name: str) -> Any:
        at = self._world.objects[name].qpos
        return self._world.data.qpos[at : at + 3].copy()

    def _tell(
        self,
        moment: HandEventKind,
        robot: str,
        part: str,
        lifted: bool = False,
        at_m: Any = None,
        parts_in_tray: tuple[str, ...] = (),
        tray: str = "",
    ) -> None:
        x, y, z = (float(value) for value in (self._position(part) if at_m is None else at_m))
        event = HandEvent(
            moment=moment,
            robot=robot,
            part=part,
            time_s=self._world.clock.time_s,
            position_m=(x, y, z),
            lifted=lifted,
            parts_in_tray=parts_in_tray,
            tray=tray,
        )
        for listener in self._listeners:
            listener(event)


def _grasp_height_m(item: ObjectIndex) -> float:
    """Returns the height above its origin at which a part is taken; a tray is taken at its top."""
    figures = item.figures
    return figures.grasp_height_m if isinstance(figures, PartFigures) else figures.thickness_m


def _takes(tool: GripperIndex | VacuumIndex, item: ObjectIndex) -> bool:
    """Returns whether a tool is for such a thing: grippers for all parts, cups for what they can hold."""
    if isinstance(tool, GripperIndex):
        return isinstance(item.figures, PartFigures)
    if isinstance(item.figures, TrayFigures):
        return tray_grasp(item.figures, tool.figures) is not None
    return tool.figures.fits(item.figures)


def _length(vector: Any) -> float:
    return math.sqrt(vector.dot(vector))
