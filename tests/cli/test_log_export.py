"""`cellwright log export` and `log perceive`: files of other programs, and perception on them."""

from __future__ import annotations

import json

import pytest

from cellwright.lab import Lab


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A log of a third of a second of the cell `aprs`, with frames of both detectors."""
    path = tmp_path_factory.mktemp("log") / "short.mcap"
    with Lab.from_cell("aprs", seed=1) as lab:
        lab.record(path)
        lab.advance(0.3)
    return path


def test_an_export_is_told_and_never_replaces_what_is_there(cellwright, refused, short, tmp_path):
    out = tmp_path / "run.bag"
    ended = cellwright("log", "export", short, "--out", out, "--no-tf")
    assert ended.code == 0
    assert ended.out.startswith(f"{out} (")
    assert "topics" in ended.out
    assert "--overwrite" in refused("log", "export", short, "--out", out)
    ended = cellwright(
        "log",
        "export",
        short,
        "--out",
        out,
        "--overwrite",
        "--json",
        "--topic",
        "/*/detections",
        "--from",
        0.2,
        "--no-tf",
    )
    said = json.loads(ended.out)
    assert said["topics"] == {"/detector_fanuc/detections": 1, "/detector_motoman/detections": 1}
    assert said["bytes"] == out.stat().st_size
    shown = json.loads(cellwright("log", "show", out, "--json").out)
    assert {topic["name"]: topic["count"] for topic in shown["topics"]} == said["topics"]
    assert "sku_part_medium_gear" in cellwright("log", "replay", out, "--speed", 0).out


def test_bad_input_of_an_export_is_one_line(refused, short, tmp_path):
    out = tmp_path / "out"
    assert "--format is missing: bag, rosbag2, csv, parquet" in refused("log", "export", short, "--out", out)
    assert "csv" in refused("log", "export", short, "--out", out, "--format", "cvs")
    assert "mcap, sqlite3" in refused("log", "export", short, "--out", out, "--format", "rosbag2", "--storage", "zip")
    truth = ("--topic", "/truth/poses")
    assert "only with --truth" in refused("log", "export", short, "--out", out, "--format", "csv", *truth)
    assert "did you mean" in refused("log", "export", short, "--out", out, "--format", "csv", "--topic", "/trks")
    (tmp_path / "junk.mcap").write_text("junk")
    assert "not a log" in refused("log", "export", tmp_path / "junk.mcap", "--out", out, "--format", "csv")
    assert not out.exists()


@pytest.mark.slow
def test_perception_on_a_bag_is_told_and_compared(cellwright, refused, short, tmp_path):
    cellwright("log", "export", short, "--out", tmp_path / "run.bag", "--no-tf")
    bag = tmp_path / "run.bag"
    assert "give it with --cell" in refused("log", "perceive", bag)
    ended = cellwright("log", "perceive", bag, "--cell", "aprs", "--out", tmp_path / "tracks.mcap", "--json")
    said = json.loads(ended.out)
    assert (ended.code, said["frames"]) == (0, {"detector_fanuc": 2, "detector_motoman": 2})
    ended = cellwright("log", "perceive", short, "--against", tmp_path / "tracks.mcap", "--within", 0)
    assert ended.code == 0
    assert "tracks of detector_fanuc" in ended.out
    ended = cellwright("log", "perceive", short, "--detector", "detector_fanuc", "--against", tmp_path / "tracks.mcap",
                       "--within", 1, "--json")  # fmt: skip
    told = {one["name"]: one for one in json.loads(ended.out)["differences"]}
    assert ended.code == 1
    assert told["tracks of detector_motoman"]["only_a"] == 2
    assert "unknown topic '/tracks'" in refused("log", "perceive", short, "--against", short)
    assert "nothing to compare with" in refused("log", "perceive", short, "--within", 1)
    assert "--within is a distance" in refused("log", "perceive", short, "--within", -1)
    assert "--overwrite" in refused("log", "perceive", short, "--out", tmp_path / "tracks.mcap")
