"""A picture of a world, from where its cell wants to be seen."""

import math
import subprocess
import sys

import mujoco
import numpy as np
import pytest
from PIL import Image

from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.rendering import RayRenderer
from cellwright.rendering.framing import owners
from cellwright.rendering.probe import probe
from cellwright.sim import World
from cellwright.sim.picture import cell_view, take_picture


def test_the_cell_says_from_where(lab_world):
    view = cell_view(lab_world)
    assert tuple(view.eye_in_world_m) == lab_world.cell.view.eye_m
    assert tuple(view.target_in_world_m) == lab_world.cell.view.target_m


def test_without_a_wish_everything_is_in_view(bench, tmp_path):
    world = World(bench)
    view = cell_view(world)
    assert view.eye_in_world_m[2] > 0.1
    name = take_picture(world, tmp_path / "bench.png", (96, 64))
    assert name
    with Image.open(tmp_path / "bench.png") as picture:
        assert picture.size == (96, 64)
        assert len(picture.convert("RGB").getcolors(96 * 64)) > 20


def cell_of_mine(folder, x_m=0.0, y_m=0.0, yaw_deg=0.0, view=""):
    """One arm, its table and two trays, turned and moved somewhere; the floor stays where it was."""
    turn, at = math.radians(yaw_deg), np.array([x_m, y_m, 0.0])
    ahead = np.array([math.cos(turn), math.sin(turn), 0.0])
    left = np.array([-ahead[1], ahead[0], 0.0])

    def pose(forward_m, left_m, up_m):
        xyz = at + forward_m * ahead + left_m * left + np.array([0.0, 0.0, up_m])
        return f"{{xyz_m: [{xyz[0]:.6f}, {xyz[1]:.6f}, {xyz[2]:.6f}], rpy_deg: [0, 0, {yaw_deg}]}}"

    file = folder / "mine.yaml"
    file.write_text(f"""
name: mine
title: A cell of my own
settle_s: 0
{view}
robots:
  arm:
    model: lr_mate_200id
    base: {pose(-0.209, 0.02, 0.934)}
    tool: aprs_fanuc_gripper
    home_deg: [0, 0, 0, 0, -90, 0]
fixtures:
  floor: {{model: floor, pose: {{xyz_m: [0, 0, 0]}}}}
  cart: {{model: fanuc_cart, pose: {pose(0, 0, 0)}}}
trays:
  supply: {{model: medium_gear_tray, pose: {pose(0.12, 0.16, 0.916)}}}
  kit: {{model: kit_m2l1_tray, pose: {pose(0.34, -0.04, 0.916)}}}
populations: [{{model: medium_gear, count: 2, trays: [supply]}}]
""")
    return file


def what_is_seen(world, size_px=(128, 72)):
    """Whose each pixel of the cell's picture is, by rays of MuJoCo's own; the sky is nobody's."""
    model, data = world.appearance.now()
    frustum = cell_view(world, size_px[0] / size_px[1]).resolve(model, data)
    slope, groups = math.tan(frustum.fovy_rad / 2) / (size_px[1] / 2), np.array([1, 1, 1, 0, 0, 0], np.uint8)
    owner, geom = owners(model), np.zeros(1, np.int32)
    seen = np.full(size_px[::-1], "", dtype=owner.dtype)
    for row, column in np.ndindex(*seen.shape):
        ray = [(column + 0.5 - size_px[0] / 2) * slope, (size_px[1] / 2 - row - 0.5) * slope, -1.0]
        direction = frustum.axes_in_world @ np.array(ray)
        if mujoco.mj_ray(model, data, frustum.eye_in_world_m, direction, groups, True, -1, geom) >= 0:
            seen[row, column] = owner[geom[0]]
    return seen


