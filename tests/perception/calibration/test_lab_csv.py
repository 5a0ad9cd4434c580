"""The laboratory's CSV files: both forms are read and written, and what is wrong with a line is named."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.errors import BadInput, OutputError
from cellwright.perception.calibration import LabPairs, fit_pairs, lab_csv, read_lab_csv, write_lab_csv

CALIBRATIONS = Path(__file__).parents[4] / "shared/aprs/calibration"
HEADER = "Time,PartName,Robot_X,Robot_Y,Robot_Z,Db_X,Db_Y,Db_Z,Offset_X,Offset_Y,Offset_Z\n"
ROW = "1562958764944, part_medium_gear_in_kt_1, 259.31,177.66,-138.0, 267.3, 175.8, -138.0, 8.02,-1.89,0\n"

points = st.lists(st.tuples(*[st.floats(-1, 1)] * 3), min_size=1, max_size=6)


def read(tmp_path, text):
    file = tmp_path / "pairs.csv"
    file.write_text(text)
    return read_lab_csv(file)


@given(points, st.sampled_from(["vision", "robots"]), st.integers(0, 9))
def test_pairs_that_are_written_are_read_again(tmp_path_factory, table, kind, seed):
    start = np.array(table) + [1.0, 0.0, 0.0]
    end = start + np.random.default_rng(seed).normal(0, 0.01, start.shape)
    pairs = LabPairs(kind, tuple(f"p{k}" for k in range(len(start))), start, end)
    file = tmp_path_factory.mktemp("lab") / "pairs.csv"
    write_lab_csv(pairs, file)
    again = read_lab_csv(file)
    assert again.kind == kind
    assert again.from_m == pytest.approx(start, abs=1e-9)
    assert again.to_m == pytest.approx(end, abs=1e-9)
    assert again.names == (pairs.names if kind == "vision" else tuple(str(k + 1) for k in range(len(start))))


def test_a_line_of_the_laboratory_is_what_it_says(tmp_path):
    pairs = read(tmp_path, HEADER + ROW + "\n" + ROW)
    assert pairs.names == ("part_medium_gear_in_kt_1", "part_medium_gear_in_kt_1 (2)")
    assert pairs.from_m[0] == pytest.approx([0.2673, 0.1758, -0.138])  # of the vision
    assert pairs.to_m[0] == pytest.approx([0.25931, 0.17766, -0.138])  # of the robot
    assert "Offset_X" in lab_csv(pairs)
    assert read(tmp_path, HEADER).from_m.shape == (0, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a calibration of the laboratory"),
        ("a,b,c\n1,2,3\n", "not a calibration of the laboratory: its first line has no columns Db_X"),
        (HEADER + ROW[:60], "line 2: cut off: "),
        (HEADER + ROW.replace("177.66", "left"), "line 2: Robot_Y should be a number of millimetres, not 'left'"),
        (HEADER + ROW.replace("177.66", "nan"), "line 2: Robot_Y is not a finite number"),
        (HEADER + ROW.replace("8.02", "0.00802"), "Offset_X is 0.00802 mm, but its coordinates differ by 7.99 mm"),
        (HEADER + "0,a,0.25,0.17,-0.13,0.26,0.175,-0.13,0.01,0.005,0\n", "units mixed up.* looks like metres"),
    ],
)
def test_bad_files_are_refused_with_their_place(tmp_path, text, message):
    with pytest.raises(BadInput, match=message):
        read(tmp_path, text)


def test_folders_that_do_not_exist_are_named(tmp_path):
    with pytest.raises(BadInput, match="cannot read"):
        read_lab_csv(tmp_path / "none.csv")
    with pytest.raises(OutputError, match="cannot write"):
        write_lab_csv(LabPairs("robots", (), np.zeros((0, 3)), np.zeros((0, 3))), tmp_path / "no" / "file.csv")


@pytest.mark.parametrize(
    ("name", "kind", "rms_mm", "worst_mm"),
    [
        ("fanuc_july_12_2019_calib.csv", "vision", 1.045, 1.57),
        ("fanuc_oct_8_2019.csv", "vision", 1.40, 2.11),
        ("motomanInToFanucOut4pts.csv", "robots", 2.33, 2.85),
    ],
)
def test_the_real_files_are_fitted_within_millimetres(name, kind, rms_mm, worst_mm):
    if not (CALIBRATIONS / name).exists():
        pytest.skip(f"the lab's calibration data is not here: {CALIBRATIONS / name}")
    pairs = read_lab_csv(CALIBRATIONS / name)
    assert pairs.kind == kind
    assert len(pairs.names) == 4
    fit = fit_pairs(pairs.from_m, pairs.to_m, pairs.names)
    assert fit.rejected == {}
    assert 1e3 * fit.rms_m == pytest.approx(rms_mm, rel=0.05)
    assert 1e3 * max(fit.residuals_m) == pytest.approx(worst_mm, rel=0.05)
