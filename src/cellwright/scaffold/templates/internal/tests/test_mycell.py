"""Tests of the cell with Cellwright's own controller: each has the cell for itself, in a process of its own."""

from pathlib import Path

import pytest

import cellwright as cw

PROJECT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def started(cell):
    """Starts the cell."""
    cell.start(PROJECT / "mycell.yaml", seed=7, controller="internal", order=PROJECT / "order.yaml", tray="kit_tray")


def test_it_builds_the_kit(cell):
    assert cell.run()["status"] == "done"
    cw.expect(cell).kit("pair").to_be_complete()
    cw.expect(cell).no_collision()


def test_it_brings_another_part_when_one_is_dropped(cell):
    cell.drop("*", during="transfer 2")
    cell.run()
    cw.expect(cell).kit("pair").to_be_complete()


def test_it_waits_while_it_cannot_see(cell):
    cell.blackout("detector_fanuc", at=2, for_s=6)
    cell.run()
    cw.expect(cell).kit("pair").to_be_complete()
