"""One connection: bytes in, statuses out, with units and reports of its own. The same for sockets and for memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from cellwright.core.slices import at_once, in_turns
from cellwright.crcl import messages as m
from cellwright.crcl.current_command import ConnectionAnswer
from cellwright.crcl.errors import DecodeError, FramingError
from cellwright.crcl.executor import CommandExecutor
from cellwright.crcl.framing import MAX_MESSAGE_BYTES, MessageStream
from cellwright.crcl.reader import decode_in_slices
from cellwright.crcl.reports import Reports
from cellwright.crcl.status import StatusWriter
from cellwright.crcl.units import CrclUnits

__all__ = ["Service", "Session"]

SHOWN_BYTES = 120  # of a message that could not be understood
LONG_BYTES = 16 * 1024  # what is longer is read in slices
WAITING_BYTES = 64 * 1024  # behind a message that is being read, after which no more is taken
TextHook = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The state that all connections of a server share.

    Attributes:
        executor: Executes the robot's commands.
        writer: Writes its status.
        units: The units after InitCanon.
        max_message_bytes: Longer messages end a connection.
        bad_stream_is_error: Whether a message that cannot be read puts the robot into the error state, as with NIST's
            server; otherwise it only costs its sender the connection.
        on_command: Gets the text of every message that arrives.
        on_status: Gets the text of every status that is sent.
    """

    executor: CommandExecutor
    writer: StatusWriter
    units: CrclUnits
    max_message_bytes: int = MAX_MESSAGE_BYTES
    bad_stream_is_error: bool = True
    on_command: TextHook | None = None
    on_status: TextHook | None = None


class Session:
    """One connection.

    Args:
        service: The state that it shares with others.
        send: Passes bytes to the peer.
        hang_up: Ends the connection once everything was passed.
        hold: Is called with whether to take no more from the peer for now.

    Attributes:
        units: The units of its messages.
        reports: The parts of its statuses.
        connection_answer: An answer for it alone.
        only_stops: Whether it may ask and stop the robot, and nothing else.
    """

    def __init__(
        self,
        service: Service,
        send: Callable[[bytes], None],
        hang_up: Callable[[], None],
        hold: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._service = service
        self._send = send
        self._hang_up = hang_up
        self._hold = hold
        self._stream = MessageStream(service.max_message_bytes)
        self._open = True
        self._request = b""  # the last GetStatus: clients send the same bytes again and again
        self.units = service.units
        self.reports = Reports.initial(len(service.executor.linear_joints))
        self.connection_answer: ConnectionAnswer | None = None
        self.only_stops = False
        self._reading: asyncio.Task[None] | None = None  # a long message
        self._waiting = bytearray()  # what came after it

    @property
    def pending(self) -> int:
        """Bytes of messages that are not finished."""
        return self._stream.pending + len(self._waiting)

    def end(self) -> None:
        """Drops messages that are not finished."""
        self._open = False
        if self._reading is not None:
            self._reading.cancel()

    def receive(self, data: bytes) -> None:
        """Takes bytes from the peer and sends all answers to them in one piece."""
        if not self._open:
            return
        if self._reading is not None:
            self._waiting += data
            self._hold(len(self._waiting) > WAITING_BYTES)
            return
        answers: list[bytes] = []
        try:
            for document in self._stream.feed(data):
                if len(document) > LONG_BYTES:
                    self._reading = asyncio.get_running_loop().create_task(self._read_long(document))
                    break  # what follows it stays in the stream
                self._handle(document, answers)
        except (FramingError, DecodeError) as error:
            self._give_up(error)
        if answers:
            self._send(answers[0] if len(answers) == 1 else b"".join(answers))
        if not self._open:
            self._hang_up()

    def push(self) -> None:
        """Sends a status unasked."""
        if self._open:
            self._send(self._status())

    def configure(self, command: m.CRCLCommand) -> None:
        """Takes the settings of a command for this connection alone: units and reports."""
        if isinstance(command, m.InitCanon):
            self.units = self._service.units
            before = self.reports  # who wants to be told of ends is told of this one, too
            self.reports = replace(Reports.initial(len(before.per_joint)), when_done=before.when_done)
        else:
            self.reports = self.reports.after(command)
            self.units = self.units.after(command)

    async def _read_long(self, document: bytes) -> None:
        """Reads a long message while others have their turn, and then what came after it."""
        answers: list[bytes] = []
        try:
            self._tell(document)
            work = decode_in_slices(document, m.CRCLCommandInstance, max_bytes=self._service.max_message_bytes)
            self._take(await in_turns(work, self._service.executor.robot.clock), document, answers)
        except DecodeError as error:
            try:
                self._refuse(error, document)
            except DecodeError as unreadable:
                self._give_up(unreadable)
        self._reading = None
        waiting = bytes(self._waiting)
        self._waiting = bytearray()
        self._hold(False)
        if answers:
            self._send(b"".join(answers))
        if self._open:
            self.receive(waiting)
        else:
            self._hang_up()

    def _give_up(self, error: FramingError | DecodeError) -> None:
        self._open = False
        if self._service.bad_stream_is_error and not self.only_stops:
            self._service.executor.reject(f"connection closed, its message could not be read: {error}")

    def _handle(self, document: bytes, answers: list[bytes]) -> None:
        self._tell(document)
        if document == self._request:
            answers.append(self._status())
            return
        try:
            work = decode_in_slices(document, m.CRCLCommandInstance, max_bytes=self._service.max_message_bytes)
            instance = at_once(work)
        except DecodeError as error:
            self._refuse(error, document)
            return
        self._take(instance, document, answers)

    def _tell(self, document: bytes) -> None:
        if self._service.on_command is not None:
            self._service.on_command(document.decode(errors="replace"))

    def _refuse(self, error: DecodeError, document: bytes) -> None:
        if error.command_id is None:
            shown = document[:SHOWN_BYTES].decode(errors="replace")
            raise DecodeError(f"{error.what} in {shown}", allowed=error.allowed) from error
        self._service.executor.reject(str(error), error.command_id)

    def _take(self, instance: m.CRCLCommandInstance, document: bytes, answers: list[bytes]) -> None:
        command = instance.crcl_command
        if isinstance(command, m.GetStatus):
            self._request = document
            answers.append(self._status())
        elif self.only_stops and not isinstance(command, m.StopMotion):
            self._open = False
        else:
            self._service.executor.accept(instance, self)

    def _status(self) -> bytes:
        text = self._service.writer.text(self)
        if self._service.on_status is not None:
            self._service.on_status(text.decode())
        return text
