"""The ROVI workcell's figures: real inertias, a gripper that fits its bottle, areas and cameras where they were."""

from __future__ import annotations

import numpy as np
import pytest

from cellwright.catalogue import FURNITURE, PARTS, ROBOTS, TOOLS, GearFigures, ObjectFigures, PartFigures
from cellwright.catalogue.objects import TurnedFigures
from cellwright.catalogue.rovi_furniture import ROVI_KINECT, ROVI_STEREO, ROVI_TABLE
from cellwright.catalogue.rovi_objects import BOTTLE, COFFEE_CAN, CRATE, CUBE, MILK_CARTON, MUG, ROVI_OBJECTS
from cellwright.catalogue.ur5 import UR5
from cellwright.catalogue.wsg_50 import WSG_50

OBJECTS = pytest.mark.parametrize("item", ROVI_OBJECTS.values(), ids=lambda item: item.name)


def test_the_tables_know_them_by_name() -> None:
    assert ROBOTS.get("ur5") is UR5
    assert TOOLS.get("wsg_50") is WSG_50
    assert all(PARTS.get(name) is item for name, item in ROVI_OBJECTS.items())
    assert {"rovi_table", "rovi_stereo", "rovi_kinect"} <= set(FURNITURE)


# radius and length of the cylinders, and the axis of the link's frame along which each lies
@pytest.mark.parametrize(
    ("link", "radius_m", "length_m", "axis"),
    [
        ("base", 0.06, 0.05, 2),
        ("link_1", 0.075, 0.178, 2),
        ("link_2", 0.06, 0.425, 2),
        ("link_3", 0.06, 0.392, 2),
        ("link_4", 0.06, 0.095, 1),
        ("link_5", 0.06, 0.085, 2),
        ("link_6", 0.0375, 0.0305, 1),
    ],
)
def test_the_arms_inertias_are_those_of_cylinders(link: str, radius_m: float, length_m: float, axis: int) -> None:
    figures = next(item for item in UR5.links if item.name == link)
    across = figures.mass_kg * (3 * radius_m**2 + length_m**2) / 12
    expected = np.full(3, across)
    expected[axis] = figures.mass_kg * radius_m**2 / 2
    assert figures.inertia_diagonal_kgm2 == pytest.approx(expected, rel=0.02)


def test_the_arm_adds_up_and_keeps_its_limits() -> None:
    assert sum(link.mass_kg for link in UR5.links) == pytest.approx(UR5.mass_kg, abs=0.01)
    assert [joint.effort_limit_nm for joint in UR5.joints] == [150, 150, 150, 28, 28, 28]
    for number, (joint, home) in enumerate(zip(UR5.joints, UR5.home_rad, strict=True)):
        limit = np.pi if number == 2 else 2 * np.pi
        assert joint.position_limits_rad == pytest.approx((-limit, limit))
        assert abs(home) < limit
        assert np.degrees(joint.velocity_limit_radps) == pytest.approx(180)
        assert 0.2 < joint.velocity_limit_radps / joint.acceleration_limit_radps2 < 1.0
    assert all(5.0 < frequency < 40.0 for frequency in UR5.natural_frequency_hz)


def test_the_gripper_has_the_makers_range_and_the_papers_margin() -> None:
    assert 2 * WSG_50.closed_m == pytest.approx(0.002)
    assert 2 * WSG_50.open_m == pytest.approx(0.102)
    assert WSG_50.force_limits_n == (5.0, 80.0)
    assert WSG_50.force_limits_n[0] <= WSG_50.grip_force_n <= WSG_50.force_limits_n[1]
    assert 2 * WSG_50.speed_mps == pytest.approx(0.420)
    assert WSG_50.mass_kg == pytest.approx(1.2)
    assert (2 * WSG_50.open_m - BOTTLE.grasp_width_m) / 2 == pytest.approx(0.011)
    pads_m = WSG_50.tcp_xyz_m[2] + WSG_50.pad_offset_m + np.array([-0.5, 0.5]) * WSG_50.pad_size_m[2]
    assert pads_m == pytest.approx([0.1166, 0.1696])


