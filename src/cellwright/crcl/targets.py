"""Robots that are simulated or real, and switching between the two while work goes on.

A target executes commands like a client. It is switched between two commands, never in the midst of one, and only when
the other robot is there, stands at the same place, and reports the same units, speeds and override. A robot that is
left, by whatever way, is stopped if it may be moving.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from cellwright.core.errors import CellwrightError, JobFailed, UnknownName
from cellwright.crcl.client import CrclClient
from cellwright.crcl.connection import Connector, parse_address, tcp
from cellwright.crcl.endpoints import SIMULATED, EndpointCfg, TargetsCfg
from cellwright.crcl.messages import CommandStateEnum, CRCLCommand, CRCLStatus, EndCanon, StopConditionEnum
from cellwright.crcl.options import ProgramPlace
from cellwright.crcl.outcome import Outcome, OutcomeState
from cellwright.crcl.plausibility import without_implausible_positions
from cellwright.crcl.position_difference import PositionDifference
from cellwright.crcl.session_transfer import transfer_session
from cellwright.crcl.units import CrclUnits

__all__ = ["SwitchRefused", "SwitchReport", "Target", "Targets"]

LOG = logging.getLogger(__name__)
LEAVE_S = 5.0  # for the stop and the last command of a robot that is left
_WORKING = CommandStateEnum.CRCL_WORKING
_STANDS = (OutcomeState.DONE, OutcomeState.ERROR, OutcomeState.REFUSED, OutcomeState.ABORTED)


class SwitchRefused(JobFailed):
    """A switch that was not made; the target stays what it was."""


@dataclass(frozen=True, slots=True)
class SwitchReport:
    """The report of a switch that was made.

    Attributes:
        robot: The robot's name.
        old: The endpoint before.
        new: The endpoint now.
        left: How the session with the old robot was closed.
        difference: The difference between the positions of the two.
        unconfirmed: Settings that the new robot took but does not report.
    """

    robot: str
    old: str
    new: str
    left: str
    difference: PositionDifference
    unconfirmed: tuple[str, ...]


class Target:
    """One robot, wherever it is; made by `Targets`. Commands are executed one after the other.

    Attributes:
        name: The robot's name.
        endpoint: Its present endpoint.
        aborts: The number of times that it was stopped.
    """

    def __init__(
        self,
        name: str,
        endpoint: EndpointCfg,
        connector: Callable[[str], Connector],
        say: Callable[[str], None] = LOG.warning,
    ) -> None:
        self.name = name
        self.endpoint = endpoint
        self.aborts = 0
        self._connector = connector
        self._say = say
        self._client = self._make(endpoint)
        self._turn = asyncio.Lock()
        self._executing: CRCLCommand | None = None
        self._may_move = self._is_closed = False
        self._known: CRCLStatus | None = None
        self._doubts: tuple[str, ...] = ()

    async def open(self) -> Self:
        """Connects; raises ConnectionFailed and others as `CrclClient.open`."""
        await self._client.open()
        return self

    async def close(self) -> None:
        """Stops the robot if a command of this target may still be moving it, and disconnects."""
        self._is_closed = True
        try:
            if self._may_move:
                await self._stop()
                async with asyncio.timeout(self.endpoint.stalled_s):
                    await self._turn.acquire()  # the call that waits for the command learns that it was stopped
        except TimeoutError:
            pass
        finally:
            await self._client.close()

    async def status(self) -> CRCLStatus:
        """Returns the present status, without implausible positions; those are reported to `say`."""
        return self._checked(await self._client.status())

    async def execute(
        self, command: CRCLCommand, *, timeout_s: float | None = None, place: ProgramPlace | None = None
    ) -> Outcome:
        """Executes as `CrclClient.execute`, after the commands and switches that were asked for before.

        A command that waits for its turn when the robot is aborted or left is not sent. When the task is cancelled,
        the robot is stopped.
        """
        aborts = self.aborts
        async with self._turn:
            if self._is_closed:
                return Outcome(OutcomeState.LOST, command, f"not sent: {self.name} was left", None, 0.0)
            if self.aborts != aborts:
                return Outcome(OutcomeState.ABORTED, command, "stopped before it was sent", None, 0.0)
            self._executing = command
            self._may_move = True
            try:
                outcome = await self._client.execute(command, timeout_s=timeout_s, place=place)
            except asyncio.CancelledError:
                await asyncio.shield(self._stop())
                raise
            finally:
                self._executing = None
            self._may_move = outcome.state not in _STANDS
            return replace(outcome, status=self._checked(outcome.status)) if outcome.status else outcome

    async def abort(self, condition: StopConditionEnum = StopConditionEnum.FAST, *, timeout_s: float = 5.0) -> Outcome:
        """Stops the robot at once."""
        self.aborts += 1
        return await self._client.abort(condition, timeout_s=timeout_s)

    async def switch(self, to: str | EndpointCfg, *, wait_s: float | None = None) -> SwitchReport:
        """Makes another endpoint the robot: `simulated` or HOST:PORT.

        Nothing is moved. If a session is open, it is opened at the new robot with the same units, speeds, override,
        tolerances and reports, and closed at the old one, which is stopped if it may be moving.

        Args:
            to: Where the robot is from now on; an address alone keeps all else of the endpoint.
            wait_s: How long to wait for the command in progress; 0: not at all, None: until it ends.

        Raises:
            SwitchRefused: A command is in progress, or the other robot cannot be reached, stands elsewhere, does not
                take the settings or reports others.
            BadInput: That is no endpoint.
        """
        endpoint = to if isinstance(to, EndpointCfg) else self._endpoint(to)
        if wait_s == 0 and self._turn.locked():
            raise self._refused(endpoint, self._busy())
        try:
            async with asyncio.timeout(wait_s):
                await self._turn.acquire()
        except TimeoutError:
            raise self._refused(endpoint, f"after {wait_s:g} s {self._busy()}") from None
        try:
            return await self._switch(endpoint)
        finally:
            self._turn.release()

    async def _switch(self, endpoint: EndpointCfg) -> SwitchReport:
        old, new = self._client, self._make(endpoint)
        try:
            await new.open()
            here = await self._last_status()
            difference, unconfirmed = await transfer_session(
                old.session_settings, here, new, endpoint.position_tolerance, self._say
            )
        except CellwrightError as error:
            await self._leave(new)
            raise self._refused(endpoint, str(error)) from None
        except BaseException:
            await asyncio.shield(self._leave(new))
            raise
        before = self.endpoint
        self.endpoint = endpoint
        self._client = new
        self._known = None
        left = await asyncio.shield(self._leave(old))
        return SwitchReport(self.name, before.at, endpoint.at, left, difference, unconfirmed)

    async def _last_status(self) -> CRCLStatus | None:
        """Stops the robot that shall be left, if it moves; returns its last known status."""
        if self._may_move:
            await self._stop()
        try:
            status = await self.status()
            if self._client.session_settings.initialised and status.command_status.command_state is _WORKING:
                await self._stop()
                status = await self.status()
        except JobFailed:
            return self._known
        return status

    async def _stop(self) -> None:
        stopped = await self._client.abort(timeout_s=LEAVE_S)
        self._may_move = not stopped.done
        if not stopped.done:
            self._say(f"{self.name} at {self.endpoint.at} WAS NOT STOPPED: {stopped.text}")

    @staticmethod
    async def _leave(client: CrclClient) -> str:
        """Closes the session if there is one; returns how that went."""
        try:
            if not client.session_settings.initialised:
                return "no session was open"
            return (await client.execute(EndCanon(0), timeout_s=LEAVE_S)).text
        finally:
            await client.close()

    def _checked(self, status: CRCLStatus) -> CRCLStatus:
        session_settings = self._client.session_settings
        status, doubts = without_implausible_positions(
            status, session_settings.units if session_settings.initialised else CrclUnits()
        )
        if doubts and doubts != self._doubts:
            self._say(f"{self._client.peer}: {'; '.join(doubts)}")
        self._doubts = doubts
        if not doubts:
            self._known = status
        return status

    def _endpoint(self, at: str) -> EndpointCfg:
        if at != SIMULATED:
            parse_address(at)
        return self.endpoint.model_copy(update={"at": at})

    def _make(self, endpoint: EndpointCfg) -> CrclClient:
        peer = endpoint.at if endpoint.at != SIMULATED else f"the simulated {self.name}"
        return CrclClient(self._connector(endpoint.at), peer=peer, options=endpoint.client_options, say=self._say)

    def _busy(self) -> str:
        activity = type(self._executing).__name__ if self._executing is not None else "a switch"
        return f"{activity} is in progress, and a robot is switched between commands only"

    def _refused(self, endpoint: EndpointCfg, why: str) -> SwitchRefused:
        return SwitchRefused(f"{self.name} stays {self.endpoint.at}, it was not switched to {endpoint.at}: {why}")


class Targets:
    """All robots of a configuration; use it as `async with Targets(cfg, simulated) as targets`.

    Args:
        cfg: The endpoint of each robot.
        simulated: Connections to those robots that can be simulated, such as `{"fanuc": server.connect}`.
        say: Gets a text for each lost connection, implausible position, and robot that could not be stopped.

    Raises:
        UnknownName: A robot shall be simulated that is not there.
    """

    def __init__(
        self, cfg: TargetsCfg, simulated: Mapping[str, Connector], *, say: Callable[[str], None] = LOG.warning
    ) -> None:
        self._simulated = simulated
        self._targets = {
            name: Target(name, endpoint, lambda at, name=name: self._connector(name, at), say)  # type: ignore[misc]
            for name, endpoint in cfg.robots.items()
        }

    def robot(self, name: str) -> Target:
        """Returns the robot of that name."""
        if name not in self._targets:
            raise UnknownName("robot", name, self._targets)
        return self._targets[name]

    async def __aenter__(self) -> Self:
        try:
            for target in self._targets.values():
                await target.open()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_exception: object) -> None:
        closing = [asyncio.ensure_future(target.close()) for target in self._targets.values()]
        await asyncio.shield(asyncio.gather(*closing, return_exceptions=True))

    def _connector(self, name: str, at: str) -> Connector:
        if at != SIMULATED:
            return tcp(at)
        if name not in self._simulated:
            raise UnknownName("simulated robot", name, self._simulated)
        return self._simulated[name]
