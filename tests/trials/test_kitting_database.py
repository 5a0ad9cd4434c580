"""A run whose database is lost in the middle: the cell stops in a stable way, and what can go on goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from cellwright.core.errors import JobFailed
from cellwright.core.messages import ActionEvent
from cellwright.lab import Lab
from cellwright.lab.world_file import WorldState
from cellwright.orders import find_order
from cellwright.trials import RunCfg, run_order

ORDER = find_order("kit_m2l1")
HEADER = {"cell": "aprs", "seed": 3, "fidelity": "kinematic"}


def cfg_in(folder: Path) -> RunCfg:
    return RunCfg(("fanuc",), database=folder / "run.db", world_file=folder / "run.world", header=HEADER)


def lost_when_taken(folder: Path, lose: Callable[[], None], capfd, *, under_way: bool = False) -> str:
    """Runs until the first part is taken, or is about to be; then the database is lost. Returns the line."""
    with Lab.from_cell("aprs", 3, fidelity="kinematic") as lab:
        taken_s = []

        def watch(_topic: str, action: ActionEvent) -> None:
            phase = "start" if under_way else "end"
            if action.phase == phase and "take-part" in action.action and not taken_s:
                taken_s.append(lab.clock.time_s)
                if under_way:
                    lab.loop.call_later(1.5, lose)  # the arm is on its way, and only what is seen is stored meanwhile
                else:
                    lose()

        said_to_robots: list[str] = []
        for robot in lab.robots:
            lab.bus.subscribe(
                f"/{robot}/crcl_command", lambda _t, m: said_to_robots.append(m.document), subscriber="test"
            )
        lab.bus.subscribe("/execution/actions", watch, subscriber="test")
        with pytest.raises(JobFailed) as caught:
            run_order(lab, [ORDER], cfg_in(folder))
        assert lab.clock.time_s - taken_s[0] < 4.0
        assert any("StopMotion" in document for document in said_to_robots)  # and not only left alone
        before = {robot: lab.robots[robot].joints_rad.tolist() for robot in lab.robots}
        lab.advance(0.5)
        assert {robot: lab.robots[robot].joints_rad.tolist() for robot in lab.robots} == before  # nobody moves
    assert capfd.readouterr().err == ""  # nothing but the line
    return str(caught.value)


def test_file_that_is_deleted_in_the_middle_ends_the_run_in_one_line(tmp_path, capfd):
    said = lost_when_taken(tmp_path, (tmp_path / "run.db").unlink, capfd, under_way=True)
    assert "run.db" in said
    assert "was deleted or replaced" in said
    assert "robots have stopped" in said
    assert WorldState.read(tmp_path / "run.world").header["seed"] == 3  # what stands there is known all the same


@pytest.mark.slow
def test_full_file_stops_the_cell_and_a_resumed_run_finishes_the_kit(tmp_path, capfd):
    full: list[bool] = []

    def no_page_more(connection, _record, _proxy):
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages if full else 1_000_000}")

    event.listen(Engine, "checkout", no_page_more)
    try:
        said = lost_when_taken(tmp_path, lambda: full.append(True), capfd)
    finally:
        event.remove(Engine, "checkout", no_page_more)
    assert "is full" in said
    assert "make room on the disk" in said
    state = WorldState.read(tmp_path / "run.world")
    with Lab.from_cell("aprs", 3, fidelity="kinematic") as lab:
        report = run_order(lab, [ORDER], cfg_in(tmp_path), state)
    assert report.done, report.reason
    assert report.order.resumed
