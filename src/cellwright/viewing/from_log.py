"""Traces and videos of a log, made in a process of their own: a driver of graphics may end its process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

__all__ = ["make_from_log"]

LONGEST_S = 600.0  # real time
OPTIONS = {"video": ("--fast",)}  # shadows would cost minutes for each test


def make_from_log(what: str, log: Path, file: Path, cell: str = "") -> tuple[Path | None, str]:
    """Makes a trace or a video of a log, and returns the file, or None and why there is none in one line.

    Args:
        what: `trace` or `video`: the command of `cellwright log` that makes it.
        log: The log; one that was cut off has all up to there.
        file: The wanted file; a video may be of another kind, where its encoder is missing.
        cell: The cell's name or file; by default as the log has it.
    """
    command = [sys.executable, "-m", "cellwright", "log", what, str(log), "--out", str(file), *OPTIONS.get(what, ())]
    command += ["--cell", cell] if cell else []
    before = {path: path.stat().st_mtime_ns for path in file.parent.glob(f"{file.stem}.*")}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        return None, f"there is no {what}: it took more than {LONGEST_S:g} s"
    for path in sorted(file.parent.glob(f"{file.stem}.*")):
        if path.stat().st_mtime_ns != before.get(path):
            return path, ""
    said = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
    return None, f"there is no {what}: {said.removeprefix('cellwright: ')}"
