"""A control program from a file, in a process of its own: it sees readings and nothing else, and may crash or hang."""

from __future__ import annotations

import ast
import json
import os
import runpy
import select
import subprocess
import sys
import traceback
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import Any

from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.files import read_text
from cellwright.mobile.program_limits import FORBIDDEN, limit_program
from cellwright.mobile.readings import RobotReadings, two_speeds

__all__ = ["ProgramFailed", "ProgramProcess", "check_program"]

CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from cellwright.mobile.program_process import main; main(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))"
)
CLASS, METHOD = "Controller", "update"
TOLD = ("name", "time_s", "x_m", "y_m", "yaw_rad", "speed_mps", "turn_speed_radps", "ranges_m", "max_range_m")
START_S, UPDATE_S, TOTAL_S = 30.0, 5.0, 120.0
LARGEST = 1 << 20
MOST_PRINTED = 1 << 20  # bytes; what a program prints beyond is left out
FASTEST = 1e3  # m/s and rad/s: more is an error of the program, not a speed to be cut down


class ProgramFailed(JobFailed):
    """Raised when a control program ends, hangs or answers something else than two speeds."""


def check_program(path: Path) -> None:
    """Refuses a file that is no control program, before anything is started.

    Raises:
        BadInput: One line: what is wrong, and where.
    """
    text = read_text(path)
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise BadInput(f"{path}, line {error.lineno or 1}: {error.msg}") from None
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from None
    except (MemoryError, RecursionError):
        raise BadInput(f"{path}: its expressions are nested too deeply") from None
    for node in ast.walk(tree):
        modules = (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
        for module in modules:
            if module.partition(".")[0] in FORBIDDEN:
                line = getattr(node, "lineno", 1)
                raise BadInput(
                    f"{path}, line {line}: a program may not import {module}; its robot is the argument of {METHOD}"
                )
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == CLASS]
    methods = [n.name for node in classes for n in node.body if isinstance(n, ast.FunctionDef)]
    if METHOD not in methods:
        raise BadInput(f"{path}: it needs a class {CLASS} with a method {METHOD}(self, robot)")


