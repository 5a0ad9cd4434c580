"""Calibration files: what is written is read again, and what does not belong to the cell is refused with a remedy."""

import numpy as np
import pytest
import yaml

import cellwright as cw
from cellwright.core import Pose
from cellwright.core.errors import BadInput
from cellwright.drawings import Drawings, drawn_places
from cellwright.perception.calibration import (
    CalibratedRobot,
    Calibration,
    FittedPose,
    RegistrationPoint,
    calibration_yaml,
    read_calibration,
    register_detector,
    touched_surface,
    write_calibration,
)

PLACES = drawn_places(Drawings.of(cw.load_cell("aprs")))
SEEN = np.array([[0.1, -1.35, 0.916], [0.5, -1.35, 0.916], [0.1, -0.95, 0.916], [0.5, -0.95, 0.916]])
CART = [[0.1, -1.4, 0.917], [0.5, -1.4, 0.918], [0.1, -0.9, 0.917], [0.5, -0.9, 0.918]]


def calibration():
    touched = Pose.from_xyz_rpy([0.004, -0.002, 0.001], [0.001, -0.002, 0.01]).apply(1.003 * SEEN)
    registered = register_detector(SEEN, touched, source="detector_fanuc", target="fanuc")
    return Calibration(
        cell="aprs",
        drawings=dict(PLACES.digests),
        robots={"fanuc": CalibratedRobot(base=FittedPose.of(PLACES.bases["fanuc"]))},
        detectors={"detector_fanuc": registered.detector},
        surfaces={"fanuc_cart": touched_surface(CART)},
        pair_sets=(registered.pairs,),
    )


def read(tmp_path, data, places=PLACES):
    file = tmp_path / "calibration.yaml"
    file.write_text(data if isinstance(data, str) else yaml.safe_dump(data, sort_keys=False))
    return read_calibration(file, places)


@pytest.fixture
def data():
    return yaml.safe_load(calibration_yaml(calibration()))


def test_what_is_written_is_read_again(tmp_path):
    file = tmp_path / "calibration.yaml"
    write_calibration(calibration(), file)
    assert read_calibration(file, PLACES) == calibration()


def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path):
    text = calibration_yaml(calibration())
    for end in range(len("format: cellwright-calibration\n"), len(text) - 2, 31):
        with pytest.raises(BadInput, match=r"cut off: .* calibrate the cell again"):
            read(tmp_path, text[:end])
    for end in range(len(text) - 25, len(text) - 1):
        with pytest.raises(BadInput, match="cut off"):
            read(tmp_path, text[:end])


def test_another_file_is_refused(tmp_path):
    for text in ("", "name: aprs\n", "- 1\n"):
        with pytest.raises(BadInput, match="not a calibration file"):
            read(tmp_path, text)
    with pytest.raises(BadInput, match="cannot read"):
        read_calibration(tmp_path / "none.yaml")


def test_another_cell_is_refused(tmp_path, data):
    other = drawn_places(Drawings.of(cw.load_cell("kitting")))
    with pytest.raises(BadInput, match="another cell: this is a calibration of 'aprs', not of 'kitting'; load"):
        read(tmp_path, data, other)


def test_an_older_layout_is_refused_and_its_entries_are_named(tmp_path, data):
    moved = cw.load_cell("aprs").changed(
        {
            "fixtures": {"fanuc_cart": {"model": "fanuc_cart", "pose": {"xyz_m": [0.05, -1.16, 0.0]}}, "fence": None},
            "cameras": {"spare": {"pose": {"xyz_m": [0, 0, 2], "rpy_deg": [0, 90, 0]}, "fov_deg": 40}},
        }
    )
    expected = "older layout: .*changed fixtures.fanuc_cart; new cameras.spare; gone fixtures.fence.*calibrate the cell"
    with pytest.raises(BadInput, match=expected):
        read(tmp_path, data, drawn_places(Drawings.of(moved)))


def test_loose_trays_and_errors_do_not_make_a_calibration_old(tmp_path, data):
    other = cw.load_cell("aprs").changed(
        {
            "trays": {"fanuc_medium_tray": {"pose": {"xyz_m": [0.17, -1.0, 0.916]}}},
            "actual": {"robot_base": {"x_m": 0.002}},
        }
    )
    assert read(tmp_path, data, drawn_places(Drawings.of(other))) == calibration()


