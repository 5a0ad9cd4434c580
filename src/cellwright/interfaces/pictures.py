"""The picture interface of a laboratory: what its cameras take, on one socket for all of them."""

from __future__ import annotations

from typing import Any, Self

from cellwright.core.bus import Role, Subscription
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.messages import CameraInfo, CameraPose, Depth, Image, PointCloud
from cellwright.interfaces.picture_server import PICTURE_PORT, PictureServer, pack_frame
from cellwright.lab.lab import Lab
from cellwright.sensors import ImageCamera

__all__ = ["PictureInterface"]

SERVED = (Image, Depth, PointCloud)


class PictureInterface:
    """A server for the pictures of a cell, as they come over the bus to any controller; truth is not among them.

    Pictures are taken for it only while a client wants them.

    Attributes:
        server: The server.
        cameras: Sensor -> the camera, by name.

    Args:
        lab: The laboratory; its event loop must be the one that runs.
    """

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.cameras = {
            sensor.source: sensor
            for sensor in lab.sensors
            if isinstance(sensor, ImageCamera) and not sensor.message_type.TRUTH
        }
        topics = {topic: kind.__name__ for topic, kind in lab.bus.topics.items() if kind in SERVED}
        hello = {"cell": lab.cell.name, "topics": topics, "sensors": sorted(self.cameras)}
        if lab.projectors:
            hello["projectors"] = {name: projector.is_on for name, projector in lab.projectors.items()}
        self.server = PictureServer(hello, frozenset(topics), self._ask, self._watch)
        self._subscriptions: dict[str, Subscription] = {}
        self._facts: dict[str, dict[str, Any]] = {}

    async def start(self, host: str = "127.0.0.1", port: int = PICTURE_PORT) -> Self:
        """Listens; port 0 is any free one."""
        await self.server.start(host, port)
        return self

    @property
    def address(self) -> str:
        """HOST:PORT."""
        return "{}:{}".format(*self.server.address)

    async def close(self) -> None:
        """Ends all connections."""
        await self.server.close()
        self._watch(frozenset())

    def _ask(self, request: dict[str, Any]) -> None:
        if "switch" in request:
            self._switch(request["switch"])
        else:
            self._capture(request["capture"])

    def _switch(self, wanted: Any) -> None:
        if not isinstance(wanted, dict) or not all(isinstance(on, bool) for on in wanted.values()):
            raise BadInput('switch takes projectors, each with true or false: {"switch": {PROJECTOR: true}}')
        for projector, on in [(self._lab.projector(name), on) for name, on in wanted.items()]:
            projector.switch(on)

    def _capture(self, name: Any) -> None:
        if not isinstance(name, str):
            raise BadInput("capture takes the name of a sensor")
        if name not in self.cameras:
            raise UnknownName("camera", name, self.cameras)
        self.cameras[name].capture()

    def _watch(self, topics: frozenset[str]) -> None:
        """Listens on the bus to what clients want, and to the facts that belong to it; to nothing else."""
        facts = {f"{topic.rpartition('/')[0]}/{end}" for topic in topics for end in ("camera_info", "camera_pose")}
        wanted = topics | facts
        for topic in [topic for topic in self._subscriptions if topic not in wanted]:
            self._lab.bus.unsubscribe(self._subscriptions.pop(topic))
        for topic in sorted(wanted - set(self._subscriptions)):
            self._subscriptions[topic] = self._lab.bus.subscribe(
                topic, self._take, subscriber="picture socket", role=Role.CONTROLLER
            )

    def _take(self, topic: str, message: Any) -> None:
        place = topic.rpartition("/")[0]
        if isinstance(message, CameraInfo):
            self._facts.setdefault(place, {})["intrinsics"] = {
                "matrix": message.matrix.tolist(),
                "distortion": message.distortion.tolist(),
                "region_px": list(message.region_px),
                "binning": message.binning,
                "baseline_m": message.baseline_m,
            }
        elif isinstance(message, CameraPose):
            self._facts.setdefault(place, {})["pose"] = {
                "frame": message.frame,
                "position_m": message.position.tolist(),
                "quaternion": message.quaternion.tolist(),
            }
        else:
            self.server.send(topic, self._frame(topic, message, self._facts.get(place, {})))

    def _frame(self, topic: str, message: Image | Depth | PointCloud, facts: dict[str, Any]) -> bytes:
        header: dict[str, Any] = {
            "topic": topic,
            "type": type(message).__name__,
            "time_ns": message.time_ns,
            "sequence": message.sequence,
            "source": message.source,
            "frame": message.frame,
            "height": message.height,
            "width": message.width,
            "encoding": "xyz32" if isinstance(message, PointCloud) else message.encoding,
        }
        return pack_frame({**header, **facts}, message.data.tobytes())
