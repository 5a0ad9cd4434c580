"""Cameras as sensors: their pictures, when they are taken, and what does not depend on them."""

import numpy as np
import pytest

import cellwright as cw
from cellwright.cells import Cell
from cellwright.core import Bus, Role
from cellwright.core.errors import BadInput, TruthLeak
from cellwright.core.messages import CameraInfo, CameraPose, Depth, Image, PointCloud, Segmentation
from cellwright.sensors import check_sensor, make_sensor, schedule
from cellwright.sim import Stepper, World

from .conftest import TINY

pytest.importorskip("numba", reason="the extra `cameras` is not installed")

EYE = {"pose": {"xyz_m": [0.5, 0.0, 0.8], "rpy_deg": [0, 90, 90]}, "fov_deg": 40, "resolution_px": [96, 64]}
OTHER = {"pose": {"xyz_m": [0.58, 0.0, 0.8], "rpy_deg": [0, 90, 90]}, "fov_deg": 40, "resolution_px": [96, 64]}
SEEN = {"cameras": {"eye": EYE, "other": OTHER}}
WHERE = "test.yaml: sensors.0"


@pytest.fixture(scope="module")
def seen() -> World:
    return World(Cell.model_validate({**TINY, **SEEN}), seed=5)


def camera(world: World, kind: str = "color_camera", **line):
    place = {} if "robot" in line or kind == "stereo_camera" else {"camera": "eye"}
    return make_sensor({"type": kind, "renderer": "soft", **place, **line}, world, WHERE)


def test_a_picture_has_its_size_its_frame_and_its_facts(seen):
    message, beside = camera(seen).taken()
    assert isinstance(message, Image)
    assert message.pixels.shape == (64, 96, 3)
    assert message.frame == "eye/optical"
    facts = dict(beside)
    info, place = facts["/eye/camera_info"], facts["/eye/camera_pose"]
    assert isinstance(info, CameraInfo)
    assert isinstance(place, CameraPose)
    focal_px = 48 / np.tan(np.radians(20))
    assert np.allclose(info.matrix, [[focal_px, 0, 48], [0, focal_px, 32], [0, 0, 1]])
    assert np.allclose(place.position, [0.5, 0, 0.8])
    ahead = cw.Pose(place.position, place.quaternion).rotation_matrix[:, 2]
    assert np.allclose(ahead, [0, 0, -1], atol=1e-12)


def test_intrinsics_are_those_of_the_part_that_is_sent(seen):
    whole, part = camera(seen), camera(seen, region_px=[20, 10, 64, 48], binning=2)
    picture, beside = part.taken()
    assert picture.pixels.shape == (24, 32, 3)
    info = dict(beside)["/eye/camera_info"]
    assert (info.width, info.height) == (96, 64)
    assert info.region_px == (20, 10, 64, 48)
    full = dict(whole.taken()[1])["/eye/camera_info"].matrix
    assert np.allclose(info.matrix[:2, 2], (full[:2, 2] - [20, 10]) / 2)
    assert np.allclose(np.diag(info.matrix)[:2], np.diag(full)[:2] / 2)


def test_told_is_what_was_calibrated_and_shown_what_is_there():
    errors = {"actual": {"camera": {"x_m": 0.03}, "lens": {"centre_column_px": 4.0}}}
    actual, exact = (World(Cell.model_validate({**TINY, **SEEN, **more}), seed=5) for more in (errors, {}))
    (moved, told), (still, drawn) = (camera(world, noise=[]).taken() for world in (actual, exact))
    assert np.array_equal(dict(told)["/eye/camera_pose"].position, dict(drawn)["/eye/camera_pose"].position)
    assert np.array_equal(dict(told)["/eye/camera_info"].d, np.zeros(5))
    assert (np.abs(moved.pixels.astype(int) - still.pixels) > 20).mean() > 0.02


def test_same_seed_same_pixels_other_number_other_noise(seen):
    noise = [{"model": "gaussian", "sd": 0.05}]
    first = camera(seen, name="a", noise=noise).taken()[0].pixels
    again = World(Cell.model_validate({**TINY, **SEEN}), seed=5)
    sensor = camera(again, name="a", noise=noise)
    frames = [sensor.taken()[0].pixels for _ in range(2)]
    assert np.array_equal(first, frames[0])
    difference = frames[1].astype(float) - frames[0]
    assert difference.std() / 255 == pytest.approx(0.05 * np.sqrt(2), rel=0.1)


