"""Detections from pictures: taken on demand, recognised from messages and drawings, the same for the same seed."""

from itertools import pairwise

import numpy as np
import pytest

from cellwright.core.bus import Role
from cellwright.core.errors import BadInput, MissingExtra, UnknownName
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.lab import Lab
from cellwright.lab.camera_detector import CameraDetector
from cellwright.lab.cell_file import read_cell
from cellwright.lab.sources import RECOGNITION_S, with_source
from cellwright.perception.calibration import CalibratedCamera, Calibration, FittedPose
from cellwright.perception.calibration.camera import OPTICAL
from cellwright.perception.recognition import Recognised

pytestmark = pytest.mark.slow

pytest.importorskip("cv2")
pytest.importorskip("numba")

TOPIC = "/detector_fanuc/detections"


class StandIn:
    """Recognises one gear wherever the picture is brightest: quick, and a function of the pixels alone."""

    def __init__(self):
        self.pictures = []

    def recognise(self, picture):
        self.pictures.append(picture)
        row, column = np.unravel_index(picture.pixels.sum(axis=2).argmax(), picture.pixels.shape[:2])
        return Recognised(
            source=picture.source,
            time_s=picture.time_s,
            skus=("sku_part_small_gear",),
            positions=np.array([[column / 1000, -row / 1000, 0.9]]),
            quaternions=np.array([[1.0, 0, 0, 0]]),
            variances=np.full((1, 6), 1e-6),
            scores=np.ones(1),
        )


@pytest.fixture(scope="module")
def cell():
    cell = with_source(read_cell("aprs"), "camera")
    coarse = [{**line, "binning": 8, "renderer": "soft"} if _is_camera(line) else line for line in cell.sensors]
    return cell.model_copy(update={"sensors": tuple(coarse)})


def _is_camera(line) -> bool:
    return line["type"] == "camera_detector"


def detector_of(lab: Lab) -> CameraDetector:
    found = next(sensor for sensor in lab.sensors if sensor.topic == TOPIC)
    assert isinstance(found, CameraDetector)
    found.__dict__["recogniser"] = StandIn()
    return found


def frames_of(lab: Lab, duration_s: float, role: Role = Role.CONTROLLER) -> list[Detections]:
    heard: list[Detections] = []
    subscription = lab.bus.subscribe(TOPIC, lambda _, frame: heard.append(frame), subscriber="test", role=role)
    lab.advance(duration_s)
    lab.bus.unsubscribe(subscription)
    return heard


def test_the_source_changes_what_makes_detections_and_no_name(cell):
    old, new = read_cell("aprs").sensors, cell.sensors
    pairs = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert len(pairs) == 2
    for state, pixels in pairs:
        assert (state["type"], pixels["type"]) == ("overhead_detector", "camera_detector")
        assert {key: pixels[key] for key in ("name", "camera", "rate_hz")} == {
            key: state[key] for key in ("name", "camera", "rate_hz")
        }
        assert pixels["delay_s"] == pytest.approx(state["delay_s"] + RECOGNITION_S)
    aprs = read_cell("aprs")
    assert with_source(aprs, None) is aprs
    assert with_source(aprs, "state") is aprs
    assert with_source(cell, "camera").sensors == cell.sensors


def test_what_has_no_pictures_is_refused_in_one_line(monkeypatch):
    with pytest.raises(UnknownName, match=r"source 'pixels'.*camera, state"):
        with_source(read_cell("aprs"), "pixels")
    with pytest.raises(BadInput, match="is a logical_detector, which takes no pictures") as told:
        with_source(read_cell("kitting"), "camera")
    assert "\n" not in str(told.value)
    with pytest.raises(BadInput, match="no detector whose camera could take pictures"):
        with_source(read_cell("epucks"), "camera")
    monkeypatch.setattr("cellwright.core.extras.find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"cellwright\[vision\]"):
        with_source(read_cell("aprs"), "camera")


def test_pictures_are_taken_one_at_a_time_while_a_controller_waits(cell):
    with Lab(cell, 1) as lab:
        detector = detector_of(lab)
        lab.advance(0.5)
        assert frames_of(lab, 0.5, Role.RECORDER) == []
        assert detector.recogniser.pictures == []
        frames = frames_of(lab, 1.05)
        taken_s = [frame.time_s for frame in frames]
        delay_s, period_s = detector.cfg.delay_s, 1 / detector.cfg.rate_hz
        assert len(frames) == 3
        for earlier, later in pairwise(taken_s):
            assert delay_s <= later - earlier <= delay_s + period_s + 1e-9
        known = lab.world.clock.time_s
        lab.advance(0.5)
        assert max(picture.time_s for picture in detector.recogniser.pictures) < known


def test_detections_carry_the_time_of_their_picture_and_come_after_the_delay(cell):
    with Lab(cell, 1) as lab:
        detector = detector_of(lab)
        arrived = []
        lab.bus.subscribe(TOPIC, lambda _, frame: arrived.append((lab.world.clock.time_s, frame)), subscriber="test")
        lab.advance(0.5)
        (now_s, frame), *_ = arrived
        assert now_s - frame.time_s == pytest.approx(detector.cfg.delay_s)
        assert (frame.source, frame.frame) == ("detector_fanuc", "world")
        assert frame.time_s == detector.recogniser.pictures[0].time_s


@pytest.mark.parametrize("less", [{"shadows": False}, {"samples": 1}])
def test_its_pictures_have_the_quality_of_its_line(cell, less):
    pictures = []
    for more in ({}, less):
        lines = [{**line, "noise": [], **more} if _is_camera(line) else line for line in cell.sensors]
        with Lab(cell.model_copy(update={"sensors": tuple(lines)}), 1) as lab:
            detector = detector_of(lab)
            detector.sample()
            pictures.append(detector.eye.taken()[0].pixels.astype(int))
    assert 0.01 < (np.abs(pictures[1] - pictures[0]) > 8).any(axis=2).mean() < 0.6


def test_only_what_is_in_its_area_is_reported(cell):
    lines = [{**line, "max_xy_m": [0.0, 5.0]} if _is_camera(line) else line for line in cell.sensors]
    with Lab(cell.model_copy(update={"sensors": tuple(lines)}), 1) as lab:
        detector_of(lab)
        frames = frames_of(lab, 0.4)
    assert frames
    assert frames[0].skus == ()  # the stand-in's gears are all at positive x
    assert frames[0].variances.shape == (0, 6)


def test_a_snapshot_has_what_is_recognised_in_pictures_that_are_under_way(cell):
    with Lab(cell, 1) as lab:
        detector_of(lab)
        lab.bus.subscribe(TOPIC, lambda *_: None, subscriber="test")
        lab.advance(0.25)
        then = lab.snapshot()
        one = frames_of(lab, 0.6)
        lab.restore(then)
        other = frames_of(lab, 0.6)
    assert [frame.time_ns for frame in one] == [frame.time_ns for frame in other]
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a.positions, b.positions)


