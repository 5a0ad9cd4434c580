"""The status rate of a moving robot over sockets, and the real-time factor of its laboratory meanwhile."""

from __future__ import annotations

import json
import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from cellwright.bench.result import MeasurementFailed
from cellwright.crcl import decode, encode
from cellwright.crcl.messages import CRCLCommandInstance, CRCLStatus, GetStatus

__all__ = ["StatusRoundTrips", "measure", "poll_status"]

ROBOT = "fanuc"
ASK, END = encode(CRCLCommandInstance(GetStatus(1))), b"</CRCLStatus>"
READ_BYTES = 65536
TIMEOUT_S = 5.0
LEAST_MOVING = 0.5  # of the looks at the joints: between two motions the arm stands for a moment


@dataclass(frozen=True)
class StatusRoundTrips:
    """Round trips of all clients together.

    Attributes:
        took_s: The durations.
        duration_s: For how long they asked.
        moving: In which share of looks, ten a second, the joints were others than at the look before.
    """

    took_s: list[float]
    duration_s: float
    moving: float

    @property
    def rate(self) -> float:
        """Answers per second, of all clients."""
        return len(self.took_s) / self.duration_s

    @property
    def p99_ms(self) -> float:
        """The 99th percentile of the round trips."""
        return float(np.percentile(self.took_s, 99)) * 1e3


def measure(counts: tuple[int, ...], duration_s: float, seed: int, say: Callable[[str], None]) -> dict[str, float]:
    """Measures rate, 99th percentile and real-time factor for each number of clients.

    Raises:
        MeasurementFailed: The laboratory did not answer, or its arms did not move.
    """
    metrics: dict[str, float] = {}
    with _laboratory(seed) as (port, look):
        for clients in counts:
            say(f"{clients} client{'s' if clients > 1 else ''} asking for {duration_s:g} s")
            before = look()
            asked = poll_status(port, clients, duration_s)
            after = look()
            if asked.moving < LEAST_MOVING:
                raise MeasurementFailed("the rate of statuses", f"the arm moved in {asked.moving:.0%} of the time only")
            metrics[f"status.rate_{clients}"] = asked.rate
            metrics[f"status.p99_ms_{clients}"] = asked.p99_ms
            passed_s, wall_s = (after[name] - before[name] for name in ("time_s", "wall_s"))
            metrics[f"status.real_time_{clients}"] = passed_s / wall_s
    return metrics


def poll_status(port: int, clients: int, duration_s: float) -> StatusRoundTrips:
    """Measures round trips; every client asks again as soon as it has its answer."""
    took_s: list[float] = []
    seen: list[tuple[float, bytes]] = []
    sent_s: dict[socket.socket, float] = {}
    parts: dict[socket.socket, bytes] = {}
    with selectors.DefaultSelector() as selector:
        try:
            for _ in range(clients):
                client = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                selector.register(client, selectors.EVENT_READ, client)
                client.sendall(ASK)
                sent_s[client], parts[client] = time.perf_counter(), b""
            start_s = now_s = time.perf_counter()
            while now_s < start_s + duration_s:
                ready = selector.select(TIMEOUT_S)
                if not ready:
                    raise MeasurementFailed("the rate of statuses", f"no answer within {TIMEOUT_S:g} s")
                for key, _ in ready:
                    client = key.data
                    parts[client] += client.recv(READ_BYTES)
                    now_s = time.perf_counter()
                    if parts[client].endswith(END):
                        took_s.append(now_s - sent_s[client])
                        if not seen or now_s >= seen[-1][0] + 0.1:
                            seen.append((now_s, parts[client]))
                        sent_s[client], parts[client] = now_s, b""
                        client.sendall(ASK)
            return StatusRoundTrips(took_s, now_s - start_s, _share_moving([text for _, text in seen]))
        finally:
            for client in sent_s:
                client.close()


def _share_moving(texts: list[bytes]) -> float:
    joints = [decode(text, CRCLStatus).joint_statuses for text in texts]
    return sum(one != other for one, other in pairwise(joints)) / max(1, len(joints) - 1)


@contextmanager
def _laboratory(seed: int) -> Iterator[tuple[int, Callable[[], dict[str, Any]]]]:
    """Yields the port of a robot that moves in another process, and a function that reads that process's clocks."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    command = [sys.executable, "-m", "cellwright.bench.crcl_server", str(seed)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True, env=environment) as process:

        def read() -> dict[str, Any]:
            assert process.stdout is not None
            assert process.stderr is not None
            line = process.stdout.readline()
            if not line:
                reason = (process.stderr.read().strip().splitlines() or ["it ended"])[-1]
                raise MeasurementFailed("the rate of statuses", f"the laboratory: {reason}")
            data: dict[str, Any] = json.loads(line)
            return data

        def look() -> dict[str, Any]:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
            return read()

        try:
            yield read()[ROBOT], look
        finally:
            process.kill()
