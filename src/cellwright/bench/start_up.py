"""Time that passes until a command answers: its help, and the first motion of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from tempfile import TemporaryDirectory
from time import monotonic

from cellwright.bench.result import MeasurementFailed

__all__ = ["first_motion_s", "help_s"]

LIMIT_S = 120.0
FIRST_MOTION = """
import os, sys, time
from cellwright.lab import Lab
from cellwright.sim import TickOrder

def watched(self, *arguments, _make=Lab.__init__, **options):
    _make(self, *arguments, **options)
    def look():
        if any(abs(robot.velocity_radps).max() > 0.01 for robot in self.robots.values()):
            print("moves", time.monotonic(), flush=True)
            os._exit(0)
    self.stepper.every(self.world.clock.period_ticks(50.0), look, order=TickOrder.RECORD, name="first motion")

Lab.__init__ = watched
from cellwright.cli import main
sys.argv[1:] = ["run", "--no-picture"]
main()
"""


def help_s(*command: str) -> float:
    """Returns how long `cellwright COMMAND --help` takes, in seconds of wall time."""
    start_s = monotonic()
    _call([sys.executable, "-m", "cellwright", *command, "--help"])
    return monotonic() - start_s


def first_motion_s() -> float:
    """Returns the wall time from the start of `cellwright run` to the first motion of an arm."""
    _write_bytecode()
    start_s = monotonic()
    told = [line.split() for line in _call([sys.executable, "-c", FIRST_MOTION]).splitlines()]
    moments_s = [float(words[1]) for words in told if words[:1] == ["moves"]]
    if not moments_s:
        raise MeasurementFailed("start-up", "no arm moved")
    return moments_s[0] - start_s


@cache
def _write_bytecode() -> None:
    """Makes a run once, so that there is bytecode of all its modules, as an installer leaves it behind."""
    if sys.dont_write_bytecode:
        _call([sys.executable, "-c", FIRST_MOTION])


def _call(command: Sequence[str]) -> str:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    if done.returncode:
        raise MeasurementFailed("start-up", (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
    return done.stdout
