"""`cellwright calibrate`: what it refuses, and what it says when marks are not there."""

import re

import pytest

ABOUT = ["--robot", "fanuc"]
FOUR = ["--mark=-0.03,-0.895", "--mark", "0.469,-1.36", "--mark=-0.03,-1.43", "--mark", "0.479,-0.95"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["aprs", *ABOUT, "--mark", "0.1"], "--mark takes 2 numbers"),
        (["aprs", *ABOUT, *FOUR[:3]], "too few marks"),
        (["aprs", *ABOUT, "--mark", "9,9"], "no table is there"),
        (["aprs", "--robot", "kuka"], "kuka"),
        (["aprs@lab_tools", *ABOUT], "no gripper"),
        (["rovi"], "no detector|no gripper|no four|no 4 free"),
        (["nowhere"], "nowhere"),
    ],
)
def test_bad_input_is_refused_in_one_line_with_exit_code_2(cellwright, tmp_path, arguments, words):
    ended = cellwright("calibrate", *arguments, "--out", tmp_path / "c.yaml")
    assert ended.code == 2, ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert re.search(words, ended.err), ended.err
    assert not (tmp_path / "c.yaml").exists()


@pytest.mark.slow
def test_a_calibration_is_written_and_taken_by_a_run(cellwright, tmp_path):
    file = tmp_path / "fanuc.yaml"
    ended = cellwright("calibrate", "aprs@calibrated", *ABOUT, *FOUR, "--seed", "2", "--out", file, "--json")
    assert ended.code == 0, ended.err
    assert ended.json["done"]
    assert len(ended.json["pairs"]) == 4
    assert ended.json["detectors"]["detector_fanuc"]["residual_mm"] < 1.0
    built = cellwright(
        "run", "aprs@calibrated", "--robots", "fanuc", "--seed", "2", "--calibration", file, "--no-picture",
        "--out", tmp_path / "out",
    )  # fmt: skip
    assert built.code == 0, built.err
    refused = cellwright("run", "kitting", "--calibration", file, "--no-picture", "--out", tmp_path / "other")
    assert refused.code == 2
    assert "another cell" in refused.err


def test_a_file_that_exists_is_not_replaced_unasked(cellwright, tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("mine")
    ended = cellwright("calibrate", "aprs", *ABOUT, "--out", file)
    assert ended.code == 2
    assert "--overwrite" in ended.err
    assert file.read_text() == "mine"