def in_millimetres(data):
    """Returns the same with every length a thousand times as large: written in the wrong unit."""
    if isinstance(data, list):
        return [in_millimetres(one) for one in data]
    if not isinstance(data, dict):
        return data
    return {
        key: [1000 * x for x in value]
        if key.endswith("_m") and isinstance(value, list)
        else 1000 * value
        if key.endswith("_m")
        else in_millimetres(value)
        for key, value in data.items()
    }


def test_a_file_that_is_all_in_millimetres_is_told_in_one_line(tmp_path, data):
    with pytest.raises(
        BadInput, match=r"units mixed up: \d+ numbers look like millimetres, such as .*write metres"
    ) as told:
        read(tmp_path, in_millimetres(data))
    assert str(told.value).count(";") == 1


def set_at(data, path, value):
    *way, last = path
    for step in way:
        data = data[step]
    data[last] = value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("robots", "fanuc", "base", "xyz_m"), [-169.0, -1140.0, 934.0], "units mixed up.* looks like millimetres"),
        (("robots", "fanuc", "base", "xyz_m"), [-0.9, -1.14, 0.934], "0.731 m .* from its drawing"),
        (("robots", "fanuc", "base", "rpy_deg"), [0, 0, 90.0], "90 degrees from its drawing"),
        (("detectors", "detector_fanuc", "points", 0, "offset_m"), [3.2, 0, 0], "units mixed up.* write metres"),
        (("robots", "fanuc", "tool", "xyz_m"), [1.8, -1.7, 0.0], "units mixed up.* the tool's point is moved by 1.8 m"),
        (("detectors", "detector_fanuc", "rigid", "xyz_m"), [4.0, -2.0, 1.0], "units mixed up.* what is seen"),
        (("surfaces", "fanuc_cart", "height_m"), 917.0, "units mixed up.* write metres"),
        (("surfaces", "fanuc_cart", "height_m"), float("nan"), "not a finite number .* calibrate again"),
        (("pair_sets", 0, "pairs", 0, "from_m"), [float("inf"), 0, 0], "not a finite number"),
        (("detectors", "detector_fanuc", "points", 1, "at_m"), [0.1, -1.35], "repeated registration points: 1 and 2"),
        (("robots", "fanuc", "spam"), 1, "unknown key 'spam'"),
        (("version",), 2, "version"),
        (("detectors", "camera_7"), {"residual_m": 0.0}, "detectors.camera_7: the cell has no such thing"),
        (("surfaces", "bench"), {"at_m": [0, 0], "height_m": 1}, "surfaces.bench: the cell has no such thing"),
    ],
)
def test_values_that_cannot_be_are_refused(tmp_path, data, path, value, message):
    if path[-1] == "at_m":
        value = data["detectors"]["detector_fanuc"]["points"][0]["at_m"]
    set_at(data, path, value)
    with pytest.raises(BadInput, match=message):
        read(tmp_path, data)


def test_points_on_a_line_and_too_few_are_refused(tmp_path, data):
    own = data["detectors"]["detector_fanuc"]
    four = own["points"]
    own["points"] = four[:2]
    with pytest.raises(BadInput, match="too few registration points: 2"):
        read(tmp_path, data)
    own["points"] = [{**point, "at_m": [0.1 * k, -1.0]} for k, point in enumerate(four)]
    with pytest.raises(BadInput, match="collinear registration points"):
        read(tmp_path, data)


def test_every_refusal_is_one_line(tmp_path, data):
    data["robots"]["fanuc"]["base"]["xyz_m"] = [1e9, float("nan"), 0]
    with pytest.raises(BadInput) as caught:
        read(tmp_path, data)
    assert "\n" not in str(caught.value)


def test_points_may_be_made_in_python():
    point = RegistrationPoint(at_m=(0.5, 0.1), offset_m=(0.001, 0.0, 0.0))
    assert point.turn_deg == (0.0, 0.0, 0.0)
