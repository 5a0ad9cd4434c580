"""Connections that come in to rospy made fit for a laboratory: one that says nothing, or too much, hinders no other.

rospy takes connections one after the other and waits for the header of each without an end. Here each has a thread and
a moment for that, and headers and requests are bounded.
"""

from __future__ import annotations

import resource
import socket
import struct
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["allow_many_files", "bound_connections"]

HANDSHAKE_S = 5.0  # of wall time within which a peer says its header
MAX_HEADER_BYTES = 2**16
MAX_HANDSHAKES = 100  # at once
SPARE_FILES = 64  # of those that a process may have open, which connections leave for everything else
MANY_FILES = 4096
LENGTH = struct.Struct("<I")

Tell = Callable[[str], None]


def allow_many_files() -> None:
    """Lets the process have as many files open as it may, at most what a laboratory needs."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    now = MANY_FILES if most == resource.RLIM_INFINITY else min(MANY_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (now, most))


def bound_connections(tell: Tell, max_message_bytes: int) -> None:
    """Makes rospy take every connection in a thread of its own, with bounded header and requests.

    Args:
        tell: Called with a line, the same one for each refusal of the same kind.
        max_message_bytes: The longest request of a service.
    """
    base: Any = import_module("rospy.impl.tcpros_base")
    services: Any = import_module("rospy.impl.tcpros_service")
    terminated = import_module("rospy.exceptions").TransportTerminated
    as_rospy_does, as_rospy_reads = base.TCPROSServer._tcp_server_callback, base.TCPROSTransportProtocol.read_messages
    room = threading.BoundedSemaphore(MAX_HANDSHAKES)

    def take(server: Any, end: socket.socket, address: Any) -> None:
        if end.fileno() >= resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE_FILES:
            tell("refused: a connection: too many are open already")
            end.close()
        elif room.acquire(blocking=False):
            threading.Thread(target=shake_hands, args=(server, end, address), daemon=True).start()
        else:
            tell(f"refused: a connection: {MAX_HANDSHAKES} others have not said yet what they want")
            end.close()

    def shake_hands(server: Any, end: socket.socket, address: Any) -> None:
        try:
            as_rospy_does(server, end, address)
        finally:
            room.release()

    def read_header(end: socket.socket, _buffer: Any, _size: int) -> dict[str, str]:
        try:
            return _header(end)
        except (OSError, ValueError, struct.error) as error:
            tell(f"refused: a connection: {'no header came in time' if isinstance(error, TimeoutError) else error}")
            raise

    def read_requests(protocol: Any, buffer: Any, requests: list[Any], end: Any) -> None:
        (length,) = LENGTH.unpack_from(buffer.getbuffer())
        if length > max_message_bytes:
            tell(f"refused: a request of {length / 1e6:.1f} MB for {protocol.resolved_name}")
            raise terminated("the request is too long")
        as_rospy_reads(protocol, buffer, requests, end)

    base.TCPROSServer._tcp_server_callback = take
    base.read_ros_handshake_header = read_header
    services.TCPService.read_messages = read_requests


def _header(end: socket.socket) -> dict[str, str]:
    """Returns the header that a peer says.

    Raises:
        TimeoutError: It says none in time.
        OSError: It goes.
        ValueError: It is none, or too long.
    """
    end_s = time.monotonic() + HANDSHAKE_S
    try:
        first = _received(end, LENGTH.size, end_s)
        (length,) = LENGTH.unpack(first)
        if length > MAX_HEADER_BYTES:
            raise ValueError(f"its header would have {length} bytes; at most {MAX_HEADER_BYTES} are allowed")
        network = import_module("rosgraph.network")
        said = first + _received(end, length, end_s)
        try:
            header: dict[str, str] = network.decode_ros_handshake_header(said)
        except (network.ROSHandshakeException, UnicodeDecodeError) as error:
            raise ValueError(f"it says no header: {error}") from None
        return header
    finally:
        end.settimeout(None)


def _received(end: socket.socket, count: int, end_s: float) -> bytes:
    read = b""
    while len(read) < count:
        end.settimeout(max(0.001, end_s - time.monotonic()))
        if not (piece := end.recv(count - len(read))):
            raise ConnectionError("it went before it said what it wants")
        read += piece
    return read
