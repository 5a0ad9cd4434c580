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
from math import isfinite, nan
from pathlib import Path
from time import monotonic
from typing import Any

from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.files import read_text
from cellwright.mobile.program_limits import FORBIDDEN, limit_program
from cellwright.mobile.readings import RobotReadings

__all__ = ["ProgramFailed", "ProgramProcess", "check_program"]

CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from cellwright.mobile.program_process import main; main(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))"
)
CLASS, METHOD = "Controller", "update"
TOLD = ("name", "time_s", "x_m", "y_m", "yaw_rad", "speed_mps", "turn_speed_radps", "ranges_m", "max_range_m")
START_S, UPDATE_S, TOTAL_S = 30.0, 5.0, 120.0
LARGEST = 1 << 20
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
        raise BadInput(f"{path}, line {error.lineno}: {error.msg}") from None
    except ValueError as error:
        raise BadInput(f"{path}: {error}") from None
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

    What the program prints goes to the terminal's error output. It may think for 5 s of real time at a call, and for
    120 s in all.

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
        command = [sys.executable, "-c", CODE, json.dumps(sys.path), str(path), str(theirs), str(answers)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno() if _has_file(sys.stderr) else None,
            pass_fds=(theirs, answers),
        )  # fmt: skip
        os.close(theirs)
        os.close(answers)
        os.set_blocking(self._send, False)  # a program that reads nothing must not stop the laboratory
        self._rest = b""
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
        speed, turn = speeds
        if max(abs(speed), abs(turn)) > FASTEST:
            raise ProgramFailed(f"{self._path.name}: {METHOD} returns {speed:g}, {turn:g}; {FASTEST:g} is the most")
        return speed, turn

    def close(self) -> None:
        """Ends the process."""
        for end in (self._send, self._receive):
            os.close(end)
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> ProgramProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, within_s: float, trouble: str) -> Any:
        while b"\n" not in self._rest:
            if not select.select([self._receive], [], [], within_s)[0]:
                raise ProgramFailed(f"{self._path.name}: it {trouble} within {within_s:g} s of real time")
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
                raise ProgramFailed(f"{self._path.name}{str(answer['error'])[:500]}")
            return None if answer["speeds"] is None else tuple(_finite(value) for value in answer["speeds"])
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ProgramFailed(f"{self._path.name}: it writes into the pipe of its answers") from None


def _finite(value: Any) -> float:
    number = float(value)
    if not isfinite(number):
        raise ValueError(value)
    return number


def _has_file(stream: Any) -> bool:
    """Returns whether a stream is a file of the system; pytest and notebooks put other things in its place."""
    try:
        stream.fileno()
    except (AttributeError, OSError, ValueError):
        return False
    return True


def main(path: str, receive: int, send: int) -> None:
    """Runs the program: the child's side."""
    with os.fdopen(receive) as questions, os.fdopen(send, "w") as answers:

        def say(message: dict[str, Any]) -> None:
            print(json.dumps(message), file=answers, flush=True)

        try:
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
        answer = update(robot)
    except BaseException as error:
        return {"error": _place(error, path)}
    try:
        speed, turn = (float(value) for value in answer)
    except (TypeError, ValueError):
        speed = turn = nan
    if not (isfinite(speed) and isfinite(turn)):
        needed = "two finite numbers, metres a second and radians a second"
        return {"error": f": {METHOD} should return {needed}, not {answer!r}"[:300]}
    return {"speeds": [speed, turn]}


def _place(error: BaseException, path: str) -> str:
    """Returns the error with the last line of the file that led to it."""
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    where = f", line {lines[-1].lineno}" if lines else ""
    return f"{where}: {type(error).__name__}: {error}"[:500]
