"""What is under way outlives the program."""

from __future__ import annotations

from cellwright.execution.progress import OrderProgress, load_progress, save_progress
from cellwright.knowledge import Database

from .conftest import small_kit


def test_progress_comes_back_from_another_connection(tmp_path):
    file = tmp_path / "cell.db"
    orders = [small_kit("mml"), small_kit("s")]
    progress = OrderProgress(robots=["fanuc"], index={"fanuc": 3}, left_out={"gear": "slipped"}, plans=2)
    progress.set_orders(orders)
    assert load_progress(Database(file)) is None
    save_progress(Database(file), OrderProgress(plans=1))
    save_progress(Database(file), progress)
    found = load_progress(Database(file))
    assert found == progress
    assert found.get_orders() == orders
