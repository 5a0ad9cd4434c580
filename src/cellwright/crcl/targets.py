"""Which robots are simulated and which are real, and switching between the two while work goes on.

A target executes commands like a client. It is switched between two commands, never in the midst of one, and only when
the other robot is there, initialised, and has the same units and settings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from pydantic import Field, field_validator

from cellwright.core.config import Cfg
from cellwright.core.errors import BadInput, CellwrightError, JobFailed, UnknownName
from cellwright.crcl.client import CrclClient
from cellwright.crcl.connection import Connector, parse_address, tcp
from cellwright.crcl.messages import CRCLCommand, CRCLStatus, EndCanon, InitCanon, StopConditionEnum
from cellwright.crcl.options import ClientOptions, ProgramPlace
from cellwright.crcl.outcome import Outcome

__all__ = ["SIMULATED", "EndpointCfg", "SwitchRefused", "Switched", "Target", "Targets", "TargetsCfg"]

SIMULATED = "simulated"


class EndpointCfg(Cfg):
    """One robot: `simulated`, or the HOST:PORT of its CRCL server, and how it is asked."""

    at: str = SIMULATED
    poll_s: float = Field(0.05, ge=0.001, le=10.0)
    reconnect_s: float = Field(10.0, ge=0.0, le=3600.0)

    @field_validator("at")
    @classmethod
    def _check_address(cls, at: str) -> str:
        if at != SIMULATED:
            try:
                parse_address(at)
            except BadInput as error:
                raise ValueError(f"{error}, or '{SIMULATED}'") from None
        return at


class TargetsCfg(Cfg):
    """The robots by name.

    ```yaml
    robots:
      fanuc: simulated
      motoman: 192.168.1.66:64445
    ```
    """

    robots: dict[str, EndpointCfg]

    @field_validator("robots", mode="before")
    @classmethod
    def _take_plain_addresses(cls, robots: Any) -> Any:
        if isinstance(robots, dict):
            return {name: {"at": at} if isinstance(at, str) else at for name, at in robots.items()}
        return robots


class SwitchRefused(JobFailed):
    """A switch that was not made; the target stays what it was."""


@dataclass(frozen=True, slots=True)
class Switched:
    """A switch that was made; `left` says how the session with the old robot was closed."""

    robot: str
    old: str
    new: str
    left: str


class Target:
    """One robot, wherever it is; made by `Targets`. Commands are executed one after the other.

    Attributes:
        name: The robot's name.
        endpoint: Where it is now.
        aborts: How often it was stopped.
    """

    def __init__(self, name: str, endpoint: EndpointCfg, connector: Callable[[str], Connector]) -> None:
        self.name, self.endpoint, self.aborts = name, endpoint, 0
        self._connector = connector
        self._client = self._make(endpoint)
        self._turn = asyncio.Lock()
        self._doing: CRCLCommand | None = None

    async def open(self) -> Self:
        """Connects; raises ConnectionFailed and others as `CrclClient.open`."""
        await self._client.open()
        return self

    async def close(self) -> None:
        """Disconnects; the robot goes on with what it does."""
        await self._client.close()

    async def status(self) -> CRCLStatus:
        """What the robot reports now."""
        return await self._client.status()

    async def execute(
        self, command: CRCLCommand, *, timeout_s: float | None = None, place: ProgramPlace | None = None
    ) -> Outcome:
        """As `CrclClient.execute`, after the commands and switches that were asked for before."""
        async with self._turn:
            self._doing = command
            try:
                return await self._client.execute(command, timeout_s=timeout_s, place=place)
            finally:
                self._doing = None

    async def abort(self, condition: StopConditionEnum = StopConditionEnum.FAST, *, timeout_s: float = 5.0) -> Outcome:
        """Stops the robot at once."""
        self.aborts += 1
        return await self._client.abort(condition, timeout_s=timeout_s)

    async def switch(self, to: str | EndpointCfg, *, wait_s: float | None = None) -> Switched:
        """Makes another endpoint the robot: `simulated` or HOST:PORT.

        Nothing is moved. If a session is open, it is opened at the new robot with the same units, speeds, tolerances
        and reports, and closed at the old one.

        Args:
            to: Where the robot is from now on.
            wait_s: How long to wait for the command in progress; 0: not at all, None: until it ends.

        Raises:
            SwitchRefused: A command is in progress, the other robot cannot be reached or does not take the settings.
            BadInput: That is no endpoint.
        """
        endpoint = to if isinstance(to, EndpointCfg) else _endpoint(to)
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

    async def _switch(self, endpoint: EndpointCfg) -> Switched:
        old, new = self._client, self._make(endpoint)
        try:
            await new.open()
        except CellwrightError as error:
            raise self._refused(endpoint, str(error)) from None
        try:
            if old.remembered.initialised:
                for command in (InitCanon(0), *old.remembered.of_robot()):
                    (await new.execute(command)).check()
        except JobFailed as error:
            await new.execute(EndCanon(0))
            await new.close()
            raise self._refused(endpoint, str(error)) from None
        left = "no session was open"
        if old.remembered.initialised:
            left = (await old.execute(EndCanon(0), timeout_s=5.0)).text
        await old.close()
        before, self.endpoint, self._client = self.endpoint, endpoint, new
        return Switched(self.name, before.at, endpoint.at, left)

    def _make(self, endpoint: EndpointCfg) -> CrclClient:
        options = ClientOptions(poll_s=endpoint.poll_s, reconnect_s=endpoint.reconnect_s)
        peer = endpoint.at if endpoint.at != SIMULATED else f"the simulated {self.name}"
        return CrclClient(self._connector(endpoint.at), peer=peer, options=options)

    def _busy(self) -> str:
        doing = type(self._doing).__name__ if self._doing is not None else "a switch"
        return f"{doing} is in progress, and a robot is switched between commands only"

    def _refused(self, endpoint: EndpointCfg, why: str) -> SwitchRefused:
        return SwitchRefused(f"{self.name} stays {self.endpoint.at}, it was not switched to {endpoint.at}: {why}")


class Targets:
    """All robots of a configuration; use it as `async with Targets(cfg, simulated) as targets`.

    Args:
        cfg: Where each robot is.
        simulated: Connections to those robots that can be simulated, such as `{"fanuc": server.connect}`.

    Raises:
        UnknownName: A robot shall be simulated that is not there.
    """

    def __init__(self, cfg: TargetsCfg, simulated: Mapping[str, Connector]) -> None:
        self._simulated = simulated
        self._targets = {
            name: Target(name, endpoint, lambda at, name=name: self._connector(name, at))  # type: ignore[misc]
            for name, endpoint in cfg.robots.items()
        }

    def robot(self, name: str) -> Target:
        """The robot of that name."""
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
        for target in self._targets.values():
            await target.close()

    def _connector(self, name: str, at: str) -> Connector:
        if at != SIMULATED:
            return tcp(at)
        if name not in self._simulated:
            raise UnknownName("simulated robot", name, self._simulated)
        return self._simulated[name]


def _endpoint(at: str) -> EndpointCfg:
    if at != SIMULATED:
        parse_address(at)
    return EndpointCfg(at=at)
