"""How often a status can be had over a socket, from a server in a process of its own."""

from __future__ import annotations

import selectors
import socket
import subprocess
import sys
import time

import pytest

from cellwright.crcl import CRCLCommandInstance, GetStatus, encode

SERVE = """
import asyncio
from cellwright.crcl import CrclServer, ExampleArm, WallClock
async def main():
    async with CrclServer(ExampleArm(WallClock())) as server:
        await server.start(port=0)
        print(server.address[1], flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""
ASK, END = encode(CRCLCommandInstance(GetStatus(7))), b"</CRCLStatus>"


def round_trips_s(port: int, clients: int, duration_s: float) -> list[float]:
    """How long each question took, when every client asks again as soon as it has its answer."""
    waiting: dict[socket.socket, float] = {}
    parts: dict[socket.socket, bytes] = {}
    took_s = []
    with selectors.DefaultSelector() as selector:
        for _ in range(clients):
            client = socket.create_connection(("127.0.0.1", port))
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(client, selectors.EVENT_READ)
            client.sendall(ASK)
            waiting[client], parts[client] = time.perf_counter(), b""
        until_s = time.perf_counter() + duration_s
        while time.perf_counter() < until_s:
            for key, _ in selector.select(1.0):
                client = key.fileobj
                parts[client] += client.recv(65536)
                if parts[client].endswith(END):
                    now_s = time.perf_counter()
                    took_s.append(now_s - waiting[client])
                    waiting[client], parts[client] = now_s, b""
                    client.sendall(ASK)
        for client in waiting:
            client.close()
    return sorted(took_s)


@pytest.mark.long
@pytest.mark.parametrize(("clients", "least_per_s"), [(1, 1000), (8, 2000)])
def test_status_round_trips(clients, least_per_s):
    duration_s = 3.0
    with subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True) as server:
        try:
            took_s = round_trips_s(int(server.stdout.readline()), clients, duration_s)
        finally:
            server.kill()
    rate, p99_s = len(took_s) / duration_s, took_s[int(0.99 * len(took_s))]
    print(f"{clients} clients: {rate:.0f} per second, median {took_s[len(took_s) // 2]:.5f} s, p99 {p99_s:.5f} s")
    assert rate >= least_per_s
    assert p99_s <= 0.010
