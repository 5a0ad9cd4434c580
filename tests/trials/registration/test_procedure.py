"""The registration in a simulated cell: it finds what was moved, by sight, touch and report alone."""

from dataclasses import replace

import numpy as np
import pytest
from tests.trials.truth_guard import guarded

from cellwright.cells import load_cell
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.pose import Pose
from cellwright.drawings.prior import Drawings
from cellwright.interfaces.crcl import CrclInterface
from cellwright.lab import Lab
from cellwright.perception.calibration import calibration_yaml
from cellwright.trials.lab_ports import lab_ports
from cellwright.trials.registration.calibrate import CalibrationRun, mark_places
from cellwright.trials.registration.fitting import fit_marks
from cellwright.trials.registration.places import MarkPlaces
from cellwright.trials.registration.placing import cell_with_marks
from cellwright.trials.registration.procedure import _predicted, _tool_offset, measure_marks

MOVED = {  # of the camera and the base, after everything was drawn; all else is as drawn
    "camera": {"x_m": 0.006, "y_m": -0.004},
    "robot_base": {"x_m": -0.003, "z_m": 0.004, "pitch_deg": 0.2},
    "tool": {"x_m": 0.001, "y_m": -0.0005},
}
PLACES_M = [(-0.03, -0.895), (0.469, -1.36), (-0.03, -1.43), (0.479, -0.95)]


def moved_cell():
    return load_cell("aprs").model_copy(update={"actual": type(load_cell("aprs").actual).model_validate(MOVED)})


def test_marks_that_are_not_there_are_named_with_what_to_do():
    cell = load_cell("aprs")
    drawings = Drawings.of(cell)
    places = MarkPlaces(drawings).named(PLACES_M)
    with Lab(cell, 0) as lab:
        ports = lab_ports(lab, CrclInterface(lab), drawings=drawings)
        with pytest.raises(JobFailed, match=r"mark_1 at -0.030, -0.895 m was not seen by detector_fanuc: put a "):
            lab.perform(measure_marks(ports, ["fanuc"], places))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([(0.02, -0.9), (0.02, -1.02), (0.02, -1.27), (0.02, -1.42)], "not lie on a line"),
        ([*PLACES_M, (0.5, 0.2)], "mark_5 at 0.5, 0.2 m: out of reach of fanuc"),
    ],
)
def test_marks_on_a_line_or_out_of_reach_are_refused_before_anything_moves(given, words):
    cell = load_cell("aprs")
    drawings = Drawings.of(cell)
    places = MarkPlaces(drawings).named(given)
    with Lab(cell, 0) as lab:
        ports = lab_ports(lab, CrclInterface(lab), drawings=drawings)
        with pytest.raises(BadInput, match=words):
            lab.perform(measure_marks(ports, ["fanuc"], places))
        assert lab.clock.time_s == 0.0


def test_the_offset_of_a_tool_follows_from_one_place_felt_with_two_turns():
    tool, place = Pose.from_xyz_rpy([0.0012, -0.0007, 0.0]), Pose.from_xyz_rpy([0.4, -1.0, 0.95], [np.pi, 0.0, 0.3])
    turned = place @ Pose.from_xyz_rpy([0.0, 0.0, 0.0], [0.0, 0.0, 2.0])
    assert _tool_offset(place @ tool.inverse(), turned @ tool.inverse()).is_close(tool)


def test_a_mark_is_expected_where_the_others_were_felt():
    moved = Pose.from_xyz_rpy([0.01, -0.005, 0.002], np.radians([0.3, 0.1, 0.5]))
    seen = np.array([[0.0, -0.9, 0.98], [0.47, -1.38, 0.98], [-0.03, -1.43, 0.98], [0.48, -0.93, 0.98]])
    pairs = list(zip(seen, moved.apply(seen), strict=True))
    assert _predicted([], seen[3])[0] == pytest.approx(seen[3])
    where, is_near = _predicted(pairs[:3], seen[3])
    assert is_near
    assert where == pytest.approx(moved.apply(seen[3]), abs=1e-9)
    assert not _predicted(pairs[:2], seen[3])[1]


