"""The fit of what was seen and touched: known corrections come out again."""

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.drawings.calibration import calibrated_drawings, drawn_places
from cellwright.drawings.prior import Drawings
from cellwright.perception.calibration.files import check_places
from cellwright.trials.registration.fitting import FOOT_M, fit_marks
from cellwright.trials.registration.places import MarkPlace
from cellwright.trials.registration.procedure import MarkMeasurements, RobotTouches
from cellwright.trials.registration.sightings import Sighting

CORNERS = {"a": (0.0, -0.9), "b": (0.47, -1.38), "c": (-0.03, -1.43), "d": (0.48, -0.93)}
SHARED = {"e": (-0.39, -0.5), "f": (0.39, -0.76), "g": (-0.33, -0.78), "h": (0.15, -0.46)}
TOPS_M = {"fanuc_cart": 0.916, "shared_table": 0.890}


@pytest.fixture(scope="module")
def drawings():
    return Drawings.of(load_cell("aprs"))


def measured(drawings, bases, camera, *, up_m=0.0, tables=TOPS_M, touched=None):
    """Measures marks in a cell whose bases and cameras are moved in the world, and whose shared table is raised."""
    places, feet = [], {}
    for table, marks in (("fanuc_cart", CORNERS), ("shared_table", SHARED)):
        for name, xy in marks.items():
            places.append(MarkPlace(name, table, (*xy, tables[table])))
            feet[name] = np.array([*xy, tables[table] + (up_m if table == "shared_table" else 0.0)])
    own = touched or {"fanuc": [*CORNERS, "e", "f", "g"], "motoman": list(SHARED)}
    points = {
        robot: {n: (bases[robot] @ drawings.layout.bases[robot]).inverse().apply(feet[n] + FOOT_M) for n in names}
        for robot, names in own.items()
    }
    seen = {
        f"detector_{robot}": {
            name: Sighting(np.array([*camera.inverse().apply(feet[name])[:2], place.xyz_m[2]]), np.zeros(2), 20)
            for place in places
            if (name := place.name) in own[robot]
        }
        for robot in own
    }
    return MarkMeasurements(
        tuple(places), seen, {r: RobotTouches(p, (0.001, -0.0005)) for r, p in points.items()}, 100.0
    )


def about_top(xyz_m, rpy_deg):
    """Returns a displacement that turns about the middle of the cart's top."""
    middle = Pose.from_xyz_rpy([0.22, -1.16, 0.916])
    return middle @ Pose.from_xyz_rpy(xyz_m, np.radians(rpy_deg)) @ middle.inverse()


def test_a_base_that_leans_is_levelled_by_its_table_and_a_camera_is_found_where_it_is(drawings):
    tilted, camera = about_top([0.0, 0.0, 0.004], [0.3, -0.2, 0.0]), Pose.from_xyz_rpy([0.006, -0.004, 0.0])
    bases = {"fanuc": tilted, "motoman": Pose.identity()}
    data = measured(drawings, bases, camera, touched={"fanuc": list(CORNERS)})
    fitted = fit_marks(drawings, data)
    assert not fitted.problems
    base = fitted.calibration.robots["fanuc"].base.pose
    assert base.is_close(tilted @ drawings.layout.bases["fanuc"], tolerance_m=3e-5, tolerance_rad=1e-4)
    for xy in ((0.1, -1.0), (0.4, -1.3)):
        reported = Pose.from_xyz_rpy([*(np.array(xy) - [0.006, -0.004]), 0.916])
        corrected = fitted.calibration.corrected("detector_fanuc", reported)
        assert corrected.position == pytest.approx([*xy, 0.916], abs=5e-5)
    assert fitted.calibration.robots["fanuc"].tool.pose.position[:2] == pytest.approx([0.001, -0.0005])
    assert fitted.calibration.surfaces["fanuc_cart"].height_m == pytest.approx(0.916, abs=1e-5)


def test_two_robots_are_registered_by_marks_that_both_felt_and_a_raised_table_is_noticed(drawings):
    bases = {
        "fanuc": Pose.identity(),
        "motoman": Pose.from_xyz_rpy([0.003, -0.005, 0.002], np.radians([0.1, 0.2, 0.3])),
    }
    fitted = fit_marks(drawings, measured(drawings, bases, Pose.identity(), up_m=0.003))
    found = fitted.calibration.robots["motoman"].base.pose
    assert found.is_close(bases["motoman"] @ drawings.layout.bases["motoman"], tolerance_m=1e-6, tolerance_rad=1e-6)
    assert fitted.calibration.surfaces["shared_table"].height_m == pytest.approx(0.893, abs=1e-6)
    corrected = calibrated_drawings(drawings, fitted.calibration)
    for tray in drawings.layout.trays:
        up_m = corrected.layout.objects[tray.name].pose_in_world.position[2] - tray.pose_in_world.position[2]
        assert up_m == pytest.approx(0.003 if tray.name.startswith("motoman") else 0.0, abs=1e-6)
    assert corrected.layout.bases["motoman"].is_close(found, tolerance_m=1e-7, tolerance_rad=1e-7)
    assert corrected.tool_offsets["fanuc"].position[0] == pytest.approx(0.001)


def test_robots_without_common_marks_are_not_registered_and_that_is_said(drawings):
    bases = {"fanuc": Pose.identity(), "motoman": Pose.identity()}
    touched = {"fanuc": list(CORNERS), "motoman": list(SHARED)}
    fitted = fit_marks(drawings, measured(drawings, bases, Pose.identity(), touched=touched))
    assert not fitted.calibration.transforms
    assert any("no three marks in common" in note for note in fitted.notes)


def test_marks_that_contradict_each_other_are_no_calibration(drawings):
    data = measured(drawings, {"fanuc": Pose.identity(), "motoman": Pose.identity()}, Pose.identity())
    for name, off_m in {"a": [0.02, 0.0, 0.0], "b": [0.0, -0.03, 0.0], "c": [-0.025, 0.02, 0.0]}.items():
        data.touched["fanuc"].points_in_base_m[name] = data.touched["fanuc"].points_in_base_m[name] + off_m
    with pytest.raises(JobFailed, match="cannot be fitted"):
        fit_marks(drawings, data)


def test_a_fit_that_leaves_too_much_must_not_be_used(drawings):
    data = measured(drawings, {"fanuc": Pose.identity()}, Pose.identity(), touched={"fanuc": [*CORNERS]})
    points, middle = data.touched["fanuc"].points_in_base_m, np.mean([*CORNERS.values()], axis=0)
    for name, sign in {
        "a": 1,
        "b": 1,
        "c": -1,
        "d": -1,
    }.items():  # one diagonal longer, one shorter: no scale does that
        outwards = (CORNERS[name] - middle) / np.linalg.norm(CORNERS[name] - middle)
        points[name] = points[name] + [*(0.004 * sign * outwards), 0.0]
    fitted = fit_marks(drawings, data)
    assert any("allowed 3 mm" in problem for problem in fitted.problems), fitted


def test_a_calibration_belongs_to_the_drawings_that_it_was_made_from(drawings):
    data = measured(drawings, {"fanuc": Pose.identity(), "motoman": Pose.identity()}, Pose.identity())
    check_places(fit_marks(drawings, data).calibration, drawn_places(drawings), "file")
