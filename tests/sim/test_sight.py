"""Lines of sight: what hides what, against single rays, and against themselves without a memory."""

from __future__ import annotations

import json

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import PARTS, TRAYS, PartFigures, TrayFigures
from cellwright.cells import Cell, load_cell
from cellwright.core.camera import Camera
from cellwright.core.pose import Pose
from cellwright.shapes.mesh import cuboid
from cellwright.sim import World
from cellwright.sim.sight import LineOfSight
from cellwright.sim.sight_points import DECIDING, DIRECTIONS, POINTS, surface_points

DOWN = [0, np.pi / 2, np.pi / 2]
EYE = Camera("eye", Pose.from_xyz_rpy([0.2, 0.0, 1.6], DOWN), 1.0)
TABLE = {
    "name": "table",
    "title": "Two trays with gears on a table",
    "fidelity": "kinematic",
    "fixtures": {"table": {"model": "side_table", "pose": {"xyz_m": [0.2, 0.0, 0.0]}}},
    "trays": {
        "supply": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.1, 0.15, 0.89]}},
        "kit": {"model": "kit_m2l1_tray", "pose": {"xyz_m": [0.3, -0.15, 0.89]}},
    },
    "populations": [{"model": "medium_gear", "count": 4, "trays": ["supply"]}],
    "parts": {"lid": {"model": "flat_tray", "pose": {"xyz_m": [2.0, 2.0, 0.006]}}},
}


@pytest.fixture
def table() -> World:
    return World(Cell.model_validate(TABLE), seed=1)


@pytest.fixture(scope="module")
def aprs() -> World:
    return World(load_cell("aprs").model_copy(update={"fidelity": "kinematic"}), seed=2)


def shares(world: World, camera: Camera = EYE) -> dict[str, float]:
    return dict(zip(world.objects, LineOfSight(world, camera).look().shares.tolist(), strict=True))


def test_a_tray_and_the_gears_in_it_are_seen_whole(table):
    seen = shares(table)
    assert seen.pop("lid") == 0.0, "it is out of the picture"
    assert set(seen.values()) == {1.0}


@pytest.mark.parametrize("up_m", [0.03, 0.2, 0.4])
def test_what_is_below_something_is_hidden_and_what_is_above_is_not(table, up_m):
    place = table.pose_of("supply").position
    way = EYE.pose_in_world.position - place
    table.place("lid", Pose.from_xyz_rpy(place + [0, 0, 0.02] + way * up_m / way[2]))
    seen = shares(table)
    assert seen["lid"] == 1.0
    assert seen["supply"] < 0.6
    assert seen["kit"] > 0.9
    if up_m < 0.1:
        assert all(seen[f"medium_gear_{k}"] == 0.0 for k in range(1, 5))


def test_a_tray_below_a_tray_and_a_gear_below_a_tray_are_hidden(table):
    place = table.pose_of("supply")
    table.place("kit", place @ Pose.from_xyz_rpy([0.0, 0.0, 0.04]))
    assert shares(table)["supply"] < 0.5
    assert all(shares(table)[f"medium_gear_{k}"] < 0.3 for k in range(1, 5))


def test_half_hidden_is_about_half_and_the_middle_of_the_rest_is_told(table):
    place = table.pose_of("kit").position
    table.place("lid", Pose.from_xyz_rpy(place + [0.08, 0.0, 0.03]))  # 160 mm long, over the half towards +x
    view = LineOfSight(table, EYE).look()
    row = list(table.objects).index("kit")
    assert 0.3 < view.shares[row] < 0.7
    assert -0.06 < view.shifts_m[row, 0] < -0.02
    assert abs(view.shifts_m[row, 1]) < 0.02
    assert not view.shifts_m[list(table.objects).index("supply")].any()


def test_furniture_hides_too(table):
    cell = Cell.model_validate(
        TABLE
        | {"fixtures": {**TABLE["fixtures"], "roof": {"model": "side_table", "pose": {"xyz_m": [0.1, 0.15, 0.4]}}}}
    )
    seen = shares(World(cell, seed=1))
    assert seen["supply"] == seen["medium_gear_1"] == 0.0


def test_the_picture_ends_where_its_angle_says(table):
    narrow = Camera("eye", Pose.from_xyz_rpy([0.1, 0.15, 1.6], DOWN), 2 * np.arctan(0.091 / (1.6 - 0.907)))
    seen = shares(table, narrow)
    assert seen["supply"] == 1.0
    assert seen["kit"] == 0.0
    half = Camera("eye", Pose.from_xyz_rpy([0.1, 0.15, 1.6], DOWN), narrow.fov_rad, resolution_px=(2000, 1000))
    assert 0.2 < shares(table, half)["supply"] < 0.8, "fewer rows show less"


@pytest.mark.parametrize("roll_deg", [0, 90, 180])
def test_a_gear_is_seen_however_it_lies(table, roll_deg):
    table.place("medium_gear_1", Pose.from_xyz_rpy([0.5, 0.2, 0.95], [np.radians(roll_deg), 0, 0]))
    assert shares(table)["medium_gear_1"] == 1.0


