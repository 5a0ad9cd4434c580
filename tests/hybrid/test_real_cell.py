"""A real cell in a process of its own, with errors and a seed of its own, over wires: done, or ended honestly."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.hybrid.real_cells import Runs, strays_m, targets_of, wires

from cellwright.crcl import CrclClient
from cellwright.experiments.real_cell import RealCell
from cellwright.lab.world_file import WorldState
from cellwright.orders import find_order
from cellwright.record import compare_twins, read_log
from cellwright.trials.report import Ending

pytestmark = [pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).parent.parent.parent
PACE, SEED = 2.0, 11
COMMAND_S = 8.0  # that the longest command of a gear takes, at that pace
CELL = "aprs"


@pytest.fixture
def real():
    with RealCell("aprs@calibrated", SEED, PACE) as cell:
        yield cell


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path, CELL, pace=PACE)


def joints_of(real):
    async def ask():
        async with CrclClient.to(real.crcl["fanuc"]) as client:
            status = await client.status()
        return np.array([one.joint_position for one in status.joint_statuses.joint_status])

    return asyncio.run(ask())


def assert_stands(real):
    before = joints_of(real)
    time.sleep(1.0)  # in which a robot that moves would be elsewhere
    assert np.abs(joints_of(real) - before).max() < 0.01


def test_a_real_cell_that_nobody_has_calibrated_ends_honestly(runs):
    with RealCell("aprs@as_built", SEED, PACE) as real:
        report = runs.run(targets_of(real), order=find_order("kit_m2l1"))
        (kit,) = report.kits
        judged = real.judge(kit.tray, "kit_m2l1") if kit.tray.startswith("fanuc") else (kit.done, kit.reason)
        assert_stands(real)
    assert judged[0] or not report.account.done, judged[1]
    assert report.account.done or report.account.reason
    assert strays_m(runs.log).max(initial=0.0) < 0.001


def test_a_whole_kit_is_what_it_is_claimed_to_be(real, runs):
    report = runs.run(targets_of(real), order=find_order("kit_m2l1"))
    (kit,) = report.kits
    judged = real.judge(kit.tray, "kit_m2l1") if kit.tray.startswith("fanuc") else (kit.done, kit.reason)
    assert judged[0] or not report.account.done, judged[1]
    assert strays_m(runs.log).max(initial=0.0) < 0.001
    assert_stands(real)


@pytest.mark.parametrize(
    ("latency_s", "loss"),
    [((0.0, 0.005), 0.0), ((0.005, 0.1), 0.01), ((0.1, 0.4), 0.01)],
    ids=["good", "lossy", "late"],
)
def test_a_gear_is_set_down_by_a_real_robot_or_the_run_ends_honestly(real, runs, latency_s, loss):
    made = {"latency_s": latency_s, "loss": loss}
    crcl = real.crcl["fanuc"], made
    vision = real.vision["detector_fanuc"], {**made, "by_lines": True}
    with wires(crcl=crcl, vision=vision) as wire:
        report = runs.run(targets_of(real, crcl=wire["crcl"].at, vision=wire["vision"].at, stalled_s=4.0))
    assert_stands(real)
    strays = strays_m(runs.log)
    assert len(strays) > 5
    assert strays.max() < 0.001
    assert runs.actions > 0
    assert report.account.done or report.account.reason
    if loss == 0.0:
        assert report.account.done


def test_a_process_that_stalls_for_a_while_and_goes_on(real, runs):
    stalled = []

    def stall(number, _targets):
        if number == 2 and not stalled:
            stalled.append(number)
            real.stall(True)
            threading.Timer(1.2, real.stall, (False,)).start()

    report = runs.run(targets_of(real, stalled_s=4.0), stall)
    assert stalled
    assert_stands(real)
    assert strays_m(runs.log).max(initial=0.0) < 0.001
    assert report.ending in (Ending.RETURNED, Ending.STOPPED, Ending.FAILED)
    assert report.account.done or report.account.reason


def test_one_that_dies_stops_the_run_which_goes_on_with_another(runs):
    with RealCell("aprs@calibrated", SEED, PACE) as real:
        settings = {"reconnect_s": 1.0, "stalled_s": 1.0}
        report = runs.run(targets_of(real, **settings), lambda number, _targets: number == 2 and real.kill())
    assert report.ending is Ending.STOPPED
    assert "was lost" in report.detail
    assert "\n" not in report.detail
    assert not report.account.done
    assert runs.moving == []
    again = Runs(runs.folder, CELL, pace=PACE)
    again.log = runs.folder / "again.mcap"
    with RealCell("aprs@calibrated", SEED, PACE) as real:
        report = again.run(targets_of(real), resume=WorldState.read(runs.world))
        assert_stands(real)
    assert again.actions > 0
    assert report.account.done, report.account.reason
    assert strays_m(again.log).max(initial=0.0) < 0.001


def test_one_that_dies_is_replaced_by_the_simulated_one_when_that_was_said(runs):
    with RealCell("aprs@calibrated", SEED, PACE) as real:
        settings = {"reconnect_s": 0.5, "stalled_s": 0.5, "on_loss": "simulated"}
        report = runs.run(targets_of(real, **settings), lambda number, _targets: number == 2 and real.kill())
    assert [line for line in runs.said if "goes on, as it was told for this case" in line]
    assert report.ending is Ending.RETURNED
    assert report.account.done or report.account.reason
    assert not (report.account.done and not report.kits[0].done), "a false claim"


def test_a_shadow_is_reported(real, runs):
    report = runs.run(targets_of(real, shadow=True))
    assert_stands(real)
    (twin,) = compare_twins(read_log(runs.log))
    assert twin.commands > 5
    assert twin.outcome_agreement > 0.8
    assert 0.5 < twin.time_ratio < 2.0
    assert twin.command_rad_p95 < 0.5
    assert report.account.done or report.account.reason


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_moves_after_the_run_was_interrupted_or_its_process_was_killed(real, tmp_path, how):
    where = tmp_path, real.crcl["fanuc"], real.vision["detector_fanuc"], PACE
    begin = f"from tests.hybrid.real_cells import interrupted_run as run; run({str(where[0])!r}, *{where[1:]!r})"
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {begin}"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"on its way\n"
        process.send_signal(how)
        assert process.wait(20.0) != 0
    if how is signal.SIGKILL:  # nobody could stop it: it ends the command that it is at
        time.sleep(COMMAND_S)
    else:
        time.sleep(1.0)
        sent = read_log(tmp_path / "log.mcap").entries(["/fanuc/external/crcl_command"])
        kinds = [re.search('xsi:type="([A-Za-z]+)Type"', entry.message.document)[1] for entry in sent]
        assert [kind for kind in kinds if kind != "GetStatus"][-2:] == ["StopMotion", "EndCanon"]
    assert_stands(real)
