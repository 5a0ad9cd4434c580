"""The delay of one robot's status while another robot gets a command that takes long to process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

import numpy as np

from cellwright.bench.crcl_status import ASK, END, READ_BYTES, TIMEOUT_S
from cellwright.bench.result import MeasurementFailed
from cellwright.crcl import CRCLCommand, decode, encode
from cellwright.crcl import messages as m

__all__ = ["measure"]

CELL, COMMANDED, OTHER = "aprs", "fanuc", "motoman"
PAUSE_S = 0.001  # between an answer and the next question: a client that polls, not one that floods
WORKING = m.CommandStateEnum.CRCL_WORKING
DOWN = m.Vector(1.0, 0.0, 0.0), m.Vector(0.0, 0.0, -1.0)
STEPS_M = ((0.0, 0.05, 0.0), (-0.05, 0.05, 0.0), (-0.05, 0.0, -0.05))


def measure(watch_s: float, seed: int, say: Callable[[str], None]) -> dict[str, float]:
    """Measures the longest round trip to a second robot during each kind of command, and its p99 in between.

    Args:
        watch_s: For how long at most a command is watched; it is stopped then.
        seed: Of the laboratory.
        say: Called with progress messages.

    Raises:
        MeasurementFailed: A status did not come.
    """
    with _served(seed) as ports, closing(_connected(ports[COMMANDED])) as commanding:
        with _StatusPoller(ports[OTHER]) as idle:
            say(f"{OTHER} asked for {watch_s:g} s while nothing happens")
            time.sleep(watch_s)
        metrics = {"block.idle_p99_ms": float(np.percentile(idle.took_s, 99)) * 1e3}
        here = decode(_answer(commanding), m.CRCLStatus).pose_status
        assert here is not None
        for name, commands in _slow_commands(here.pose.point).items():
            say(f"{OTHER} asked while {COMMANDED} is given {len(commands)} of {name}")
            longest_s = max(_longest_s(ports[OTHER], commanding, command, watch_s) for command in commands)
            metrics[f"block.{name}_ms"] = longest_s * 1e3
    return metrics


def _slow_commands(here: m.Point) -> Mapping[str, Sequence[bytes]]:
    """Returns the commands by metric: targets and screws in millimetres taken for metres, long paths, many guards."""
    way = tuple(
        m.Pose(m.Point(here.x + dx, here.y + dy, here.z + dz), *DOWN)
        for dx, dy, dz in (STEPS_M[number % len(STEPS_M)] for number in range(1000))
    )
    through = m.MoveThroughTo(5, True, way, len(way))
    tolerance = m.SetIntermediatePoseTolerance(4, tolerance=m.PoseTolerance(x_point_tolerance=0.01))
    guard = m.Guard("ATINetFT", sub_field="Fz", limit_type=m.GuardLimitEnum.OVER_MAX, limit_value=1e6)
    far = [m.MoveTo(5, True, m.Pose(m.Point(x, 0.0, 0.3), *DOWN)) for x in (3.0, 100.0, 1000.0, 3000.0)]
    return {
        "far_move": [*map(_sent, far), _sent(m.MoveScrew(5, axial_distance_screw=0.01, turn=3000.0))],
        "waypoints_1000": [_sent(through), _sent(tolerance) + _sent(through)],
        "guards": [_sent(m.Dwell(5, 60.0, guard=(guard,) * count)) for count in (50, 3000)],
    }


def _longest_s(port: int, commanding: socket.socket, command: bytes, watch_s: float) -> float:
    commanding.sendall(_sent(m.InitCanon(2)))
    _answer(commanding)
    with _StatusPoller(port) as asking:
        until_s = time.perf_counter() + watch_s
        commanding.sendall(command)
        while time.perf_counter() < until_s:
            told = decode(_answer(commanding), m.CRCLStatus).command_status
            if told.command_id == 5 and told.command_state is not WORKING:
                break
            time.sleep(0.05)
    commanding.sendall(_sent(m.StopMotion(9, stop_condition=m.StopConditionEnum.FAST)))
    return max(asking.took_s)


class _StatusPoller:
    """A client in its own thread that polls the status again and again, and its round trips."""

    def __init__(self, port: int) -> None:
        self.took_s: list[float] = []
        self._connection = _connected(port)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._failed = ""

    def __enter__(self) -> _StatusPoller:
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._over.set()
        self._thread.join(2 * TIMEOUT_S)
        self._connection.close()
        if self._failed or not self.took_s:
            raise MeasurementFailed("the wait for a status", self._failed or "there was none")

    def _ask(self) -> None:
        try:
            while not self._over.is_set() or not self.took_s:
                start_s = time.perf_counter()
                _answer(self._connection)
                self.took_s.append(time.perf_counter() - start_s)
                time.sleep(PAUSE_S)
        except (OSError, MeasurementFailed) as error:
            self._failed = f"{error}"


def _sent(command: CRCLCommand) -> bytes:
    return encode(m.CRCLCommandInstance(command))


def _connected(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), 12 * TIMEOUT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _answer(connection: socket.socket) -> bytes:
    connection.sendall(ASK)
    text = b""
    while not text.endswith(END):
        more = connection.recv(READ_BYTES)
        if not more:
            raise MeasurementFailed("the wait for a status", "the server closed the connection")
        text += more
    return text


@contextmanager
def _served(seed: int) -> Iterator[dict[str, int]]:
    """Yields the ports of a cell that is served as a user would serve it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    command = [sys.executable, "-m", "cellwright", "serve", CELL, "--any-port", "--json", "--seed", str(seed)]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            line = process.stdout.readline()
            if not line:
                reason = (process.stderr.read().strip().splitlines() or ["it ended"])[-1]
                raise MeasurementFailed("the wait for a status", f"the laboratory: {reason}")
            yield {robot: int(address.rpartition(":")[2]) for robot, address in json.loads(line)["crcl"].items()}
        finally:
            process.kill()
