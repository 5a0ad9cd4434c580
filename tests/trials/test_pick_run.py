"""Orders to pick: found in pictures or not at all, taken by friction, set down, judged by the truth."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.drawings.prior import Drawings
from cellwright.interfaces import CrclInterface
from cellwright.lab import Lab
from cellwright.orders.pick_order import PICK_ORDERS
from cellwright.perception.calibration.camera import CalibratedCamera
from cellwright.perception.calibration.fields import FittedPose
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement
from cellwright.trials.lab_ports import lab_ports
from cellwright.trials.pick_run import check_pick, run_pick
from cellwright.trials.report import TrialStatus

pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")
pytest.importorskip("toppra", reason="not installed: pip install 'cellwright[motion]'")

BOTTLE = PICK_ORDERS.get("pick_bottle")


class Told:
    """Says what it is told to say."""

    def __init__(self, *told: PoseMeasurement) -> None:
        self.told = list(told)

    async def measure(self) -> PoseMeasurement:
        return self.told.pop(0) if len(self.told) > 1 else self.told[0]


def found_at(pose: Pose, sd_m: float = 0.001) -> PoseMeasurement:
    return PoseMeasurement(
        status=MeasurementStatus.FOUND, pose_in_world=pose, variances=np.full(6, sd_m**2), quality=0.9
    )


def poor_at(pose: Pose) -> PoseMeasurement:
    return PoseMeasurement(
        status=MeasurementStatus.POOR,
        reason="30 % of it was measured",
        pose_in_world=pose,
        variances=np.full(6, 1e-8),
        quality=0.3,
    )


@pytest.mark.slow
def test_a_poor_measurement_is_never_grasped_by():
    with Lab(load_cell("rovi"), 1) as lab:
        stood, arm = lab.world.pose_of("bottle"), lab.robot("ur5").joints_rad.copy()
        report = run_pick(lab, BOTTLE, lambda _ports, _order: Told(poor_at(stood)))
        assert report.status is TrialStatus.FAILED
        assert not report.account.is_planned
        assert len(report.account.measurements) == 3, "it looked again, and again"
        assert "the bottle is not taken after 3 looks: poor: 30 % of it was measured" in report.reason
        assert lab.robot("ur5").joints_rad == pytest.approx(arm, abs=1e-3), "the arm never moved"
        assert lab.world.pose_of("bottle").distance_m(stood) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place_m", "why"),
    [
        ((0.40, 1.30, 0.75), "does not stand on the pick_area"),
        ((0.40, 1.05, 0.90), "150 mm above it"),
    ],
)
def test_what_was_measured_off_the_area_is_not_taken(place_m, why):
    with Lab(load_cell("rovi"), 1) as lab:
        report = run_pick(lab, BOTTLE, lambda _ports, _order: Told(found_at(Pose.from_xyz_rpy(place_m))))
    assert report.status is TrialStatus.FAILED
    assert why in report.reason


@pytest.mark.slow
def test_the_bottle_is_found_by_its_own_eyes_taken_by_friction_and_set_down(monkeypatch):
    """From pixels to the verdict, with noise; the drawings do not have where it stands."""
    pytest.importorskip("cv2", reason="not installed: pip install 'cellwright[vision]'")
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "soft")
    cell = load_cell("rovi")
    sensors = tuple(
        {**line, "noise": [{"model": "gaussian", "sd": 6 / 255}]} if line["type"] == "stereo_camera" else line
        for line in cell.sensors
    )
    steps: list[str] = []
    with Lab(cell.model_copy(update={"sensors": sensors}), 5) as lab:
        lab.world.place("bottle", Pose.from_xyz_rpy([0.27, 1.08, 0.7502]))
        lab.advance(0.5)
        report = run_pick(lab, BOTTLE, on_step=steps.append)
    assert report.done, report.reason
    assert report.hits == ()
    measured = report.account.measurements[-1].pose_in_world
    assert measured.position[:2] == pytest.approx([0.27, 1.08], abs=0.005)
    assert steps[:4] == ["look", "plan", "approach", "reach"]
    assert report.verdict.error_m < 0.011
    told = report.as_dict()
    assert (told["status"], told["verdict"]["placed"], told["account"]["planned"]) == ("done", True, True)


@pytest.mark.slow
def test_a_bottle_that_is_not_where_it_was_measured_is_missed_and_looked_for_again():
    with Lab(load_cell("rovi"), 2) as lab:
        lab.world.place("bottle", Pose.from_xyz_rpy([0.65, 1.05, 0.7502]))
        lab.advance(0.5)
        stood, elsewhere = lab.world.pose_of("bottle"), Pose.from_xyz_rpy([0.15, 1.05, 0.75])
        report = run_pick(lab, BOTTLE, lambda _ports, _order: Told(found_at(elsewhere), found_at(stood)))
    names = [step.name for step in report.account.steps]
    assert names.count("look") == 2
    assert "missed" in names
    assert report.done, report.reason


def test_cells_that_cannot_do_an_order_are_refused():
    with pytest.raises(BadInput, match="area of a table"):
        check_pick(Drawings.of(load_cell("aprs")), BOTTLE)
    with pytest.raises(BadInput, match="has no milk carton"):
        check_pick(Drawings.of(load_cell("rovi")), PICK_ORDERS.get("pick_milk"))


def test_a_controller_gets_pictures_as_the_bus_has_them_and_the_switch_of_the_projector(monkeypatch):
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "soft")
    cell = load_cell("rovi")
    small = tuple({**one, "binning": 8} if one["type"] == "stereo_camera" else one for one in cell.sensors)
    with Lab(cell.model_copy(update={"sensors": small}), 1) as lab:
        ports = lab_ports(lab, CrclInterface(lab))
        assert set(ports.cameras) == {"stereo"}
        pair = ports.cameras["stereo"]()
        assert [one.pixels.shape for one in pair] == [(100, 100, 3), (100, 100, 3)]
        across = pair[0].pose_camera_in_world.inverse() @ pair[1].pose_camera_in_world
        assert across.position == pytest.approx([0.08, 0.0, 0.0], abs=2e-5), "as calibrated"
        assert not lab.bus.has_listener("/stereo/left/image_raw"), "it listens only while it looks"
        drawn = pair[0].pose_camera_in_world
        place = FittedPose(xyz_m=(drawn.position + [0.004, 0.0, 0.0]).tolist(), rpy_deg=np.degrees(drawn.rpy).tolist())
        measured = CalibratedCamera(resolution_px=(800, 800), focal_px=(730, 730), centre_px=(400, 400), pose=place)
        calibration = SimpleNamespace(cameras={"stereo_left": measured}, camera_pairs=())
        left, right = lab_ports(lab, CrclInterface(lab), calibration=calibration).cameras["stereo"]()
        assert left.pose_camera_in_world.position - drawn.position == pytest.approx([0.004, 0, 0], abs=1e-6)
        assert left.matrix[0, 0] == pytest.approx(730 / 8), "as measured"
        assert right.pose_camera_in_world.position == pytest.approx(pair[1].pose_camera_in_world.position), "as drawn"
        ports.projectors["stereo"](True)
        assert lab.projector("stereo").is_on
