"""A part in the hand that no detector looks at is where the hand is, as long as the hand feels it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from cellwright.execution.arm import tool_down
from cellwright.execution.predicates import Evaluator, Truth
from cellwright.knowledge import ToolState
from cellwright.knowledge.belief_writer import note_held

HELD = ("endEffector-has-heldObject-part", "fanuc_tool", "medium_gear_1")
AWAY = tool_down(np.array([0.2, -1.1, 1.4]))


@pytest.fixture
def carried(still):
    """A gear that is carried away; nobody has seen it for two seconds."""
    cell = still()
    asyncio.run(cell.sleep(0.5))
    note_held(cell.belief, "fanuc_tool", "medium_gear_1")
    cell.hidden.add("medium_gear_1")
    asyncio.run(cell.sleep(2.0))
    return cell


def value(cell, predicate=HELD, **reported):
    state = ToolState("fanuc", "aprs_fanuc_gripper", AWAY, 0.008, True, cell.time_s)
    report, believed = {"fanuc": replace(state, **reported)}, cell.belief.state
    believed.clock, believed.report = (lambda: cell.time_s), report.get
    return Evaluator(believed).evaluate(*predicate).value


def test_what_was_carried_out_of_sight_is_felt(carried):
    assert value(carried) is Truth.TRUE
    assert value(carried, ("endEffector-has-no-heldObject", "fanuc_tool")) is Truth.FALSE


@pytest.mark.parametrize("reported", [{"holding": False}, {"width_m": 0.015}])
def test_fingers_that_feel_nothing_or_something_else_do_not_vouch_for_it(carried, reported):
    assert value(carried, **reported) is not Truth.TRUE


def test_what_is_seen_elsewhere_is_not_in_the_hand(carried):
    carried.hidden.clear()
    asyncio.run(carried.sleep(0.5))
    assert value(carried) is Truth.FALSE