def test_what_was_cast_before_is_as_good_as_what_is_cast_anew(aprs):
    """Arms and things go about at random; shares with a memory are those of an eye that has just been opened."""
    rng = np.random.default_rng(0)
    world, cameras = aprs, aprs.layout.cameras.values()
    start = world.snapshot()
    lines = [LineOfSight(world, camera) for camera in cameras]
    partly = 0
    for _ in range(25):
        for robot in world.robots.values():
            if rng.random() < 0.7:
                world.data.qpos[robot.qpos] += rng.normal(0.0, 0.15, len(robot.qpos))
        if rng.random() < 0.5:
            name = str(rng.choice(list(world.objects)))
            place = Pose.from_xyz_rpy(rng.uniform([-0.2, -1.4, 0.95], [0.6, -0.5, 1.3]), rng.uniform(-1, 1, 3))
            world.place(name, place)
        for line in lines:
            kept, fresh = line.look(), LineOfSight(world, line.camera).look()
            np.testing.assert_array_equal(kept.shares, fresh.shares)
            np.testing.assert_array_equal(kept.shifts_m, fresh.shifts_m)
            partly += int(((kept.shares > 0) & (kept.shares < 1)).sum())
            for row, item in enumerate(world.objects.values()):
                points = line._points[row]
                told = line.share(points[:DECIDING], [item.body])
                told = line.share(points, [item.body]) if 0 < told < 1 else told
                assert kept.shares[row] == told, "of all that might be in the way, nothing was left out"
    assert partly > 50, "arms hid something"
    world.restore(start)


def test_a_view_stays_the_same_until_an_object_moves_or_is_seen_otherwise(aprs):
    start, robot = aprs.snapshot(), aprs.robots["fanuc"]
    line = LineOfSight(aprs, aprs.layout.cameras["camera_fanuc"])
    first = line.look()
    aprs.data.qpos[robot.qpos[-1]] += 0.01  # the tool turns, high above everything
    assert line.look() is first
    aprs.place("fanuc_kit_m2l1", aprs.pose_of("fanuc_kit_m2l1") @ Pose.from_xyz_rpy([1e-6, 0.0, 0.0]))
    assert line.look() is not first, "frames tell where it is now"
    aprs.data.qpos[robot.qpos] = np.radians([25, 30, -25, 0, -60, 0])
    assert (line.look().shares < first.shares).any()
    aprs.restore(start)
    np.testing.assert_array_equal(line.look().shares, first.shares)


def test_shares_are_those_of_single_rays(aprs):
    world = aprs
    start = world.snapshot()
    robot = world.robots["fanuc"]
    world.data.qpos[robot.qpos] = np.radians([25, 30, -25, 0, -60, 0])
    camera = world.layout.cameras["camera_fanuc"]
    line = LineOfSight(world, camera)
    view, eye, hit = line.look(), np.array(camera.pose_in_world.position), np.zeros(1, np.int32)
    for row, (name, item) in enumerate(world.objects.items()):
        pose = world.pose_of(name)
        points = pose.apply(surface_points(item.figures, 0))
        seen = []
        for point, inside in zip(points, camera.sees(points), strict=True):
            way = point - eye
            away = mujoco.mj_ray(world.model, world.data, eye, way, None, True, line._own, hit)
            own = world.model.geom_bodyid[hit[0]] == item.body
            seen.append(inside and (away < 0 or own or (1 - away) * np.linalg.norm(way) <= 0.002))
        first = seen[:DECIDING]
        expected = float(np.mean(seen)) if any(first) and not all(first) else float(all(first))
        assert view.shares[row] == pytest.approx(expected), name
    assert ((view.shares > 0) & (view.shares < 1)).any()
    world.restore(start)


@pytest.mark.parametrize("name", [*TRAYS, *PARTS])
def test_points_lie_on_every_kind_of_object(name):
    figures: PartFigures | TrayFigures = TRAYS.get(name) if name in TRAYS else PARTS.get(name)
    for number, direction in enumerate(DIRECTIONS):
        points = surface_points(figures, number)
        assert points.shape == (POINTS, 3)
        if isinstance(figures, TrayFigures):
            assert (np.abs(points[:, :2]) <= np.array(figures.size_m) / 2 + 1e-6).all()
        else:
            assert (np.hypot(*points[:, :2].T) <= figures.radius_m + 0.002).all()
        spread = np.ptp(points, axis=0)[direction == 0]
        assert (spread > 0.001).any()


def test_of_a_tray_those_points_count_that_parts_leave_free():
    points = surface_points(TRAYS.get("medium_gear_tray"), 0)
    assert points[:, 2] == pytest.approx(0.017, abs=1e-4)
    for slot in TRAYS.get("medium_gear_tray").slots:
        assert (np.hypot(*(points[:, :2] - slot.xy_m).T) > 0.0373).all()


@pytest.mark.usefixtures("own_models")
def test_a_part_from_a_file_is_seen_and_hidden_like_any_other(tmp_path):
    cube = cuboid([0, 0, 0], [0.06, 0.06, 0.04])
    corners = cube.vertices[cube.faces].astype("<f4")
    triangles = b"".join(bytes(12) + corner.tobytes() + bytes(2) for corner in corners)
    (tmp_path / "block.stl").write_bytes(bytes(80) + len(corners).to_bytes(4, "little") + triangles)
    own = {"models": {"block": {"file": "block.stl", "units": "m", "mass_kg": 0.05}}}
    blocks = {name: {"model": "block", "pose": {"xyz_m": [x_m, 0.0, 0.89]}} for name, x_m in (("a", 0.1), ("b", 0.4))}
    (tmp_path / "mine.yaml").write_text(json.dumps(TABLE | own | {"parts": TABLE["parts"] | blocks}), encoding="utf-8")
    world = World(load_cell(tmp_path / "mine.yaml"), seed=1)
    assert (shares(world)["a"], shares(world)["b"]) == (1.0, 1.0)
    world.place("lid", Pose.from_xyz_rpy([0.38, 0.0, 1.0]))
    assert (shares(world)["a"], shares(world)["b"]) == (1.0, 0.0)