@pytest.mark.parametrize("renderer", ["soft", "ray"])
@pytest.mark.parametrize("less", [{"shadows": False}, {"samples": 1}])
def test_quality_is_that_of_the_line(seen, renderer, less):
    best, same, quick = (
        camera(seen, noise=[], renderer=renderer, **line).taken()[0].pixels.astype(int)
        for line in ({}, {"shadows": True, "samples": 4}, less)
    )
    assert np.array_equal(best, same)
    changed = (np.abs(quick - best) > 8).any(axis=2)
    assert 0.002 < changed.mean() < 0.6
    if "shadows" in less:
        assert (quick - best)[changed].mean() > 8  # more light, never less


def test_check_sensor_finds_nothing_wrong(seen):
    line = {"type": "depth_camera", "camera": "eye", "renderer": "soft", "binning": 2, "rate_hz": 10}
    assert check_sensor(line, seen) == []


def test_depths_are_the_distance_from_the_eye(seen):
    sensor = camera(seen, "depth_camera", noise=[], with_points=True)
    message, beside = sensor.taken()
    assert isinstance(message, Depth)
    cloud = dict(beside)["/eye/points"]
    assert isinstance(cloud, PointCloud)
    place = dict(beside)["/eye/camera_pose"]
    in_world = cw.Pose(place.position, place.quaternion)
    points = np.array([in_world.apply(point) for point in cloud.points_m.astype(float)])
    assert len(points) == np.isfinite(message.depth_m).sum() > 500
    tops = points[:, 2]
    assert tops.min() > -0.001  # nothing is below the tray's underside
    assert 0.01 < tops.max() < 0.3


def test_a_pair_is_taken_at_once_and_the_shift_tells_the_distance(seen):
    sensor = camera(seen, "stereo_camera", name="pair", left="eye", right="other", noise=[])
    left, beside = sensor.taken()
    facts = dict(beside)
    right, info = facts["/pair/right/image_raw"], facts["/pair/right/camera_info"]
    assert (left.time_ns, left.sequence) == (right.time_ns, right.sequence)
    assert info.baseline_m == pytest.approx(0.08)
    assert -info.p[3] / info.p[0] == pytest.approx(0.08)
    # The tray's top, 0.78 m away or so, is that much further left in the right picture.
    shift = info.focal_px[0] * 0.08 / 0.78
    rows = slice(20, 44)
    scores = [
        np.abs(left.pixels[rows, 30:70].astype(float) - right.pixels[rows, 30 - k : 70 - k]).mean() for k in range(25)
    ]
    assert np.argmin(scores) == pytest.approx(shift, abs=1.5)


def test_a_camera_on_the_flange_moves_with_it(seen):
    sensor = camera(seen, robot="arm", xyz_m=[0.1, 0, 0], resolution_px=[64, 48], fov_deg=80, noise=[])
    before, beside = sensor.taken()
    place = dict(beside)["/arm/camera_pose"]
    assert place.frame == "arm/flange"
    assert np.allclose(place.position, [0.1, 0, 0])
    assert np.allclose(cw.Pose(place.position, place.quaternion).rotation_matrix[:, 2], [0, 0, 1])
    moment = seen.snapshot()
    seen.data.qpos[seen.robots["arm"].qpos[0]] += 0.5
    after, _ = sensor.taken()
    seen.restore(moment)
    assert (np.abs(before.pixels.astype(int) - after.pixels) > 20).mean() > 0.01
    assert np.array_equal(sensor.taken()[0].pixels, before.pixels)


def test_segmentation_is_truth_and_names_owners(seen):
    sensor = camera(seen, "segmentation_camera")
    message, _ = sensor.taken()
    assert isinstance(message, Segmentation)
    shown = {message.names[label - 1] for label in np.unique(message.labels) if label}
    assert {"tray", "medium_gear_1"} <= shown
    bus = Bus()
    schedule(sensor, Stepper(seen.clock, seen.engine), bus)
    with pytest.raises(TruthLeak):
        bus.subscribe(sensor.topic, lambda *_: None, subscriber="ours")
    bus.subscribe(sensor.topic, lambda *_: None, subscriber="judge", role=Role.JUDGE)


LAB_LINES = [
    {"type": "color_camera", "camera": "eye", "rate_hz": 20, "delay_s": 0.02, "renderer": "soft"},
    {"type": "depth_camera", "name": "deep", "camera": "eye", "renderer": "soft"},
    {"type": "joint_state", "robot": "arm", "rate_hz": 50, "position": {"sd": 0.001}},
]


