"""A program that watches a live view, as a page does: it keeps every packet, and asks for things."""

import json
import threading
import time

import numpy as np
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from cellwright.viewing.packet import unpack

PATIENCE_S = 20.0


def socket_url(url):
    """Returns the address of the live socket of a page."""
    page, _, query = url.partition("?")
    return page.replace("http", "ws", 1) + "live" + (f"?{query}" if query else "")


class Watcher:
    """A client on a thread.

    Args:
        url: The page's.
        on_packet: Told of every packet, with the socket.
    """

    def __init__(self, url, on_packet=lambda _watcher, _header: None):
        self.packets = []
        self.blobs = {}
        self.end = None
        self._changed = threading.Condition()
        self._on_packet = on_packet
        self.socket = connect(socket_url(url), max_size=None)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def ask(self, do, **more):
        self.socket.send(json.dumps({"do": do, **more}))

    def of(self, kind):
        return [header for header in list(self.packets) if header["kind"] == kind]

    def until(self, condition):
        """Waits until something has come; returns what the condition returns then."""
        end_s = time.monotonic() + PATIENCE_S
        with self._changed:
            while not (found := condition(self)):
                left_s = end_s - time.monotonic()
                assert left_s > 0, "nothing came"
                assert self.end is None or condition(self), f"the connection has ended: {self.end}"
                self._changed.wait(min(left_s, 0.2))
            return found

    def poses(self):
        """Returns (time, poses) of every frame."""
        return [(h["time_s"], np.frombuffer(h["blob"], "<f4").reshape(-1, 7)) for h in self.of("poses")]

    def join(self):
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        return self

    def _read(self):
        try:
            while True:
                header, blob = unpack(self.socket.recv())
                if header["kind"] == "poses":
                    header["blob"] = blob
                with self._changed:
                    self.packets.append(header)
                    self._changed.notify_all()
                self._on_packet(self, header)
        except ConnectionClosed as closed:
            self.end = closed.rcvd or closed
            with self._changed:
                self._changed.notify_all()
