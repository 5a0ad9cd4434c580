"""Which tray an order is about, where trays lie in stacks."""

import pytest

from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.orders import find_order
from cellwright.sim import World
from cellwright.trials.judging import assign_trays
from cellwright.trials.orders import OrderBook

TABLE = Pose.from_xyz_rpy([0.0, -0.65, 0.89])


@pytest.fixture(scope="module")
def world():
    return World(load_cell("kitting").model_copy(update={"settle_s": 0.0}), 0)


def wanted(world, quantity=1):
    book = OrderBook.of_run([find_order("kit_m2l1", quantity)], world.cell)
    return [verdict.tray for verdict in assign_trays(book, world, lambda *_: True, ["motoman"]).values()]


def test_the_uppermost_of_a_stack_unless_one_was_taken_out(world):
    assert wanted(world) == ["m2l1_tray_2"]
    assert wanted(world, 2) == ["m2l1_tray_2", "m2l1_tray_1"]
    world.place("m2l1_tray_1", TABLE)
    assert wanted(world) == ["m2l1_tray_1"]
    assert [tray for tray in wanted(world, 4) if tray not in world.objects] == ["kit_m2l1_1", "kit_m2l1_2"]
