"""A client for any CRCL server: does one command after the other, and survives a lost connection.

A command is done when the server reports its number with CRCL_Done; the client asks until then. After a lost connection
it asks first which command the robot is at: one that was taken up is waited for, never sent again; one that was
not is sent after all, once units are what they were.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Self

from cellwright.core.errors import JobFailed
from cellwright.crcl.client_connections import ClientConnections
from cellwright.crcl.connection import ConnectionFailed, Connector, tcp
from cellwright.crcl.link import CrclLink, LinkListeners, LinkLost, NoAnswer
from cellwright.crcl.messages import (
    CommandStateEnum,
    CRCLCommand,
    CRCLCommandInstance,
    CRCLStatus,
    EndCanon,
    GetStatus,
    InitCanon,
    StopConditionEnum,
    StopMotion,
)
from cellwright.crcl.options import ClientOptions, ProgramPlace
from cellwright.crcl.outcome import CommandFailed, Outcome, OutcomeState
from cellwright.crcl.pending_command import PendingCommand
from cellwright.crcl.session_settings import SessionSettings

__all__ = ["CrclClient"]

_IDLE = (CommandStateEnum.CRCL_DONE, CommandStateEnum.CRCL_READY)
_LAST_OF_OTHERS = 1 << 62
"""A server's number above it is not counted on from: there might be none left."""
_SILENT_ENDS = 3
"""Ends of commands that a server did not report, after which it is not relied on to report them."""
_NEEDS_NO_UNITS = (InitCanon, EndCanon, StopMotion, GetStatus)


