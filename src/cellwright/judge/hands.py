"""What the grippers really hold: by contacts and poses, whatever a controller believes."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from cellwright.catalogue import PartFigures
from cellwright.sim import Order, Stepper, ToolIndex, World

__all__ = ["HandEvent", "HandWatch", "Hold", "Moment"]

RATE_HZ = 50.0
FIRM_LOOKS = 2  # so often both pads touch before it counts as held
GONE_LOOKS = 2  # so often neither does before it counts as left
LIFTED_M = 0.010
CARRIED_M = 0.020  # sideways, once lifted
OVER_M = 0.015  # an empty hand is over a part when it is so near to its axis,
ABOVE_M = 0.100  # at most so far above where it would grasp,
SLOW_MPS = 0.05  # and slow, or on its way down
AWAY_M = 0.120  # a hand that let go of a part has left it at this distance
OPENING_M = 0.0005


class Moment(StrEnum):
    """What may happen between a hand and a part."""

    APPROACH = "approach"
    GRASP = "grasp"
    TRANSFER = "transfer"
    RELEASE = "release"
    LOSS = "loss"


@dataclass(frozen=True)
class HandEvent:
    """One such moment.

    Attributes:
        moment: An empty hand comes to a part; holds it; carries it; opens and lets it go; has lost it.
        robot: Whose hand.
        part: Which object.
        time_s: When.
        position_m: Of the part, in the world; of one that left, where a pad last touched it.
        lifted: Whether it had been lifted before it left the hand.
    """

    moment: Moment
    robot: str
    part: str
    time_s: float
    position_m: tuple[float, float, float]
    lifted: bool = False


@dataclass
class Hold:
    """A part in a hand, since it was taken.

    Attributes:
        part: Which.
        start_m: Where it was taken.
        last_m: Where it was when a pad last touched it.
        lifted: Whether it has been lifted.
        carried: Whether it is, or was, under way.
        way_m: How far it has come sideways.
    """

    part: str
    start_m: Any
    last_m: Any
    lifted: bool = False
    carried: bool = False
    way_m: float = 0.0
    looks_without: int = 0


@dataclass
class _Hand:
    hold: Hold | None = None
    touched: str = ""
    looks: int = 0
    over: str = ""
    let_go: str = ""
    tcp_m: Any = field(default_factory=lambda: np.full(3, np.nan))


class HandWatch:
    """Looks at every gripper fifty times a second, and tells its listeners what happened."""

    def __init__(self, world: World, stepper: Stepper, name: str = "hand watch") -> None:
        self._world = world
        self._period_s = world.clock.period_ticks(RATE_HZ) * world.clock.tick_s
        self._listeners: list[Callable[[HandEvent], None]] = []
        self._hands = {robot: _Hand() for robot in world.robots}
        world.bind(self._look_up)
        world.add_holder(name, self)
        stepper.every(world.clock.period_ticks(RATE_HZ), self._tick, order=Order.JUDGE, name=name)

    def listen(self, listener: Callable[[HandEvent], None]) -> None:
        """Calls back with every event, in order."""
        self._listeners.append(listener)

    @property
    def held(self) -> dict[str, Hold]:
        """Robot -> what it holds now."""
        return {robot: hand.hold for robot, hand in self._hands.items() if hand.hold is not None}

    def holds(self, part: str) -> bool:
        """Whether any hand holds that."""
        return any(hold.part == part for hold in self.held.values())

    def distance_m(self, part: str) -> float:
        """From the nearest tool centre point to where a part would be grasped."""
        if part not in self._numbers:
            return float("inf")
        point = self._grasp_points()[self._numbers[part]]
        return min((float(np.linalg.norm(self._tcp(tool) - point)) for tool in self._tools.values()), default=np.inf)

    def save(self) -> dict[str, _Hand]:
        """What it remembers of each hand."""
        return deepcopy(self._hands)

    def load(self, state: dict[str, _Hand]) -> None:
        """Goes back to it; what has left the world since is forgotten."""
        self._hands = deepcopy(state)
        for hand in self._hands.values():
            if hand.hold is not None and hand.hold.part not in self._world.objects:
                hand.hold = None

    def let_go(self, part: str) -> None:
        """The part is taken away, or put elsewhere: no hand holds it, and none has lost it."""
        for hand in self._hands.values():
            if hand.hold is not None and hand.hold.part == part:
                hand.hold = None

    def _look_up(self) -> None:
        world, model = self._world, self._world.model
        self._tools: dict[str, ToolIndex] = {
            r: i.tool for r, i in world.robots.items() if isinstance(i.tool, ToolIndex)
        }
        names = {item.body: name for name, item in world.objects.items()}
        self._object_of = [names.get(int(model.body_rootid[body]), "") for body in model.geom_bodyid]
        self._pads = {
            pad: (name, side) for name, tool in self._tools.items() for side, pad in enumerate(tool.pad_geoms)
        }
        parts = {name: item for name, item in world.objects.items() if isinstance(item.figures, PartFigures)}
        self._numbers = {name: number for number, name in enumerate(parts)}
        self._parts, self._bodies = list(parts), np.array([item.body for item in parts.values()], dtype=np.intp)
        self._heights = np.array([[item.figures.grasp_height_m] for item in parts.values()]).reshape(-1, 1)  # type: ignore[union-attr]

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
        """Robot -> the objects that its pads touch: 1 the left one, 2 the right one, 3 both."""
        found: dict[str, dict[str, int]] = {}
        if not self._world.data.ncon:
            return found
        pads = self._pads
        for first, second in self._world.data.contact.geom.tolist():
            if first not in pads and second not in pads:
                continue
            pad, other = (first, second) if first in pads else (second, first)
            if self._object_of[other]:
                robot, side = self._pads[pad]
                pressed = found.setdefault(robot, {})
                pressed[self._object_of[other]] = pressed.get(self._object_of[other], 0) | (side + 1)
        return found

    def _look_at_empty(self, robot: str, hand: _Hand, tcp_m: Any, touched: str) -> None:
        if touched:
            hand.looks = hand.looks + 1 if touched == hand.touched else 1
            hand.touched = touched
            if hand.looks >= FIRM_LOOKS:
                here_m = self._position(touched)
                hand.hold = Hold(touched, here_m, here_m)
                hand.over = hand.let_go = ""
                self._tell(Moment.GRASP, robot, touched)
            return
        hand.touched, hand.looks = "", 0
        if len(self._bodies) and tcp_m.tolist() != hand.tcp_m.tolist():
            self._look_below(robot, hand, tcp_m)

    def _look_below(self, robot: str, hand: _Hand, tcp_m: Any) -> None:
        """Whether the empty hand has come to a part: over it, and slow or on its way down."""
        offsets = tcp_m - self._grasp_points()
        x, y, z = offsets.T
        if hand.let_go in self._numbers and _length(offsets[self._numbers[hand.let_go]]) > AWAY_M:
            hand.let_go = ""
        near = (np.abs(x) < OVER_M).nonzero()[0]  # mostly none, and then there is nothing else to reckon
        below = near[(np.hypot(x[near], y[near]) < OVER_M) & (z[near] > 0) & (z[near] < ABOVE_M)] if len(near) else near
        if not len(below):
            hand.over = ""
            return
        part = self._parts[int(below[z[below].argmin()])]
        velocity = (tcp_m - hand.tcp_m) / self._period_s
        descends = velocity[2] < -SLOW_MPS / 2 and np.hypot(*velocity[:2]) < -velocity[2]
        if part not in (hand.over, hand.let_go) and (descends or _length(velocity) < SLOW_MPS):
            hand.over = part
            self._tell(Moment.APPROACH, robot, part)

    def _look_at_hold(self, robot: str, hand: _Hand, hold: Hold, tool: ToolIndex, touched: bool) -> None:
        hold.looks_without = 0 if touched else hold.looks_without + 1
        if hold.looks_without >= GONE_LOOKS:
            data = self._world.data
            opening = data.ctrl[tool.ctrl] > data.qpos[tool.qpos].mean() + OPENING_M or self._is_open(tool)
            hand.hold, hand.touched, hand.looks, hand.let_go = None, "", 0, hold.part
            self._tell(Moment.RELEASE if opening else Moment.LOSS, robot, hold.part, hold.lifted, hold.last_m)
            return
        here_m = self._position(hold.part)
        if touched:
            hold.last_m = here_m
        way = here_m - hold.start_m
        hold.lifted = hold.lifted or way[2] > LIFTED_M
        hold.way_m = float(np.hypot(way[0], way[1]))
        if hold.lifted and not hold.carried and hold.way_m > CARRIED_M:
            hold.carried = True
            self._tell(Moment.TRANSFER, robot, hold.part, True)

    def _is_open(self, tool: ToolIndex) -> bool:
        """Told to open, and there already."""
        figures = tool.figures
        return bool(self._world.data.ctrl[tool.ctrl] > (figures.closed_m + figures.open_m) / 2)

    def _grasp_points(self) -> Any:
        data = self._world.data
        return data.xpos.take(self._bodies, 0) + data.xmat.take(self._bodies, 0)[:, 2::3] * self._heights

    def _tcp(self, tool: ToolIndex) -> Any:
        return self._world.data.site_xpos[tool.tcp_site].copy()

    def _position(self, name: str) -> Any:
        at = self._world.objects[name].qpos
        return self._world.data.qpos[at : at + 3].copy()

    def _tell(self, moment: Moment, robot: str, part: str, lifted: bool = False, at_m: Any = None) -> None:
        x, y, z = (float(value) for value in (self._position(part) if at_m is None else at_m))
        event = HandEvent(moment, robot, part, self._world.clock.time_s, (x, y, z), lifted)
        for listener in self._listeners:
            listener(event)


def _length(vector: Any) -> float:
    return math.sqrt(vector.dot(vector))