@OBJECTS
def test_an_object_fits_the_gripper_by_its_feature(item: ObjectFigures) -> None:
    assert item.grasp_feature
    assert 2 * WSG_50.closed_m < item.grasp_width_m < 2 * WSG_50.open_m
    x, y, z = item.grasp_xyz_m
    assert z == item.grasp_height_m
    assert np.hypot(x, y) <= item.radius_m
    assert item.bottom_m <= z <= item.bottom_m + item.height_m


@pytest.mark.parametrize(
    ("item", "mass_kg", "width_m", "height_m"),
    [
        (BOTTLE, 0.1, 0.080, 0.198),
        (COFFEE_CAN, 1.424, 0.129, 0.235),
        (MILK_CARTON, 1.011, 0.071, 0.221),
        (MUG, 0.255, 0.0946, 0.1017),
        (CRATE, 1.0, 0.259, 0.196),
        (CUBE, 1.424, 0.080, 0.080),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_sizes_and_masses_are_the_projects(
    item: ObjectFigures, mass_kg: float, width_m: float, height_m: float
) -> None:
    assert item.mass_kg == mass_kg
    assert item.height_m == pytest.approx(height_m)
    outer = 2 * max(r for r, _ in item.profile_rz_m) if isinstance(item, TurnedFigures) else item.size_m[0]
    assert outer == pytest.approx(width_m, abs=1e-9)


def test_the_room_that_an_object_needs_includes_its_handle() -> None:
    assert MUG.radius_m == pytest.approx(0.0707, abs=5e-4)
    assert BOTTLE.radius_m == 0.040
    assert np.hypot(0.259, 0.380) / 2 == pytest.approx(CRATE.radius_m)


def test_a_profile_tells_its_radius_at_every_height() -> None:
    assert BOTTLE.outer_radius_m(0.100) == 0.040
    assert BOTTLE.outer_radius_m(0.160) == pytest.approx((0.040 + 0.0233) / 2)
    assert BOTTLE.outer_radius_m(0.0) == BOTTLE.profile_rz_m[0][0]
    with pytest.raises(ValueError, match=r"bottle is 0\.198 m high"):
        BOTTLE.outer_radius_m(0.2)


def test_gears_are_parts_too() -> None:
    gear = PARTS.get("medium_gear")
    assert isinstance(gear, GearFigures)
    assert isinstance(gear, PartFigures)
    assert gear.radius_m == gear.tip_radius_m
    assert gear.grasp_xyz_m == (0.0, 0.0, gear.grasp_height_m)
    assert gear.bottom_m == 0.0
    with pytest.raises(TypeError, match="abstract"):
        PartFigures(name="x", title="x", sources={}, sku="x", mass_kg=1, grasp_feature="x", grasp_height_m=0)


def test_the_areas_lie_on_the_table_without_touching() -> None:
    pick, place = ROVI_TABLE.plates
    assert {pick.name, place.name} <= set(ROVI_TABLE.colours)
    half = np.array(ROVI_TABLE.size_m) / 2
    for plate in (pick, place):
        assert plate.top_m - ROVI_TABLE.top_m == pytest.approx(0.010)
        assert (np.abs([plate.min_xy_m, plate.max_xy_m]) <= half + 1e-9).all()
    assert pick.min_xy_m[1] > place.max_xy_m[1]


def test_the_cameras_are_those_of_the_project() -> None:
    left, right = ROVI_STEREO.cameras
    assert (left.name, right.name) == ("left", "right")
    assert np.subtract(left.xyz_m, right.xyz_m) == pytest.approx([0, 0.08, 0])
    assert left.rpy_rad == right.rpy_rad
    assert left.resolution_px[0] / 2 / np.tan(left.fov_rad / 2) == pytest.approx(732.2, abs=0.05)
    (kinect,) = ROVI_KINECT.cameras
    assert kinect.resolution_px[0] / 2 / np.tan(kinect.fov_rad / 2) == pytest.approx(554.3, abs=0.05)
    assert ROVI_STEREO.cameras
    assert ROVI_KINECT.cameras
    assert not ROVI_TABLE.cameras
