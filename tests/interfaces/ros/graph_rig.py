"""A laboratory's graph without a bridge: what a ROS program sends and gets, in the laboratory's own process."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
from rosbags.interfaces import Nodetype

from cellwright import Lab
from cellwright.core.pose import Pose
from cellwright.core.ros import definition, encode
from cellwright.interfaces.ros.laboratory import graph_of
from cellwright.interfaces.ros.transforms import FramePublisher
from cellwright.interfaces.ros.types import RosTypes

NO_POSE = {"position": {"x": 0.0, "y": 0.0, "z": 0.0}, "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 0.0}}


class GraphRig:
    """Sends to a graph what a ROS program would, and keeps what it would get."""

    def __init__(self, lab, **options):
        self.lab, self.graph = lab, graph_of(lab, **options)
        self.types = RosTypes(self.graph.definitions)
        description = self.graph.describe()
        bus_types = {topic: definition(kind).name for topic, kind in lab.bus.topics.items()}
        self._tree = FramePublisher(self.types, description["frames"], bus_types)
        self.transforms = {}
        self.heard = {}

    def make(self, ros_type, **fields):
        """Returns a message, all that is not given at zero."""
        made = {}
        for name, (kind, detail) in self.types.store.fielddefs[ros_type][1]:
            if kind == Nodetype.NAME:
                made[name] = self.make(detail)
            elif kind == Nodetype.BASE:
                made[name] = {"string": "", "bool": False}.get(detail[0], 0.0 if "float" in detail[0] else 0)
            else:
                inner, of = detail[0]
                made[name] = [] if inner == Nodetype.NAME or of[0] == "string" else np.zeros(0, of[0])
        return self.types.store.types[ros_type](**(made | fields))

    def joints(self, names, positions, velocities=()):
        return self.make(
            "sensor_msgs/msg/JointState",
            name=list(names),
            position=np.array(positions, float),
            velocity=np.array(velocities, float),
        )

    def pose(self, pose):
        x, y, z = pose.position.tolist()
        w, i, j, k = pose.quaternion.tolist()
        return self.make(
            "geometry_msgs/msg/Pose",
            position=self.make("geometry_msgs/msg/Point", x=x, y=y, z=z),
            orientation=self.make("geometry_msgs/msg/Quaternion", x=i, y=j, z=k, w=w),
        )

    def send(self, topic, message):
        """Sends a message the way that a bridge does: through bytes."""
        taker = self.graph.subscribed[topic]
        store = self.types.store
        taker.take(store.deserialize_cdr(store.serialize_cdr(message, taker.ros_type), taker.ros_type), "test")

    def hear(self, topic):
        """Begins to keep the messages of a topic."""
        published = self.graph.published[topic]
        kept = self.heard[topic] = []
        self.lab.bus.subscribe(
            published.bus_topic,
            lambda _, message: kept.append(self.types.store.deserialize_cdr(encode(message), published.ros_type)),
            subscriber="test",
        )
        return kept

    def listen_to_tf(self):
        """Begins to keep the transform tree."""
        self._keep(self._tree.static())
        for topic in self.graph.bus_topics_of(["/tf"]):
            self.lab.bus.subscribe(topic, self._take, subscriber="tf")

    def frame_in_world(self, frame):
        """Returns the pose of a frame by the transforms alone."""
        pose = Pose.identity()
        while frame != "world":
            parent, step = self.transforms[frame]
            pose, frame = step @ pose, parent
        return pose

    async def call(self, service, **request):
        return await self.graph.services[service].call(request)

    def _take(self, topic, message):
        moved = self._tree.moved(topic, message.time_ns, encode(message))
        if moved is not None:
            self._keep(moved)

    def _keep(self, cdr):
        for one in self.types.store.deserialize_cdr(cdr, "tf2_msgs/msg/TFMessage").transforms:
            place, turn = one.transform.translation, one.transform.rotation
            pose = Pose(np.array([place.x, place.y, place.z]), np.array([turn.w, turn.x, turn.y, turn.z]))
            self.transforms[one.child_frame_id] = one.header.frame_id, pose


@contextmanager
def graph_rig(cell, seed=0, **options):
    with Lab.from_cell(cell, seed=seed) as lab:
        yield GraphRig(lab, **options)
