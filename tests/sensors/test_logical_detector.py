"""The simulated recognition against the truth; tolerances are four standard errors of the estimate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cellwright.cells import nominal_cameras
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.sim import World

FRAMES = 150
FANUC = "detector_fanuc"


NOISE = {"x_m": 0.00028, "y_m": 0.00033, "z_m": 0.0005, "roll_deg": 0.2, "pitch_deg": 0.25, "yaw_deg": 0.3}
SD = np.array([0.00028, 0.00033, 0.0005, *np.radians([0.2, 0.25, 0.3])])
FIELDS = {  # up to where the two tables meet
    FANUC: {"camera": "camera_fanuc", "min_xy_m": (-0.11, -1.63), "max_xy_m": (0.83, -0.86)},
    "detector_motoman": {"camera": "camera_motoman", "min_xy_m": (-0.45, -0.86), "max_xy_m": (0.51, -0.40)},
}


@pytest.fixture(scope="module")
def lines() -> dict[str, dict[str, Any]]:
    """Detectors with six noises; what is partly hidden by an arm at home errs no more than the rest."""
    common = {"type": "logical_detector", "rate_hz": 10, "delay_s": 0.05, "noise": NOISE, "min_share": 0.6, "pull": 0.0}
    return {name: common | {"name": name} | field for name, field in FIELDS.items()}


@pytest.fixture
def world(aprs) -> World:
    return World(aprs.model_copy(update={"fidelity": "kinematic"}), seed=6)


@pytest.fixture
def frames(world, lines, sensor_in):
    """Frames of a detector of the cell, with some of its figures changed."""

    def look(count: int = FRAMES, name: str = FANUC, in_world: World = world, **changes: Any) -> list[Detections]:
        sensor = sensor_in(in_world, **(lines[name] | changes))
        return [sensor.sample() for _ in range(count)]

    return look


def matched(world: World, frame: Detections) -> dict[str, int]:
    """Object -> its row: the nearest of its SKU; the noise is far smaller than the distance of two gears."""
    rows = {}
    for name, item in world.objects.items():
        of_sku = [row for row, sku in enumerate(frame.skus) if sku == item.sku]
        distances = {row: np.linalg.norm(frame.positions[row] - world.pose_of(name).position) for row in of_sku}
        best = min(distances, key=distances.__getitem__, default=None)
        if best is not None and distances[best] < 0.01:
            rows[name] = best
    return rows


def errors(world: World, frames: list[Detections]) -> np.ndarray:
    """(frame, object, 6): by how much x, y, z and the turns about them were seen wrong, of what is always seen."""
    result = []
    for frame in frames:
        row_errors = []
        for name, row in sorted(matched(world, frame).items()):
            truth = world.pose_of(name)
            seen = Pose(frame.positions[row], frame.quaternions[row])
            row_errors.append([*(seen.position - truth.position), *(seen @ truth.inverse()).rpy])
        result.append(row_errors)
    return np.array(result)


def test_what_is_partly_hidden_is_pulled_to_what_is_seen_of_it_and_says_so(world, frames):
    kit, lid = "fanuc_kit_m2l1", "fanuc_kit_s2l2"
    world.place(lid, world.pose_of(kit) @ Pose.from_xyz_rpy([0.155, 0.0, 0.05]))
    pulled, as_is = (frames(1, noise="none", pull=pull)[0] for pull in (0.1, 0.0))
    row, other = (matched(world, frame)[kit] for frame in (pulled, as_is))
    off_m = pulled.positions[row] - as_is.positions[other]
    assert -0.006 < off_m[0] < -0.0005
    assert np.sqrt(pulled.variances[row, 0]) > abs(off_m[0]) / 3


def test_all_six_numbers_have_the_noise_that_is_configured(world, frames):
    found = errors(world, frames(camera=None))
    assert found.shape == (FRAMES, 15, 6)
    flat = found.reshape(-1, 6)
    assert (np.abs(flat.std(axis=0) / SD - 1) < 4 / np.sqrt(2 * len(flat))).all()
    assert (np.abs(flat.mean(axis=0)) < 4 * SD / np.sqrt(len(flat))).all()
    assert np.abs(np.corrcoef(flat.T) - np.eye(6)).max() < 4.5 / np.sqrt(len(flat))


def test_noise_of_frames_and_objects_is_independent(world, frames):
    found = errors(world, frames(camera=None))[:, :, 0]
    assert abs(np.corrcoef(found[:-1].ravel(), found[1:].ravel())[0, 1]) < 4 / np.sqrt(found.size)
    assert abs(np.corrcoef(found[:, 0], found[:, 1])[0, 1]) < 4 / np.sqrt(FRAMES)


def test_frames_state_their_own_variance(frames):
    frame = frames(1)[0]
    np.testing.assert_allclose(frame.variances, np.tile(SD**2, (len(frame.skus), 1)))
    assert frame.frame == "world"
    np.testing.assert_allclose(np.linalg.norm(frame.quaternions, axis=1), 1.0)


@pytest.mark.parametrize("name", [FANUC, "detector_motoman"])
def test_camera_error_shifts_everything_that_is_seen(world, lines, frames, name):
    """A camera that is mounted to the right of its drawing sees all things to the left of where they are."""
    camera = lines[name]["camera"]
    actual, drawn = world.layout.cameras[camera].pose_in_world, nominal_cameras(world.cell)[camera].pose_in_world
    error_m = actual.position - drawn.position
    assert np.abs(error_m[:2]).max() > 0.0002
    shift = errors(world, frames(name=name)).mean(axis=(0, 1))
    standard_error = np.array([0.00028, 0.00033]) / np.sqrt(FRAMES * 15)
    assert (np.abs(shift[:2] + error_m[:2]) < 4 * standard_error).all()


def test_camera_error_turns_what_is_seen(aprs, lines, frames):
    """A camera that is turned to the left sees all things turned to the right, about itself."""
    actual = aprs.actual.model_copy(
        update={"camera": aprs.actual.camera.model_copy(update={"yaw_deg": 0.8, "x_m": 0.0, "y_m": 0.0})}
    )
    turned = World(aprs.model_copy(update={"fidelity": "kinematic", "actual": actual}), seed=6)
    seen = frames(in_world=turned)
    found = errors(turned, seen)
    yaw = found[:, :, 5]
    assert abs(yaw.mean() + np.radians(0.8)) < 4 * np.radians(0.3) / np.sqrt(yaw.size)
    camera = turned.layout.cameras[lines[FANUC]["camera"]].pose_in_world.position[:2]
    names = sorted(matched(turned, seen[0]))
    arms = np.array([turned.pose_of(name).position[:2] - camera for name in names])
    expected = np.radians(0.8) * np.column_stack([arms[:, 1], -arms[:, 0]])
    assert np.abs(expected).max() > 0.002
    np.testing.assert_allclose(found[:, :, :2].mean(axis=0), expected, atol=0.00015)


def test_the_lens_of_the_camera_moves_what_is_seen_outwards_and_not_nearer(aprs, lines, frames):
    """Six figures come from a picture, too: a bent one shifts them across the line of sight."""
    cell = aprs.changed({"actual": {"size": None}}).changed({"actual": {"lens": {"edge_px": 40.0}}})
    bent = World(cell.model_copy(update={"fidelity": "kinematic"}), seed=6)
    seen = frames(in_world=bent)
    found = errors(bent, seen)[:, :, :3].mean(axis=0)
    camera = bent.layout.cameras[lines[FANUC]["camera"]]
    ways = np.array([bent.pose_of(name).position for name in sorted(matched(bent, seen[0]))])
    ways -= camera.pose_in_world.position
    radius = np.hypot(ways[:, 0], ways[:, 1]) / -ways[:, 2] / np.tan(camera.fov_rad / 2)
    expected = 40 / 1024 * radius[:, None] ** 2 * ways[:, :2]
    assert np.abs(expected).max() > 0.002
    np.testing.assert_allclose(found[:, :2], expected, atol=0.0002)
    np.testing.assert_allclose(found[:, 2], 0.0, atol=0.0003)


def test_detector_sees_its_own_table_and_no_further(world, frames):
    fanuc = {name for name in world.objects if world.pose_of(name).position[1] < -0.86}
    assert 0 < len(fanuc) < len(world.objects)
    assert set(matched(world, frames(1)[0])) == fanuc
    assert set(matched(world, frames(1, "detector_motoman")[0])) == set(world.objects) - fanuc
    everything = frames(1, camera=None, min_xy_m=(-100, -100), max_xy_m=(100, 100))[0]
    found = set(matched(world, everything))
    assert len(found) > 20, "from straight above, arms and the cameras' own posts hide some"
    assert found & fanuc
    assert found - fanuc


def test_what_leaves_the_view_is_gone_and_what_comes_is_seen(world, lines, sensor_in):
    sensor = sensor_in(world, **lines[FANUC])
    before = sensor.sample().skus.count("sku_part_medium_gear")
    world.place("medium_gear_1", Pose.from_xyz_rpy([5, 5, 0]))
    assert sensor.sample().skus.count("sku_part_medium_gear") == before - 1
    world.remove("medium_gear_2")
    assert sensor.sample().skus.count("sku_part_medium_gear") == before - 2
    world.add("new_gear", "medium_gear", Pose.from_xyz_rpy([0.5, -1.5, 1.0]))
    frame = sensor.sample()
    assert frame.skus.count("sku_part_medium_gear") == before - 1
    assert "new_gear" in matched(world, frame)


def test_miss_loses_that_share_of_objects(frames):
    count = sum(len(frame.skus) for frame in frames(miss=0.2))
    total = FRAMES * 15
    assert abs(count / total - 0.8) < 4 * np.sqrt(0.2 * 0.8 / total)


def test_what_is_missed_or_out_of_view_does_not_change_the_other_readings(aprs, frames):
    """Fewer objects seen, but those with the very same numbers: the stream is drawn for all."""

    def seen(**changes: Any) -> list[set[bytes]]:
        fresh = World(aprs.model_copy(update={"fidelity": "kinematic"}), seed=6)
        return [{row.tobytes() for row in f.positions} for f in frames(20, in_world=fresh, **changes)]

    whole = seen()
    for fewer in (seen(miss=0.3), seen(max_xy_m=(0.3, -0.86))):
        assert all(part <= all_of_them for part, all_of_them in zip(fewer, whole, strict=True))
        assert sum(map(len, fewer)) < sum(map(len, whole))


def test_rows_have_no_identity(world, frames):
    """Sorted by SKU, and inside it by a score that changes: the row of an object jumps."""
    rows = []
    for frame in frames(50):
        assert list(frame.skus) == sorted(frame.skus)
        assert ((frame.scores > 0) & (frame.scores <= 1)).all()
        for sku in set(frame.skus):
            scores = frame.scores[[i for i, s in enumerate(frame.skus) if s == sku]]
            assert (np.diff(scores) <= 0).all()
        rows.append(matched(world, frame)["medium_gear_1"])
    assert len(set(rows)) > 1


def test_empty_view_gives_an_empty_frame(frames):
    frame = frames(1, min_xy_m=(50, 50), max_xy_m=(60, 60))[0]
    assert frame.skus == ()
    assert frame.positions.shape == (0, 3)
    assert frame.quaternions.shape == (0, 4)
    assert frame.variances.shape == (0, 6)


def test_delay_of_the_cells_detectors_is_exact(world, lines, sensor_in, listen):
    arrived = listen(world, 1.0, sensor_in(world, **lines[FANUC]))
    assert [(tick, message.time_ns) for tick, message in arrived] == [
        (50 * number + 25, 100_000_000 * number) for number in range(1, 10)
    ]