@pytest.mark.parametrize(
    "place", [{}, {"x_m": 40, "y_m": -25}, {"yaw_deg": 90}, {"yaw_deg": 180}, {"x_m": -80, "yaw_deg": -90}], ids=str
)
def test_the_picture_of_a_cell_shows_its_work_wherever_it_stands(tmp_path, place):
    seen = what_is_seen(World(load_cell(cell_of_mine(tmp_path, **place))))
    shares = {name: float((seen == name).mean()) for name in ("arm", "cart", "supply", "kit", "floor", "")}
    work = np.isin(seen, ["arm", "supply", "kit"])
    assert work.mean() > 0.06
    assert 1 - shares["floor"] - shares[""] > 0.2
    assert max(work.any(axis=1).mean(), work.any(axis=0).mean()) > 0.7, "it fills the picture, one way or the other"
    assert shares["supply"] > 0.003, "it is not behind the robot"
    assert shares["kit"] > 0.003
    assert shares[""] == 0, "the floor reaches as far as one sees"
    edge = np.concatenate([seen[0], seen[-1], seen[:, 0], seen[:, -1]])
    assert not np.isin(edge, ["arm", "supply", "kit"]).any(), "all of it is in the picture"


def test_a_part_that_was_pushed_far_away_does_not_make_the_picture_small(tmp_path):
    world = World(load_cell(cell_of_mine(tmp_path)))
    before = cell_view(world)
    world.place("medium_gear_1", Pose([30.0, 20.0, 0.02], [1.0, 0.0, 0.0, 0.0]))
    after = cell_view(world)
    assert np.linalg.norm(np.subtract(after.eye_in_world_m, before.eye_in_world_m)) < 0.5


def test_a_tall_picture_shows_it_all_as_well(tmp_path):
    seen = what_is_seen(World(load_cell(cell_of_mine(tmp_path))), (54, 96))
    edge = np.concatenate([seen[0], seen[-1], seen[:, 0], seen[:, -1]])
    assert not np.isin(edge, ["arm", "supply", "kit"]).any()


@pytest.mark.parametrize(
    "renderer", ["ray", *(pytest.param(name, marks=pytest.mark.peer) for name in ("osmesa", "egl"))]
)
def test_the_floor_has_no_pattern_of_its_own_shadow(tmp_path, monkeypatch, renderer):
    monkeypatch.delenv("PYOPENGL_PLATFORM", raising=False)  # MuJoCo sets it when a test of this worker has drawn
    if renderer != "ray" and not (answer := probe(renderer)).works:
        pytest.skip(f"{renderer}: {answer.reason}")
    size = (192, 108) if renderer == "ray" else (1280, 720)
    file = cell_of_mine(tmp_path, view="view: {eye_m: [1.96, -2.24, 1.6], target_m: [0.46, -0.64, 0.1]}")
    world = World(load_cell(file))
    if renderer == "ray":
        pixels = RayRenderer().render(*world.appearance.now(), cell_view(world), size)
    else:  # in a process of its own: one can use one platform only
        monkeypatch.setenv("CELLWRIGHT_RENDERER", renderer)
        command = [sys.executable, "-m", "cellwright", "cell", "picture", file, "--out", tmp_path / "mine.png"]
        subprocess.run(command, check=True, capture_output=True)
        pixels = np.asarray(Image.open(tmp_path / "mine.png"))
    grey = pixels.astype(float).mean(axis=2)
    floor = what_is_seen(world) == "floor"
    fine = np.asarray(Image.fromarray(floor).resize(size)) & (grey < 200)  # the painted line is bright
    smooth = (grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]) / 4
    rough = np.abs(grey[1:-1, 1:-1] - smooth)[fine[1:-1, 1:-1]]
    assert fine.mean() > 0.5
    assert (rough > 8).mean() < 0.04, "speckles"
    assert (grey[fine] < 90).mean() < 0.03, "black where no shadow falls"


@pytest.mark.parametrize("name", ["epucks", "epucks@ten", "epucks@fifty", "epucks@maze"])
def test_all_of_an_arena_is_in_the_picture_so_that_no_robot_leaves_it(name):
    world = World(load_cell(name))
    model, data = world.appearance.now()
    frustum = cell_view(world).resolve(model, data)
    width_m, depth_m = world.cell.arena.size_m
    corners = np.array([[x * width_m / 2, y * depth_m / 2, 0.0] for x in (-1, 1) for y in (-1, 1)])
    x, y, z = ((corners - frustum.eye_in_world_m) @ frustum.axes_in_world).T
    half = math.tan(frustum.fovy_rad / 2)
    assert (np.abs(y / -z) < half).all()
    assert (np.abs(x / -z) < half * 16 / 9).all()
