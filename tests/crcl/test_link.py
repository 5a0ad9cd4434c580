from __future__ import annotations

import asyncio
import socket

import pytest

from cellwright.crcl import (
    ClientOptions,
    CommandStatus,
    CrclClient,
    CRCLStatus,
    MoveThroughTo,
    Point,
    Pose,
    Vector,
    encode,
)
from cellwright.crcl.messages import CommandStateEnum

STATUS = encode(CRCLStatus(CommandStatus(1, 1, CommandStateEnum.CRCL_DONE)))
LONG = Pose(Point(0.1, 0.2, 0.3), Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, -1.0))


@pytest.mark.slow
def test_a_server_that_takes_no_bytes_is_noticed_and_never_gets_the_command():
    """It answers the first questions and then reads nothing more; the command is longer than any buffer on the way."""

    async def run():
        loop, got = asyncio.get_running_loop(), []
        with socket.socket() as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            listening.setblocking(False)
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            options = ClientOptions(poll_s=0.01, status_s=0.3, reconnect_s=0.0, with_stop_connection=False)
            client = CrclClient.to(f"127.0.0.1:{listening.getsockname()[1]}", options=options)
            opening = asyncio.ensure_future(client.open())
            peer, _ = await loop.sock_accept(listening)
            with peer:
                await loop.sock_recv(peer, 4096)
                await loop.sock_sendall(peer, STATUS)
                await opening
                begin_s = loop.time()
                executing = asyncio.ensure_future(client.execute(MoveThroughTo(0, True, (LONG,) * 20_000, 20_000)))
                await loop.sock_recv(peer, 4096)
                await loop.sock_sendall(peer, STATUS)
                outcome = await executing
                took_s = loop.time() - begin_s
                await client.close()
                try:
                    while data := await asyncio.wait_for(loop.sock_recv(peer, 1 << 20), 2.0):
                        got.append(data)
                except ConnectionError:
                    pass
        return outcome, took_s, b"".join(got)

    outcome, took_s, got = asyncio.run(run())
    assert (outcome.state, "it took no bytes for 0.3 s: it has stalled" in outcome.reason) == ("lost", True)
    assert took_s < 2.0
    assert got.startswith(b"<?xml")
    assert b"</CRCLCommandInstance>" not in got, "half a command does nothing"
