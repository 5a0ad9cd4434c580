"""A controller under test as a process of its own: started, watched, its output kept, ended with all its children."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.core.errors import BadInput

__all__ = ["ControllerRun", "run_controller"]

LOOK_S = 0.1  # real time between two looks at the process and its cell
GOODBYE_S = 2.0  # from the request to end until it is killed
MOST_BYTES = 256 * 2**20  # of output; one that writes more is ended before it fills the disk
SHOWN_LINES = 30


@dataclass(frozen=True)
class ControllerRun:
    """The result of running a controller.

    Attributes:
        command: What was started.
        exit_code: Of the process; negative when a signal ended it, such as -9.
        stdout_file: All that it said.
        stderr_file: All that it complained about.
        killed: Why it was ended from here; empty when it ended by itself.
        interfaces_closed: Why the interfaces had closed, such as `the time limit was reached`; empty when they had not.
    """

    command: tuple[str, ...]
    exit_code: int
    stdout_file: Path
    stderr_file: Path
    killed: str = ""
    interfaces_closed: str = ""

    @property
    def stdout(self) -> str:
        """Its standard output."""
        return self.stdout_file.read_text(encoding="utf-8", errors="replace")

    @property
    def stderr(self) -> str:
        """Its standard error output."""
        return self.stderr_file.read_text(encoding="utf-8", errors="replace")

    @property
    def ok(self) -> bool:
        """True if it ended by itself, with exit code 0."""
        return not self.killed and self.exit_code == 0

    @property
    def ending(self) -> str:
        """Its ending in one line, with the last that it has complained about."""
        last = next((line.strip() for line in reversed(_last_lines(self.stderr_file)) if line.strip()), "")[:200]
        return (self.killed or f"exit code {self.exit_code}") + (f": {last}" if last else "")

    def __str__(self) -> str:
        """Returns the ending and the last output, for a test's report."""
        closed = f", after the interfaces had closed: {self.interfaces_closed}" if self.interfaces_closed else ""
        lines = [f"{' '.join(map(_short, self.command))}: {self.killed or f'exit code {self.exit_code}{closed}'}"]
        for file in (self.stdout_file, self.stderr_file):
            said = _last_lines(file)
            lines += [f"{file}:" if said else f"{file} is empty", *said]
        return "\n".join(lines)


@dataclass(frozen=True)
class ControllerLimits:
    """Time limits of a controller, all in real seconds.

    Attributes:
        timeout_s: From its start.
        connect_within_s: Until it is connected to an interface.
        grace_s: After the interfaces have closed.
    """

    timeout_s: float
    connect_within_s: float
    grace_s: float


def run_controller(
    command: Sequence[str | Path],
    folder: Path,
    name: str,
    limits: ControllerLimits,
    state: Callable[[], Mapping[str, Any]],
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
) -> ControllerRun:
    """Runs a controller until it ends or must be ended; nothing that it started outlives the call.

    Args:
        command: The program and its arguments.
        folder: For the files of its output.
        name: What those are called.
        limits: How long it may go on.
        state: Gives how many are `connected`, and in `ended` why the interfaces have closed.
        cwd: Where it runs; here when None.
        env: What its environment has besides that of the test.

    Raises:
        BadInput: There is no such program.
    """
    __tracebackhide__ = True
    words = tuple(str(word) for word in command)
    if isinstance(command, str | bytes) or not words:
        raise BadInput(f'a controller is a list of words, as in [sys.executable, "my_controller.py"], got {command!r}')
    out, err = folder / f"{name}.stdout.txt", folder / f"{name}.stderr.txt"
    # Python programs keep back what they print to a file: what one said before it was killed would be lost.
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})}
    with out.open("wb") as said, err.open("wb") as complained:
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=complained,
                cwd=cwd,
                env=environment,
                start_new_session=True,  # a group of its own, to end it with its children
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise BadInput(f"cannot start the controller {words[0]}: {reason}") from None
    try:
        killed = _watch(process, limits, state, (out, err))
        closed = str(state()["ended"])
    finally:
        _end(process)
    return ControllerRun(words, process.returncode, out, err, killed, closed)


def _watch(
    process: subprocess.Popen[bytes],
    limits: ControllerLimits,
    state: Callable[[], Mapping[str, Any]],
    files: Sequence[Path],
) -> str:
    """Waits for its end; why it must be ended, or an empty text when it has."""
    began_s, closed_s, met = time.monotonic(), None, False
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_S)
            return ""
        now_s, cell = time.monotonic(), state()
        met = met or cell["connected"] > 0
        if cell["ended"] and closed_s is None:
            closed_s = now_s
        if closed_s is not None and now_s - closed_s > limits.grace_s:
            return f"killed: {cell['ended']}, and it still ran {limits.grace_s:g} s later"
        if not met and now_s - began_s > limits.connect_within_s:
            return f"killed: it did not connect to any interface within {limits.connect_within_s:g} s of real time"
        if now_s - began_s > limits.timeout_s:
            return f"killed: it still ran after {limits.timeout_s:g} s of real time"
        if sum(file.stat().st_size for file in files) > MOST_BYTES:
            return f"killed: it wrote more than {MOST_BYTES // 2**20} MB"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the process, if it runs, and whatever else is in its group."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GOODBYE_S)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(OSError):  # no process is left in the group
        os.killpg(process.pid, number)


def _short(word: str) -> str:
    """Returns a word of a command in a report: a whole program after `-c` would hide the rest."""
    first, *more = word.strip().splitlines() or [""]
    return f"{first[:100]}..." if more or len(first) > 100 else first


def _last_lines(file: Path) -> list[str]:
    """Returns the end of what was said, short enough for a report."""
    with file.open("rb") as said:
        said.seek(max(0, file.stat().st_size - 200 * SHOWN_LINES))
        lines = said.read().decode("utf-8", "replace").splitlines()
    return [f"  {line}" for line in lines[-SHOWN_LINES:]]
