"""The cost of being watched: the first job with and without a live page, in turns."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

from cellwright.bench.result import MeasurementConditions
from cellwright.lab import Lab
from cellwright.viewing.live import LiveView
from cellwright.viewing.page import PAGE_FILE

__all__ = ["BROWSER_OPTIONS", "chromium", "cost"]

CELL = "aprs"
CLIENT = """
import sys
from websockets.sync.client import connect
with connect(sys.argv[1], max_size=None) as socket:
    for packet in socket:
        pass
"""
BROWSER_OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--use-gl=angle", "--use-angle=swiftshader",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--disable-quic",
)  # fmt: skip


def chromium() -> str | None:
    """Returns the browser of this machine, if it has one and a page to show in it."""
    return (shutil.which("chromium") or shutil.which("chromium-browser")) if PAGE_FILE.is_file() else None


def cost(conditions: MeasurementConditions, *, with_browser: bool) -> dict[str, float]:
    """Returns the shares of speed that a watched run loses, in processor time of its process and on the wall.

    Args:
        conditions: Of the measurement.
        with_browser: Whether a browser draws the page, or a program reads the socket.
    """
    who = "Chromium without a graphics card draws it" if with_browser else "a program reads the socket"
    conditions.say(f"the first job, watched and not, in turns; {who}")
    pairs, frames_hz = [], []
    for _ in range(2 if conditions.quick else 5):
        alone, watched = _run(conditions.seed), _run(conditions.seed, with_browser=with_browser)
        pairs.append((alone, watched))
        frames_hz.append(watched[2])
    shares = np.array([[1 - alone[i] / watched[i] for i in (0, 1)] for alone, watched in pairs])
    cpu, wall = np.median(shares, axis=0)
    name = "browser" if with_browser else "socket"
    return {
        f"{name}.cpu_share": float(cpu),
        f"{name}.wall_share": float(wall),
        f"{name}.looks_hz": float(np.median(frames_hz)),
    }


def _run(seed: int, *, with_browser: bool | None = None) -> tuple[float, float, float]:
    """Returns processor time and wall time of one run, and how often per second it was looked at."""
    with Lab.from_cell(CELL, seed) as lab:
        if with_browser is None:
            return (*_timed(lab), 0.0)
        with LiveView(lab, "0", speed=None) as view, _watcher(view.url, with_browser=with_browser):
            took = _timed(lab)
            return (*took, view.looks / took[1])


def _timed(lab: Lab) -> tuple[float, float]:
    start_s, cpu_s = perf_counter(), process_time()
    lab.run()
    return process_time() - cpu_s, perf_counter() - start_s


@contextmanager
def _watcher(url: str, *, with_browser: bool) -> Iterator[None]:
    browser = chromium() if with_browser else None
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command: Sequence[str]
        if browser is not None:
            size = ("--headless=new", f"--user-data-dir={profile}", "--window-size=1280,720")
            command = [browser, *BROWSER_OPTIONS, *size, url]
        else:
            command = [sys.executable, "-c", CLIENT, url.replace("http", "ws", 1) + "live"]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)
        try:
            yield
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # a group of our own: the browser and its helpers
            process.wait()
