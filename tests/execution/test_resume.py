"""A controller that is gone in the middle of its work, and another one that goes on."""

from __future__ import annotations

import asyncio

import pytest

import cellwright as cw
from cellwright.core.errors import BadInput
from cellwright.drawings.database import planning_database
from cellwright.interfaces import CrclInterface
from cellwright.judge import judge_kit
from cellwright.trials.kitting_controller import KittingController
from cellwright.trials.lab_ports import lab_ports

from .conftest import small_kit

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("after_s", [5.0])
def test_what_is_in_the_hand_is_put_into_the_kit_by_whoever_comes_next(after_s):
    order = small_kit("m")
    with cw.Lab.from_cell("aprs", 0) as lab:
        database, _ = planning_database(lab.cell, [order])

        async def work():
            interface = CrclInterface(lab)
            first = KittingController(lab_ports(lab, interface), database, robots=["fanuc"])
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(after_s):
                    await first.run([order])
            await interface.close()
            interface = CrclInterface(lab)
            second = KittingController(lab_ports(lab, interface), database, robots=["fanuc"])
            with pytest.raises(BadInput, match="give at least one order"):
                await second.run([])
            report = await second.run([], resume=True)
            await interface.close()
            return report

        report = lab.perform(work())
        verdict = judge_kit(lab.world, "fanuc_kit_m2l1", order.lines[0].design)
    assert report.done
    assert report.resumed
    assert verdict.done, verdict.reason
    assert [record.action.split()[0] for record in report.actions] == ["(look-for-slot", "(place-part"]
