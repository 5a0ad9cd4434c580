"""What detectors must not give away: which object it is, what it really is, what is not there, true heights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.errors import ConfigError
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.sensors import Detector
from cellwright.sim import World

FLAT: dict[str, Any] = {
    "type": "overhead_detector",
    "name": "eye",
    "camera": "camera_fanuc",
    "plane_m": 0.916,
    "rate_hz": 10,
}
WHOLE: dict[str, Any] = {"type": "logical_detector", "name": "eye", "camera": "camera_fanuc", "rate_hz": 10}
SMALL = [f"small_gear_{k}" for k in range(1, 5)]


@pytest.fixture
def world() -> World:
    """The Fanuc out of the way."""
    robots = {"fanuc": {"home_deg": [0, -30, 0, 0, -90, 0]}}
    return World(load_cell("aprs").changed({"fidelity": "kinematic", "robots": robots}), seed=4)


def taken(sensor: Detector[Any], count: int) -> list[Detections]:
    return [sensor.sample() for _ in range(count)]


@pytest.fixture
def with_and_without_errors(sensor_in):
    """Frames of one line in two equal worlds, without errors and with some."""

    def frames(line: dict[str, Any], count: int, **errors: Any) -> list[list[Detections]]:
        robots = {"fanuc": {"home_deg": [0, -30, 0, 0, -90, 0]}}
        cell = load_cell("aprs").changed({"fidelity": "kinematic", "robots": robots})
        return [taken(sensor_in(World(cell, seed=4), **its), count) for its in (line, line | errors)]

    return frames


def nearest_rows(frame: Detections, places: dict[str, Pose]) -> dict[str, int]:
    away = {name: np.hypot(*(frame.positions - pose.position)[:, :2].T) for name, pose in places.items()}
    for name, distances in away.items():
        distances[[sku != "sku_part_small_gear" for sku in frame.skus]] = np.inf
        assert distances.min() < 0.02, name
    return {name: int(distances.argmin()) for name, distances in away.items()}


def mean_scores(world: World, frames: list[Detections], names: list[str]) -> np.ndarray:
    places = {name: world.pose_of(name) for name in names}
    rows = [nearest_rows(frame, places) for frame in frames]
    return np.array([np.mean([f.scores[r[name]] for f, r in zip(frames, rows, strict=True)]) for name in names])


@pytest.mark.parametrize("line", [FLAT, WHOLE])
def test_a_score_belongs_to_a_place_and_not_to_an_object(world, sensor_in, line):
    """Gears that change places under a covered lens are not told apart by how well they are recognised."""
    count, sensor = 60, sensor_in(world, **line)
    before = mean_scores(world, taken(sensor, count), SMALL)
    assert before.std() > 0.005, "places differ"
    poses = [world.pose_of(name) for name in SMALL]
    for name, pose in zip(SMALL, poses[1:] + poses[:1], strict=True):
        world.place(name, pose)
    after = mean_scores(world, taken(sensor, count), SMALL)
    error = 4 * 0.013 * np.sqrt(2 / count)
    np.testing.assert_allclose(after, np.roll(before, -1), atol=error)
    assert np.abs(after - before).max() > error


def test_what_is_taken_for_another_class_scores_like_that_class(with_and_without_errors):
    right, frames = with_and_without_errors(FLAT, 200, wrong_class=0.1)
    for sku in ("sku_part_small_gear", "sku_part_medium_gear", "sku_part_large_gear"):
        usual = [score for f in right for score, its in zip(f.scores, f.skus, strict=True) if its == sku]
        told = [score for f in frames for score, its in zip(f.scores, f.skus, strict=True) if its == sku]
        assert np.abs(np.array(told) - np.mean(usual)).max() < 0.2
        assert abs(np.mean(told) - np.mean(usual)) < 0.02


def test_of_two_best_scores_neither_object_is_always_first(world, sensor_in, monkeypatch):
    monkeypatch.setattr("cellwright.sensors.detector.SCORES", (1.3, 1.3))
    frames = taken(sensor_in(world, **FLAT), 60)
    assert all((frame.scores == 1.0).all() for frame in frames)
    places = {name: world.pose_of(name) for name in SMALL}
    assert len({tuple(nearest_rows(frame, places).values()) for frame in frames}) > 3


@pytest.mark.parametrize("line", [FLAT, WHOLE])
def test_no_threshold_of_scores_tells_what_is_not_there(with_and_without_errors, line):
    plain, more = with_and_without_errors(line, 300, false_detection=0.99)
    false = phantoms(plain, more)
    assert len(false) > 100
    usual = {sku: np.mean([f.scores[f.skus.index(sku)] for f in plain]) for sku in plain[0].skus}
    ratio = [frame.scores[row] / usual[sku] for frame, row, sku in false if sku in usual]
    assert min(ratio) < 0.6
    assert np.mean(np.array(ratio) > 0.9) > 0.1


def test_what_is_not_there_is_as_noisy_as_what_is(with_and_without_errors):
    """Its height and its lean would otherwise give it away, and the height would be the true one of something."""
    false = phantoms(*with_and_without_errors(WHOLE, 200, false_detection=0.99))
    heights = np.array([frame.positions[row, 2] for frame, row, _ in false])
    leans = np.array([np.abs(frame.quaternions[row, 1:3]).max() for frame, row, _ in false])
    assert len(set(heights)) == len(heights)
    assert 0.0003 < heights.std() < 0.0008, "0.5 mm"
    assert (leans > 0).all()


def phantoms(plain: list[Detections], more: list[Detections]) -> list[tuple[Detections, int, str]]:
    """Returns frame, row and class of what is only in the second: the rest is drawn alike."""
    result = []
    for without, frame in zip(plain, more, strict=True):
        known = {row.tobytes() for row in without.positions}
        rows = [row for row, place in enumerate(frame.positions) if place.tobytes() not in known]
        assert len(rows) <= 1
        result += [(frame, row, frame.skus[row]) for row in rows]
    return result


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"plane_m": 5.0}, "plane_m: camera_fanuc, at .* m, looks at no plane at 5 m, which is above it"),
        ({"planes": [{"height_m": 3, "min_xy_m": [0, 0], "max_xy_m": [1, 1]}]}, r"planes.0.height_m: .* at 3 m"),
    ],
)
def test_a_plane_that_its_camera_does_not_look_at_is_refused(world, sensor_in, changes, words):
    with pytest.raises(ConfigError, match=words):
        sensor_in(world, **(FLAT | changes))


def test_what_appears_above_the_horizon_has_no_place_and_is_not_reported(sensor_in):
    side = {"pose": {"xyz_m": [1.1, -1.157, 1.2], "rpy_deg": [0, 10, 180]}, "fov_deg": 80}
    changed = {
        "fidelity": "kinematic",
        "cameras": {"side": side},
        "robots": {"fanuc": {"home_deg": [90, 0, 0, 0, 0, 0]}},
    }
    world = World(load_cell("aprs").changed(changed), seed=4)
    sensor = sensor_in(world, **(FLAT | {"camera": "side"}))
    assert isinstance(sensor, Detector)
    world.place("large_gear_1", Pose.from_xyz_rpy([0.3, -1.157, 1.4]))
    world.add("above", "kit_m2l1_tray", Pose.from_xyz_rpy([0.3, -1.0, 1.35], [0.0, -1.2, 0.0]))
    frame = sensor.sample()
    assert len(frame.skus) > 0
    assert np.isfinite(frame.positions).all()
