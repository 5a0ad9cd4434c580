"""The CRCL interface of a laboratory: one server per robot, over sockets or in memory; all messages go on the bus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, Self

from cellwright.cells import CrclCfg
from cellwright.core.errors import UnknownName
from cellwright.core.messages import CrclCommand, CrclStatus
from cellwright.crcl import CrclRobot, CrclServer
from cellwright.crcl.memory import MemoryConnection
from cellwright.interfaces.crcl_arm import CrclArm
from cellwright.interfaces.crcl_frames import CrclArmFrame
from cellwright.lab.lab import Lab

__all__ = ["CrclInterface"]

LAB_PROFILE = "aprs-lab"


class CrclInterface:
    """Servers for the robots of a laboratory.

    Attributes:
        servers: Robot -> its server.
        frame: That of the poses.

    Args:
        lab: The laboratory; its event loop must be the one that runs.
        profile: Units after InitCanon: `spec`, or `aprs-lab`, which also has the frames of that laboratory's robots.
        frame: `base` or `world`.
        push_period_s: The period of statuses that are sent unasked; none are, unless given.
        arm_frames: Robot -> frame and sensors of its CRCL interface, instead of those of its cell.
        stand_in: Given a robot's name and its simulated arm, returns what its server commands in place of that.
    """

    def __init__(
        self,
        lab: Lab,
        *,
        profile: str = "spec",
        frame: Literal["base", "world"] = "base",
        push_period_s: float | None = None,
        arm_frames: Mapping[str, CrclArmFrame] | None = None,
        stand_in: Callable[[str, CrclArm], CrclRobot] | None = None,
    ) -> None:
        self._lab = lab
        self.frame = frame
        self._sequences = dict.fromkeys(lab.robots, 0)
        frames = {robot: _cell_frame(cfg.crcl, profile) for robot, cfg in lab.cell.robots.items()} | dict(
            arm_frames or {}
        )
        for robot in frames:
            lab.robot(robot)
        arms = {
            robot: CrclArm(controller, lab.clock, lab.world.clock, lab.sensors, frames[robot])
            for robot, controller in lab.robots.items()
        }
        self.servers = {
            robot: CrclServer(
                arms[robot] if stand_in is None else stand_in(robot, arms[robot]),
                profile=profile,
                frame=frame,
                push_period_s=push_period_s,
                on_command=lambda text, robot=robot: self.tell(robot, "command", text),  # type: ignore[misc]
                on_status=lambda text, robot=robot: self.tell(robot, "status", text),  # type: ignore[misc]
            )
            for robot in lab.robots
        }

    async def start(self, host: str = "127.0.0.1", ports: Mapping[str, int] | None = None) -> Self:
        """Listens for every robot, at the ports of its cell unless others are given; port 0 is any free one."""
        for robot in ports or {}:
            if robot not in self.servers:
                raise UnknownName("robot", robot, self.servers)
        for robot, server in self.servers.items():
            await server.start(host, (ports or {}).get(robot, self._lab.cell.robots[robot].crcl.port))
        return self

    async def connect(self, robot: str) -> MemoryConnection:
        """Returns a connection to a robot's server without sockets, for a client in the laboratory's own loop."""
        if robot not in self.servers:
            raise UnknownName("robot", robot, self.servers)
        return await self.servers[robot].connect()

    async def close(self) -> None:
        """Ends all connections; motions under way are stopped."""
        for server in self.servers.values():
            await server.close()

    def tell(self, robot: str, kind: str, text: str) -> None:
        """Publishes the text of a `command` or a `status`."""
        message = CrclCommand if kind == "command" else CrclStatus
        self._sequences[robot] += 1
        header = self._lab.world.clock.time_ns, self._sequences[robot] - 1, robot
        self._lab.bus.publish(f"/{robot}/crcl_{kind}", message(*header, document=text))


def _cell_frame(cfg: CrclCfg, profile: str) -> CrclArmFrame:
    """Returns the frame and sensors of a cell's robot; the frame of a laboratory only with its profile."""
    sensors = {name: direction == "tool" for name, direction in cfg.force_sensors.items()}
    offsets = cfg.offsets.table if cfg.offsets is not None else None
    if profile != LAB_PROFILE or cfg.lab is None:
        return CrclArmFrame(force_sensors=sensors, offsets=offsets)
    return CrclArmFrame(cfg.lab.pose.pose, cfg.lab.point == "flange", sensors, offsets)
