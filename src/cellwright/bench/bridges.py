"""`cellwright bench bridges`: messages in a second and their age over each bridge to ROS programs, and of commands."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from cellwright.bench.bridges_client import ACK_TOPIC, JOINTS_TOPIC, LAST, SPEEDS_TOPIC
from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions, MeasurementFailed
from cellwright.core.bus import Bus
from cellwright.core.messages import JointState, VelocityCommand
from cellwright.interfaces.ros import BRIDGES, BridgeOptions, RosBridge, SubscribedTopic
from cellwright.interfaces.ros.laboratory import graph_of
from cellwright.interfaces.ros.ros1 import MASTER_ERRORS, master_of, rospy_path
from cellwright.lab import Lab

__all__ = ["bridges"]

CELL = "epucks"
JOINTS = tuple(f"joint_{number}" for number in range(7))
RATE_HZ = 500
WINDOW = 1000  # messages that may be under way when as many are sent as can be
BURST, BURST_S = 200, 0.002
START_S, END_S = 60.0, 60.0
TARGETS: Mapping[str, Mapping[str, float]] = {
    "{}.lost_at_500_hz": {"max": 0},
    "{}.msgs_per_s": {"min": 1000},
    "{}.p99_ms": {"max": 20},
    "cmd_vel.latency_ms": {"max": 20},
}


@BENCHES.register("bridges")
def bridges(conditions: MeasurementConditions) -> Measurement:
    """Measures each bridge: joint states of seven joints to a client in a process of its own, and speeds from it.

    A cell of e-pucks is simulated in real time meanwhile. An age is that from the bus to the client's callback, of
    messages at 500 Hz; `msgs_per_s` is how many arrive when as many are sent as the client acknowledges.
    """
    metrics = _measured("rosbridge", "0", conditions)
    metrics["cmd_vel.latency_ms"] = metrics.pop("rosbridge.cmd_vel_ms")
    metrics["cmd_vel.p99_ms"] = metrics.pop("rosbridge.cmd_vel_p99_ms")
    if rospy_path() is None or shutil.which("roscore") is None:
        conditions.say("ros1.msgs_per_s and the like are left out: there is no rospy or no roscore")
    else:
        with _roscore() as address:
            metrics |= _measured("ros1", address, conditions)
    names = {name.format(bridge): target for bridge in ("rosbridge", "ros1") for name, target in TARGETS.items()}
    return Measurement(metrics, {name: target for name, target in names.items() if name in metrics})


def _measured(name: str, address: str, conditions: MeasurementConditions) -> dict[str, float]:
    """Returns the figures of one bridge."""
    seconds, most = (2.0, 5_000) if conditions.quick else (10.0, 30_000)
    with Lab.from_cell(CELL, conditions.seed, pace=1.0) as lab:
        return lab.perform(_Bridged(lab, name, address, conditions.say).measure(seconds, most))


class _Bridged:
    """A laboratory with a bridge, and clients of it."""

    def __init__(self, lab: Lab, name: str, address: str, say: Callable[[str], None]) -> None:
        self._lab = lab
        self._name = name
        self._say = say
        self._acknowledged = -1
        self._sequence = 0
        lab.bus.declare(JOINTS_TOPIC, JointState)
        graph = graph_of(lab)
        graph.subscribe(SubscribedTopic(topic=ACK_TOPIC, ros_type="std_msgs/msg/UInt32", take=self._take_ack))
        self._bridge: RosBridge = BRIDGES.get(name)(lab, graph, address, BridgeOptions())

    async def measure(self, seconds: float, most: int) -> dict[str, float]:
        """Returns the figures."""
        await self._bridge.start()
        try:
            self._say(f"{self._name}: joint states at {RATE_HZ} Hz for {seconds:g} s")
            steady = await self._listened(self._send_steadily, round(seconds * RATE_HZ))
            lost = round(seconds * RATE_HZ) - steady["count"]
            self._say(f"{self._name}: {most} joint states as fast as they are read")
            flood = await self._listened(self._send_fast, most)
            self._say(f"{self._name}: speeds from a client")
            ages_ms = await self._driven()
        finally:
            await self._bridge.close()
        return {
            f"{self._name}.lost_at_500_hz": lost,
            f"{self._name}.p50_ms": steady["p50_ms"],
            f"{self._name}.p99_ms": steady["p99_ms"],
            f"{self._name}.msgs_per_s": flood["per_s"],
            f"{self._name}.cmd_vel_ms": float(np.median(ages_ms)),
            f"{self._name}.cmd_vel_p99_ms": float(np.percentile(ages_ms, 99)),
        }

    async def _listened(self, send: Callable[[int], Any], count: int) -> dict[str, float]:
        """Returns what a client tells of so many messages."""
        self._acknowledged = -1
        with self._client("listen") as process:
            await self._until(lambda: self._acknowledged >= 0 and self._lab.bus.has_listener(JOINTS_TOPIC), process)
            await send(count)
            self._publish(LAST)
            await self._until(lambda: process.poll() is not None, None)
            return self._told(process)

    async def _driven(self) -> list[float]:
        """Returns the ages of speeds, in milliseconds, when they are on the bus."""
        ages_ms: list[float] = []

        def take(_: str, command: VelocityCommand) -> None:
            ages_ms.append((time.monotonic() - command.linear[2]) * 1e3)

        bus: Bus = self._lab.bus
        subscription = bus.subscribe(SPEEDS_TOPIC, take, subscriber="bench")
        try:
            with self._client("drive") as process:
                await self._until(lambda: process.poll() is not None, None)
                self._told(process)
        finally:
            bus.unsubscribe(subscription)
        if not ages_ms:
            raise MeasurementFailed(f"the bridge {self._name}", "no speed arrived")
        return ages_ms

    async def _send_steadily(self, count: int) -> None:
        for _ in range(count):
            self._publish(JOINTS[0])
            await self._lab.clock.sleep(1 / RATE_HZ)

    async def _send_fast(self, count: int) -> None:
        end_s = time.monotonic() + END_S
        sent = 0
        while sent < count and time.monotonic() < end_s:
            for _ in range(min(BURST, count - sent, WINDOW - (sent - self._acknowledged))):
                self._publish(JOINTS[0])
                sent += 1
            await self._lab.clock.sleep(BURST_S)

    def _publish(self, first_name: str) -> None:
        position = np.linspace(-1.0, 1.0, len(JOINTS)) * self._sequence
        effort = np.full(len(JOINTS), time.monotonic())
        self._sequence += 1
        self._lab.bus.publish(
            JOINTS_TOPIC,
            JointState(
                self._lab.world.clock.time_ns,
                self._sequence,
                "bench",
                names=(first_name, *JOINTS[1:]),
                position=position,
                velocity=position,
                effort=effort,
            ),
        )

    def _take_ack(self, message: Any, _: str) -> None:
        self._acknowledged = int(message.data)

    @contextmanager
    def _client(self, task: str) -> Iterator[subprocess.Popen[str]]:
        command = [sys.executable, "-m", "cellwright.bench.bridges_client", self._name, self._bridge.address, task]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        if self._name == "ros1":
            environment |= {"ROS_MASTER_URI": self._bridge.address, "ROS_IP": "127.0.0.1"}
        with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, env=environment) as process:
            try:
                yield process
            finally:
                process.kill()

    def _told(self, process: subprocess.Popen[str]) -> dict[str, float]:
        out, wrong = process.communicate()
        if process.returncode:
            reason = (wrong.strip().splitlines() or ["it ended"])[-1]
            raise MeasurementFailed(f"the bridge {self._name}", f"its client: {reason}")
        told: dict[str, float] = json.loads(out.splitlines()[-1])
        return told

    async def _until(self, is_so: Callable[[], bool], process: subprocess.Popen[str] | None) -> None:
        end_s = time.monotonic() + (END_S if process is None else START_S)
        while not is_so():
            if process is not None and process.poll() is not None:
                self._told(process)
                raise MeasurementFailed(f"the bridge {self._name}", "its client ended")
            if time.monotonic() > end_s:
                raise MeasurementFailed(f"the bridge {self._name}", "its client says nothing")
            await self._lab.clock.sleep(0.01)
            await asyncio.sleep(0)


@contextmanager
def _roscore() -> Iterator[str]:
    """Yields the address of a roscore on a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        debians = {"ROS_PACKAGE_PATH": "/usr/share"}  # which a rospkg of an active virtual environment does not know
        home = {"ROS_HOME": folder, "ROS_LOG_DIR": str(Path(folder) / "log"), "ROS_IP": "127.0.0.1"}
        others = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        uri = f"http://127.0.0.1:{port}"
        process = subprocess.Popen(
            ["roscore", "-p", str(port)],
            env={**debians, **others, **home, "ROS_MASTER_URI": uri},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            end_s = time.monotonic() + START_S
            while not _answers(uri):
                if time.monotonic() > end_s or process.poll() is not None:
                    raise MeasurementFailed("the bridge ros1", "roscore does not start")
                time.sleep(0.05)
            yield f"127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGINT)  # on which it ends its master and rosout, too
            process.wait()


def _answers(uri: str) -> bool:
    try:
        return bool(master_of(uri).lookupNode("/bench", "/rosout")[0] == 1)
    except MASTER_ERRORS:
        return False
