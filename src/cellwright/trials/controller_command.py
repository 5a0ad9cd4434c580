"""A controller as a command: started against a trial's addresses, watched, its output kept, ended with the trial."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.core.errors import BadInput, CellwrightError, JobFailed, UnknownName
from cellwright.trials.controller_run import ControllerLimits, ControllerRun, run_controller

__all__ = ["GRACE_S", "ControllerCommand", "ControllerProgram"]

PLACE = re.compile(r"\{([a-z]+(?:\.[A-Za-z0-9_-]+)?)\}")
GRACE_S = 10.0  # real time that it may go on after the interfaces have closed


@dataclass(frozen=True)
class ControllerCommand:
    """The command that starts a controller: words with places such as `{crcl.fanuc}`.

    Attributes:
        words: The program and its arguments.
    """

    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> ControllerCommand:
        """Returns a command as a shell would split it; no shell runs it.

        Raises:
            BadInput: It is empty, a quote is not closed, or there is no such program.
        """
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise BadInput(f"--controller-command: {error}: {text}") from None
        if not words:
            raise BadInput('--controller-command: is empty; give a program, as in "python ctl.py {crcl.fanuc}"')
        if not PLACE.search(words[0]) and shutil.which(words[0]) is None:
            raise BadInput(f"--controller-command: there is no program {words[0]}")
        return cls(words)

    def filled(self, addresses: Mapping[str, Any], seed: int) -> list[str]:
        """Returns the words with the addresses of a trial, and its seed, in their places.

        Raises:
            UnknownName: A place that the trial does not have.
        """
        known = {"seed": str(seed)}
        for interface, value in addresses.items():
            of_robots = value if isinstance(value, Mapping) else None
            known |= {f"{interface}.{robot}": str(one) for robot, one in of_robots.items()} if of_robots else {}
            known |= {} if isinstance(value, Mapping) else {interface: str(value)}

        def fill(found: re.Match[str]) -> str:
            if found[1] not in known:
                raise UnknownName("place", found[1], known, "--controller-command")
            return known[found[1]]

        return [PLACE.sub(fill, word) for word in self.words]


class ControllerProgram:
    """One run of such a command, in a thread that watches it.

    Args:
        command: The command.
        folder: For its output: `controller.stdout.txt`, `controller.stderr.txt`.
        limits: How long it may go on, in real time.

    Attributes:
        ended: Whether it has ended, or could not be started.
        run: What has become of it, once it has ended.
    """

    def __init__(self, command: ControllerCommand, folder: Path, limits: ControllerLimits) -> None:
        self.ended = False
        self.run: ControllerRun | None = None
        self._command, self._folder, self._limits = command, folder, limits
        self._error: CellwrightError | None = None
        self._stopped = False
        self._thread: threading.Thread | None = None

    def start(self, addresses: Mapping[str, Any], seed: int, state: Callable[[], Mapping[str, Any]]) -> None:
        """Starts it against a trial's addresses, which it also finds in its environment, as JSON.

        Args:
            addresses: Interface -> address, or addresses by robot.
            seed: The trial's, in `CELLWRIGHT_SEED`.
            state: Gives how many are `connected`, and in `ended` why the interfaces have closed.
        """
        words = self._command.filled(addresses, seed)
        env = {"CELLWRIGHT_ADDRESSES": json.dumps(addresses), "CELLWRIGHT_SEED": str(seed)}
        self._thread = threading.Thread(target=self._watch, args=(words, env, state), name="controller", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends it at once, with all that it has started."""
        self._stopped = True
        if self._thread is not None:
            self._thread.join()

    def join(self) -> ControllerRun | None:
        """Waits for its end, which comes soon after the interfaces have closed.

        Raises:
            BadInput: It could not be started.
        """
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error
        return self.run

    def _watch(self, words: list[str], env: dict[str, str], state: Callable[[], Mapping[str, Any]]) -> None:
        def seen() -> Mapping[str, Any]:
            if self._stopped:
                raise JobFailed("the controller was stopped")  # which ends the process
            return state()

        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self.run = run_controller(words, self._folder, "controller", self._limits, seen, env=env)
        except CellwrightError as error:
            self._error = None if self._stopped else error
        finally:
            self.ended = True
