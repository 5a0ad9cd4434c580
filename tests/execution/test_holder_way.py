"""Tool holders that are not where they are drawn: met by guarded motion, found by feel, told with their offset."""

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.cells.actual import ActualCfg, PoseErrorCfg
from cellwright.execution.holder_way import SEARCH_PITCH_M, SEARCH_RINGS, HolderOffset
from cellwright.experiments import tool_change_runs
from cellwright.experiments.tool_change_runs import PLACES, ToolChangeJob, run_tool_change
from cellwright.lab import Lab

GRIPPER = next(number for number, place in enumerate(PLACES) if place[3] == "big_gripper" and "aprs" in place[0])
PINCHER = 0


@pytest.fixture
def moved(monkeypatch):
    """Runs one change with the holders moved by so much, and nothing else."""

    def run(place: int = GRIPPER, **error):
        actual = ActualCfg(holder=PoseErrorCfg(**error))
        loaded = load_cell(PLACES[place][0]).model_copy(update={"actual": actual})
        monkeypatch.setattr(tool_change_runs, "load_cell", lambda _name: loaded)
        return run_tool_change(ToolChangeJob("calibrated", place, 0))

    return run


@pytest.mark.slow
def test_a_holder_as_drawn_is_not_felt_for(moved):
    row = moved()
    assert row.done, row.reason
    assert row.is_first
    assert row.felt == ""
    assert row.lateral_mm == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "error"),
    [
        (GRIPPER, {"x_m": 0.006}),
        (GRIPPER, {"x_m": -0.010, "y_m": 0.012, "z_m": -0.006}),
        (GRIPPER, {"z_m": 0.009}),
        (PINCHER, {"y_m": 0.015, "z_m": 0.004, "roll_deg": 0.5, "yaw_deg": -0.5}),
        (PINCHER, {"z_m": -0.012}),
    ],
)
def test_a_tool_is_found_by_feel_and_put_back(moved, place, error):
    row = moved(place, **error)
    assert row.done, row.reason
    assert not row.is_first or "x_m" not in error
    assert "mm from where it is drawn" in row.felt
    assert row.axial_mm == pytest.approx(1000 * error.get("z_m", 0.0), abs=0.5)
    assert row.back_s < row.take_s + 1.0  # it is known where the holder is by then


@pytest.mark.slow
def test_what_is_out_of_reach_of_the_search_is_told_with_what_was_felt(moved):
    far_m = SEARCH_PITCH_M * SEARCH_RINGS + 0.006
    row = moved(x_m=far_m, z_m=0.002)
    assert not row.done
    assert "something is met 1.9 mm above" in row.reason or "met 2.0 mm above" in row.reason
    assert "cellwright calibrate" in row.reason
    row = moved(x_m=-0.1)
    assert "is not met" in row.reason


def test_a_felt_holder_stays_where_it_is_when_its_table_is_touched():
    known = HolderOffset("stand", np.array([0.003, 0.0, 0.004]), is_felt=True)
    assert known.text == "stand is felt about (3, 0, 4) mm from where it is drawn"
    known.follow(0.005)  # the robot goes so much higher there by itself now
    np.testing.assert_allclose(known.offset_m, [0.003, 0.0, -0.001])
    assert known.text == "stand is felt about (3, 0, 4) mm from where it is drawn"
    unknown = HolderOffset("stand")
    unknown.follow(0.005)
    np.testing.assert_allclose(unknown.offset_m, 0.0)
    assert unknown.text == ""


@pytest.mark.slow
def test_a_kit_is_built_with_tools_that_hang_elsewhere():
    actual = {"holder": PoseErrorCfg(x_m=0.007, y_m=-0.005, z_m=-0.005)}
    cell = load_cell("kitting")
    with Lab(cell.model_copy(update={"actual": cell.actual.model_copy(update=actual)}), 1) as lab:
        report = lab.run("kit_m2l1")
    assert report.done, report.reason
    assert sum("holder is felt about" in note for note in report.order.notes) == 2