class CrclClient:
    """A session with one server; use it as `async with CrclClient.to("127.0.0.1:64444") as robot`.

    Args:
        connect: Makes connections to the server.
        peer: The name of the server in messages.
        options: How to wait.
        say: Gets a text for each lost and new connection.
        listeners: Hear all messages.
    """

    def __init__(
        self,
        connect: Connector,
        *,
        peer: str = "the server",
        options: ClientOptions | None = None,
        say: Callable[[str], None] = lambda _text: None,
        listeners: LinkListeners | None = None,
    ) -> None:
        self.peer = peer
        self.options = options or ClientOptions()
        self.session_settings = SessionSettings()
        self.aborts = 0
        """How often `abort` was called: who runs a program looks whether it grew."""
        self._say = say
        self._lines = ClientConnections(connect, peer, self.options, say, listeners)
        self.findings = self._lines.findings
        """What was wrong with the server's answers, which were read all the same."""
        self._last_id = (self.options.first_id or 1) - 1
        self._stop_ids: set[int] = set()
        self._waited_for = 0
        self._silent_ends = 0  # in a row

    @classmethod
    def to(
        cls, address: str, *, options: ClientOptions | None = None, say: Callable[[str], None] = lambda _text: None
    ) -> CrclClient:
        """Returns a client of the server at HOST:PORT; it connects when it is entered or opened."""
        return cls(tcp(address), peer=address, options=options, say=say)

    async def open(self) -> Self:
        """Connects and asks for the first status.

        Raises:
            ConnectionFailed: No server is there. LinkLost, NoAnswer: one is, but it does not speak CRCL.
        """
        await self._lines.open()
        return self

    async def close(self) -> None:
        """Ends the connections; the robot goes on with what it does."""
        await self._lines.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()

    async def status(self) -> CRCLStatus:
        """Returns the present status of the robot; reconnects if it must.

        After a reconnect it is in the units that were set as soon as no command is under way: setting them again would
        stop one.

        Raises:
            LinkLost, NoAnswer, ConnectionFailed: The server does not answer.
        """
        _, status = await self._begin(GetStatus(0))
        is_idle = not self._waited_for and status.command_status.command_state in _IDLE
        return await self._in_known_units(status) if self._lines.is_bare and is_idle else status

    async def execute(
        self,
        command: CRCLCommand,
        *,
        timeout_s: float | None = None,
        place: ProgramPlace | None = None,
        least_s: float = 0.0,
        stop_when: Callable[[CRCLStatus], bool] | None = None,
    ) -> Outcome:
        """Gives a command a new number, sends it and waits until the robot has done it.

        A command that is executed while another one is waited for takes its place: that is what CRCL says.

        Args:
            command: Its number is replaced.
            timeout_s: How long to wait; by default as `options.timeouts` says.
            place: Where in a program it stands.
            least_s: How long it takes at least; until then the robot is asked less often.
            stop_when: Is asked about every status while the robot is at it; if true, the robot is stopped.
        """
        started_s, aborts = self._now_s(), self.aborts
        try:
            if isinstance(command, GetStatus):
                return Outcome(OutcomeState.DONE, command, "", await self.status(), self._now_s() - started_s)
            link, before = await self._begin(command)
        except CommandFailed as failure:
            why = f"the settings of the lost connection could not be restored: {failure}"
            return Outcome(OutcomeState.REFUSED, command, why, failure.outcome.status, self._now_s() - started_s)
        except (ConnectionFailed, LinkLost, NoAnswer) as error:
            return Outcome(OutcomeState.LOST, command, f"not sent: {error}", None, self._now_s() - started_s)
        if self.aborts != aborts:
            return Outcome(
                OutcomeState.ABORTED, command, "stopped before it was sent", before, self._now_s() - started_s
            )
        command = replace(command, command_id=self._next_id())
        place = place or ProgramPlace()
        instance = CRCLCommandInstance(
            command, program_file=place.file, program_index=place.index, program_length=place.length
        )
        allowed_s = self.options.timeouts.timeout_s(command, before) + 2 * self.options.poll_s
        pending = PendingCommand(instance, {before.command_status.command_id}, self._now_s())
        self._waited_for += 1
        try:
            wait_s = allowed_s if timeout_s is None else timeout_s
            outcome = await self._finish(link, pending, wait_s, least_s, stop_when)
            if outcome.done:
                self.session_settings.note(command, outcome.status)
            if self._lines.is_bare and outcome.done and outcome.status is not None:
                outcome = replace(outcome, status=await self._in_known_units(outcome.status))
            return outcome
        finally:
            self._waited_for -= 1

    async def abort(self, condition: StopConditionEnum = StopConditionEnum.FAST, *, timeout_s: float = 5.0) -> Outcome:
        """Stops the robot, by the connection that is kept for it; what is waited for ends as aborted."""
        self.aborts += 1
        command = StopMotion(self._next_id(), condition)
        self._stop_ids.add(command.command_id)
        started_s = self._now_s()
        why = ""
        for attempt in range(3):
            left_s = started_s + timeout_s - self._now_s()
            try:
                if left_s > 0:
                    link = await self._lines.for_stop(attempt)
                    return await self._perform(link, command, left_s, answer_s=timeout_s / 3)  # each gets its turn
            except (ConnectionFailed, LinkLost, NoAnswer) as error:
                why = str(error)
        return Outcome(OutcomeState.LOST, command, why, None, self._now_s() - started_s)

    # One command, from sending to knowing.

    async def _begin(self, command: CRCLCommand) -> tuple[CrclLink, CRCLStatus]:
        """Returns a connection on which the command means what it should, and the status before it."""
        until_s = self._now_s() + self.options.reconnect_s
        while True:
            try:
                link = await self._lines.live()
                if self._lines.is_bare and not isinstance(command, _NEEDS_NO_UNITS):
                    await self._restore(link)
                if not isinstance(command, GetStatus) and link.latest is not None and link.latest_s == self._now_s():
                    return link, link.latest  # in a simulation no time has passed since
                return link, await self._lines.ask(link)
            except LinkLost:  # nothing of the command was sent yet
                if self._now_s() > until_s:
                    raise

    async def _finish(
        self,
        link: CrclLink,
        pending: PendingCommand,
        timeout_s: float,
        least_s: float = 0.0,
        stop_when: Callable[[CRCLStatus], bool] | None = None,
    ) -> Outcome:
        status: CRCLStatus | None = None
        heard: CRCLStatus | None = None  # came by itself
        must_send, is_lost, has_waited, start_s = True, "", False, pending.sent_s

        def ended(state: OutcomeState, reason: str = "") -> Outcome:
            return Outcome(state, pending.instance.crcl_command, reason, status, self._now_s() - start_s)

        while True:
            left_s = start_s + timeout_s - self._now_s()
            try:
                if is_lost:
                    link = await self._lines.live()
                    if not pending.seen:
                        doubt = await self._check_taken_up(link, pending)
                        if doubt:
                            return ended(OutcomeState.LOST, doubt)
                    if not pending.seen:
                        pending, must_send = await self._renumbered(link, pending), True
                    is_lost = ""
                if must_send:
                    self._lines.sent_id, must_send = pending.command_id, False
                    await link.send(pending.instance)
                answer_s = max(min(left_s, self.options.status_s), self.options.poll_s)
                status = heard or await self._lines.ask(link, answer_s)
                verdict = self._judge(pending, status)
                if verdict is not None:
                    if has_waited:
                        self._silent_ends = 0 if heard else self._silent_ends + 1
                    return ended(*verdict)
                if stop_when is not None and pending.seen and stop_when(status):
                    await self.abort()
                    return ended(OutcomeState.ABORTED, "it was not wanted any more")
            except LinkLost as error:
                is_lost = str(error)
                self._say(f"{error}; connecting again")
            except NoAnswer as error:
                if left_s > self.options.status_s:
                    return ended(OutcomeState.LOST, f"{error}: it has stalled")
            except JobFailed as error:
                return ended(OutcomeState.LOST, f"{is_lost}; {error}")
            if not (pending.seen or is_lost) and self._now_s() - start_s >= self.options.take_up_s:
                return ended(OutcomeState.TIMEOUT, f"not taken up within {self.options.take_up_s:g} s")
            if self._now_s() - start_s >= timeout_s:
                at = f": the robot is still at command {status.command_status.command_id}" if status else ": no answer"
                return ended(OutcomeState.TIMEOUT, f"not done after {timeout_s:g} s" + ("" if pending.seen else at))
            if is_lost or not pending.seen:
                await asyncio.sleep(self.options.poll_s)
            else:
                has_waited = True
                quiet_s = self.options.quiet_s if stop_when is None else self.options.watch_s
                pause_s = min(self._pause_s(start_s, least_s, quiet_s), max(start_s + timeout_s - self._now_s(), 0.0))
                heard = await link.status_within(pause_s)

    def _pause_s(self, start_s: float, least_s: float, quiet_s: float) -> float:
        """Returns the time until the next poll; polls are frequent at first, because a robot refuses at once."""
        is_told = self.session_settings.reports_when_done and self._silent_ends < _SILENT_ENDS
        if is_told and not self._lines.is_bare:
            return quiet_s
        poll_s, passed_s = self.options.poll_s, self._now_s() - start_s
        left_s = min(least_s - passed_s, quiet_s)
        return poll_s if passed_s < poll_s or left_s < 2 * poll_s else int(left_s / poll_s) * poll_s

    async def _renumbered(self, link: CrclLink, pending: PendingCommand) -> PendingCommand:
        """Returns a command that was not taken up, with another number, for a connection on which it means the same."""
        command = pending.instance.crcl_command
        if not isinstance(command, _NEEDS_NO_UNITS):
            await self._restore(link, pending.before_ids)
        instance = replace(pending.instance, crcl_command=replace(command, command_id=self._next_id()))
        return PendingCommand(instance, pending.before_ids, pending.sent_s)

    def _judge(self, pending: PendingCommand, status: CRCLStatus) -> tuple[OutcomeState, str] | None:
        return pending.judge(status, self._now_s(), self.options.refusal_s, self._last_id, self._stop_ids)

    async def _check_taken_up(self, link: CrclLink, pending: PendingCommand) -> str:
        """Finds out after a reconnect whether a command was taken up; returns why that cannot be known, or nothing."""
        until_s = self._now_s() + self.options.settle_s
        while True:
            at = (await self._lines.ask(link)).command_status.command_id
            if at == pending.command_id:
                pending.seen = True
                return ""
            if at not in pending.before_ids:
                return f"the connection was lost, and now the robot is at command {at}: not repeated"
            if self._now_s() >= until_s:
                return ""
            await asyncio.sleep(self.options.poll_s)

    async def _perform(self, link: CrclLink, command: CRCLCommand, timeout_s: float, answer_s: float = inf) -> Outcome:
        """Sends a numbered command and waits for it on this link only; raises LinkLost and NoAnswer."""
        pending = PendingCommand(CRCLCommandInstance(command), set(), self._now_s())
        await link.send(pending.instance)
        while True:
            self._lines.sent_id = command.command_id
            status = await self._lines.ask(link, max(min(answer_s, self.options.status_s), self.options.poll_s))
            verdict = self._judge(pending, status)
            took_s = self._now_s() - pending.sent_s
            if verdict is None and took_s >= timeout_s:
                verdict = OutcomeState.TIMEOUT, f"not done after {timeout_s:g} s"
            if verdict is not None:
                return Outcome(verdict[0], command, verdict[1], status, took_s)
            await asyncio.sleep(self.options.poll_s)

    async def _restore(self, link: CrclLink, numbers: set[int] | None = None) -> None:
        """Sets units and reports on a new connection; raises CommandFailed if the server does not take them.

        Args:
            link: The connection.
            numbers: Gets those of the commands that are sent.
        """
        for command in self.session_settings.connection_commands():
            command = replace(command, command_id=self._next_id())
            if numbers is not None:
                numbers.add(command.command_id)
            (await self._perform(link, command, self.options.timeouts.timeout_s(command))).check()
        self._lines.is_bare = False

    async def _in_known_units(self, status: CRCLStatus) -> CRCLStatus:
        """Returns a status in the units that were set, about the same command; only once nothing is under way."""
        if not self.session_settings.initialised:
            return status
        try:
            link = await self._lines.live()
            await self._restore(link)
            return replace(await self._lines.ask(link), command_status=status.command_status)
        except JobFailed as error:
            self._say(f"{error}; the last status may be in the server's default units")
            return status

    def _next_id(self) -> int:
        """Returns a number that neither this client nor, as far as is known, the server has had."""
        seen = self._lines.seen_id
        self._last_id = max(self._last_id, seen if seen < _LAST_OF_OTHERS else 0) + 1
        return self._last_id

    @staticmethod
    def _now_s() -> float:
        return asyncio.get_running_loop().time()
