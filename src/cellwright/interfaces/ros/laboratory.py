"""The graph of a laboratory: what ROS programs see of its robots and sensors, and what they may do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cellwright.core.errors import BadInput, ConfigError
from cellwright.core.messages import (
    CrclCommand,
    CrclStatus,
    FaultEvent,
    IoState,
    LedCommand,
    Message,
    Order,
    SafetyStatus,
    VelocityCommand,
)
from cellwright.interfaces.crcl import CrclInterface
from cellwright.interfaces.ros.arms import add_arm
from cellwright.interfaces.ros.crcl_messages import add_crcl
from cellwright.interfaces.ros.graph import RosGraph, SubscribedTopic
from cellwright.interfaces.ros.mobiles import add_mobile
from cellwright.interfaces.ros.robot_description import describe_cell, sensor_frames
from cellwright.interfaces.ros.services import add_services
from cellwright.judge.faults.scheduler import TOPIC as FAULTS
from cellwright.lab.lab import Lab
from cellwright.sensors.image_camera import ImageCamera
from cellwright.sim import ScheduledCall, TickOrder

__all__ = ["graph_of"]

NOT_SENT: tuple[type[Message], ...] = (
    VelocityCommand,
    LedCommand,
    CrclCommand,
    CrclStatus,
)  # or otherwise
LATCHED: tuple[type[Message], ...] = (SafetyStatus, IoState, Order)  # told when they change, and seldom
PICTURE_HZ = 2.0  # of cameras that take pictures on demand alone, while somebody listens


def graph_of(lab: Lab, *, with_truth: bool = False, crcl: CrclInterface | None = None) -> RosGraph:
    """Returns what ROS programs see of a laboratory: every topic of the bus, and what its robots take.

    One graph may serve several bridges; a laboratory has one.

    Args:
        lab: The laboratory.
        with_truth: Whether topics of truth are among them, all below `/truth`.
        crcl: Its CRCL servers, whose robots CRCL messages then command; by default own ones without sockets.
    """
    graph = RosGraph()
    for name in lab.mobiles:
        add_mobile(graph, lab, name)
    crcl = crcl or CrclInterface(lab)
    for robot in lab.robots:
        add_arm(graph, lab, robot)
        add_crcl(graph, lab, crcl, robot)
    if lab.robots:
        described = describe_cell(lab)
        graph.parameters |= described.parameters
        graph.frames += described.frames
    graph.frames += sensor_frames(lab)
    for name in lab.projectors:
        _add_projector(graph, lab, name)
    _take_pictures(lab)
    if with_truth:
        lab.bus.declare(FAULTS, FaultEvent)  # the service of faults tells of them
    shown = {topic.bus_topic for topic in graph.published.values()}
    for bus_topic, kind in sorted(lab.bus.topics.items()):
        if bus_topic in shown or kind in NOT_SENT or (kind.TRUTH and not with_truth):
            continue
        topic = bus_topic if not kind.TRUTH or bus_topic.startswith("/truth/") else f"/truth{bus_topic}"
        graph.publish_bus(lab.bus, bus_topic, topic, is_latched=kind in LATCHED)
    add_services(graph, lab)
    _add_other_names(graph, lab)
    return graph


def _add_projector(graph: RosGraph, lab: Lab, name: str) -> None:
    switch = lab.projector(name)

    def take(number: Any, _sender: str) -> None:
        if number.data not in (0, 1):
            raise BadInput(f"{name} takes 0 (off) or 1 (on), not {number.data}")
        if bool(number.data) != switch.is_on:  # programs repeat it all the time
            switch.switch(bool(number.data))

    graph.subscribe(SubscribedTopic(topic=f"/{name}/projector", ros_type="std_msgs/msg/Int32", take=take))


def _take_pictures(lab: Lab) -> None:
    """Has cameras without a rate of their own take pictures while a ROS program listens."""
    for sensor in lab.sensors:
        if isinstance(sensor, ImageCamera) and not sensor.cfg.rate_hz and not sensor.message_type.TRUTH:
            _take_pictures_of(lab, sensor)


def _take_pictures_of(lab: Lab, sensor: ImageCamera[Any]) -> None:
    topics, clock = [sensor.topic, *sensor.other_topics], lab.world.clock
    period_ticks = clock.period_ticks(PICTURE_HZ)
    scheduled: ScheduledCall | None = None

    def look() -> None:
        """Is in the schedule only meanwhile: the engine stops there, by which a run changes in its last bits."""
        nonlocal scheduled
        is_waited_for = any(lab.bus.is_waited_for(topic) for topic in topics)
        if scheduled is not None and not is_waited_for:
            scheduled.cancel()
            scheduled = None
        elif scheduled is None and is_waited_for:
            scheduled = lab.stepper.every(
                period_ticks,
                sensor.capture,
                order=TickOrder.RECORD,
                name=f"pictures of {sensor.source} for ROS",
                first_tick=(clock.tick // period_ticks + 1) * period_ticks,
            )

    lab.bus.watch_demand(look)


def _add_other_names(graph: RosGraph, lab: Lab) -> None:
    """Adds the other names of topics that the cell's file has.

    Raises:
        ConfigError: It has one for a topic that is not there.
    """
    for other, name in lab.cell.ros.names.items():
        if name in graph.subscribed:
            graph.subscribe(replace(graph.subscribed[name], topic=other))
        elif name in graph.published:
            graph.publish(replace(graph.published[name], topic=other))
        else:
            topics = ", ".join(sorted({*graph.subscribed, *graph.published}))
            raise ConfigError(lab.cell.where, f"ros.names.{other}", f"there is no topic {name}; topics: {topics}")