def lab_with(lines):
    return cw.Lab(Cell.model_validate({**TINY, **SEEN, "sensors": lines}), seed=5)


def test_pictures_come_at_their_rate_after_their_delay_with_their_facts():
    with lab_with(LAB_LINES) as lab:
        arrived = []
        lab.bus.subscribe(
            None, lambda topic, message: arrived.append((lab.world.clock.time_s, topic, message)), subscriber="t"
        )
        lab.advance(0.2)
        pictures = [(time_s, message) for time_s, topic, message in arrived if topic == "/eye/image_raw"]
        assert [round(time_s - message.time_s, 6) for time_s, message in pictures] == [0.02] * 3
        assert [message.time_s for _, message in pictures] == pytest.approx([0.05, 0.1, 0.15])
        facts = [message for _, topic, message in arrived if topic == "/eye/camera_info"]
        assert [message.time_ns for message in facts] == [message.time_ns for _, message in pictures]


def test_pictures_on_demand_are_published_and_kept():
    with lab_with(LAB_LINES) as lab:
        got = []
        lab.bus.subscribe("/deep/depth", lambda _, message: got.append(message), subscriber="t")
        lab.advance(0.1)
        assert got == []
        sensor = lab.sensor("deep")
        message = sensor.capture()
        assert got == [message]
        assert sensor.latest is message
        sensor.filters.append(lambda message: None)
        assert sensor.capture() is None


def test_pictures_that_nobody_wants_are_not_taken(monkeypatch):
    with lab_with(LAB_LINES[:1]) as lab:
        sensor = lab.sensors[0]
        monkeypatch.setattr(type(sensor), "sample", lambda self: pytest.fail("nobody listens"))
        lab.advance(0.2)
        assert sensor.sequence == 4


def test_the_simulation_does_not_depend_on_cameras():
    def truth(lines, capture):
        with lab_with(lines) as lab:
            seen = []
            lab.bus.subscribe(None, lambda topic, m: seen.append((topic, repr(m))), subscriber="t", role=Role.RECORDER)
            for _ in range(4):
                lab.advance(0.05)
                if capture:
                    lab.sensor("deep").capture()
            return [one for one in seen if "eye" not in one[0] and "deep" not in one[0]], lab.world.data.qpos.copy()

    with_cameras, without = truth(LAB_LINES, True), truth(LAB_LINES[2:], False)
    assert with_cameras[0] == without[0]
    assert np.array_equal(with_cameras[1], without[1])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"type": "color_camera"}, "either camera, one of the cell's, or robot"),
        ({"type": "color_camera", "camera": "eye", "robot": "arm"}, "either camera"),
        ({"type": "color_camera", "camera": "eys"}, "unknown camera 'eys'; did you mean 'eye'"),
        ({"type": "color_camera", "robot": "arn"}, "unknown robot 'arn'"),
        ({"type": "color_camera", "camera": "eye", "rate_hz": 31}, "eye takes 30 pictures per second at most"),
        ({"type": "color_camera", "camera": "eye", "region_px": [50, 0, 64, 64]}, "not inside the picture of 96 x 64"),
        ({"type": "color_camera", "camera": "eye", "binning": 8}, "fewer than 16 along an axis"),
        ({"type": "color_camera", "camera": "eye", "exposure": -1}, "exposure"),
        ({"type": "depth_camera", "camera": "eye", "noise": [{"model": "shot", "sd": 0.1}]}, "no noise of depths"),
        ({"type": "stereo_camera", "name": "p", "left": "eye", "right": "eye"}, "the same camera"),
        ({"type": "stereo_camera", "name": "p", "left": "other", "right": "eye"}, "to the left of other: swap them"),
    ],
)
def test_lines_that_make_no_sense(seen, line, message):
    with pytest.raises(BadInput, match=message):
        make_sensor(line, seen, WHERE)


def test_cameras_without_a_name_have_that_of_their_camera_and_noise_of_their_own():
    noise = [{"model": "gaussian", "sd": 0.1}]
    lines = [{"type": "color_camera", "camera": name, "renderer": "soft", "noise": noise} for name in ("eye", "other")]
    with lab_with(lines) as lab:
        pictures = [lab.sensor(name).capture().pixels.astype(float) for name in ("eye", "other")]
        still = [make_sensor({**line, "noise": []}, lab.world, WHERE).taken()[0].pixels for line in lines]
    noises = [(picture - clean).ravel() for picture, clean in zip(pictures, still, strict=True)]
    assert abs(np.corrcoef(*noises)[0, 1]) < 0.05
