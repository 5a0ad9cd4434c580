"""The transform tree: frames that never move, and those that joints and odometry move, as `tf2_msgs/TFMessage`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cellwright.core.pose import Pose
from cellwright.interfaces.ros.types import TF, RosTypes

__all__ = ["FramePublisher"]

ODOMETRY = "nav_msgs/msg/Odometry"
ENCODERS, TOOL = "cellwright_msgs/msg/Encoder", "cellwright_msgs/msg/ToolStatus"  # all else are joint states


class FramePublisher:
    """Makes transforms of what sensors and odometry tell; nothing in it is the truth.

    Args:
        types: The types of the graph.
        frames: The fields of its `JointFrame`s.
        bus_types: Topic of the bus -> its type.
    """

    def __init__(self, types: RosTypes, frames: Sequence[Mapping[str, Any]], bus_types: Mapping[str, str]) -> None:
        self._types = types
        self._bus_types = bus_types
        self._static = [frame for frame in frames if not frame["topic"]]
        self._moving: dict[str, list[Mapping[str, Any]]] = {}
        for frame in frames:
            if frame["topic"]:
                self._moving.setdefault(frame["topic"], []).append(frame)
        self._rests = {
            frame["child"]: Pose(np.array(frame["position"], float), np.array(frame["quaternion"], float))
            for frame in frames
        }
        self._axes = {frame["child"]: np.array(frame["axis"], float) for frame in frames}

    def static(self) -> bytes:
        """Returns the frames that never move, as CDR bytes."""
        return self._message([self._transform(0, frame, self._rests[frame["child"]]) for frame in self._static])

    def moved(self, bus_topic: str, time_ns: int, cdr: bytes) -> bytes | None:
        """Returns the frames that a message moves, as CDR bytes; None when it moves none."""
        ros_type = self._bus_types.get(bus_topic, "")
        if ros_type == ODOMETRY:
            message: Any = self._types.store.deserialize_cdr(cdr, ros_type)
            place, turn = message.pose.pose.position, message.pose.pose.orientation
            pose = Pose(np.array([place.x, place.y, place.z]), np.array([turn.w, turn.x, turn.y, turn.z]))
            frame = {"parent": message.header.frame_id, "child": message.child_frame_id}
            return self._message([self._transform(time_ns, frame, pose)])
        if bus_topic not in self._moving:
            return None
        message = self._types.store.deserialize_cdr(cdr, ros_type)
        if ros_type == ENCODERS:
            places = dict(zip(message.names, np.asarray(message.counts).tolist(), strict=True))
        elif ros_type == TOOL:
            places = {"width_m": float(message.width_m)}
        else:
            places = dict(zip(message.name, np.asarray(message.position).tolist(), strict=True))
        return self._message(
            [
                self._transform(time_ns, frame, self._placed(frame, places[frame["joint"]]))
                for frame in self._moving[bus_topic]
                if frame["joint"] in places
            ]
        )

    def _placed(self, frame: Mapping[str, Any], place: float) -> Pose:
        """Returns the pose of a frame in its parent with its joint there."""
        child, amount = frame["child"], place * frame["scale"]
        axis = self._axes[child]
        if frame["is_sliding"]:
            return self._rests[child] @ Pose(axis * amount, np.array([1.0, 0.0, 0.0, 0.0]))
        turn = np.array([np.cos(amount / 2), *(axis * np.sin(amount / 2))])
        return self._rests[child] @ Pose(np.zeros(3), turn)

    def _transform(self, time_ns: int, frame: Mapping[str, Any], pose: Pose) -> Any:
        types = self._types.store.types
        seconds, nanoseconds = divmod(time_ns, 10**9)
        stamp = types["builtin_interfaces/msg/Time"](sec=seconds, nanosec=nanoseconds)
        x, y, z = (float(value) for value in pose.position)
        turn_w, turn_x, turn_y, turn_z = (float(value) for value in pose.quaternion)
        return types["geometry_msgs/msg/TransformStamped"](
            header=types["std_msgs/msg/Header"](stamp=stamp, frame_id=frame["parent"]),
            child_frame_id=frame["child"],
            transform=types["geometry_msgs/msg/Transform"](
                translation=types["geometry_msgs/msg/Vector3"](x=x, y=y, z=z),
                rotation=types["geometry_msgs/msg/Quaternion"](x=turn_x, y=turn_y, z=turn_z, w=turn_w),
            ),
        )

    def _message(self, transforms: list[Any]) -> bytes:
        store = self._types.store
        return bytes(store.serialize_cdr(store.types[TF](transforms=transforms), TF))
