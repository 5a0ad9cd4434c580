"""Runs an external program: with limits, in a process group that is ended as a whole, whatever it prints."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from cellwright.core.errors import OutOfRange

__all__ = ["ProcessLimits", "ProcessResult", "run_limited"]

_KEEP_UP_S = 1.0  # how long output may still arrive after the end
_LARGEST_FILE_KB = 1 << 20


@dataclass(frozen=True)
class ProcessLimits:
    """The limits of a program.

    Attributes:
        time_s: Wall time; it ends a job as `timeout` and never changes a plan.
        memory_mb: Address space of each process; None for no limit.
        output_mb: The most that it may print, and the largest plan.
    """

    time_s: float = 60.0
    memory_mb: int | None = 4096
    output_mb: int = 64

    def __post_init__(self) -> None:
        """Refuses limits out of range."""
        for what, value, low, high, unit in (
            ("time limit", self.time_s, 0.01, 1e6, "s"),
            ("memory limit", self.memory_mb or 1, 1, 1 << 24, "MB"),
            ("output limit", self.output_mb, 1, 1 << 14, "MB"),
        ):
            if not low <= value <= high:
                raise OutOfRange(f"planner's {what}", value, low, high, unit)


@dataclass(frozen=True)
class ProcessResult:
    """The end of a program.

    Attributes:
        code: Exit code; negative for a signal.
        timed_out: It was ended because of the time limit.
        output_exceeded: It was ended because it printed too much.
        printed: Its output.
        last_error: The last line it wrote to its error output.
    """

    code: int
    timed_out: bool
    output_exceeded: bool
    printed: str
    last_error: str

    def describe(self) -> str:
        """Returns the end of the program in words: its exit code or signal, and its last error."""
        if self.code < 0:
            known = {number.value: number.name for number in signal.Signals}
            how = f"ended by signal {known.get(-self.code, -self.code)}"
        else:
            how = f"ended with exit code {self.code}"
        return f"{how}: {self.last_error}" if self.last_error else how


def run_limited(command: Sequence[str], folder: Path, limits: ProcessLimits) -> ProcessResult:
    """Runs a program in a folder; when this returns, nothing of it runs any more."""
    largest = limits.output_mb << 20
    process = subprocess.Popen(
        _limited(command, limits),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},  # the same translation in every run
    )
    timed_out = False
    readers: list[_Reader] = []
    try:
        readers += [_Reader(stream, largest, process) for stream in (process.stdout, process.stderr) if stream]
        process.wait(limits.time_s)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        _end_group(process)
        process.wait()
        for reader in readers:
            reader.join(_KEEP_UP_S)
    printed, errors = (reader.text() for reader in readers)
    error_lines = [
        line.strip() for line in errors.splitlines() if line.strip() and not line.startswith("\tat ")
    ]  # Java's
    output_exceeded = any(reader.output_exceeded for reader in readers)
    return ProcessResult(
        process.returncode, timed_out, output_exceeded, printed, error_lines[-1] if error_lines else ""
    )


def _limited(command: Sequence[str], limits: ProcessLimits) -> list[str]:
    """Returns a command that sets the limits in a shell, which becomes the program: nothing runs without them."""
    if os.name == "nt":
        return list(command)
    memory = f"ulimit -v {limits.memory_mb * 1024} 2>/dev/null; " if limits.memory_mb else ""
    return ["/bin/sh", "-c", f'{memory}ulimit -f {_LARGEST_FILE_KB * 2}; exec "$@"', "sh", *command]


def _end_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except AttributeError:  # no groups on this system
        process.kill()


class _Reader(threading.Thread):
    """Keeps what is printed, up to a limit, so that the program never waits for us."""

    def __init__(self, stream: IO[bytes], largest: int, process: subprocess.Popen[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._largest = largest
        self._process = process
        self._kept = bytearray()
        self.output_exceeded = False
        self.start()

    def run(self) -> None:
        with self._stream:
            while chunk := os.read(self._stream.fileno(), 1 << 16):
                if self.output_exceeded:
                    continue
                self._kept += chunk
                if len(self._kept) > self._largest:
                    self.output_exceeded = True
                    _end_group(self._process)

    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")