def test_the_same_seed_gives_the_same_detections_whoever_else_listens(cell):
    found = []
    for recorded in (False, True):
        with Lab(cell, 5) as lab:
            detector_of(lab)
            if recorded:
                lab.bus.subscribe(None, lambda *_: None, subscriber="log", role=Role.RECORDER)
            found.append(frames_of(lab, 0.6))
    for a, b in zip(*found, strict=True):
        assert (a.time_ns, a.sequence) == (b.time_ns, b.sequence)
        np.testing.assert_array_equal(a.positions, b.positions)


def test_recognition_of_a_frame_touches_neither_world_nor_seed(cell):
    lines = [{**line, "binning": 4} if _is_camera(line) else line for line in cell.sensors]
    with Lab(cell.model_copy(update={"sensors": tuple(lines)}), 3) as lab:
        detector = next(sensor for sensor in lab.sensors if sensor.topic == TOPIC)
        recognised, worlds = detector._recognised, []

        def hidden(picture, sequence):
            worlds.append((detector.world, lab.world))
            world, detector.world = detector.world, None
            sight, detector.sight, eye, detector.eye = detector.sight, None, detector.eye, None
            try:
                return recognised(picture, sequence)
            finally:
                detector.world, detector.sight, detector.eye = world, sight, eye

        assert detector.recogniser is not None  # made from the drawings, before
        detector._recognised = hidden
        frames = frames_of(lab, 0.6)
        places = {
            sku: [lab.world.pose_of(name).position for name, item in lab.world.objects.items() if item.sku == sku]
            for sku in frames[0].skus
        }
    assert worlds
    assert len(frames[0].skus) >= 15
    for sku, position in zip(frames[0].skus, frames[0].positions, strict=True):
        assert min(np.hypot(*(position - place)[:2]) for place in places[sku]) < 0.003, sku


def test_a_calibrated_camera_is_recognised_with_as_it_was_measured(cell):
    """Pictures carry what was measured, the tables of the calibration are those of recognition; other cameras stay."""
    with Lab.from_cell(cell, 1) as lab:
        detector = detector_of(lab)
        drawn = lab.world.calibrated_cameras["camera_fanuc"]
        moved = drawn.pose_in_world @ Pose.from_xyz_rpy([0.0, 0.01, 0.0])
        own = CalibratedCamera(
            resolution_px=drawn.resolution_px,
            focal_px=(2310.0, 2310.0),
            centre_px=(1030.0, 1020.0),
            pose=FittedPose.of(moved @ OPTICAL),
        )
        calibration = Calibration(cell="aprs", cameras={"camera_fanuc": own})
        other = next(s for s in lab.sensors if isinstance(s, CameraDetector) and s is not detector)
        assert detector.calibrate(calibration)
        assert not other.calibrate(calibration)
        detector.__dict__["recogniser"] = stand_in = StandIn()
        detector._finished(detector.sample())
    picture = stand_in.pictures[0]
    assert picture.pose_camera_in_world.is_close(moved @ OPTICAL, tolerance_m=1e-8, tolerance_rad=1e-8)
    assert picture.matrix[0, 0] == pytest.approx(2310.0 / 8)
    assert picture.matrix[0, 2] == pytest.approx(1030.0 / 8)