def run(cell, seed, robots=("fanuc",)):
    drawings = Drawings.of(cell)
    places = mark_places(drawings, robots)
    with Lab(cell_with_marks(cell, places, seed), seed) as lab, guarded() as looked:
        ports = lab_ports(lab, CrclInterface(lab), drawings=drawings)
        measured = lab.perform(measure_marks(ports, robots, places))
        assert looked[0] > 1000, "lab and world were out of reach all the time"
        stood = {place.name: lab.world.pose_of(place.name).position for place in places}
    return CalibrationRun(fit_marks(drawings, measured), measured), stood


@pytest.mark.slow
def test_a_camera_and_a_base_that_were_moved_are_found_by_touch_and_not_by_drawing():
    cell = moved_cell()
    done, stood = run(cell, seed=5)
    calibration, measured = done.fitted.calibration, done.measured
    assert not done.fitted.problems
    base_in_fact = cell.robots["fanuc"].base.pose @ Pose.from_xyz_rpy([-0.003, 0.0, 0.004], [0.0, np.radians(0.2), 0.0])
    for name, point_m in measured.touched["fanuc"].points_in_base_m.items():
        assert base_in_fact.apply(point_m) == pytest.approx(stood[name] + [0.0, 0.0, 0.070], abs=0.0001)
    assert measured.touched["fanuc"].tool_m == pytest.approx((0.001, -0.0005), abs=0.0001)
    # What the corrected detector says of a place, the robot has there, to the noise of 20 frames.
    robot = calibration.robots["fanuc"]
    for name, sighting in measured.seen["detector_fanuc"].items():
        corrected = calibration.corrected("detector_fanuc", Pose.from_xyz_rpy(sighting.foot_m))
        command = robot.in_base(Pose(corrected.position, Pose.from_xyz_rpy([0, 0, 0], [np.pi, 0, 0]).quaternion))
        reached = base_in_fact @ command @ Pose.from_xyz_rpy([0.001, -0.0005, 0.0])
        assert reached.position[:2] == pytest.approx(stood[name][:2], abs=0.0003)
        assert reached.position[2] == pytest.approx(stood[name][2], abs=0.0003)
    # A procedure that took marks to be where they were meant to be would find something else.
    drawn = {place.name: cell.robots["fanuc"].base.pose.inverse().apply(place.top_m) for place in measured.places}
    touched = {"fanuc": replace(measured.touched["fanuc"], points_in_base_m=drawn)}
    by_drawing = fit_marks(Drawings.of(cell), replace(measured, touched=touched)).calibration
    middle = Pose.from_xyz_rpy([0.22, -1.16, 0.916])
    off_m = by_drawing.corrected("detector_fanuc", middle).distance_m(calibration.corrected("detector_fanuc", middle))
    assert off_m > 0.002


@pytest.mark.long
@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes():
    first, again = (run(moved_cell(), seed=5)[0].fitted.calibration for _ in range(2))
    assert calibration_yaml(first) == calibration_yaml(again)


@pytest.mark.slow
def test_a_mark_that_is_pushed_while_it_is_measured_is_named():
    cell = moved_cell()
    drawings = Drawings.of(cell)
    places = mark_places(drawings, ["fanuc"])
    with Lab(cell_with_marks(cell, places, 5), 5) as lab:
        ports = lab_ports(lab, CrclInterface(lab), drawings=drawings)

        def push(line):
            if "mark_4 felt" in line:
                pose = lab.world.pose_of("mark_1")
                lab.world.place("mark_1", Pose(pose.position + [0.004, 0.0, 0.0], pose.quaternion))

        with pytest.raises(JobFailed, match=r"mark_1 was moved while it was measured, [34]\.\d mm"):
            lab.perform(measure_marks(ports, ["fanuc"], places, push))
