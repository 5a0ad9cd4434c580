"""The simulator's own view as messages, for the judge and the recorder alone: all that is needed to draw a moment."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.core.bus import Bus
from cellwright.core.messages import JointTruth, LookTruth, WorldTruth
from cellwright.sim.contacts import body_contacts
from cellwright.sim.index import MobileIndex, ObjectIndex
from cellwright.sim.stepper import Stepper, TickOrder
from cellwright.sim.tool_index import LooseToolIndex
from cellwright.sim.world import World

__all__ = ["TruthPublisher"]

POSES, JOINTS, LOOKS = "/truth/poses", "/truth/joints", "/truth/looks"
MOVED = 1e-7


class TruthPublisher:
    """Publishes what moved since the last message: poses of bodies, with all contacts, and positions of joints.

    What can be seen and does not move (lamps, projectors, which objects there are) is published when it changes.
    """

    def __init__(self, world: World, bus: Bus, stepper: Stepper, rate_hz: float = 20.0) -> None:
        self._world = world
        self._bus = bus
        self._sequences = dict.fromkeys((POSES, JOINTS, LOOKS), 0)
        self._look: Any = None
        bus.declare(POSES, WorldTruth)
        bus.declare(JOINTS, JointTruth)
        bus.declare(LOOKS, LookTruth)
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
        model = world.model
        joints = np.flatnonzero(model.jnt_type >= int(mujoco.mjtJoint.mjJNT_SLIDE))
        names = [str(model.joint(joint).name) for joint in joints]
        owners = {name: number for number, name in enumerate(dict.fromkeys(map(_owner, names)))}
        self._joint_names = np.array(names, dtype=object)
        self._joint_owners = np.array([owners[_owner(name)] for name in names], dtype=np.intp)
        self._joint_gather = model.jnt_qposadr[joints]
        self._last_joints = np.full(len(joints), np.inf)
        self._told_names: dict[bytes, tuple[str, ...]] = {}

    def save(self) -> tuple[Any, ...]:
        """Returns its state between messages."""
        return dict(self._sequences), self._last.copy(), self._last_joints.copy(), self._look

    def load(self, state: tuple[Any, ...]) -> None:
        """Restores what `save` returned."""
        sequences, last, last_joints, self._look = state
        self._sequences = dict(sequences)
        self._last, self._last_joints = last.copy(), last_joints.copy()

    def publish(self) -> None:
        """Publishes one message of each kind, unless it has no subscriber or nothing has changed."""
        for topic, publish in ((LOOKS, self._publish_look), (JOINTS, self._publish_joints), (POSES, self._publish)):
            if self._bus.has_listener(topic):
                publish()

    def _publish(self) -> None:
        now = self._world.data.qpos[self._gather]
        moved = np.flatnonzero((np.abs(now - self._last) > MOVED).any(axis=1))
        if not len(moved):
            return
        self._last[moved] = now[moved]
        contacts = body_contacts(self._world.model, self._world.data)
        message = WorldTruth(
            *self._head(POSES),
            names=tuple(self._names[moved]),
            positions=now[moved, :3],
            quaternions=now[moved, 3:],
            contact_pairs=tuple(f"{touch.first}|{touch.second}" for touch in contacts),
            contact_forces=np.array([touch.force_n for touch in contacts]),
        )
        self._bus.publish(POSES, message)

    def _publish_joints(self) -> None:
        """Publishes all joints of an arm, hand or mobile robot of which one moved: the sets of names stay few."""
        now = self._world.data.qpos[self._joint_gather]
        moved = self._joint_owners[np.abs(now - self._last_joints) > MOVED]
        if not len(moved):
            return
        told = np.isin(self._joint_owners, moved)
        self._last_joints[told] = now[told]
        key = told.tobytes()
        if key not in self._told_names:
            self._told_names[key] = tuple(self._joint_names[told])
        message = JointTruth(*self._head(JOINTS), names=self._told_names[key], positions=now[told])
        self._bus.publish(JOINTS, message)

    def _publish_look(self) -> None:
        world = self._world
        look = (
            tuple(world.objects),
            tuple(name for name, is_on in world.projectors.on.items() if is_on),
            b"".join([leds.tobytes() for leds in (*world.leds.on.values(), *world.leds.colours.values())]),
        )
        if look == self._look:
            return
        self._look = look
        message = LookTruth(
            *self._head(LOOKS),
            objects=look[0],
            models=tuple(world.placement(name).model for name in look[0]),
            lamps=world.leds.lit(),
            projectors=look[1],
        )
        self._bus.publish(LOOKS, message)

    def _head(self, topic: str) -> tuple[int, int, str]:
        """Returns time, number and source of the next message on a topic."""
        self._sequences[topic] += 1
        return self._world.clock.time_ns, self._sequences[topic] - 1, "sim"


def _owner(joint: str) -> str:
    """Returns what a joint belongs to: `fanuc`, `fanuc/tool`, `ePuck0`."""
    return joint.rpartition("/")[0]
