"""A cell fitted to files of a reality that differs from its drawings, made up and real."""

from pathlib import Path

import numpy as np
import pytest

import cellwright as cw
from cellwright.catalogue import TRAYS
from cellwright.cells import cell_yaml, drawn_layout
from cellwright.core import Pose
from cellwright.core.errors import BadInput, UnknownName
from cellwright.fitting import MeasuredFile, fit_cell, read_frames, steady_objects
from cellwright.perception.calibration import LabPairs, write_lab_csv

APRS = Path(__file__).parents[3] / "shared/aprs"
CELL = cw.load_cell("aprs")
DRAWN = drawn_layout(CELL)
MOTOMAN = Pose.from_xyz_rpy([0.006, -0.004, 0.910], np.radians([0, 0, -90.4]))
CAMERA = Pose.from_xyz_rpy([0.005, -0.003, 0.0], [0, 0, np.radians(0.4)]) @ DRAWN.cameras["camera_fanuc"].pose_in_world
KINDS = {"sku_kit_m2l1_vessel": "KT", "sku_kit_s2l2_vessel": "KT"}


def moved(name, rng):
    """A tray of the real cell: a few centimetres and degrees from its drawing."""
    pose = CELL.trays[name].pose.pose
    shift = rng.uniform(-0.012, 0.012, 2)
    turn = np.radians(rng.uniform(-4, 4))
    return Pose.from_xyz_rpy(pose.position + [*shift, 0.0], [0, 0, pose.rpy[2] + turn])


@pytest.fixture
def reality(tmp_path):
    """Files as the real laboratory would have them, and where its trays are."""
    rng = np.random.default_rng(5)
    fanuc = DRAWN.bases["fanuc"]
    reports = DRAWN.cameras["camera_fanuc"].pose_in_world @ CAMERA.inverse()  # what the drawn camera makes of a place

    def reported(point):
        return fanuc.inverse().apply(reports.apply(point))

    shared = np.array([[x, y, 0.9] for x in (-0.4, 0.3) for y in (-0.8, -0.5)] + [[0.0, -0.6, 0.9]])
    both = [base.inverse().apply(shared) + rng.normal(0, 2e-4, shared.shape) for base in (MOTOMAN, fanuc)]
    both[1][2, 0] += 0.065  # misread
    write_lab_csv(LabPairs("robots", tuple("abcde"), *both), tmp_path / "motoman_to_fanuc.csv")
    cart = np.array([[x, y, 0.93] for x in (0.1, 0.5) for y in (-1.4, -1.0)])
    seen = reported(cart) + rng.normal(0, 2e-4, cart.shape)
    write_lab_csv(LabPairs("vision", tuple("abcd"), seen, fanuc.inverse().apply(cart)), tmp_path / "fanuc_vision.csv")
    trays = {name: moved(name, rng) for name in CELL.trays if name.startswith("fanuc")}
    lines = []
    for _ in range(9):
        groups = []
        for name, pose in trays.items():
            figures = TRAYS.get(CELL.trays[name].model)
            flip = np.pi * rng.integers(2)  # the laboratory's recognition takes trays for turned by a half
            places = [(figures.sku, pose.position, pose.rpy[2] + flip, KINDS.get(figures.sku, "PT"))]
            if figures.kind.value != "kit":
                places += [(slot.accepts, pose.apply([*slot.xy_m, 0.01]), 0.0, "P") for slot in figures.slots]
            for sku, place, yaw, kind in places:
                x, y, _ = 1e3 * (reported(place) + rng.normal(0, 3e-4, 3))
                turn = (reports.rpy[2] + yaw) if kind != "P" else 0.0
                groups.append(f"{sku},{turn:.3f},{x:.2f},{y:.2f},0.9,{kind},")
        rng.shuffle(groups)
        lines.append("".join(groups))
    (tmp_path / "fanuc_frames.csv").write_text("\n".join(lines) + "\n")
    return tmp_path, trays


def test_bases_cameras_and_trays_are_found_where_they_are(reality):
    folder, trays = reality
    fit = fit_cell(
        CELL,
        [str(folder / "fanuc_vision.csv"), str(folder / "motoman_to_fanuc.csv")],
        [f"fanuc={folder / 'fanuc_frames.csv'}"],
    )
    layout = drawn_layout(fit.cell)
    assert layout.bases["motoman"].is_close(MOTOMAN, tolerance_m=1e-3, tolerance_rad=1e-3)  # 0.6 m from the places
    assert layout.bases["fanuc"].is_close(DRAWN.bases["fanuc"])
    found = layout.cameras["camera_fanuc"].pose_in_world
    assert np.abs(found.apply([[1.0, 0, 0], [1.0, 0.2, 0]]) - CAMERA.apply([[1.0, 0, 0], [1.0, 0.2, 0]])).max() < 5e-4
    for name, pose in trays.items():
        fitted = layout.objects[name].pose_in_world
        assert fitted.distance_m(pose) < 6e-4, name
        turned = abs((fitted.rpy[2] - pose.rpy[2] + np.pi) % (2 * np.pi) - np.pi)
        assert turned < np.radians(0.6), name
    for entry in fit.entries:
        assert entry.after_m < min(6e-4, entry.before_m), entry
    base = next(entry for entry in fit.entries if entry.entry == "robots.motoman")
    assert base.note.startswith("3 left out: 6")
    assert fit.notes == []


