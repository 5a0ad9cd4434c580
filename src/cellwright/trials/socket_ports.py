"""The ports of a controller in a process of its own: CRCL and vision over sockets, drawings from the cell's file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from cellwright.core.errors import BadInput, CellwrightError, JobFailed, UnknownName
from cellwright.core.messages import Detections
from cellwright.crcl import CrclClient
from cellwright.crcl.connection import tcp
from cellwright.drawings.prior import Drawings
from cellwright.execution import OrderReport
from cellwright.interfaces.vision_client import DetectionsClient
from cellwright.trials.controller_ports import ControllerPorts, ControllerTopics, NoTopics
from cellwright.trials.frame_clock import FrameClock

__all__ = ["CellAddresses", "socket_ports"]

CONNECT_S = 5.0  # of real time that a detector's server may take to answer
FIRST_FRAME_S = 20.0  # of real time that a detector may take for its first frame
POLL_S = 0.02
LOCAL = "127.0.0.1"


class CellAddresses:
    """The addresses of a cell's interfaces: as told, else at the ports of the cell's file on this machine.

    Args:
        drawings: Of the cell.
        crcl: Robot -> HOST:PORT.
        vision: Detector, or the robot whose it is -> HOST:PORT.

    Attributes:
        crcl: Robot -> HOST:PORT of all robots.
        vision: Detector -> HOST:PORT of all detectors that have a socket.

    Raises:
        BadInput: A name that is not in the cell, or an interface whose address nobody knows.
    """

    def __init__(self, drawings: Drawings, crcl: Mapping[str, str], vision: Mapping[str, str]) -> None:
        robots = drawings.cell.robots
        sockets = {name: robot.vision for name, robot in robots.items() if robot.vision is not None}
        for name in crcl:
            if name not in robots:
                raise UnknownName("robot", name, robots, "--crcl")
        detectors = [cfg.detector for cfg in sockets.values()]
        for name in vision:
            if name not in (*detectors, *sockets):
                raise UnknownName("detector", name, detectors, "--vision")
        self.crcl = {name: crcl.get(name) or _local(name, "crcl", robot.crcl.port) for name, robot in robots.items()}
        self.vision = {
            cfg.detector: vision.get(cfg.detector) or vision.get(name) or _local(cfg.detector, "vision", cfg.port)
            for name, cfg in sockets.items()
        }
        if not self.vision:
            where = drawings.cell.where
            raise BadInput(f"{where}: no robot has a vision socket, without which no kit is built; add the key vision")


def _local(name: str, interface: str, port: int) -> str:
    if not port:
        raise BadInput(f"the cell's file has no port of {name}: say where it is, --{interface} {name}=HOST:PORT")
    return f"{LOCAL}:{port}"


@asynccontextmanager
async def socket_ports(
    drawings: Drawings,
    addresses: CellAddresses,
    *,
    topics: ControllerTopics | None = None,
    database: str | Path = "sqlite://",
    report: Callable[[OrderReport], None] = lambda _account: None,
) -> AsyncIterator[ControllerPorts]:
    """Connects to a cell; whoever leaves by an error, or is interrupted, leaves its robots stopped.

    Raises:
        JobFailed: A server cannot be reached, or does not speak the extended protocol of the vision socket.
    """
    clock, frames = FrameClock(), _Frames(drawings)
    robots = {robot: tcp(address) for robot, address in addresses.crcl.items()}
    async with AsyncExitStack() as stack:
        for detector, address in addresses.vision.items():
            client = await stack.enter_async_context(DetectionsClient(address, connect_s=CONNECT_S))
            await stack.enter_async_context(frames.read(detector, client, clock))
        ports = ControllerPorts(
            clock=clock,
            drawings=drawings,
            robots=robots,
            detectors={detector: partial(frames.watch, detector) for detector in addresses.vision},
            topics=topics or NoTopics(),
            database=database,
            report=report,
            poll_s=POLL_S,
        )
        try:
            yield ports
        except BaseException:
            await _stop(ports)
            raise
        frames.check()


class _Frames:
    """Hands the frames of all detectors to whoever watches them."""

    def __init__(self, drawings: Drawings) -> None:
        self._delays_s = {line.get("name"): float(line.get("delay_s", 0.0)) for _, line in drawings.cell.sensor_lines()}
        self._watchers: dict[str, list[Callable[[Detections], None]]] = {}
        self._problem: JobFailed | None = None

    @asynccontextmanager
    async def read(self, detector: str, client: DetectionsClient, clock: FrameClock) -> AsyncIterator[None]:
        """Reads a detector's frames while it is entered; waits for the first."""
        self._take(detector, clock, await client.next_frame(FIRST_FRAME_S))
        user = asyncio.current_task()

        async def on() -> None:
            try:
                async for frame in client:
                    self._take(detector, clock, frame)
            except JobFailed as problem:
                self._problem = problem
                if user is not None:
                    user.cancel()

        reading = asyncio.create_task(on())
        try:
            yield
        except asyncio.CancelledError:
            self.check()
            raise
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    def watch(self, detector: str, take: Callable[[Detections], None]) -> Callable[[], None]:
        """Calls back with every frame from now on; returns how to stop that."""
        watchers = self._watchers.setdefault(detector, [])
        watchers.append(take)
        return lambda: watchers.remove(take)

    def check(self) -> None:
        """Raises what went wrong with frames."""
        if self._problem is not None:
            raise self._problem

    def _take(self, detector: str, clock: FrameClock, frame: Detections) -> None:
        if frame.source != detector:
            raise JobFailed(f"the frames of {detector} are of '{frame.source}': another detector's address was given")
        clock.take(frame.time_s, self._delays_s.get(detector, 0.0))
        for take in tuple(self._watchers.get(detector, ())):
            take(frame)


async def _stop(ports: ControllerPorts) -> None:
    """Stops all robots as far as they can be reached."""

    async def stop(robot: str) -> None:
        with suppress(CellwrightError, OSError, TimeoutError):
            async with asyncio.timeout(5.0), CrclClient(ports.robots[robot], peer=robot) as client:
                await client.abort()

    names: Sequence[str] = list(ports.robots)
    await asyncio.gather(*map(stop, names))
