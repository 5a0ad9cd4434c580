"""A cell under test: a process that runs the laboratory, and the pipe to it."""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cellwright import __version__
from cellwright.core.errors import BadInput, OutOfRange
from cellwright.testing.cell_faults import CellFaults
from cellwright.testing.evidence import MARK
from cellwright.testing.host_process import CellError, HostProcess
from cellwright.testing.settings import KeepSettings, near
from cellwright.trials.controller_run import ControllerLimits, ControllerRun, run_controller

__all__ = ["CellError", "CellUnderTest"]

START_S = 120.0  # real time that a laboratory may take to be built
PICTURE_S = 300.0  # real time for a picture: one without OpenGL takes its time
ANSWER_S = 60.0  # real time for an answer, beyond what is waited for in simulation
NOT_STARTED = 'the cell does not run: call cell.start("aprs", ...) first'
LONGEST_WAIT_S = 86_400
SLOWEST = 5.0  # simulation may be so many times slower than its pace says


class CellUnderTest(CellFaults):
    """The object of the fixture `cell`. Nothing runs before `start`.

    Simulated time stands still while no client is connected and nothing is waited for, so it does not matter how long a
    test takes between two lines.

    Args:
        folder: For log, picture and report; a temporary one when not given.
        name: What the report is called.
        settings: What is kept when an expectation is not met, and how fast it is watched; nothing by default.

    Attributes:
        folder: Of its files.
        cell: The name or the file of the cell, once it was started.
        controllers: Those that `run_controller` has run.
        pictures: What `picture` has drawn.
        pictured_s: Simulation time of the last of them.
    """

    def __init__(self, folder: Path | None = None, name: str = "test", settings: KeepSettings | None = None) -> None:
        self.folder = folder or Path(tempfile.mkdtemp(prefix="cellwright-"))
        self.name = name
        self.cell = ""
        self.settings = settings or KeepSettings(self.folder.parent)
        self.pictures: list[Path] = []
        self.pictured_s: float | None = None
        self._process: HostProcess | None = None
        self._interfaces: dict[str, Any] = {}
        self._pace = 1.0
        self._time_limit_s = 0.0
        self._began_s = 0.0
        self._notes: list[str] = []
        self.controllers: list[ControllerRun] = []

    def __repr__(self) -> str:
        """Returns the cell as it is shown in the trace of a failure."""
        return f"<cell of {self.name}, {'running' if self.started else 'not started'}>"

    def start(
        self,
        cell: str = "aprs",
        *,
        seed: int = 0,
        controller: str = "external",
        order: str | Path | Sequence[str | Path] = "kit_m2l1",
        tray: str | None = None,
        pace: float = 1.0,
        faults: str | Sequence[str | dict[str, Any]] = (),
        time_limit_s: float = 300.0,
        calibration: str | Path | None = None,
        source: str = "state",
        usartruth: bool = False,
    ) -> CellUnderTest:
        """Starts the laboratory, on free ports.

        Args:
            cell: A cell's name, or a YAML file.
            seed: Root of all randomness.
            controller: `external`, or the name of one inside for `run`.
            order: What is wanted: kits or order files.
            tray: On which kit tray, for one order; any of the right kind when not given.
            pace: Simulated seconds per second, for controllers outside.
            faults: What goes wrong, as on the command line.
            time_limit_s: Simulated time after which the interfaces close, so that no controller waits for ever. They
                also close as in a trial: when all orders were submitted, or have been complete and still for 5 s.
            calibration: A calibration file of the cell, for a controller inside.
            source: The source of detections: `state`, or `camera`, which recognises objects in pictures.
            usartruth: Whether the test may ask for true poses, at `usartruth_address`; the report tells that it could.

        Raises:
            BadInput: One line that says what is allowed.
        """
        if self._process is not None:
            raise CellError("this cell was started already: a test has one cell, ask for another fixture")
        self.cell = str(cell)
        orders = [order] if isinstance(order, str | Path) else list(order)
        pace = self.settings.speed or pace
        asked: dict[str, Any] = {
            "cell": str(cell),
            "seed": seed,
            "controller": controller,
            "orders": [{"order": str(name)} | ({"tray": tray} if tray else {}) for name in orders],
            "pace": pace,
            "faults": [faults] if isinstance(faults, str) else list(faults),
            "time_limit_s": time_limit_s,
            "calibration": None if calibration is None else str(calibration),
            "source": source,
            "usartruth": usartruth,
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        mark = json.dumps({"cellwright": __version__, "test": self.name, **asked}, indent=2, default=str)
        (self.folder / MARK).write_text(mark + "\n", encoding="utf-8")
        self._process = HostProcess(self.folder / "host.txt")
        more: dict[str, Any] = {"folder": str(self.folder), "name": self.name, "view": self.settings.view}
        more |= {"is_paced": self.settings.speed is not None}
        try:
            self._interfaces = self.ask("start", timeout_s=START_S, **asked | more)
        except BadInput:
            self.close(keep=True)  # so that it can be started again, rightly
            raise
        self._began_s = self.time_s
        self._pace = pace
        self._time_limit_s = time_limit_s
        self._notes = [str(note) for note in self._interfaces.pop("notes")]
        for hint in self._interfaces.pop("hints"):
            warnings.warn(hint, stacklevel=2)
        return self

    def run_controller(
        self,
        command: Sequence[str | Path],
        *,
        timeout_s: float | None = None,
        connect_within_s: float = 60.0,
        grace_s: float = 10.0,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> ControllerRun:
        """Starts a controller, waits for its end, keeps its output; one that hangs is killed with its children.

        Args:
            command: The program and its arguments: `[sys.executable, "ctl.py", cell.crcl_address("fanuc")]`.
            timeout_s: Real time that it may take; as much as a trial with this limit and pace when None.
            connect_within_s: Real time until it is connected to an interface for the first time.
            grace_s: Real time that it may go on after the interfaces have closed: all submitted, or at the time limit.
            cwd: Where it runs.
            env: What its environment has besides that of the test.
            check: Whether one that was killed or has an exit code other than 0 fails the test here and now.

        Raises:
            BadInput: There is no such program.
        """
        __tracebackhide__ = True
        if self._process is None:
            raise CellError(NOT_STARTED)
        longest_s = 60.0 + connect_within_s + SLOWEST * self._time_limit_s / self._pace
        limits = ControllerLimits(longest_s if timeout_s is None else timeout_s, connect_within_s, grace_s)
        name = f"controller_{len(self.controllers) + 1}"
        run = run_controller(command, self.folder, name, limits, lambda: self.ask("state"), cwd=cwd, env=env)
        self.controllers.append(run)
        if check and not run.ok:
            raise AssertionError(f"the controller failed: {run}")
        return run

    def crcl_address(self, robot: str) -> str:
        """Returns HOST:PORT of a robot's CRCL server."""
        return self._address("crcl", robot)

    def vision_address(self, robot: str) -> str:
        """Returns HOST:PORT of the vision server of a robot's detector."""
        return self._address("vision", robot)

    @property
    def control_address(self) -> str:
        """HOST:PORT of the interface for orders and submissions."""
        if "control" not in self._interfaces:
            raise self._no_interfaces()
        return str(self._interfaces["control"])

    @property
    def usartruth_address(self) -> str:
        """HOST:PORT of the true poses in USARSim's protocol, for the test: not to be given to a controller."""
        if "usartruth" not in self._interfaces:
            raise self._no_interfaces() if self._process is None else CellError("start the cell with usartruth=True")
        return str(self._interfaces["usartruth"])

    def drawings(self) -> dict[str, Any]:
        """Returns what a controller may know from drawings: trays, slots, frames, reach, views, tools, time limit.

        It is what the control interface answers to `{"ask": "drawings"}`, and does not depend on the seed.
        """
        made: dict[str, Any] = self.ask("drawings")
        return made

    @property
    def time_s(self) -> float:
        """Simulation time."""
        return float(self.ask("time"))

    def wait(self, duration_s: float) -> None:
        """Lets simulated time pass."""
        self.ask("wait", duration_s=duration_s, waits_s=duration_s)

    def run(self, order: str | None = None) -> dict[str, Any]:
        """Lets the controller inside work until it ends; gives the verdict.

        Args:
            order: Instead of what `start` was told.
        """
        made: dict[str, Any] = self.ask("run", timeout_s=86_400.0, order=order)
        return made

    def verdict(self) -> dict[str, Any]:
        """Returns the whole verdict as of now, as in a trial's `verdict.json`."""
        made: dict[str, Any] = self.ask("verdict")
        return made

    def ask(self, what: str, *, timeout_s: float = ANSWER_S, waits_s: float = 0.0, **arguments: Any) -> Any:
        """Sends one question to the laboratory's process and returns the answer.

        Args:
            what: The question.
            timeout_s: Real time for the answer.
            waits_s: Simulated time that it may take besides.
            arguments: What belongs to the question.

        Raises:
            BadInput: The question makes no sense; one line.
            CellError: There is no answer.
        """
        __tracebackhide__ = True
        process = self._process
        if process is None:
            raise CellError(NOT_STARTED)
        if not isinstance(waits_s, int | float):
            raise BadInput(f"the time to wait should be a number of seconds, got {waits_s!r}")
        if not 0.0 <= waits_s <= LONGEST_WAIT_S:  # nor is it when it is not a number
            raise OutOfRange("the time to wait", waits_s, 0, LONGEST_WAIT_S, "s")
        return process.ask(what, timeout_s + SLOWEST * waits_s / min(self._pace, 1.0), arguments)

    def picture(self, name: str = "picture") -> Path:
        """Draws the cell as it is now, into the test's folder, and returns the file; the second gets a number.

        The folder is kept when the test fails, or where a setting is `on`; copy the picture to have it in any case.
        """
        if not name or set(name) & set("/\\:\0"):
            raise BadInput(f"the name of a picture should be that of a file without its ending, got '{name}'")
        number = 1 + len(self.pictures)
        file = self.folder / f"{name}-{number}.png"
        self.pictured_s = float(self.ask("picture", timeout_s=PICTURE_S, file=str(file)))
        self.pictures.append(file)
        return file

    def show_failure(self) -> list[str]:
        """Keeps a picture of the moment at which an expectation was not met; returns where to look."""
        lines = []
        if self.settings.keeps("picture", failed=True):
            try:
                lines.append(f"picture: {near(self.picture('test-failed'))}")
            except CellError as error:  # which must not hide what was expected
                lines.append(f"there is no picture: {error}")
        if self.settings.keeps("trace", failed=True):
            lines.append(f"trace: {near(self.folder / 'trace.html')}")
        return lines

    @property
    def started(self) -> bool:
        """True while its process is there to be asked."""
        return self._process is not None

    def properties(self) -> Iterator[tuple[str, str]]:
        """Yields what reports tell of it, whether the test has passed or not."""
        for note in self._notes:
            yield "cellwright_note", note
        try:
            yield "cellwright_time_s", f"{self.time_s - self._began_s:.3f}"
        except CellError:  # its process has ended
            return

    def save(self, failure: str = "", command: str = "") -> list[Path]:
        """Writes report, picture and log; their files.

        Args:
            failure: Why the test failed, for the log and its trace; empty when it passed.
            command: Runs the test again.
        """
        last = self.pictures[-1] if self.pictures and self.pictured_s == self.time_s else None
        wanted = self.settings.picture != "off"
        picture = str(last) if last else None
        found = self.ask("save", timeout_s=PICTURE_S, picture=picture, draws=wanted, failure=failure, command=command)
        return [Path(name) for name in found]

    def close(self, *, keep: bool = False) -> None:
        """Ends the process, whatever it does; removes its files unless they shall be kept."""
        process = self._process
        self._process = None
        self._interfaces = {}
        if process is not None:
            process.close()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _address(self, interface: str, robot: str) -> str:
        if interface not in self._interfaces:
            raise self._no_interfaces()
        robots = self._interfaces[interface]
        if robot not in robots:
            raise BadInput(
                f"unknown robot '{robot}' with a {interface} interface (available: {', '.join(sorted(robots))})"
            )
        return str(robots[robot])

    def _no_interfaces(self) -> CellError:
        if self._process is None:
            return CellError(NOT_STARTED)
        return CellError('there are no interfaces: start the cell with controller="external"')
