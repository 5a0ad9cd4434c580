"""A trace of the first job: its size, and the work of opening it."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from cellwright.bench.processes import call_in_process
from cellwright.bench.result import MeasurementConditions, MeasurementFailed
from cellwright.bench.view_cost import BROWSER_OPTIONS, chromium

__all__ = ["open_page", "trace"]

LIMIT_S = 300.0


def trace(conditions: MeasurementConditions) -> dict[str, float]:
    """Returns the size of a trace, and where there is Chromium the processor seconds until it is drawn.

    Raises:
        MeasurementFailed: No trace could be made.
    """
    conditions.say("a trace of the first job")
    with TemporaryDirectory() as folder:
        log, page = Path(folder) / "log.mcap", Path(folder) / "run.html"
        files = ("--record", str(log), "--database", str(Path(folder) / "run.db"), "--no-picture")
        _call("run", "--seed", str(conditions.seed), *files)
        _call("log", "trace", str(log), "--out", str(page))
        found = {"trace.mb": page.stat().st_size / 1e6}
        browser = chromium()
        if browser is None:
            conditions.say("trace.open_cpu_s is left out: there is no Chromium")
            return found
        try:
            taken = [
                call_in_process("cellwright.bench.view_trace", "open_page", browser, page.as_uri())
                for _ in range(1 if conditions.quick else 3)
            ]
        except MeasurementFailed as error:
            conditions.say(f"trace.open_cpu_s is left out: {error}")
            return found
        return found | {"trace.open_cpu_s": min(taken)}


def open_page(browser: str, address: str) -> float:
    """Returns the processor seconds of Chromium, and of what drives it, until a trace is drawn."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=browser, args=list(BROWSER_OPTIONS))
        page = opened.new_page(viewport={"width": 1280, "height": 720})
        page.goto(address)
        page.wait_for_selector("body[data-ready]", timeout=LIMIT_S * 1000)
        opened.close()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _call(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cellwright", *arguments], capture_output=True, text=True, timeout=LIMIT_S
    )
    if done.returncode:
        raise MeasurementFailed("view", (done.stderr.strip().splitlines() or ["it failed"])[-1])
