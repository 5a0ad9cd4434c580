"""The process of a cell under test, seen from the test: questions go in, answers come out, within a time."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from cellwright.core.errors import BadInput, CellwrightError

__all__ = ["CellError", "HostProcess"]


class CellError(CellwrightError):
    """The cell cannot be used: it was not started, it has ended, or it does not answer."""


class HostProcess:
    """A laboratory in a process of its own.

    Args:
        said: The file for what it says besides its answers.
    """

    def __init__(self, said: Path) -> None:
        self._said = said
        with said.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "cellwright.testing.host"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._answers: Queue[dict[str, Any] | None] = Queue()
        self._asked = 0
        threading.Thread(target=self._read, name="cell under test", daemon=True).start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, once it was closed."""
        return self._process.returncode

    def ask(self, what: str, timeout_s: float, arguments: dict[str, Any]) -> Any:
        """Sends one question and returns the answer.

        Raises:
            BadInput: The question makes no sense; one line.
            CellError: There is no answer within that real time.
        """
        __tracebackhide__ = True
        self._asked += 1
        end_s = time.monotonic() + timeout_s
        with contextlib.suppress(OSError):  # it has ended, and the reader will say so
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps({"id": self._asked, "do": what, **arguments}).encode() + b"\n")
            self._process.stdin.flush()
        answer: dict[str, Any] | None = {}
        while answer is not None and answer.get("id") != self._asked:  # late answers to earlier questions are left
            try:
                answer = self._answers.get(timeout=max(0.0, end_s - time.monotonic()))
            except Empty:
                raise CellError(f"the cell did not answer '{what}' in time; it may be overloaded") from None
        if answer is None:
            self._answers.put(None)
            raise CellError(f"the cell's process has ended: {self._last_words()}")
        if "error" in answer:
            raise (BadInput if answer.get("bad_input") else CellError)(answer["error"])
        return answer["result"]

    def close(self) -> None:
        """Ends the process, whatever it does."""
        process = self._process
        with contextlib.suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()
        try:
            process.wait(2.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()

    def _last_words(self) -> str:
        said = ""
        with contextlib.suppress(OSError):
            for line in self._said.read_text(errors="replace").strip().splitlines():
                said = "" if line[:1].isspace() else f"{said} {line}".strip()  # what follows the last traceback
        return f"{said or 'it said nothing'} (all of it: {self._said})"

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            for line in self._process.stdout:
                self._answers.put(json.loads(line))
        self._answers.put(None)