class ProgramProcess:
    """Asks a control program in a process of its own; a behaviour like any other, until it fails.

    What the program prints goes to the terminal's error output, up to 1 MB of it. It may think for 5 s of real time at
    a call, and for 120 s in all.

    Args:
        path: The file with its class `Controller`.

    Raises:
        BadInput: The file is no control program.
        ProgramFailed: It fails at its start.
    """

    def __init__(self, path: Path) -> None:
        check_program(path)
        self._path = path
        self._greeted = False
        theirs, self._send = os.pipe()
        self._receive, answers = os.pipe()
        self._print, prints = os.pipe()
        command = [sys.executable, "-c", CODE, json.dumps(sys.path), str(path), str(theirs), str(answers)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=prints, stderr=subprocess.STDOUT, pass_fds=(theirs, answers)
        )
        for end in (theirs, answers, prints):
            os.close(end)
        os.set_blocking(self._send, False)  # a program that reads nothing must not stop the laboratory
        self._rest = b""
        self._printed = 0
        self._left_s = TOTAL_S
        try:
            self._answer(START_S, "does not start")
        except BaseException:
            self.close()
            raise

    def update(self, robot: RobotReadings) -> tuple[float, float]:
        """Returns what the program answers.

        Raises:
            ProgramFailed: It does not answer two finite numbers in time.
        """
        message: dict[str, Any] = {key: getattr(robot, key) for key in TOLD}
        if not self._greeted:
            message["task"] = dict(robot.task)
            self._greeted = True
        try:
            os.write(self._send, json.dumps(message).encode() + b"\n")
        except BrokenPipeError:
            raise ProgramFailed(f"{self._path.name}: the program has ended") from None
        except BlockingIOError:
            raise ProgramFailed(f"{self._path.name}: it does not take its readings") from None
        asked_s = monotonic()
        speeds = self._answer(UPDATE_S, f"does not return from {METHOD}")
        self._left_s -= monotonic() - asked_s
        if self._left_s < 0:
            raise ProgramFailed(f"{self._path.name}: it thinks for more than {TOTAL_S:g} s of real time in all")
        if speeds is None:
            raise self._meddled()
        speed, turn = speeds
        if max(abs(speed), abs(turn)) > FASTEST:
            raise ProgramFailed(f"{self._path.name}: {METHOD} returns {speed:g}, {turn:g}; {FASTEST:g} is the most")
        return speed, turn

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        while select.select([self._print], [], [], 0)[0] and self._show():
            pass
        for end in (self._send, self._receive, self._print):
            os.close(end)

    def __enter__(self) -> ProgramProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, within_s: float, trouble: str) -> tuple[float, float] | None:
        end_s, ends = monotonic() + within_s, [self._receive, self._print]
        while b"\n" not in self._rest:
            left_s = end_s - monotonic()  # an answer that trickles in does not get more time
            ready = select.select(ends, [], [], left_s)[0] if left_s > 0 else []
            if not ready:
                raise ProgramFailed(f"{self._path.name}: it {trouble} within {within_s:g} s of real time")
            if self._print in ready and not self._show():
                ends.remove(self._print)
            if self._receive not in ready:
                continue
            chunk = os.read(self._receive, 65536)
            if not chunk:
                raise ProgramFailed(f"{self._path.name}: the program has ended")
            self._rest += chunk
            if len(self._rest) > LARGEST:
                raise ProgramFailed(f"{self._path.name}: it answers too much")
        line, _, self._rest = self._rest.partition(b"\n")
        try:  # a program that looks for it finds the pipe, and may write into it what it likes
            answer = json.loads(line)
            if "error" in answer:
                raise ProgramFailed(f"{self._path.name}{_one_line(str(answer['error']))}")
            if answer["speeds"] is None:
                return None
            speed, turn = (_finite(value) for value in answer["speeds"])
            return speed, turn
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise self._meddled() from None

    def _meddled(self) -> ProgramFailed:
        return ProgramFailed(f"{self._path.name}: it writes into the pipe of its answers")

    def _show(self) -> bool:
        """Passes on what the program has printed, as far as it is not too much; returns whether more may come."""
        chunk = os.read(self._print, 65536)
        if chunk and self._printed <= MOST_PRINTED:
            self._printed += len(chunk)
            text = "".join(c if c.isprintable() or c in "\n\t" else " " for c in chunk.decode(errors="replace"))
            more = (
                ""
                if self._printed <= MOST_PRINTED
                else f"\n{self._path.name}: it prints too much; the rest is left out\n"
            )
            sys.stderr.write(text + more)
        return bool(chunk)


def _finite(value: Any) -> float:
    number = float(value)
    if not isfinite(number):
        raise ValueError(value)
    return number


def _one_line(text: str) -> str:
    """Returns a text of the program without what would break a line or change the terminal."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:500]).split())


def main(path: str, receive: int, send: int) -> None:
    """Runs the program: the child's side."""
    with os.fdopen(receive) as questions, os.fdopen(send, "w") as answers:

        def say(message: dict[str, Any]) -> None:
            print(json.dumps(message), file=answers, flush=True)

        try:
            sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # it is a pipe
            limit_program(path)
            made = runpy.run_path(path, run_name="controller")[CLASS]()
            robot = RobotReadings("")
        except BaseException as error:
            say({"error": _place(error, path)})
            return
        say({"speeds": None})
        for line in questions:
            for key, value in json.loads(line).items():
                setattr(robot, key, value)
            say(_asked(made.update, robot, path))


def _asked(update: Callable[[RobotReadings], Any], robot: RobotReadings, path: str) -> dict[str, Any]:
    try:
        return {"speeds": two_speeds(update(robot))}
    except BaseException as error:
        return {"error": _place(error, path)}


def _place(error: BaseException, path: str) -> str:
    """Returns the error with the last line of the file that led to it."""
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    where = f", line {lines[-1].lineno}" if lines else ""
    try:
        text = str(error)
    except BaseException:  # whatever the program's own classes do
        text = "it cannot say what"
    kind = "" if isinstance(error, BadInput) else f"{type(error).__name__}: "
    return f"{where}: {kind}{text}"[:500]
