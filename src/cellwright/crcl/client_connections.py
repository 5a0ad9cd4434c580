"""The connections of a client: one for commands, made again when it is lost, and one that stands ready for a stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cellwright.crcl.connection import ConnectionFailed, Connector
from cellwright.crcl.findings import DocumentFindings
from cellwright.crcl.link import CrclLink, LinkListeners, LinkLost, NoAnswer
from cellwright.crcl.messages import CRCLStatus
from cellwright.crcl.options import ClientOptions

__all__ = ["ClientConnections"]


class ClientConnections:
    """The connections to one server.

    Args:
        connect: Makes them.
        peer: The name of the server in messages.
        options: How to wait.
        say: Gets a text for each new connection.
        listeners: Hear all messages.

    Attributes:
        sent_id: The number of the last command that was sent.
        is_bare: Whether the connection is a new one on which nothing was set yet.
        findings: What was wrong with the server's answers.
    """

    def __init__(
        self,
        connect: Connector,
        peer: str,
        options: ClientOptions,
        say: Callable[[str], None],
        listeners: LinkListeners | None = None,
    ) -> None:
        self.sent_id = 0
        self.is_bare = False
        self.findings = DocumentFindings()
        self._connect = connect
        self._peer = peer
        self._options = options
        self._say = say
        self._listeners = listeners
        self._main: CrclLink | None = None
        self._stop: CrclLink | None = None
        self._connecting = asyncio.Lock()
        self._vain, self._why_vain = 0, ""  # how often it was connected again in vain, and why the last time

    @property
    def seen_id(self) -> int:
        """The highest command number in the last statuses."""
        links = (link.latest for link in (self._main, self._stop) if link is not None)
        return max((status.command_status.command_id for status in links if status is not None), default=0)

    async def open(self) -> None:
        """Connects, and asks once; raises ConnectionFailed, LinkLost, NoAnswer."""
        self._main = await self._open()
        try:
            await self.ask(self._main)
            if self._options.with_stop_connection:
                self._stop = await self._open()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Ends the connections."""
        links = (self._main, self._stop)
        self._main = None
        self._stop = None
        for link in filter(None, links):
            await link.close()

    async def ask(self, link: CrclLink, timeout_s: float | None = None) -> CRCLStatus:
        """Returns a status; raises LinkLost, NoAnswer.

        It is asked for with the number of the last command, as NIST's client does: some servers take it for a new one.
        """
        await link.ask(max(self.sent_id, 1))
        return await link.next_status(self._options.status_s if timeout_s is None else timeout_s)

    async def live(self) -> CrclLink:
        """Returns the connection for commands; a new one if it was lost, tried for a while. Raises ConnectionFailed.

        Those that wait while another one tries in vain do not try once more.
        """
        vain = self._vain
        async with self._connecting:
            if self._main is None:
                raise ConnectionFailed(f"the client of {self._peer} is not open")
            if not self._main.lost:
                return self._main
            if self._vain > vain:
                raise ConnectionFailed(self._why_vain)
            lost, until_s = self._main.lost, asyncio.get_running_loop().time() + self._options.reconnect_s
            await self._main.close()
            while self._options.reconnect_s > 0:
                try:
                    self._main = await self._open()
                    await self.ask(self._main)
                    self.is_bare = True
                    self._say(f"connected to {self._peer} again")
                    return self._main
                except (ConnectionFailed, LinkLost, NoAnswer) as error:
                    await self._main.close()
                    if asyncio.get_running_loop().time() >= until_s:
                        self._vain += 1
                        self._why_vain = f"no connection within {self._options.reconnect_s:g} s: {error}"
                        raise ConnectionFailed(self._why_vain) from None
                await asyncio.sleep(self._options.retry_s)
            raise ConnectionFailed(f"{self._peer}: {lost}")

    async def for_stop(self, attempt: int) -> CrclLink:
        """Returns the connection for a stop; raises ConnectionFailed.

        First the one that is kept for it. Then that for commands: if the server has not read the last one yet, the stop
        must not overtake it. Then a new one.
        """
        if attempt == 1 and self._main is not None and not self._main.lost:
            return self._main
        if self._stop is None or self._stop.lost or attempt:
            if self._stop is not None:
                await self._stop.close()
            self._stop = await self._open()
        return self._stop

    async def _open(self) -> CrclLink:
        return await CrclLink.open(self._connect, self._peer, self._options.status_s, self.findings, self._listeners)
