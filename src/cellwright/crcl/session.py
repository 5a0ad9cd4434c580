"""One connection: bytes in, statuses out, with units and reports of its own. The same for sockets and for memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cellwright.crcl import messages as m
from cellwright.crcl.canon import Canon
from cellwright.crcl.errors import DecodeError, FramingError
from cellwright.crcl.framing import MAX_MESSAGE_BYTES, MessageStream
from cellwright.crcl.reader import decode
from cellwright.crcl.reports import Reports
from cellwright.crcl.standing import OwnAnswer
from cellwright.crcl.status import StatusWriter
from cellwright.crcl.units import Units

__all__ = ["Service", "Session"]

SHOWN_BYTES = 120  # of a message that could not be understood
TextHook = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Service:
    """What all connections of a server share.

    Attributes:
        canon: The robot's commands.
        writer: Writes its status.
        units: What InitCanon sets.
        max_message_bytes: Longer messages end a connection.
        bad_stream_is_error: Whether a message that nobody can read puts the robot into the error state, as with NIST's
            server; otherwise it only costs its sender the connection.
        on_command: Gets the text of every message that arrives.
        on_status: Gets the text of every status that is sent.
    """

    canon: Canon
    writer: StatusWriter
    units: Units
    max_message_bytes: int = MAX_MESSAGE_BYTES
    bad_stream_is_error: bool = True
    on_command: TextHook | None = None
    on_status: TextHook | None = None


class Session:
    """One connection.

    Args:
        service: What it shares with others.
        send: Passes bytes to the peer.
        hang_up: Ends the connection once everything was passed.
    """

    def __init__(self, service: Service, send: Callable[[bytes], None], hang_up: Callable[[], None]) -> None:
        self._service, self._send, self._hang_up = service, send, hang_up
        self._stream = MessageStream(service.max_message_bytes)
        self._open = True
        self._request = b""  # the last GetStatus: clients send the same bytes again and again
        self.units = service.units
        self.reports = Reports.initial(len(service.canon.linear_joints))
        self.own_answer: OwnAnswer | None = None

    def receive(self, data: bytes) -> None:
        """Takes what came from the peer and answers what there is to be answered, in one piece."""
        if not self._open:
            return
        answers: list[bytes] = []
        try:
            for document in self._stream.feed(data):
                self._handle(document, answers)
        except (FramingError, DecodeError) as error:
            self._open = False
            if self._service.bad_stream_is_error:
                self._service.canon.reject(f"connection closed, its message could not be read: {error}")
        if answers:
            self._send(answers[0] if len(answers) == 1 else b"".join(answers))
        if not self._open:
            self._hang_up()

    def push(self) -> None:
        """Sends a status that nobody asked for."""
        if self._open:
            self._send(self._status())

    def configure(self, command: m.CRCLCommand) -> None:
        """Takes what a command sets for this connection alone: units and reports."""
        if isinstance(command, m.InitCanon):
            self.units = self._service.units
            self.reports = Reports.initial(len(self.reports.per_joint))
        else:
            self.reports = self.reports.after(command)
            self.units = self.units.after(command)

    def _handle(self, document: bytes, answers: list[bytes]) -> None:
        if self._service.on_command is not None:
            self._service.on_command(document.decode(errors="replace"))
        if document == self._request:
            answers.append(self._status())
            return
        try:
            instance = decode(document, m.CRCLCommandInstance, max_bytes=self._service.max_message_bytes)
        except DecodeError as error:
            if error.command_id is None:
                raise DecodeError(f"{error.what} in {document[:SHOWN_BYTES].decode(errors='replace')}") from error
            self._service.canon.reject(str(error), error.command_id)
            return
        if isinstance(instance.crcl_command, m.GetStatus):
            self._request = document
            answers.append(self._status())
        else:
            self._service.canon.accept(instance, self)

    def _status(self) -> bytes:
        text = self._service.writer.text(self)
        if self._service.on_status is not None:
            self._service.on_status(text.decode())
        return text
