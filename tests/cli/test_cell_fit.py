"""`cellwright cell fit` on the command line: a cell file and a table, or one line that says what is wrong."""

import json

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core import Pose
from cellwright.perception.calibration import LabPairs, write_lab_csv

PLACES = np.array([[0.3, 0.2, 0.0], [0.6, 0.2, 0.0], [0.3, -0.2, 0.0], [0.6, -0.2, 0.0]])


def test_a_camera_is_fitted_and_written(cellwright, tmp_path):
    file, out = tmp_path / "fanuc.csv", tmp_path / "mine.yaml"
    shift = Pose.from_xyz_rpy([0.004, -0.003, 0.0])
    write_lab_csv(LabPairs("vision", tuple("abcd"), PLACES, shift.apply(PLACES)), file)
    words = ("cell", "fit", "aprs", "--calibration", str(file), "--out", str(out))
    ended = cellwright(*words, "--json")
    assert ended.code == 0, ended.err
    (entry,) = json.loads(ended.out)["entries"]
    assert entry["entry"] == "cameras.camera_fanuc"
    assert entry["moved_m"] == pytest.approx(0.005, abs=1e-6)
    assert load_cell(out).cameras["camera_fanuc"].pose is not None
    again = cellwright(*words)
    assert (again.code, again.out) == (2, "")
    assert "is not overwritten" in again.err
    assert "cameras.camera_fanuc" in cellwright(*words, "--overwrite").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--out", "a.yaml"), "nothing to fit"),
        (("--out", "a.txt"), "ends with .yaml"),
        (("--out", "a.yaml", "--frames", "none.csv"), "whose coordinates are these"),
        (("--out", "a.yaml", "--frames", "fanuc=none.csv"), "cannot read none.csv"),
        (("--out", "a.yaml", "--calibration", "fanuc=none.csv"), "cannot read none.csv"),
    ],
)
def test_mistakes_are_named_in_one_line(cellwright, words, message):
    ended = cellwright("cell", "fit", "aprs", *words)
    assert ended.code == 2
    assert message in ended.err
    assert ended.err.count("\n") == 1
