"""A port that is taken says so, and what to do about it."""

import asyncio
import socket

import pytest

from cellwright.core.errors import BadInput
from cellwright.core.listener import Listener


def test_a_taken_port_names_the_way_out():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(BadInput, match=rf"127.0.0.1:{port}: the port is taken; .* with --any-port"):
            asyncio.run(Listener("a test").open(asyncio.Protocol, "127.0.0.1", port))
