"""The client for code that does not wait with `await`: the same calls, each of which returns when it is done."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, wait
from typing import Any, Self, TypeVar

from cellwright.crcl.client import CrclClient
from cellwright.crcl.messages import CRCLCommand, CRCLProgram, CRCLStatus, StopConditionEnum
from cellwright.crcl.options import ClientOptions
from cellwright.crcl.outcome import Outcome
from cellwright.crcl.runner import ProgramReport, Progress, run_program

__all__ = ["BlockingClient"]

T = TypeVar("T")

LOOK_S = 0.1  # how often a waiting thread looks for an interrupt: where waits cannot be broken, it would come too late


class BlockingClient:
    """A session with the server at HOST:PORT; its connections live on a thread of their own.

    Use it as `with BlockingClient("127.0.0.1:64444") as robot`. An interrupt (Ctrl-C) during `execute` or `run` stops
    the robot. `abort` may be called from any thread.

    Raises:
        BadInput: The address makes no sense. When entered, ConnectionFailed, LinkLost, NoAnswer: as `CrclClient.open`.
    """

    def __init__(self, address: str, *, options: ClientOptions | None = None) -> None:
        self._client = CrclClient.to(address, options=options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def open(self) -> Self:
        """Connects."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="crcl client", daemon=True)
        self._thread.start()
        try:
            self._wait(self._client.open())
        except BaseException:
            self._end_thread()
            raise
        return self

    def close(self) -> None:
        """Disconnects; the robot goes on with what it does. Harmless when it is closed."""
        if self._loop is not None:
            self._wait(self._client.close())
            self._end_thread()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def status(self) -> CRCLStatus:
        """What the robot reports now."""
        return self._wait(self._client.status())

    def execute(self, command: CRCLCommand, *, timeout_s: float | None = None) -> Outcome:
        """Sends a command and returns when the robot has done it, or cannot."""
        return self._wait(self._client.execute(command, timeout_s=timeout_s), stops=True)

    def run(
        self,
        program: CRCLProgram,
        *,
        file: str | None = None,
        setup: Sequence[CRCLCommand] = (),
        on_progress: Callable[[Progress], None] = lambda _progress: None,
    ) -> ProgramReport:
        """Runs a program; `on_progress` is called on the client's thread."""
        running = run_program(self._client, program, file=file, setup=setup, on_progress=on_progress)
        return self._wait(running, stops=True)

    def abort(self, condition: StopConditionEnum = StopConditionEnum.FAST) -> Outcome:
        """Stops the robot; an `execute` or `run` that waits in another thread ends as aborted."""
        return self._wait(self._client.abort(condition))

    def _wait(self, work: Coroutine[Any, Any, T], *, stops: bool = False) -> T:
        if self._loop is None:
            work.close()
            raise RuntimeError("the client is not open")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            while not wait([future], timeout=LOOK_S).done:
                pass
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            if stops:
                with contextlib.suppress(CancelledError):
                    asyncio.run_coroutine_threadsafe(self._client.abort(), self._loop).result(timeout=10.0)
            raise

    def _end_thread(self) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
        self._loop = self._thread = None
