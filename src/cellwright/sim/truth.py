"""The simulator's own view as messages, for the judge and the recorder alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellwright.core.bus import Bus
from cellwright.core.messages import WorldTruth
from cellwright.sim.contacts import body_contacts
from cellwright.sim.index import MobileIndex, ObjectIndex
from cellwright.sim.stepper import Stepper, TickOrder
from cellwright.sim.tool_index import LooseToolIndex
from cellwright.sim.world import World

__all__ = ["TruthPublisher"]

TOPIC = "/truth/poses"
MOVED = 1e-7


class TruthPublisher:
    """Publishes the poses of the objects that moved since the last message, and all contacts."""

    def __init__(self, world: World, bus: Bus, stepper: Stepper, rate_hz: float = 20.0) -> None:
        self._world = world
        self._bus = bus
        self._sequence = 0
        bus.declare(TOPIC, WorldTruth)
        world.bind(self._look_up)
        stepper.every(world.clock.period_ticks(rate_hz), self.publish, order=TickOrder.WORLD, name="truth")

    def _look_up(self) -> None:
        world = self._world
        objects: list[ObjectIndex | MobileIndex | LooseToolIndex] = [
            *world.objects.values(), *world.mobiles.values(), *world.loose_tools.values()
        ]  # fmt: skip
        self._names = np.array([item.name for item in objects], dtype=object)
        self._gather = np.array([np.arange(item.qpos, item.qpos + 7) for item in objects]).reshape(-1, 7)
        self._last = np.full((len(objects), 7), np.inf)

    def save(self) -> tuple[int, Any]:
        """Returns its state between messages."""
        return self._sequence, self._last.copy()

    def load(self, state: tuple[int, Any]) -> None:
        """Restores what `save` returned."""
        self._sequence, last = state
        self._last = last.copy()

    def publish(self) -> None:
        """Publishes one message, unless it has no subscriber or nothing has moved."""
        if not self._bus.has_listener(TOPIC):
            return
        now = self._world.data.qpos[self._gather]
        moved = np.flatnonzero((np.abs(now - self._last) > MOVED).any(axis=1))
        if not len(moved):
            return
        self._last[moved] = now[moved]
        contacts = body_contacts(self._world.model, self._world.data)
        message = WorldTruth(
            self._world.clock.time_ns,
            self._sequence,
            "sim",
            names=tuple(self._names[moved]),
            positions=now[moved, :3],
            quaternions=now[moved, 3:],
            contact_pairs=tuple(f"{touch.first}|{touch.second}" for touch in contacts),
            contact_forces=np.array([touch.force_n for touch in contacts]),
        )
        self._sequence += 1
        self._bus.publish(TOPIC, message)
