"""Perception on recordings: a bag gives the tracks that the log gives, and both are close to those of the run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cellwright.cells import Cell
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.messages import Detections
from cellwright.exchange import (
    ExportOptions,
    compare_detections,
    compare_tracks,
    export_log,
    perceive,
    read_recording,
)
from cellwright.lab import Lab
from cellwright.record import fields_of, plain, read_log


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The log of a whole run: a kit is built while detectors watch."""
    path = tmp_path_factory.mktemp("run") / "run.mcap"
    with Lab.from_cell("aprs", seed=3) as lab:
        lab.record(path)
        assert lab.run(order="kit_m2l1").status == "done"
    return read_log(path)


@pytest.fixture(scope="module")
def seen(run):
    return perceive(run)


def told(made):
    return [json.dumps(plain(tracks)) for tracks in made.tracks]


@pytest.mark.slow
@pytest.mark.parametrize("format", ["bag", "rosbag2"])
def test_a_bag_gives_the_tracks_that_the_log_gives(run, seen, tmp_path, format):
    out = tmp_path / ("run.bag" if format == "bag" else "run")
    export_log(run, out, format, ExportOptions(with_frames=False))
    recording = read_recording(out)
    for topic in recording.topics:
        for mine, its in zip(run.entries([topic]), recording.entries([topic]), strict=True):
            assert type(its.message) is type(mine.message)
            assert plain(its.message) == plain(mine.message)
    made = perceive(recording, "aprs")
    assert told(made) == told(seen)


@pytest.mark.slow
def test_tracks_are_those_of_the_run_but_for_what_is_carried(run, seen):
    first = next(e.time_ns for e in run.entries(["/execution/actions"]) if "take-part" in e.message.action)
    ours = {(tracks.source, tracks.time_ns): tracks for tracks in seen.tracks}
    early = [e.message for e in run.entries(["/tracks"]) if e.time_ns < first]
    assert len(early) >= 8
    for tracks in early:
        assert plain(ours[tracks.source, tracks.time_ns]) == plain(tracks)
    for one in compare_tracks(run, seen):
        assert one.only_a == 0
        assert one.frames > 150
        assert one.missing + one.extra < 0.005 * one.objects
        assert one.slots < 0.01 * one.objects
        assert one.p95_mm < 0.005


@pytest.mark.slow
def test_without_joint_states_things_behind_arms_are_taken_for_what_they_are_not(run, seen):
    def wrong(made):
        return sum(one.missing + one.extra + one.slots for one in compare_tracks(run, made))

    assert wrong(perceive(run, with_arms=False)) > 2 * wrong(seen)
    assert wrong(perceive(run, with_hands=False)) > 0
    only = perceive(run, detectors=["detector_fanuc"])
    assert only.frames.keys() == {"detector_fanuc"}


CELL = {
    "name": "watched",
    "title": "A tray with gears, and a camera above it",
    "fidelity": "kinematic",
    "trays": {"tray": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.0, 0.0, 0.0]}}},
    "parts": {"gear": {"model": "medium_gear", "slot": "tray/slot_1"}},
    "cameras": {
        "eye": {"pose": {"xyz_m": [0, 0, 0.9], "rpy_deg": [0, 90, 90]}, "fov_deg": 40, "resolution_px": [960, 720]}
    },
    "sensors": [{"type": "color_camera", "camera": "eye", "rate_hz": 2, "renderer": "soft"}],
}


@pytest.mark.slow
def test_pictures_in_a_bag_are_recognised_and_tracked(tmp_path):
    pytest.importorskip("cv2", reason="the extra `vision` is not installed")
    pytest.importorskip("numba", reason="the extra `cameras` is not installed")
    cell = Cell.model_validate(CELL)
    with Lab(cell, seed=1) as lab:
        lab.record(tmp_path / "run.mcap")
        lab.advance(1.2)
        where = {name: lab.world.pose_of(name).position for name in lab.world.objects}
    export_log(read_log(tmp_path / "run.mcap"), tmp_path / "run.bag", "bag", ExportOptions(with_frames=False))
    made = perceive(read_recording(tmp_path / "run.bag"), cell)
    assert len(made.recognised) >= 2
    assert made.frames == {"eye": len(made.recognised)}
    for found in made.recognised:
        assert isinstance(found, Detections)
        assert set(found.skus) == {"sku_part_medium_gear", "sku_medium_gear_vessel"}
    last = made.tracks[-1]
    for name, place in where.items():
        row = last.identities.index(name)
        assert np.linalg.norm(last.positions[row, :2] - place[:2]) < 0.003, name


def test_what_cannot_be_perceived_is_one_line(tmp_path):
    with Lab.from_cell("epucks", seed=1) as lab:
        lab.record(tmp_path / "blind.mcap")
        lab.advance(0.1)
    blind = read_recording(tmp_path / "blind.mcap")
    with pytest.raises(BadInput, match="neither detections nor pictures with camera_info and camera_pose"):
        perceive(blind)
    with Lab.from_cell("aprs", seed=1) as lab:
        lab.record(tmp_path / "short.mcap")
        lab.advance(0.3)
    short = read_log(tmp_path / "short.mcap")
    made = perceive(short)
    assert made.frames == {"detector_fanuc": 2, "detector_motoman": 2}
    assert compare_detections(short, made) == []
    with pytest.raises(UnknownName, match="/tracks"):
        compare_tracks(short, made)
    with pytest.raises(BadInput, match="no pictures with camera_info and camera_pose: nothing to recognise"):
        perceive(short, recognise=True)
    with pytest.raises(UnknownName, match="detector_fanuc"):
        perceive(short, detectors=["detector_fanux"])
    export_log(short, tmp_path / "short.bag", "bag", ExportOptions(with_frames=False))
    with pytest.raises(BadInput, match=r"short\.bag does not name its cell: give it with --cell"):
        perceive(read_recording(tmp_path / "short.bag"))
    assert fields_of(made.tracks[0])["source"] == "detector_fanuc"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "No such file"),
        (lambda path: path.write_bytes(b"junk"), "not a bag that can be read"),
        (lambda path: path.mkdir(), r"folder without metadata\.yaml"),
    ],
)
def test_what_is_no_bag_is_one_line(tmp_path, make, said):
    make(tmp_path / "run.bag")
    with pytest.raises(BadInput, match=said) as error:
        read_recording(tmp_path / "run.bag")
    assert "\n" not in str(error.value)
