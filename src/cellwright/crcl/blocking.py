"""The client for code that does not wait with `await`: the same calls, each of which returns when it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cellwright.core.blocking import BlockingSession
from cellwright.crcl.client import CrclClient
from cellwright.crcl.messages import CRCLCommand, CRCLProgram, CRCLStatus, StopConditionEnum
from cellwright.crcl.options import ClientOptions
from cellwright.crcl.outcome import Outcome
from cellwright.crcl.runner import ProgramProgress, ProgramReport, run_program

__all__ = ["BlockingCrclClient"]


class BlockingCrclClient(BlockingSession):
    """A session with the server at HOST:PORT; its connections live on a thread of their own.

    Use it as `with cw.BlockingCrclClient("127.0.0.1:64444") as robot`, then
    `robot.execute(cw.crcl.InitCanon(0)).check()`. An interrupt (Ctrl-C) during `execute` or `run` stops the robot.
    `abort` may be called from any thread. Closing disconnects; the robot goes on with what it does.

    Raises:
        BadInput: The address makes no sense. When entered, ConnectionFailed, LinkLost, NoAnswer: as `CrclClient.open`.
    """

    def __init__(self, address: str, *, options: ClientOptions | None = None) -> None:
        self._client = CrclClient.to(address, options=options)
        super().__init__(self._client, "crcl client")

    def status(self) -> CRCLStatus:
        """Returns the present status of the robot."""
        return self._wait(self._client.status())

    def execute(self, command: CRCLCommand, *, timeout_s: float | None = None) -> Outcome:
        """Sends a command and returns when the robot has done it, or cannot."""
        return self._wait(self._client.execute(command, timeout_s=timeout_s), self._client.abort)

    def run(
        self,
        program: CRCLProgram,
        *,
        file: str | None = None,
        setup: Sequence[CRCLCommand] = (),
        start: int = 1,
        until: int | None = None,
        change: Callable[[CRCLCommand], CRCLCommand] = lambda command: command,
        on_progress: Callable[[ProgramProgress], None] = lambda _progress: None,
    ) -> ProgramReport:
        """Runs a program, or a part of it, as `run_program`; `on_progress` is called on the client's thread."""
        running = run_program(
            self._client,
            program,
            file=file,
            setup=setup,
            start=start,
            until=until,
            change=change,
            on_progress=on_progress,
        )
        return self._wait(running, self._client.abort)

    def abort(self, condition: StopConditionEnum = StopConditionEnum.FAST) -> Outcome:
        """Stops the robot; an `execute` or `run` that waits in another thread ends as aborted."""
        return self._wait(self._client.abort(condition))
