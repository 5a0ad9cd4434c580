"""One connection of a client: sends commands, and reads every status whenever it comes.

Some servers answer GetStatus and say nothing else, others report periodically, and some do both. So nothing is counted
here: a status is any that arrives, and waiting calls look at its command number.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

from cellwright.core.errors import JobFailed
from cellwright.crcl.connection import Connection, Connector
from cellwright.crcl.errors import DecodeError, FramingError
from cellwright.crcl.findings import DocumentFindings
from cellwright.crcl.framing import MessageStream
from cellwright.crcl.lenient import read_status
from cellwright.crcl.messages import CRCLCommandInstance, CRCLStatus, GetStatus, SettingsStatus
from cellwright.crcl.reader import decode
from cellwright.crcl.writer import encode

__all__ = ["CrclLink", "LinkListeners", "LinkLost", "NoAnswer"]

_SETTINGS, _SETTINGS_END = b"<SettingsStatus>", b"</SettingsStatus>"


class LinkLost(JobFailed):
    """The connection ended, or carries something that is not CRCL."""


class NoAnswer(JobFailed):
    """No status came in time."""


@dataclass(frozen=True)
class LinkListeners:
    """The listeners to all that goes over a connection.

    Attributes:
        on_command: Gets the text of every message that is sent, questions for the status included.
        on_status: Gets every status that comes, and its text.
    """

    on_command: Callable[[bytes], None] = lambda _text: None
    on_status: Callable[[CRCLStatus, bytes], None] = lambda _status, _text: None


class CrclLink:
    """A connection with a reader of its own.

    Args:
        connection: The connection.
        peer: The name of the server in messages.
        send_s: How long the server may refuse to take bytes; then the connection is given up.
        findings: Gets what is wrong with statuses that are read all the same.
        listeners: Hear all messages.

    Attributes:
        latest: The last status that came.
        latest_text: The same as it was sent.
        latest_s: When it came, by the event loop.
        arrived: How many came.
        lost: Why the connection is of no use any more; empty while it is.
    """

    def __init__(
        self,
        connection: Connection,
        peer: str,
        send_s: float = 5.0,
        findings: DocumentFindings | None = None,
        listeners: LinkListeners | None = None,
    ) -> None:
        self.latest: CRCLStatus | None = None
        self.latest_text = b""
        self.latest_s = -inf
        self.arrived = 0
        self.lost = ""
        self._findings = DocumentFindings() if findings is None else findings
        self._listeners = listeners or LinkListeners()
        self._connection = connection
        self._peer = peer
        self._send_s = send_s
        self._unreadable = ""
        self._question = b""
        self._question_id = -1
        self._settings: tuple[bytes, SettingsStatus | None] = b"", None
        self._waiting: list[asyncio.Future[None]] = []
        self._reader = asyncio.get_running_loop().create_task(self._read())

    @classmethod
    async def open(
        cls,
        connect: Connector,
        peer: str,
        send_s: float = 5.0,
        findings: DocumentFindings | None = None,
        listeners: LinkListeners | None = None,
    ) -> CrclLink:
        """Returns a link over a new connection; raises ConnectionFailed."""
        return cls(await connect(), peer, send_s, findings, listeners)

    async def send(self, instance: CRCLCommandInstance) -> None:
        """Sends a command in one write; raises LinkLost, or NoAnswer when the server takes no bytes any more."""
        await self._send(encode(instance))

    async def ask(self, command_id: int) -> None:
        """Sends GetStatus with that number, the same text as long as it is the same number; raises LinkLost."""
        if command_id != self._question_id:
            self._question = encode(CRCLCommandInstance(GetStatus(command_id)))
            self._question_id = command_id
        await self._send(self._question)

    async def _send(self, data: bytes) -> None:
        if not self.lost:
            self._listeners.on_command(data)
            try:
                async with asyncio.timeout(self._send_s):
                    await self._connection.send(data)
            except TimeoutError:
                self._end(f"it took no bytes for {self._send_s:g} s")  # what it did not take must not arrive later
                raise NoAnswer(f"{self._peer}: {self.lost}") from None
            except OSError as error:
                self._end(error.strerror or str(error) or type(error).__name__)
        if self.lost:
            raise LinkLost(f"{self._peer}: {self.lost}")

    async def next_status(self, timeout_s: float) -> CRCLStatus:
        """Returns the next status that arrives; raises LinkLost, or NoAnswer when none does."""
        before, waiter = self.arrived, asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            if not self.lost:
                async with asyncio.timeout(timeout_s):  # not wait_for: before 3.12 it may swallow an interrupt
                    await waiter
        except TimeoutError:
            why = f"; what it sent instead: {self._unreadable}" if self._unreadable else ""
            raise NoAnswer(f"{self._peer} sent no status within {timeout_s:g} s{why}") from None
        finally:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
        if self.arrived == before or self.latest is None:
            raise LinkLost(f"{self._peer}: {self.lost}")
        return self.latest

    async def status_within(self, duration_s: float) -> CRCLStatus | None:
        """Waits; ends at once with a status that comes by itself, or without one when the connection is lost."""
        try:
            return await self.next_status(duration_s)
        except (NoAnswer, LinkLost):
            return None

    async def close(self) -> None:
        """Ends the connection and its reader."""
        self._end("the client closed the connection")
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self._connection.close()

    async def _read(self) -> None:
        stream = MessageStream()
        try:
            while data := await self._connection.receive():
                for document in stream.feed(data):
                    self._take(document)
            self._end("the server closed the connection")
        except FramingError as error:
            self._end(f"it does not speak CRCL: {error}")
        except OSError as error:
            self._end(error.strerror or str(error) or type(error).__name__)

    def _take(self, document: bytes) -> None:
        try:
            self.latest = self._decoded(document)
        except DecodeError:
            try:
                self.latest, problems = read_status(document)
            except DecodeError as error:
                self._unreadable = str(error)
                return
            self._findings.add(problems)
        self.arrived += 1
        self.latest_text = document
        self.latest_s = asyncio.get_running_loop().time()
        self._listeners.on_status(self.latest, document)
        self._wake()

    def _decoded(self, document: bytes) -> CRCLStatus:
        """Reads a status. Its settings are most of the text and seldom change, so they are read only when they do."""
        begin = document.find(_SETTINGS)
        end = document.find(_SETTINGS_END, begin) + len(_SETTINGS_END)
        if begin < 0 or end < len(_SETTINGS_END) or b"<!" in document:
            return decode(document, CRCLStatus)
        text, settings = document[begin:end], self._settings[1]
        if settings is not None and text == self._settings[0]:
            try:
                return replace(decode(document[:begin] + document[end:], CRCLStatus), settings_status=settings)
            except DecodeError:
                pass  # the whole text is reported
        status = decode(document, CRCLStatus)
        self._settings = text, status.settings_status
        return status

    def _end(self, why: str) -> None:
        self.lost = self.lost or why
        self._wake()

    def _wake(self) -> None:
        waiting = self._waiting
        self._waiting = []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)
