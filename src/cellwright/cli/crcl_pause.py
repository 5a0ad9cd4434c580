"""Pauses of a program that is sent: by a key where there is a terminal, by a signal everywhere else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from functools import partial

from cellwright.cli.output import err, say
from cellwright.core.errors import JobFailed
from cellwright.crcl.client import CrclClient
from cellwright.crcl.runner import ProgramStep

try:
    import termios
    import tty
except ImportError:  # not on Windows, which has no such terminals
    termios = tty = None  # type: ignore[assignment]

__all__ = ["Pauses"]

KEEP_S = 1.0
"""How often a robot is asked during a pause, so that its server does not take the client for dead."""


class Pauses:
    """Decides before each command whether the program goes on.

    Args:
        client: Is kept alive meanwhile.
        at: Commands before which to pause.
        stepping: Whether to pause before each.
        first: The command at which the program begins; what comes before it only prepares.
        length: How many there are.
    """

    def __init__(self, client: CrclClient, at: Collection[int], stepping: bool, first: int, length: int) -> None:
        self._client = client
        self._at = at
        self._stepping = stepping
        self._first = first
        self._length = length
        self._wanted = self._ends = self._is_paused = False
        self._go = asyncio.Event()
        self._has_keys = False

    async def before(self, step: ProgramStep) -> bool:
        """Waits as long as the program pauses; returns whether it goes on then."""
        if not self._first <= step.index <= self._length:
            return True
        if self._stepping or self._wanted or step.index in self._at:
            self._go.clear()
            self._is_paused = True
            self._wanted = False
            self._tell(step)
            while not self._go.is_set():
                try:
                    async with asyncio.timeout(KEEP_S):
                        await self._go.wait()
                except TimeoutError:
                    with contextlib.suppress(JobFailed):  # the next command reports it, and the robot stands
                        await self._client.status()
            self._is_paused = False
        return not self._ends

    def pause(self) -> None:
        """Pauses before the next command; the one in progress is done."""
        if not self._wanted and not self._is_paused:
            say("pausing after this command", to=err)
            self._wanted = True

    def go_on(self, *, stepping: bool | None = None) -> None:
        """Ends a pause; `stepping` says whether there is another one before the next command."""
        self._stepping = self._stepping if stepping is None else stepping
        self._wanted = False
        self._go.set()

    def key(self, key: str) -> None:
        """Does what a key stands for."""
        if key in ("p", " "):
            self.pause()
        elif key in ("\n", "\r"):
            self.go_on()
        elif key in ("s", "c"):
            self.go_on(stepping=key == "s")
        elif key == "q":
            self._ends = True
            self.go_on()

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Listens to keys and signals."""
        loop, removed = asyncio.get_running_loop(), list[Callable[[], object]]()
        for name, act in (("SIGUSR1", self.pause), ("SIGUSR2", self.go_on)):
            number = getattr(signal, name, None)  # not on Windows
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # not outside the main thread
                if number is not None:
                    loop.add_signal_handler(number, act)
                    removed.append(partial(loop.remove_signal_handler, number))
        with _keys(self.key) as self._has_keys:
            try:
                yield
            finally:
                for remove in removed:
                    remove()

    def _tell(self, step: ProgramStep) -> None:
        what = "this command" if self._stepping else "goes on"
        keys = f"Enter: {what}, s: one command, c: goes on, q: ends; " if self._has_keys else ""
        signals = f"kill -USR2 {os.getpid()} goes on; " if hasattr(signal, "SIGUSR2") else ""
        kind = type(step.command).__name__
        say(f"paused before {step.place(self._length)}, {kind} ({keys}{signals}Ctrl-C stops)", to=err)


@contextlib.contextmanager
def _keys(act: Callable[[str], None]) -> Iterator[bool]:
    """Reads single keys from the terminal if there is one in the foreground; gives whether there is."""
    try:
        terminal = sys.stdin.fileno()
        # A job in the background that touched the terminal would be halted by it.
        is_ours = termios is not None and os.isatty(terminal) and os.tcgetpgrp(terminal) == os.getpgrp()
    except (OSError, ValueError):
        is_ours = False
    if not is_ours:
        yield False
        return
    loop, before = asyncio.get_running_loop(), termios.tcgetattr(terminal)

    def read() -> None:
        keys = os.read(terminal, 64).decode(errors="replace")
        if not keys:
            loop.remove_reader(terminal)
        for key in keys:
            act(key)

    try:
        tty.setcbreak(terminal)
        loop.add_reader(terminal, read)
        yield True
    finally:
        loop.remove_reader(terminal)
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
