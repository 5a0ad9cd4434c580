"""What a controller expects to be in view, by the drawings, against what detectors really see past furniture."""

from pathlib import Path

import numpy as np
import pytest

import cellwright as cw
from cellwright.cells import load_cell
from cellwright.drawings.prior import Drawings
from cellwright.execution.arm_capsules import ArmCapsules
from cellwright.execution.way_finder import WayFinder
from cellwright.perception import Visibility
from cellwright.perception.sight_lines import extent_of
from cellwright.trials.detector_views import furniture_about, view_model

POST = """<?xml version="1.0"?>
<sdf version="1.7"><model name="post"><static>true</static><link name="post">
<collision name="stem"><pose>0 0 0.15 0 0 0</pose>
  <geometry><box><size>0.014 0.014 0.3</size></box></geometry></collision>
<collision name="head"><pose>0 0 0.31 0 0 0</pose>
  <geometry><box><size>0.08 0.08 0.02</size></box></geometry></collision>
</link></model></sdf>
"""
DETECTOR = "detector_motoman"


@pytest.fixture
def with_post(tmp_path):
    """The cell `aprs` with a post of somebody else's, between the trays of one robot."""
    text = Path(load_cell("aprs").where).read_text(encoding="utf-8")
    (tmp_path / "post.sdf").write_text(POST, encoding="utf-8")
    for old, new in (
        ("\nrobots:\n", "\nmodels:\n  post: {file: post.sdf}\n\nrobots:\n"),
        ("\ntrays:\n", "  post: {model: post, pose: {xyz_m: [-0.0645, -0.60, 0.890]}}\n\ntrays:\n"),
    ):
        assert old in text
        text = text.replace(old, new, 1)
    (tmp_path / "aprs.yaml").write_text(text, encoding="utf-8")
    return tmp_path / "aprs.yaml"


@pytest.fixture
def without_cameras(tmp_path):
    """The cell `aprs` with detectors that name no camera: they look straight down from far above."""
    text = Path(load_cell("aprs").where).read_text(encoding="utf-8")
    first = text.index("  - {type: overhead_detector")
    lines = [f"  - {{type: logical_detector, name: detector_{robot}, rate_hz: 10}}\n" for robot in ("fanuc", "motoman")]
    (tmp_path / "aprs.yaml").write_text(text[:first] + "".join(lines), encoding="utf-8")
    return tmp_path / "aprs.yaml"


@pytest.mark.parametrize("changed", ["with_post", "without_cameras"])
def test_what_arms_and_furniture_hide_from_a_detector_is_not_expected_in_its_frames(changed, request):
    with cw.Lab.from_cell(request.getfixturevalue(changed), seed=0) as lab:
        drawings, world = Drawings.of(lab.cell), lab.world
        detector = next(sensor for sensor in lab.sensors if sensor.source == DETECTOR)
        shares = detector.sight.look().shares
        things = list(world.objects.values())
        places = np.array([world.pose_of(thing.name).position for thing in things])
    extents = [extent_of(thing.sku) for thing in things]
    places[:, 2] += [extent.top_m for extent in extents]
    view = view_model(drawings, [DETECTOR])
    for name, robot in drawings.cell.robots.items():
        arm = ArmCapsules(cw.catalogue.ROBOTS.get(robot.model), drawings.layout.bases[name])
        view.note_arm(name, 0.0, arm.at(np.radians(robot.home_deg), robot.tool or ""), still=True)
    found = view.visibility(DETECTOR, 0.0, places, [extent.radius_m for extent in extents])
    hidden, clear = (
        {thing.name for thing, one in zip(things, found, strict=True) if one == answer}
        for answer in (Visibility.HIDDEN, Visibility.CLEAR)
    )
    lost = {thing.name for thing, share in zip(things, shares, strict=True) if share < 0.6}
    assert not lost & clear
    assert lost & hidden  # not only what is out of the picture
    assert len(clear) > 5


def test_the_post_that_carries_a_camera_is_not_in_its_way():
    drawings = Drawings.of(load_cell("aprs"))
    others, all_of_it = furniture_about(drawings, "camera_motoman"), furniture_about(drawings)
    assert len(all_of_it.centres) - len(others.centres) == 6


def test_an_arm_knows_that_furniture_from_a_file_stands_in_its_way(with_post):
    cell = load_cell(with_post)
    drawings = Drawings.of(cell)
    finder = WayFinder(
        "motoman", cw.catalogue.ROBOTS.get("sia20f"), drawings.layout.bases["motoman"], drawings.fixtures
    )
    low, high = finder._boxes
    inside = (low <= [-0.0645, -0.60, 1.2]) & (high >= [-0.0645, -0.60, 1.2])
    assert inside.all(axis=1).any()


@pytest.mark.slow
def test_what_is_carried_through_a_slanted_view_is_no_part_on_the_table():
    """One camera does not see all trays, the other sees what is in the air beside where it is."""
    cameras = {
        "camera_motoman": {"pose": {"xyz_m": [0.15, -0.60, 1.6], "rpy_deg": [0, 90, 90]}, "fov_deg": 40},
        "camera_fanuc": {"fov_deg": 70},
    }
    with cw.Lab(load_cell("aprs").changed({"cameras": cameras}), seed=62) as lab:
        report = lab.run("kit_m2l1")
    assert report.done, report.reason
    assert all(record.phase == "end" for record in report.order.actions)


@pytest.mark.long
def test_noise_in_heights_and_leans_is_averaged_before_anything_is_concluded():
    cell = load_cell("kitting")
    noise = {"x_m": 0.001, "y_m": 0.001, "z_m": 0.002, "roll_deg": 5, "pitch_deg": 5, "yaw_deg": 2}
    lines = [
        {**line, "noise": noise} if line["type"] == "logical_detector" else line
        for line in cell.model_dump()["sensors"]
    ]
    with cw.Lab(cell.changed({"sensors": lines}), seed=3) as lab:
        report = lab.run("kit_m2l1")
    assert report.done, report.reason
