"""A controller that is given nothing but the control interface's address."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

import cellwright as cw
from cellwright.testing.cell import CellUnderTest

CONTROLLER = Path(__file__).parents[2] / "examples/controllers/from_drawings.py"


@pytest.mark.slow
def test_a_test_may_ask_for_true_poses_and_the_report_tells_it(tmp_path):
    cell = CellUnderTest(tmp_path)
    try:
        cell.start("aprs", seed=5, usartruth=True)
        host, _, port = cell.usartruth_address.partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as client, client.makefile("rb") as lines:
            for _ in range(2):  # also while time stands still
                client.sendall(b"{class part}\r\n")
                told = list(iter(lambda: next(lines), b"{End}\r\n"))
                assert len(told) == 20
        assert cell.usartruth_address not in str(cell.drawings())
        assert "truth was served by USARTruth: 2 queries" in cell.verdict()["notes"]
    finally:
        cell.close()


@pytest.mark.slow
def test_a_controller_builds_a_kit_by_the_drawings_that_the_test_sees_too(tmp_path):
    cell = CellUnderTest(tmp_path)
    try:
        cell.start("aprs", seed=5, pace=4.0, time_limit_s=150.0)
        drawn = cell.drawings()
        assert (drawn["cell"], drawn["time_limit_s"]) == ("aprs", 150.0)
        assert drawn["trays"]["fanuc_kit_m2l1"]["reached_by"] == {"fanuc": ["aprs_fanuc_gripper"]}
        run = cell.run_controller([sys.executable, CONTROLLER, cell.control_address])
        assert run.stdout.splitlines() == [
            "fanuc builds kit_m2l1 on fanuc_kit_m2l1; the trial takes at most 150 s",
            "the trial ended: all orders were submitted",
        ]
        cw.expect(cell).kit("kit_m2l1").to_be_complete()
    finally:
        cell.close()
