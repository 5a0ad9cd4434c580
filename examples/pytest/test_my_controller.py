"""Tests of a user's controller: each has a cell of its own, in which other things go wrong."""

import sys
from pathlib import Path

import pytest

import cellwright as cw

CONTROLLER = Path(__file__).parents[1] / "controllers" / "by_sockets.py"


def run_my_controller(cell):
    """Runs the controller until it ends; one that fails or hangs fails its test, which shows its output."""
    cell.run_controller([sys.executable, CONTROLLER, cell.crcl_address("fanuc"), cell.vision_address("fanuc")])


@pytest.fixture(autouse=True)
def aprs(cell):
    """Starts the cell for every test here."""
    cell.start("aprs", seed=7, order="kit_m2l1", tray="fanuc_kit_m2l1", pace=4)


def test_it_builds_the_kit(cell):
    run_my_controller(cell)
    cw.expect(cell).kit("kit_m2l1").to_be_complete(within_s=5)
    cw.expect(cell).part("sku_part_large_gear").to_be_in("fanuc_kit_m2l1/slot_3")
    cw.expect(cell).no_collision()


def test_it_copes_with_a_gear_that_is_taken_away(cell):
    cell.remove("medium*", before="grasp 2")
    run_my_controller(cell)
    cw.expect(cell).kit("fanuc_kit_m2l1").to_be_complete(within_s=5)


def test_it_waits_while_it_cannot_see(cell):
    cell.blackout("detector_fanuc", at=2, for_s=6)
    run_my_controller(cell)
    cw.expect(cell).kit("kit_m2l1").to_be_complete(within_s=5)
