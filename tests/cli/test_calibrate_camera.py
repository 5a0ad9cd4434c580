"""`cellwright calibrate --camera`: what it refuses, and what it writes."""

import re

import pytest
import yaml
from tests.trials.camera_calibration.small_cell import SMALL

pytest.importorskip("numba", reason="the extra `cameras` is not installed")


@pytest.fixture
def cell(tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text(yaml.safe_dump(SMALL))
    return file


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--camera", "nowhere"], "nowhere.*eye"),
        (["--camera", "eye", "--camera", "eye"], "twice"),
        (["--camera", "eye", "--mark", "0,0"], "--mark is for robots"),
        (["--camera", "eye", "--robot", "arm"], "no robot"),
        (["--camera", "eye", "--tag", "9,9"], "no table is there"),
        (["--camera", "eye", "--tag", "1"], "--tag takes 2 numbers"),
        (["--tag", "0,0"], "go with --camera"),
    ],
)
def test_bad_input_is_refused_in_one_line_with_exit_code_2(cellwright, tmp_path, cell, arguments, words):
    ended = cellwright("calibrate", cell, *arguments, "--out", tmp_path / "c.yaml")
    assert ended.code == 2, ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert re.search(words, ended.err), ended.err
    assert not (tmp_path / "c.yaml").exists()


@pytest.mark.slow
def test_a_camera_is_calibrated_and_its_file_read_again(cellwright, tmp_path, cell, monkeypatch):
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "soft")
    file = tmp_path / "new" / "eye.yaml"
    ended = cellwright("calibrate", cell, "--camera", "eye", "--out", file, "--json")
    assert ended.code == 0, ended.err
    assert "is new" in ended.err
    told = ended.json["cameras"]["eye"]
    assert told["residual_px"] < 0.3
    assert abs(told["from_drawing"]["turn_deg"][0]) < 3
    again = cellwright(
        "calibrate", cell, "--camera", "eye", "--calibration", file, "--out", tmp_path / "b.yaml", "--json"
    )
    assert again.code == 0, again.err
    cut = tmp_path / "cut.yaml"
    cut.write_text(file.read_text()[:-40])
    ended = cellwright("calibrate", cell, "--camera", "eye", "--calibration", cut, "--out", tmp_path / "d.yaml")
    assert ended.code == 2
    assert "cut off" in ended.err
