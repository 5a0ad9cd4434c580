"""A look takes as long as it needs, and says what it did not see."""

from __future__ import annotations

import asyncio

import pytest

from cellwright.execution.observation import ObservationTimeout, Observer


def observe(cell, *args, limit_s=5.0, **options):
    observer = Observer(cell.belief, cell, 3, limit_s)
    return asyncio.run(observer.observe(*args, **options))


def test_a_look_waits_for_sights_that_are_newer_than_itself(still):
    cell = still()
    asyncio.run(cell.sleep(2.0))
    found = observe(cell, ["fanuc_medium_tray"], ["medium_gear_1"])
    assert found.seen == {"fanuc_medium_tray", "medium_gear_1"}
    assert not found.unseen
    assert 2.2 <= cell.time_s <= 2.5


def test_what_is_not_seen_while_its_tray_is_is_gone(still):
    cell = still()
    asyncio.run(cell.sleep(1.05))
    cell.hidden.add("medium_gear_2")
    found = observe(cell, ["fanuc_medium_tray"], ["medium_gear_1", "medium_gear_2"])
    assert found.unseen == {"medium_gear_2"}


def test_in_the_dark_nothing_is_gone_and_waiting_ends(still):
    cell = still()
    asyncio.run(cell.sleep(1.05))
    cell.blind = True
    with pytest.raises(ObservationTimeout, match=r"fanuc_medium_tray was not seen for 5\.\d s"):
        observe(cell, ["fanuc_medium_tray"], ["medium_gear_1"])
    assert cell.time_s >= 6.0
