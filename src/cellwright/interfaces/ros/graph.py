"""The ROS graph of a laboratory: data that describes it, and functions that take what ROS programs send."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from cellwright.core.bus import Bus
from cellwright.core.errors import BadInput
from cellwright.core.messages import Message
from cellwright.core.pose import Pose
from cellwright.core.ros import definition

__all__ = ["JointFrame", "OfferedService", "PublishedTopic", "RosGraph", "SubscribedTopic", "joint_frame"]

NEXT_TYPE = "=" * 80  # before the text of each type that a definition needs

Convert = Callable[[Any], Any]
Answer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, kw_only=True)
class PublishedTopic:
    """A topic that the laboratory publishes.

    Attributes:
        topic: Its name for ROS programs.
        ros_type: Its type, as ROS 2 writes it, such as `sensor_msgs/msg/Imu`.
        bus_topic: The topic of the bus with the same messages; empty for what the bridge makes itself.
        is_latched: Whether a subscriber who comes later gets the last message.
        convert: Makes of a message of the bus the one of the same class that ROS programs get, where a robot's driver
            has other frames or signs; all names of one topic of the bus have the same.
    """

    topic: str
    ros_type: str
    bus_topic: str = ""
    is_latched: bool = False
    convert: Convert | None = None


@dataclass(frozen=True, kw_only=True)
class SubscribedTopic:
    """A topic that ROS programs publish and the laboratory takes.

    Attributes:
        topic: Its name.
        ros_type: Its type.
        take: Called with the ROS message and the sender's name; a `BadInput` is counted and told, and does nothing.
    """

    topic: str
    ros_type: str
    take: Callable[[Any, str], None]


@dataclass(frozen=True, kw_only=True)
class OfferedService:
    """A service of the laboratory.

    Attributes:
        name: Its name, such as `/cellwright/pause`.
        service_type: Its type, such as `std_srvs/srv/Empty`.
        call: Answers a request, both as plain fields; a `BadInput` is the caller's error.
    """

    name: str
    service_type: str
    call: Answer


@dataclass(frozen=True, kw_only=True)
class JointFrame:
    """A frame of the transform tree that turns or slides with a joint, or never moves.

    Attributes:
        parent: The frame in which it lies.
        child: Its name.
        position: Its origin in the parent, with the joint at zero, in metres.
        quaternion: Its orientation there: w, x, y, z.
        topic: The topic of joint states, encoders or a tool's status with its joint; empty for one that never moves.
        joint: The joint's name there; of a tool's status `width_m`.
        axis: The direction of the joint in the frame.
        is_sliding: Whether the joint slides; else it turns.
        scale: Radians or metres of the frame for one unit of what the topic tells.
    """

    parent: str
    child: str
    position: tuple[float, float, float]
    quaternion: tuple[float, float, float, float]
    topic: str = ""
    joint: str = ""
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    is_sliding: bool = False
    scale: float = 1.0


def joint_frame(parent: str, child: str, pose: Pose, **moving: Any) -> JointFrame:
    """Returns the frame with a pose in its parent; what else a `JointFrame` has makes it move."""
    x, y, z = pose.position.tolist()
    turn_w, turn_x, turn_y, turn_z = pose.quaternion.tolist()
    quaternion = (turn_w, turn_x, turn_y, turn_z)
    return JointFrame(parent=parent, child=child, position=(x, y, z), quaternion=quaternion, **moving)


@dataclass
class RosGraph:
    """All that ROS programs may see of a laboratory, and do to it.

    Attributes:
        published: Topic -> what is known of it.
        subscribed: Topic -> the same of what it takes.
        services: Name -> service.
        parameters: Name -> value, such as `/robot_description`.
        frames: The transform tree; odometry moves its frames by itself.
        odometry: Topics of the bus with `nav_msgs/msg/Odometry`, whose frames are part of the tree.
        definitions: Type that no standard package has -> its text.
    """

    published: dict[str, PublishedTopic] = field(default_factory=dict)
    subscribed: dict[str, SubscribedTopic] = field(default_factory=dict)
    services: dict[str, OfferedService] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    frames: list[JointFrame] = field(default_factory=list)
    odometry: list[str] = field(default_factory=list)
    definitions: dict[str, str] = field(default_factory=dict)

    def publish_bus(
        self,
        bus: Bus,
        bus_topic: str,
        topic: str = "",
        *,
        is_latched: bool = False,
        convert: Convert | None = None,
    ) -> None:
        """Adds a topic of the bus, under its own name or another one.

        Raises:
            BadInput: A name is taken, or the bus has no such topic.
        """
        if bus_topic not in bus.topics:
            raise BadInput(f"there is no topic {bus_topic}; topics: {', '.join(sorted(bus.topics))}")
        ros_type = self.know(bus.topics[bus_topic])
        self.publish(
            PublishedTopic(
                topic=topic or bus_topic,
                ros_type=ros_type,
                bus_topic=bus_topic,
                is_latched=is_latched,
                convert=convert,
            )
        )

    def know(self, message_type: type[Message]) -> str:
        """Returns the ROS type of a class of messages; its text is known to bridges from now on."""
        name, text = definition(message_type)
        if message_type.ROS_TYPE is None or message_type.ROS_TEXT is not None:
            self.definitions[name] = text.split(NEXT_TYPE)[0]
        return name

    def publish(self, *topics: PublishedTopic) -> None:
        """Adds topics that go out.

        Raises:
            BadInput: A name is taken.
        """
        for topic in topics:
            self._add(self.published, topic.topic, topic)

    def subscribe(self, *topics: SubscribedTopic) -> None:
        """Adds topics that come in.

        Raises:
            BadInput: A name is taken.
        """
        for topic in topics:
            self._add(self.subscribed, topic.topic, topic)

    def offer(self, *services: OfferedService) -> None:
        """Adds services.

        Raises:
            BadInput: A name is taken.
        """
        for service in services:
            self._add(self.services, service.name, service)

    def describe(self) -> dict[str, Any]:
        """Returns it without its functions, as the process of a bridge needs it."""
        return {
            "published": [
                {key: getattr(topic, key) for key in ("topic", "ros_type", "bus_topic", "is_latched")}
                for topic in self.published.values()
            ],
            "subscribed": [{"topic": t.topic, "ros_type": t.ros_type} for t in self.subscribed.values()],
            "services": [{"name": s.name, "service_type": s.service_type} for s in self.services.values()],
            "parameters": self.parameters,
            "frames": [asdict(frame) for frame in self.frames],
            "odometry": self.odometry,
            "definitions": self.definitions,
        }

    def _add(self, names: dict[str, Any], name: str, what: Any) -> None:
        if name in names:
            raise BadInput(f"ROS name '{name}' is given twice: give one of its robots or sensors another name")
        names[name] = what

    def bus_topics_of(self, topics: Iterable[str]) -> set[str]:
        """Returns the topics of the bus that these topics need; transforms need those that move them."""
        needed: set[str] = set()
        for name in topics:
            if name == "/tf":
                needed.update(self.odometry)
                needed.update(frame.topic for frame in self.frames if frame.topic)
            elif name in self.published and (bus_topic := self.published[name].bus_topic):
                needed.add(bus_topic)
        return needed
