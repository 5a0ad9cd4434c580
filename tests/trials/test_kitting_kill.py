"""A controller that is killed in the middle of an order, and one that goes on where it was."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cellwright.judge import judge_kit
from cellwright.lab import Lab
from cellwright.lab.world_file import WorldState
from cellwright.orders import DESIGNS

WORK_S = 25.0  # a kit takes some seconds more
LIMIT_S = 240.0


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "cellwright", "run", "--no-picture", "--json", *options]


def killed_at(folder: Path, seed: int, time_s: float, delay_s: float, *options: str) -> WorldState:
    """Starts a run and kills it a moment after the world was that old; the world it leaves behind."""
    child = subprocess.Popen(
        command("--seed", str(seed), *options), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    file, until_s = folder / "out/run.world", time.monotonic() + LIMIT_S
    try:
        while child.poll() is None and time.monotonic() < until_s:
            if file.exists() and WorldState.read(file).tick * 0.002 >= time_s:
                time.sleep(delay_s)
                break
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
    finally:
        child.kill()
        out, err = child.communicate()
    assert child.returncode == -signal.SIGKILL, f"it ended before it was killed: {out[-2000:]} {err[-2000:]}"
    return WorldState.read(file)


def seated_in(state: WorldState) -> list[str]:
    """The parts that are seated in the kit."""
    with Lab.from_cell("aprs", state.header["seed"], fidelity=state.header["fidelity"]) as lab:
        state.restore(lab)
        lab.advance(0.5)
        kits = [judge_kit(lab.world, f"{robot}_kit_m2l1", DESIGNS.get("kit_m2l1")) for robot in lab.robots]
        return [seating.part for kit in kits for seating in kit.seatings if seating.seated]


def resumed(folder: Path) -> dict[str, Any]:
    ended = subprocess.run(
        command("--resume"), cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    assert ended.stdout, ended.stderr
    report: dict[str, Any] = json.loads(ended.stdout)
    assert ended.returncode == (0 if report["done"] else 1)
    return report


def check(folder: Path, seed: int, time_s: float, delay_s: float, *options: str) -> None:
    before = seated_in(killed_at(folder, seed, time_s, delay_s, *options))
    report = resumed(folder)
    assert report["status"] == "done", (time_s, before, report["reason"])
    assert report["order"]["resumed"] or time_s < 2.0  # killed before the first plan, it begins anew
    assert report["start_s"] >= time_s
    assert [kit["done"] for kit in report["kits"]] == [True]  # no part too many, none missing
    assert report["collisions"] == []
    seated = {seating["part"] for seating in report["kits"][0]["seatings"]}
    assert set(before) <= seated  # what was there has stayed
    placed = [a for a in report["order"]["actions"] if a["phase"] == "end" and "(place-part" in a["action"]]
    assert len(placed) == 3 - len(before)  # and was not placed again
    assert Path(folder / report["log"]).exists()


@pytest.mark.slow
@pytest.mark.parametrize(("time_s", "delay_s"), [(7.2, 0.02), (3.1, 0.05)])
def test_killed_and_resumed(tmp_path, time_s, delay_s):
    check(tmp_path, 7, time_s, delay_s, "--fidelity", "kinematic")


@pytest.mark.long
@pytest.mark.parametrize("number", range(30))
def test_killed_at_random_instants(tmp_path, number):
    rng = random.Random(number)
    check(tmp_path, rng.randrange(1000), rng.uniform(0.0, WORK_S), rng.uniform(0.0, 0.1))


@pytest.mark.slow
def test_nothing_to_resume_is_refused(tmp_path):
    ended = subprocess.run(command("--resume"), cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "run.world" in ended.stderr
