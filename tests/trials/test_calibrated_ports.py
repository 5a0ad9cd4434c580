"""Ports behind a calibration: corrected frames and drawings for a controller."""

from types import SimpleNamespace

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.errors import BadInput
from cellwright.core.messages import Detections
from cellwright.drawings.calibration import calibrated_drawings, drawn_places
from cellwright.drawings.prior import Drawings
from cellwright.lab import Lab
from cellwright.orders import find_order
from cellwright.perception.calibration import (
    CalibratedDetector,
    CalibratedRobot,
    CalibratedSurface,
    Calibration,
    FittedPose,
    write_calibration,
)
from cellwright.trials import RunCfg, run_order
from cellwright.trials.calibrated_ports import calibrated_ports, calibration_of
from cellwright.trials.controller_ports import ControllerPorts
from cellwright.trials.registration import calibrate_cell


@pytest.fixture(scope="module")
def drawings():
    return Drawings.of(load_cell("aprs"))


@pytest.fixture
def calibration(drawings):
    return Calibration(
        cell="aprs",
        drawings=dict(drawn_places(drawings).digests),
        robots={"fanuc": CalibratedRobot(base=FittedPose(xyz_m=(-0.169, -1.140, 0.938)))},
        detectors={"detector_fanuc": CalibratedDetector(rigid=FittedPose(xyz_m=(0.005, -0.002, 0.0)))},
    )


def frame(source):
    rows = np.array([[0.3, -1.0, 0.92], [0.1, -1.2, 0.92]])
    return Detections(
        0, 0, source, frame="world", skus=("a", "b"), positions=rows, quaternions=np.tile([1.0, 0, 0, 0], (2, 1)),
        variances=np.full((2, 6), 1e-6), scores=np.ones(2),
    )  # fmt: skip


def test_frames_of_a_registered_detector_are_corrected_and_those_of_others_left(drawings, calibration):
    senders, seen = {}, []

    def source(name):
        def watch(take):
            senders[name] = take
            return lambda: None

        return watch

    names = ("detector_fanuc", "detector_motoman")
    ports = ControllerPorts(SimpleNamespace(time_s=0.0), drawings, {}, {name: source(name) for name in names})
    calibrated = calibrated_ports(ports, calibration)
    for name in names:
        calibrated.watch(name, seen.append)
        senders[name](frame(name))
    assert seen[0].positions == pytest.approx(frame("").positions + [0.005, -0.002, 0.0])
    assert np.array_equal(seen[1].positions, frame("").positions)
    assert calibrated.drawings.layout.bases["fanuc"].position[2] == pytest.approx(0.938)
    assert calibrated.drawings.registered_detectors == {"detector_fanuc"}
    assert calibrated_ports(ports, None) is ports


def test_a_calibration_of_another_cell_of_older_drawings_or_cut_off_is_refused_in_one_line(
    drawings, calibration, tmp_path
):
    file = tmp_path / "c.yaml"
    write_calibration(calibration, file)
    assert calibration_of(file, drawings).cell == "aprs"
    moved = drawings.cell.changed({"robots": {"fanuc": {"base": {"xyz_m": [-0.2, -1.140, 0.934]}}}})
    for wrong, words in (
        (Drawings.of(load_cell("kitting")), "another cell"),
        (Drawings.of(moved), r"older layout: .*changed robots.fanuc"),
    ):
        with pytest.raises(BadInput, match=words) as refused:
            calibration_of(file, wrong)
        assert "\n" not in str(refused.value)
    file.write_text(file.read_text()[:-200])
    with pytest.raises(BadInput, match="cut off"):
        calibration_of(file, drawings)


@pytest.mark.parametrize(("height_m", "where"), [(0.2, "below"), (1.3, "above")])
def test_a_table_far_from_its_drawing_is_refused(drawings, calibration, height_m, where):
    surfaces = {"fanuc_cart": CalibratedSurface(at_m=(0.3, -1.15), height_m=height_m)}
    with pytest.raises(BadInput, match=f"surfaces.fanuc_cart: .* m {where} its drawing"):
        calibrated_drawings(drawings, calibration.model_copy(update={"surfaces": surfaces}))


@pytest.mark.slow
def test_a_cell_as_built_works_with_its_calibration():
    """Without it the tool is 7 mm beside gears and 9 mm above them in this one."""
    cell = load_cell("aprs@as_built")
    done = calibrate_cell(cell, ["fanuc"], seed=1)
    assert not done.fitted.problems
    with Lab(cell, 1) as lab:
        report = run_order(lab, [find_order("kit_m2l1", 1)], RunCfg(("fanuc",), calibration=done.fitted.calibration))
    assert report.done


def test_detections_by_a_calibrated_camera_are_not_corrected_twice(drawings, calibration):
    ports = ControllerPorts(SimpleNamespace(), drawings, {}, {"detector_fanuc": lambda take: take})
    assert calibrated_ports(ports, calibration, ["detector_fanuc"]).detectors == ports.detectors
    assert calibrated_ports(ports, calibration).detectors != ports.detectors


def test_a_calibration_is_of_a_cell_whatever_the_source_of_its_detections(drawings):
    from cellwright.lab.sources import with_source

    assert drawn_places(Drawings.of(with_source(load_cell("aprs"), "camera"))).digests == drawn_places(drawings).digests
