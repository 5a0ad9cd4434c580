"""Time from `cellwright init` to a project whose tests are green."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from cellwright.bench.result import MeasurementFailed

__all__ = ["init_to_green_s"]

LIMIT_S = 600.0


def init_to_green_s() -> float:
    """Returns the wall time of `cellwright init` and the tests of its project, in seconds.

    Raises:
        MeasurementFailed: A test fails.
    """
    with TemporaryDirectory() as name:
        folder = Path(name) / "mycell"
        start_s = monotonic()
        _call(["-m", "cellwright", "init", str(folder)], Path(name))
        said = _call(["-m", "pytest", "-q", "-p", "no:cacheprovider"], folder)
        took_s = monotonic() - start_s
    if "passed" not in said:
        raise MeasurementFailed("view", f"no test ran: {said.strip()}")
    return took_s


def _call(arguments: Sequence[str], folder: Path) -> str:
    """Returns what a program of this interpreter prints; the package may be a checkout's."""
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    if done.returncode:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        raise MeasurementFailed("view", f"{' '.join(arguments)} ended with {done.returncode}: {' '.join(last)}")
    return done.stdout