def test_what_is_written_is_a_cell_that_loads(reality, tmp_path):
    folder, _ = reality
    fit = fit_cell(CELL, [], [f"fanuc={folder / 'fanuc_frames.csv'}"])
    file = tmp_path / "mine.yaml"
    file.write_text(cell_yaml(fit.cell))
    again = drawn_layout(cw.load_cell(file))
    for name, place in drawn_layout(fit.cell).objects.items():
        assert again.objects[name].pose_in_world.is_close(place.pose_in_world, tolerance_m=1e-9, tolerance_rad=1e-9)


def test_a_base_far_from_its_drawing_is_taken_only_if_told(tmp_path):
    places = np.array([[0.5, 0.2, 0.0], [0.8, 0.2, 0.0], [0.5, -0.3, 0.0], [0.8, -0.3, 0.0]])
    turned = Pose.from_xyz_rpy([0.06, -1.15, 0.0], [0, 0, np.pi / 2])
    file = tmp_path / "pairs.csv"
    write_lab_csv(LabPairs("robots", tuple("abcd"), places, turned.apply(places)), file)
    with pytest.raises(BadInput, match=r"the base of motoman is measured .* 180 degrees from its drawing .* --far"):
        fit_cell(CELL, [f"motoman,fanuc={file}"], [])
    fit = fit_cell(CELL, [f"motoman,fanuc={file}"], [], far=True)
    base = fit.cell.robots["motoman"].base.pose
    assert base.position == pytest.approx([-0.169 + 0.06, -1.140 - 1.15, 0.910])
    assert np.degrees(base.rpy[2]) == pytest.approx(90.0)


def test_files_say_or_are_told_whose_they_are():
    robots = ("fanuc", "motoman")
    assert MeasuredFile.of("a/motomanInToFanucOut4pts.csv", robots, 2).robots == ("motoman", "fanuc")
    assert MeasuredFile.of("fanuc=motoman.csv", robots, 1).robots == ("fanuc",)
    with pytest.raises(BadInput, match="whose coordinates are these"):
        MeasuredFile.of("capture.csv", robots, 1)
    with pytest.raises(BadInput, match="ROBOT,OTHER=FILE"):
        MeasuredFile.of("fanuc=x.csv", robots, 2)
    with pytest.raises(UnknownName, match="unknown robot 'fanac'"):
        MeasuredFile.of("fanac=x.csv", robots, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no frame of vision"),
        ("hello\n", "no frame of vision"),
        ("gear,0,0.4,0.2,1,P,\n", "looks like metres"),
    ],
)
def test_files_without_frames_are_refused(tmp_path, text, message):
    (tmp_path / "frames.csv").write_text(text)
    with pytest.raises(BadInput, match=message):
        read_frames(tmp_path / "frames.csv")


def test_nothing_to_fit_is_said():
    with pytest.raises(BadInput, match="nothing to fit"):
        fit_cell(CELL, [], [])


def real(name):
    if not (APRS / name).exists():
        pytest.skip(f"the lab's data is not here: {APRS / name}")
    return APRS / name


def test_objects_of_the_laboratory_are_told_by_class_and_place():
    """63 frames in which groups jump; nothing moves."""
    objects = steady_objects(read_frames(real("vision/captur_jan_25_2017.csv")))
    skus = sorted(one.sku for one in objects)
    assert skus.count("sku_part_medium_gear") == 4
    assert skus.count("sku_kit_m2l1_vessel") == 2
    assert all(one.count <= 63 for one in objects)


def test_the_cell_is_fitted_to_the_real_laboratory():
    fit = fit_cell(
        CELL,
        [str(real("calibration/fanuc_july_12_2019_calib.csv"))],
        [f"fanuc={real('vision/fanuc_cart_objects_capture_feb_24_all_parts_in_kits.csv')}"],
    )
    entries = {entry.entry: entry for entry in fit.entries}
    camera = entries["cameras.camera_fanuc"]
    assert 1e3 * camera.before_m == pytest.approx(7.6, abs=0.2)
    assert 1e3 * camera.after_m == pytest.approx(1.05, abs=0.02)
    kit = entries["trays.fanuc_kit_m2l1"]
    assert kit.count == 4  # itself and three gears
    assert 1e3 * kit.after_m < 2.5
    with cw.Lab(fit.cell, seed=0) as lab:  # stands, nothing overlaps
        assert "fanuc_kit_m2l1" in lab.world.objects
