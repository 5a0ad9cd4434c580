"""Orders to pick: every one names an object of the catalogue, and a cell in which one stands on the area."""

import pytest

from cellwright.cells import load_cell
from cellwright.core.extras import has_extra
from cellwright.drawings.prior import Drawings
from cellwright.orders.pick_order import PICK_ORDERS
from cellwright.trials.pick_run import check_pick, is_drawn_there


@pytest.mark.skipif(not has_extra("numba", "toppra"), reason="not installed: pip install 'cellwright[motion]'")
@pytest.mark.parametrize("name", ["pick_bottle", "pick_can", "pick_milk", "pick_mug"])
def test_each_order_of_the_rovi_cell_has_a_cell_with_its_object_on_the_pick_area(name):
    order = PICK_ORDERS.get(name)
    drawings = Drawings.of(load_cell(f"rovi@{order.variant}" if order.variant else "rovi"))
    assert is_drawn_there(drawings, order)
    assert check_pick(drawings, order) == "ur5"
    assert is_drawn_there(Drawings.of(load_cell("rovi")), order) == (not order.variant)
