"""Errors of the real cell: named sizes, differences from them, variants that follow each other, and mistakes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.cells import actual_layout, cell_yaml, load_cell
from cellwright.cells.actual import ActualCfg, PoseErrorCfg, about, draw_error
from cellwright.cells.error_sizes import ERROR_SIZES
from cellwright.core.config import Normal, Uniform
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose

small = st.floats(-0.05, 0.05)
tilt = st.floats(-0.3, 0.3)
far = st.floats(-2.0, 2.0)


@given(st.tuples(far, far, far), st.tuples(small, small, small), st.tuples(tilt, tilt, tilt))
def test_an_error_about_a_point_moves_that_point_by_its_shift_alone(pivot, shift, rpy):
    error = Pose.from_xyz_rpy(shift, rpy)
    turned = about(pivot, error)
    assert turned.apply(pivot) - np.array(pivot) == pytest.approx(shift, abs=1e-12)
    assert turned.angle_rad(error) < 1e-9


def test_an_error_in_six_degrees_of_freedom_is_drawn_in_each():
    errors = PoseErrorCfg(x_m=0.001, y_m=0.002, z_m=0.003, roll_deg=1.0, pitch_deg=2.0, yaw_deg=3.0)
    drawn = draw_error(errors, np.random.default_rng(0))
    assert drawn.position == pytest.approx([0.001, 0.002, 0.003])
    assert np.degrees(drawn.rpy) == pytest.approx([1.0, 2.0, 3.0])


def test_tilts_leave_the_draws_of_place_and_yaw_as_they_were():
    """A cell that is given tilts keeps the shifts that its seeds had."""
    flat = {"x_m": Normal(sd=0.1), "y_m": Normal(sd=0.1), "z_m": Normal(sd=0.1), "yaw_deg": Normal(sd=10)}
    tilted = {**flat, "roll_deg": Normal(sd=5), "pitch_deg": Normal(sd=5)}
    before, after = (draw_error(PoseErrorCfg(**errors), np.random.default_rng(5)) for errors in (flat, tilted))
    assert (before.position == after.position).all()
    assert before.rpy[2] == pytest.approx(after.rpy[2])


@pytest.mark.parametrize("size", ERROR_SIZES)
def test_a_size_may_be_named_alone_or_with_differences(load_changed, size):
    named = load_changed(actual=size).actual
    assert named == ActualCfg(size=size)
    assert named.robot_base.x_m == ActualCfg.model_validate(ERROR_SIZES[size]).robot_base.x_m != 0.0
    other = load_changed(
        actual={"size": size, "backlash_deg": 0.5, "table": {"z_m": {"low": 0.0, "high": 0.01}, "roll_deg": 0}}
    ).actual
    assert other.backlash_deg == 0.5
    assert other.table.z_m == Uniform(low=0.0, high=0.01)
    assert other.table.roll_deg == 0.0
    assert (other.table.x_m, other.holder, other.tray) == (named.table.x_m, named.holder, named.tray)


def test_calibration_makes_every_error_smaller_but_those_of_hands():
    as_built, calibrated = (dict(ActualCfg(size=size)) for size in ("as_built", "calibrated"))

    def figures(section):
        values = [section] if not hasattr(section, "model_fields_set") or isinstance(section, Normal) else list(section)
        values = [value[1] if isinstance(value, tuple) else value for value in values]
        return [value.sd if isinstance(value, Normal) else float(value) for value in values]

    for key in as_built.keys() - {"size", "tray"}:
        before, after = figures(as_built[key]), figures(calibrated[key])
        assert all(b > a or b == a == 0 for b, a in zip(before, after, strict=True)), key
        assert any(before), key
    assert as_built["tray"] == calibrated["tray"]


@pytest.mark.parametrize("name", ["aprs", "kitting", "rovi", "epucks"])
def test_every_cell_can_be_loaded_with_errors_of_a_named_size(name):
    cell = load_cell(f"{name}@as_built")
    assert cell.actual == ActualCfg(size="as_built")
    assert cell.model_copy(update={"actual": load_cell(name).actual}) == load_cell(name)


def test_variants_follow_each_other():
    both = load_cell("aprs@lab_tools@calibrated")
    assert list(both.tools) == list(load_cell("aprs@lab-tools").tools)
    assert both.actual == ActualCfg(size="calibrated")
    assert load_cell("aprs@calibrated@as-built").actual == ActualCfg(size="as_built")


def test_a_file_of_ones_own_has_the_sizes_too_and_its_own_variants_come_first(tmp_path):
    text = "name: mine\ntitle: Mine\nvariants: {as_built: {title: Other}, odd: {actual: {tray: {x_m: 0.02}}}}\n"
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    assert load_cell(f"{file}@as_built").title == "Other"
    changed = load_cell(f"{file}@calibrated@odd").actual
    assert changed.tray.x_m == 0.02
    assert changed.tray.y_m == ActualCfg(size="calibrated").tray.y_m
    assert load_cell(f"{file}@odd@calibrated").actual == ActualCfg(size="calibrated")


def test_a_size_in_a_variant_stands_for_all_errors(make_cell):
    cell = make_cell(actual={"tray": {"x_m": 0.5}, "joint_zero_deg": 3})
    again = cell.changed({"actual": {"size": "calibrated", "tray": {"y_m": 0.1}}}).actual
    assert again.joint_zero_deg == ActualCfg(size="calibrated").joint_zero_deg
    assert again.tray.x_m == Normal(sd=0.003)
    assert again.tray.y_m == 0.1
    assert cell.changed({"actual": {"tray": {"y_m": 0.1}}}).actual.tray.x_m == 0.5


def test_a_cell_with_a_named_size_survives_the_way_through_its_text(tmp_path):
    cell = load_cell("aprs@as_built").changed({"actual": {"tray": {"x_m": {"low": -0.01, "high": 0.01}}}})
    file = tmp_path / "again.yaml"
    file.write_text(cell_yaml(cell))
    assert load_cell(file).actual == cell.actual


BAD = {
    "unknown size": ("as_bilt", "actual", "should be 'as_built' or 'calibrated', got 'as_bilt'"),
    "unknown size in a mapping": ({"size": "bad"}, "actual.size", "should be 'as_built' or 'calibrated', got 'bad'"),
    "no errors": (3, "actual", "should be a mapping"),
    "unknown key": ({"size": "as_built", "tables": {}}, "actual", "unknown key 'tables'; did you mean 'table'?"),
    "unknown key of a pose": ({"table": {"role_deg": 1}}, "actual.table", "did you mean 'roll_deg'?"),
    "no number": ({"holder": {"roll_deg": "much"}}, "actual.holder.roll_deg", "should be a number, {distribution"),
    "too steep": ({"box": {"pitch_deg": 50}}, "actual.box.pitch_deg", "should be between -45 and 45"),
    "too far": ({"table": {"x_m": {"sd": 2}}}, "actual.table.x_m", "should be between -1 and 1"),
    "not a number": ({"camera": {"pitch_deg": float("nan")}}, "actual.camera.pitch_deg", "should be a finite number"),
    "no lens": ({"lens": 3}, "actual.lens", "should be a mapping"),
    "unknown key of a lens": ({"lens": {"k1": 0.1}}, "actual.lens", "unknown key 'k1'", "edge_px"),
    "too much lens": ({"lens": {"edge_px": 600}}, "actual.lens.edge_px", "should be between -500 and 500"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_mistake_is_one_line_with_what_is_allowed(load_changed, case):
    errors, path, *words = BAD[case]
    with pytest.raises(BadInput) as caught:
        load_changed(actual=errors)
    (line,) = str(caught.value).splitlines()
    assert f": {path}: " in line
    assert all(word in line for word in words), line


def test_a_variant_that_is_named_twice_is_refused():
    with pytest.raises(BadInput, match="variant 'as_built' is named twice"):
        load_cell("aprs@as_built@as_built")


def test_an_unknown_variant_is_told_with_all_that_there_are():
    with pytest.raises(
        BadInput, match=r"unknown variant 'as_bild'.*'as_built'.*\(available: as_built, .*calibrated, lab"
    ):
        load_cell("aprs@lab_tools@as_bild")
    with pytest.raises(BadInput, match="does not exist"):
        load_cell(Path("nowhere/mine.yaml@as_built"))


def test_a_lens_that_shows_no_picture_is_refused_with_its_limits():
    cell = load_cell("aprs").changed({"actual": {"lens": {"edge_px": -400}}})
    with pytest.raises(BadInput, match=r"camera_fanuc: a lens error of -400 px .* allowed: -170.7 to 1024 px"):
        actual_layout(cell, 0)
