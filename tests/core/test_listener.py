"""A port that is taken says so, and what to do about it."""

import asyncio
import socket

import pytest

from cellwright.core.errors import BadInput
from cellwright.core.listener import Listener, host_and_port


def test_a_taken_port_names_the_way_out():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(BadInput, match=rf"127.0.0.1:{port}: the port is taken; .* with --any-port"):
            asyncio.run(Listener("a test").open(asyncio.Protocol, "127.0.0.1", port))


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("8080", "127.0.0.1", 8080),
        ("0", "127.0.0.1", 0),
        ("0.0.0.0:99", "0.0.0.0", 99),
        ("[::1]:7", "::1", 7),
        ("[::1]", "::1", 8080),
        ("cell.lan", "cell.lan", 8080),
        (":5", "127.0.0.1", 5),
    ],
)
def test_an_address_is_host_and_port(address, host, port):
    assert host_and_port(address, "--view", 8080) == (host, port)


@pytest.mark.parametrize("address", ["x:y", "127.0.0.1:", "1:70000", "a b:1", "http://a:1", "1:-1", "h/x:3", "1:²"])
def test_other_addresses_are_refused(address):
    with pytest.raises(BadInput, match="--view takes HOST:PORT"):
        host_and_port(address, "--view", 8080)
