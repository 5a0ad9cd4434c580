"""Tests of the controller: each has the cell for itself, in a process of its own."""

import sys
from pathlib import Path

import pytest

import cellwright as cw

PROJECT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def started(cell):
    """Starts the cell: its time stands still until the controller connects, then passes eight times as fast as ours."""
    cell.start(PROJECT / "mycell.yaml", seed=7, order=PROJECT / "order.yaml", tray="kit_tray", pace=8)


def run_controller(cell):
    """Runs the controller to its end; one that fails or hangs fails its test, which then shows its output."""
    cell.run_controller([sys.executable, PROJECT / "controller.py", cell.control_address])


def test_it_builds_the_kit(cell):
    run_controller(cell)
    cw.expect(cell).kit("pair").to_be_complete(within_s=5)
    cw.expect(cell).no_collision()


def test_it_brings_another_part_when_one_is_dropped(cell):
    cell.drop("*", during="transfer 2")
    run_controller(cell)
    cw.expect(cell).kit("pair").to_be_complete(within_s=5)


def test_it_waits_while_it_cannot_see(cell):
    cell.blackout("detector_fanuc", at=2, for_s=6)
    run_controller(cell)
    cw.expect(cell).kit("pair").to_be_complete(within_s=5)
