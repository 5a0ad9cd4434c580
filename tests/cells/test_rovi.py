"""The ROVI workcell: everything where the paper's project has it, at rest, in reach, in view."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import PARTS
from cellwright.catalogue.furniture_kinds import CameraRigFigures
from cellwright.catalogue.rovi_furniture import ROVI_KINECT, ROVI_STEREO
from cellwright.catalogue.ur5 import UR5
from cellwright.catalogue.wsg_50 import WSG_50
from cellwright.cells import Cell, load_cell, nominal_layout
from cellwright.checks.cell import check_cell
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.models import GeomGroup
from cellwright.motion import ArmKinematics
from cellwright.shapes.furniture import furniture_shape
from cellwright.sim import World

LOCATIONS_M = {
    "P1": (0.15, 1.05, 0.75),
    "P2": (0.40, 1.05, 0.75),
    "P3": (0.65, 1.05, 0.75),
    "place": (0.70, 0.11, 0.75),
}


@pytest.fixture(scope="module")
def cell() -> Cell:
    """Without errors: the drawings themselves."""
    return load_cell("rovi").model_copy(update={"actual": Cell(name="x", title="x").actual})


@pytest.fixture(scope="module")
def drawn(cell: Cell) -> World:
    """Looked at only."""
    return World(cell, 0)


@pytest.fixture
def world(cell: Cell) -> World:
    return World(cell, 0)


def camera_matrix(world: World, name: str) -> Any:
    """Columns: right, up, backwards, as MuJoCo has them."""
    return world.data.cam_xmat[world.model.camera(name).id].reshape(3, 3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rovi", "rovi@launch", "rovi@cube"])
def test_the_cell_and_its_variants_pass_every_check(name: str) -> None:
    findings = check_cell(load_cell(name), seed=3)
    assert {f.check: f.detail for f in findings if not f.ok} == {}
    assert {"builds", "comes to rest", "reach"} <= {f.check for f in findings}


def test_home_is_the_projects(drawn: World) -> None:
    robot = drawn.robot("ur5")
    assert drawn.data.site_xpos[robot.flange_site] == pytest.approx([0.291, 0.848, 1.172], abs=5e-4)
    tcp = drawn.tcp_pose("ur5")
    assert tcp.position == pytest.approx([0.291, 0.848, 1.021], abs=5e-4)
    assert tcp.rotation_matrix[:, 2] == pytest.approx([0, 0, -1], abs=0.003)
    assert np.radians(drawn.cell.robots["ur5"].home_deg) == pytest.approx([1.57, -1.57, 1.57, 1.57, 1.57, 0], abs=1e-7)


def test_the_bases_of_experiments_and_launch_file(cell: Cell) -> None:
    assert nominal_layout(cell, 0).bases["ur5"].is_close(Pose.from_xyz_rpy((0.40, 0.55, 0.74)))
    launch = load_cell("rovi@launch")
    assert nominal_layout(launch, 0).bases["ur5"].is_close(Pose.from_xyz_rpy((0.10, 0.50, 0.74)))
    same = ("fixtures", "parts", "sensors", "view", "actual")
    assert all(getattr(launch, key) == getattr(load_cell("rovi"), key) for key in same)


def test_what_stands_on_the_table(cell: Cell) -> None:
    places = {n: o.pose_in_world for n, o in nominal_layout(cell, 0).objects.items()}
    assert places["bottle"].position == pytest.approx(LOCATIONS_M["P2"])
    for name, xy, yaw in (
        ("can", (0.1058, 0.1461), 0.1423),
        ("mug", (0.2387, 0.2238), 1.954),
        ("crate", (0.6420, 0.6763), 0.030),
    ):
        assert places[name].is_close(Pose.from_xyz_rpy((*xy, 0.740), (0, 0, yaw)), tolerance_rad=1e-6)
    cube = load_cell("rovi@cube")
    assert set(cube.parts) == {"cube", "can", "mug", "crate"}


@pytest.mark.parametrize(
    ("xy", "height_m"),
    [
        ((0.05, 0.05), 0.740),
        ((0.01, 0.905), 0.750),
        ((0.79, 1.19), 0.750),
        ((0.01, 0.898), 0.740),
        ((0.61, 0.19), 0.750),
        ((0.59, 0.19), 0.740),
        ((0.61, 0.21), 0.740),
        ((-0.01, 0.5), 0.0),
        ((0.5, 1.21), 0.0),
    ],
)
def test_the_table_has_its_two_areas(drawn: World, xy: tuple[float, float], height_m: float) -> None:
    groups, hit = np.zeros(6, np.uint8), np.zeros(1, np.int32)
    groups[GeomGroup.COLLISION] = 1
    start = np.array([*xy, 1.0])
    distance = mujoco.mj_ray(drawn.model, drawn.data, start, np.array([0.0, 0, -1]), groups, 1, -1, hit)
    assert 1.0 - distance == pytest.approx(height_m, abs=1e-9)


def test_sites_mark_the_areas(drawn: World) -> None:
    assert drawn.data.site("table/pick_area").xpos == pytest.approx([0.400, 1.0509, 0.750], abs=1e-4)
    assert drawn.data.site("table/place_area").xpos == pytest.approx([0.7003, 0.10065, 0.750], abs=1e-4)


def test_the_cameras_are_where_the_project_has_them(drawn: World) -> None:
    for name, xyz, rpy in (
        ("stereo/left", (0.44, 1.40, 1.50), (0, 1.2, -1.5707)),
        ("stereo/right", (0.36, 1.40, 1.50), (0, 1.2, -1.5707)),
        ("kinect/camera", (0.40, 1.96, 1.28), (0.0142, 0.6905, -1.5702)),
    ):
        assert drawn.data.cam_xpos[drawn.model.camera(name).id] == pytest.approx(xyz, abs=1e-5)
        x_forward = Pose.from_xyz_rpy(xyz, rpy).rotation_matrix
        right, up, back = camera_matrix(drawn, name).T
        assert -back == pytest.approx(x_forward[:, 0], abs=1e-6)
        assert -right == pytest.approx(x_forward[:, 1], abs=1e-6)
        assert up == pytest.approx(x_forward[:, 2], abs=1e-6)


def test_the_stereo_camera_looks_at_the_pick_area(drawn: World) -> None:
    """Its axis meets the area at (0.440, 1.108), 0.805 m away; its picture covers the corners on record."""
    start, back = drawn.data.cam_xpos[drawn.model.camera("stereo/left").id], camera_matrix(drawn, "stereo/left")[:, 2]
    away = (0.75 - start[2]) / -back[2]
    assert start - back * away == pytest.approx([0.440, 1.108, 0.75], abs=1e-3)
    assert away == pytest.approx(0.805, abs=1e-3)
    camera = drawn.model.camera("stereo/left")
    tangent = np.tan(np.radians(camera.fovy[0]) / 2)
    assert drawn.model.cam_resolution[camera.id][1] / 2 / tangent == pytest.approx(732.2, abs=0.05)
    corners = []
    for u, v in ((1, -1), (-1, -1), (-1, 1), (1, 1)):
        way = camera_matrix(drawn, "stereo/left") @ np.array([u * tangent, v * tangent, -1.0])
        corners.append((start + way * (0.75 - start[2]) / way[2])[:2])
    assert np.array(corners) == pytest.approx(
        np.array([(0.08, 1.50), (0.80, 1.50), (1.00, 0.51), (-0.12, 0.51)]), abs=0.01
    )


def test_the_projector_shines_from_the_stereo_camera(drawn: World) -> None:
    site = drawn.model.site("stereo/projector").id
    assert drawn.data.site_xpos[site] == pytest.approx([0.44, 1.40, 1.50], abs=1e-5)
    assert drawn.data.site_xmat[site].reshape(3, 3) == pytest.approx(camera_matrix(drawn, "stereo/left"), abs=1e-9)


@pytest.mark.parametrize("name", ["stereo/left", "stereo/right", "kinect/camera"])
def test_no_camera_sees_a_mast(drawn: World, name: str) -> None:
    camera = drawn.model.camera(name)
    columns, rows = drawn.model.cam_resolution[camera.id]
    high = np.tan(np.radians(camera.fovy[0]) / 2)
    wide = high * columns / rows
    eye = drawn.data.cam_xpos[camera.id]
    rigs: dict[str, CameraRigFigures] = {"stereo": ROVI_STEREO, "kinect": ROVI_KINECT}
    for fixture, figures in rigs.items():
        for hull in furniture_shape(figures).hulls:
            half = np.array(hull.size_m if hull.kind == "box" else (hull.size_m[0], *hull.size_m))
            grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 21)] * 3), axis=-1).reshape(-1, 3) * half
            points = drawn.layout.fixtures[fixture].apply(hull.pose.apply(grid))
            x, y, z = ((points - eye) @ camera_matrix(drawn, name)).T
            seen = (z < 0) & (np.abs(x) < -z * wide) & (np.abs(y) < -z * high)
            assert not seen.any(), (fixture, hull)


def joints_for(tcp_in_world: Pose, near: Any) -> Any:
    ring = KinematicRing(Pose.from_xyz_rpy((0.40, 0.55, 0.74)), Pose.from_xyz_rpy(WSG_50.tcp_xyz_m))
    return ArmKinematics(UR5).nearest(ring.flange_for_tool(tcp_in_world), near)


@pytest.mark.parametrize("place", LOCATIONS_M)
def test_every_location_can_be_reached_from_the_top(place: str) -> None:
    x, y, z = LOCATIONS_M[place]
    joints_for(Pose.from_xyz_rpy((x, y, z + 0.2), (np.pi, 0, 0)), UR5.home_rad)


def move(world: World, joints: Any, duration_s: float) -> None:
    """Along a straight line in joint space, smoothly."""
    robot, start = world.robot("ur5"), world.data.ctrl[world.robot("ur5").ctrl_position].copy()
    for k in range(1, round(duration_s / 0.002) + 1):
        s = k * 0.002 / duration_s
        world.data.ctrl[robot.ctrl_position] = start + (joints - start) * s**3 * (10 - 15 * s + 6 * s * s)
        world.engine.step(1)


def test_the_robot_takes_the_bottle_from_the_side(world: World) -> None:
    """As in the paper: the tool level, 0.1 m above the foot, from 0.1 m before the bottle; here 60 degrees from x."""
    robot = world.robot("ur5")
    assert robot.gripper is not None
    heading = np.radians(60)
    side, ahead = (-np.pi / 2, 0, heading - np.pi / 2), np.array([np.cos(heading), np.sin(heading), 0])
    bottle = np.array(LOCATIONS_M["P2"])
    elbow_up = (1.6, -1.4, 2.3, -0.9, 2.1, -3.1)
    before = joints_for(Pose.from_xyz_rpy(bottle + [0, 0, 0.1] - 0.1 * ahead, side), elbow_up)
    at = joints_for(Pose.from_xyz_rpy(bottle + [0, 0, 0.1], side), before)
    above = joints_for(Pose.from_xyz_rpy(bottle + [0, 0, 0.25], side), at)
    move(world, before, 2.0)
    assert world.pose_of("bottle").distance_m(Pose.from_xyz_rpy(bottle)) < 5e-4, "not touched on the way"
    move(world, at, 1.0)
    world.data.ctrl[robot.gripper.ctrl] = robot.gripper.figures.closed_m
    world.engine.step(300)
    held = world.tcp_pose("ur5").inverse() @ world.pose_of("bottle")
    move(world, above, 1.0)
    world.engine.step(100)
    lifted = world.pose_of("bottle")
    assert lifted.position == pytest.approx(bottle + [0, 0, 0.15], abs=0.002)
    now = world.tcp_pose("ur5").inverse() @ lifted
    assert now.distance_m(held) < 0.0005
    world.data.ctrl[robot.gripper.ctrl] = robot.gripper.figures.open_m
    world.engine.step(150)
    assert world.pose_of("bottle").position[2] < bottle[2] + 0.05, "let go"


def test_objects_may_be_scattered_over_the_pick_area(cell: Cell) -> None:
    """A cube's origin is its centre, so that it is put half its height above the plate."""
    region = {"min_xy_m": [0.08, 0.97], "max_xy_m": [0.72, 1.12], "z_m": 0.75}
    populations = [{"model": model, "count": 2, "region": region} for model in ("cube", "milk_carton")]
    data = cell.model_dump() | {"populations": populations}
    data["parts"] = {n: p for n, p in data["parts"].items() if n != "bottle"}
    scattered = World(Cell.model_validate(data), 5)
    for name in ("cube_1", "cube_2"):
        assert scattered.pose_of(name).position[2] == pytest.approx(0.79, abs=1e-4)
    assert scattered.pose_of("milk_carton_2").position[2] == pytest.approx(0.75, abs=1e-4)
    assert PARTS.get("cube").bottom_m == -0.04


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("rovi@lunch", "unknown variant 'lunch'; did you mean 'launch'?"),
        ("rovi@", "unknown variant ''"),
        ("aprs@launch", "unknown variant 'launch'"),
        ("rovy@launch", "unknown cell 'rovy'; did you mean 'rovi'?"),
    ],
)
def test_an_unknown_variant_is_one_line(name: str, problem: str) -> None:
    with pytest.raises(BadInput) as error:
        load_cell(name)
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


def test_a_variant_is_checked_as_a_whole(cell: Cell) -> None:
    broken = cell.model_copy(update={"variants": {"bent": {"robots": {"ur5": {"base": {"xyz_m": [0, 0, "high"]}}}}}})
    with pytest.raises(BadInput, match=r"rovi\.yaml@bent, line \d+: robots\.ur5\.base\.xyz_m\.2: should be a number"):
        broken.variant("bent")
    other = cell.model_copy(update={"variants": {"bare": {"parts": {"mug": None}, "timestep_s": 0.001}}}).variant(
        "bare"
    )
    assert set(other.parts) == {"bottle", "can", "crate"}
    assert other.timestep_s == 0.001
    assert other.file == cell.file
    assert other.robots == cell.robots
