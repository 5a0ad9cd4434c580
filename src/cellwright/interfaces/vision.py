"""The vision interface of a laboratory: detections on a socket for each robot, as in the APRS laboratory."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal, Self

from cellwright.catalogue import PARTS, TRAYS, TrayKind
from cellwright.cells import VisionCfg
from cellwright.core.bus import Role, Subscription
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import UnknownName
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.interfaces import VisionEncoder, VisionServer
from cellwright.lab.cell_file import check_vision_interfaces
from cellwright.lab.lab import Lab

__all__ = ["VisionInterface"]

LAB_PROFILE = "aprs-lab"


class VisionInterface:
    """A server for every robot that has a detector in its cell file.

    It sends detections, as they come over the bus to any controller, in the coordinates in which the robot's CRCL
    interface takes poses: give both interfaces the same profile and frame.

    Attributes:
        servers: Robot -> its server.

    Args:
        lab: The laboratory; its event loop must be the one that runs.
        profile: `aprs-lab` has the origins of that laboratory's robots.
        frame: `base` is the robot's coordinates, `world` the cell's.

    Raises:
        BadInput: Detectors that do not exist.
    """

    def __init__(self, lab: Lab, *, profile: str = "spec", frame: Literal["base", "world"] = "base") -> None:
        self._lab = lab
        self._subscriptions: dict[str, Subscription] = {}
        self._configs = {name: robot.vision for name, robot in lab.cell.robots.items() if robot.vision is not None}
        errors, suffix = ErrorCollector(), "/detections"
        topics = [topic for topic, message in lab.bus.topics.items() if message is Detections]
        check_vision_interfaces(lab.cell, [topic.removeprefix("/").removesuffix(suffix) for topic in topics], errors)
        errors.raise_errors()
        self.servers = {
            robot: VisionServer(
                VisionEncoder(
                    Pose.identity() if frame == "world" else _origin(lab, robot, profile),
                    _kinds(),
                    rotation_unit=cfg.rotation,
                    groups=cfg.groups or None,
                )
            )
            for robot, cfg in self._configs.items()
        }

    async def start(self, host: str = "127.0.0.1", ports: Mapping[str, int] | None = None) -> Self:
        """Listens for every robot, at the ports of its cell unless others are given; port 0 is any free one."""
        self.check_ports(ports or {})
        try:
            for robot, server in self.servers.items():
                cfg = self._configs[robot]
                server.on_clients = partial(self._listen, robot)
                await server.start(host, (ports or {}).get(robot, cfg.port))
        except BaseException:
            await self.close()
            raise
        return self

    def _listen(self, robot: str) -> None:
        """Listens to a detector while it has clients: one that makes frames on demand makes none for nobody."""
        bus, server, cfg = self._lab.bus, self.servers[robot], self._configs[robot]
        if server.clients and robot not in self._subscriptions:
            subscriber, role = f"vision door of {robot}", Role.CONTROLLER
            self._subscriptions[robot] = bus.subscribe(
                _topic(cfg), partial(_send, server), subscriber=subscriber, role=role
            )
        elif not server.clients and robot in self._subscriptions:
            bus.unsubscribe(self._subscriptions.pop(robot))

    def check_ports(self, ports: Mapping[str, int]) -> None:
        """Checks that every robot that a port is given for has a vision server; raises UnknownName."""
        for robot in ports:
            if robot not in self.servers:
                raise UnknownName("robot with a vision socket", robot, self.servers, self._lab.cell.where)

    @property
    def addresses(self) -> dict[str, str]:
        """Robot -> HOST:PORT."""
        return {robot: "{}:{}".format(*server.address) for robot, server in self.servers.items()}

    async def close(self) -> None:
        """Ends all connections."""
        for server in self.servers.values():
            server.on_clients = lambda: None
            await server.close()
        for subscription in self._subscriptions.values():
            self._lab.bus.unsubscribe(subscription)
        self._subscriptions.clear()


def _send(server: VisionServer, _topic: str, detections: Detections) -> None:
    server.send(detections)


def _topic(cfg: VisionCfg) -> str:
    return f"/{cfg.detector}/detections"


def _origin(lab: Lab, robot: str, profile: str) -> Pose:
    """Returns the origin of the robot's coordinates by the drawings: only the simulation knows the true one."""
    base, offered = lab.nominal.bases[robot], lab.cell.robots[robot].crcl.lab
    return base @ offered.pose.pose if profile == LAB_PROFILE and offered is not None else base


def _kinds() -> dict[str, str]:
    """Returns SKU -> the kind that the vision socket sends for it."""
    trays = {TRAYS.get(name).sku: "KT" if TRAYS.get(name).kind is TrayKind.KIT else "PT" for name in TRAYS}
    return {PARTS.get(name).sku: "P" for name in PARTS} | trays
