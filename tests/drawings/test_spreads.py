"""The uncertainty of what is drawn, against layouts that are drawn from the same errors."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright.cells import actual_layout, load_cell, nominal_layout
from cellwright.cells.actual import PoseErrorCfg
from cellwright.drawings import workstation_of
from cellwright.drawings.spreads import spread_of

SEEDS = 120


@pytest.mark.parametrize("name", ["fanuc_small_tray", "motoman_kit_s2l2"])
def test_the_spread_of_a_tray_is_that_of_its_layouts(name):
    """Its own errors and those of its table: shifts, and turns times its distance from the table's middle."""
    table = {key: {"sd": 0.004} for key in ("x_m", "y_m", "z_m")}
    table |= {key: {"sd": 0.8} for key in ("roll_deg", "pitch_deg", "yaw_deg")}
    errors = {"size": None, "table": table, "tray": {"x_m": {"sd": 0.003}, "yaw_deg": {"sd": 1.0}}}
    cell = load_cell("aprs").changed({"actual": errors})
    drawn = nominal_layout(cell, 0).objects[name].pose_in_world
    found = [drawn.inverse() @ actual_layout(cell, seed).objects[name].pose_in_world for seed in range(SEEDS)]
    station = workstation_of(cell)
    told = next(tray.place.spread for tray in (*station.supplies, *station.kits) if tray.name == name)
    assert np.std([pose.position for pose in found], axis=0) == pytest.approx(told.position_m, rel=0.2)
    assert np.std([pose.rpy for pose in found], axis=0) == pytest.approx(told.orientation_rad, rel=0.2)


def test_boxes_and_the_trays_in_them_are_as_unsure_as_what_they_stand_on():
    cell = load_cell("kitting").changed({"actual": {"table": {"z_m": {"sd": 0.003}}, "box": {"z_m": {"sd": 0.004}}}})
    station = workstation_of(cell)
    assert [box.place.spread.position_m[2] for box in (*station.stacks, *station.boxes)] == pytest.approx([0.005] * 3)
    _, place = station.stacks[0].trays[0]
    assert place.spread.position_m == pytest.approx((0.0015, 0.0015, 0.005))


def test_carriers_that_stand_exactly_leave_a_spread_as_it_was_to_the_bit():
    errors = PoseErrorCfg(x_m={"sd": 0.0031}, yaw_deg={"sd": 0.7})
    assert spread_of(errors, (PoseErrorCfg(), (0.3, 0.2, 0.0))) == spread_of(errors)
