"""Inspection insists on the trays that the work needs, and on no others."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from cellwright.execution.inspection import CellInspector
from cellwright.execution.look_questions import Observation

from .conftest import TRAYS


class Looks:
    """Keeps what is asked, and sees nothing of it."""

    async def look(self, asked, _robots):
        self.asked = [question for question in asked if not question.slot]
        nothing = frozenset[object]()
        return Observation(nothing, frozenset(each for each in self.asked if not each.is_fixed), nothing)


@pytest.mark.parametrize("ordered", [None, TRAYS["m"], TRAYS["s"]])
def test_a_kit_tray_that_is_not_ordered_may_be_gone(still, ordered):
    cell, looks = still(), Looks()
    asyncio.run(cell.sleep(0.5))
    inspector = CellInspector(cell.belief, looks, cell, ("fanuc",))
    inspector.kit_trays = None if ordered is None else frozenset({ordered})
    asyncio.run(inspector.inspect(SimpleNamespace(in_service=list)))
    believed = cell.belief.state
    trays = {each.name: each.is_fixed for each in looks.asked if each.name in believed.trays()}
    kits = {name: believed.sku(name) for name in trays if believed.objects[name].kind == "KitTray"}
    assert sorted(set(kits.values())) == sorted([TRAYS["m"], TRAYS["s"]])
    assert {name: trays[name] for name in kits} == {name: ordered in (None, sku) for name, sku in kits.items()}
    assert all(is_fixed for name, is_fixed in trays.items() if name not in kits)
    assert all(believed.is_missing(name) != is_fixed for name, is_fixed in trays.items())
