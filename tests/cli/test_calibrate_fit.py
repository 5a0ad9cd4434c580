"""`cellwright calibrate --fit`: the pairs of a file, what a transform leaves of them, and a map."""

import json

import numpy as np
import pytest

from cellwright.perception.calibration import LabPairs, write_lab_csv

PLACES = np.array([[0.3, 0.2, 0.0], [0.6, 0.2, 0.0], [0.3, -0.2, 0.0], [0.65, -0.2, 0.0], [0.45, 0.0, 0.0]])


@pytest.fixture
def pairs(tmp_path):
    touched = PLACES + [0.004, -0.003, 0.0]
    touched[1, 0] += 0.065
    write_lab_csv(LabPairs("vision", tuple("abcde"), PLACES, touched), tmp_path / "pairs.csv")
    return tmp_path / "pairs.csv"


def test_a_wrong_pair_is_named_and_the_rest_is_fitted(cellwright, pairs):
    ended = cellwright("calibrate", "--fit", str(pairs), "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert [pair["name"] for pair in found["pairs"] if pair["rejected"]] == ["b"]
    assert found["transform"]["xyz_m"] == pytest.approx([0.004, -0.003, 0.0], abs=1e-6)
    assert found["residual_mm"] < 1e-3
    assert len(found["detector"]["points"]) == 4
    assert "65.0 mm off where the other 4 have it" in " ".join(cellwright("calibrate", "--fit", str(pairs)).out.split())


def test_a_map_is_drawn(cellwright, pairs, tmp_path):
    pytest.importorskip("matplotlib")
    ended = cellwright("calibrate", "--fit", str(pairs), "--map", str(tmp_path / "map.png"))
    assert ended.code == 0, ended.err
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_mistakes_are_named_in_one_line(cellwright, pairs, tmp_path):
    write_lab_csv(LabPairs("robots", tuple("abcde"), PLACES, PLACES), tmp_path / "robots.csv")
    write_lab_csv(LabPairs("robots", ("a", "b"), PLACES[:2], PLACES[:2]), tmp_path / "few.csv")
    for words, message in (
        (("aprs", "--fit", str(pairs)), "leave CELL and --out away"),
        ((), "give CELL and --out FILE"),
        (("aprs", "--out", "a.yaml", "--map", "a.png"), "--map PNG"),
        (("--fit", "none.csv"), "cannot read none.csv"),
        (("--fit", str(tmp_path / "few.csv")), "too few points: 2"),
        (("--fit", str(tmp_path / "robots.csv"), "--map", "a.png"), "pairs of two robots"),
    ):
        ended = cellwright("calibrate", *words)
        assert ended.code == 2, words
        assert message in ended.err
        assert ended.err.count("\n") == 1
