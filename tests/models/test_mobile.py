"""The e-puck as a model: what it weighs, how it stands, where its sensors look."""

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import MOBILES
from cellwright.cells import load_cell
from cellwright.models import build
from cellwright.models.mobile import TYRE_GIVES_M
from cellwright.sim import World

EPUCK = MOBILES.get("epuck")


@pytest.fixture(scope="module")
def world() -> World:
    return World(load_cell("epucks@one"), 0)


def test_it_weighs_what_its_figures_say():
    model = build(EPUCK).compile()
    assert model.body_mass.sum() == pytest.approx(0.160)
    assert EPUCK.max_speed_radps == pytest.approx(2 * np.pi)


def test_it_stands_on_three_points(world):
    """Two wheels in one point each, and one skid; the other is in the air, and the body does not touch."""
    touching = {world.model.geom(int(g)).name for c in world.data.contact for g in c.geom}
    assert len(world.data.contact) == 3
    assert touching == {"floor/floor", "ePuck0/wheel_left", "ePuck0/wheel_right", "ePuck0/skid_1"}


def test_wheels_sink_in_by_twice_what_their_tyres_are_larger(world):
    sunk = {world.model.geom(int(c.geom[1])).name: -c.dist for c in world.data.contact}
    for wheel in ("wheel_left", "wheel_right"):
        assert sunk[f"ePuck0/{wheel}"] == pytest.approx(2 * TYRE_GIVES_M, rel=0.05)
    assert max(sunk.values()) < 0.0002


def test_sensors_sit_in_a_ring_and_look_outwards(world):
    robot = world.mobiles["ePuck0"]
    assert len(robot.proximity_sites) == 8
    body = world.data.xpos[robot.body]
    for site, sensor in zip(robot.proximity_sites, EPUCK.proximity, strict=True):
        ahead = world.data.site_xmat[site].reshape(3, 3)[:, 0]
        place = world.data.site_xpos[site] - body
        assert place[:2] @ ahead[:2] > 0.9 * np.hypot(*place[:2])
        assert sensor.name == world.model.site(site).name.removeprefix("ePuck0/")
    right, left = EPUCK.proximity[:4], EPUCK.proximity[:3:-1]
    for a, b in zip(right, left, strict=True):
        assert (a.xyz_m[0], a.xyz_m[1], a.yaw_rad) == (b.xyz_m[0], -b.xyz_m[1], -b.yaw_rad)


def test_the_camera_looks_ahead(world):
    robot = world.mobiles["ePuck0"]
    looks = -world.data.cam_xmat[robot.camera].reshape(3, 3)[:, 2]
    assert looks[0] > 0.99
    assert world.data.cam_xpos[robot.camera][2] == pytest.approx(0.028, abs=0.001)


def test_wheels_are_within_the_body(world):
    """Otherwise another robot would touch a wheel first, and climb it."""
    model = world.model
    hull = model.geom("ePuck0/body_hull_1").size[0]
    for wheel in ("wheel_left", "wheel_right"):
        body = model.body(f"ePuck0/{wheel}")
        assert np.hypot(model.geom(f"ePuck0/{wheel}").size[0], abs(body.pos[1]) + 0.0025) < hull


def test_walls_stand_round_the_arena():
    world = World(load_cell("epucks@maze"), 0)
    boxes = [g for g in range(world.model.ngeom) if world.model.geom(g).name.startswith("arena/")]
    assert len(boxes) == 6
    inner = np.zeros(1, np.int32)
    groups = np.zeros(6, np.uint8)
    groups[3] = 1
    for direction, expected in (([1, 0, 0], 0.6), ([-1, 0, 0], 0.4), ([0, 1, 0], 0.4)):
        start = np.array([0.0, 0.0, 0.03]) if direction[0] >= 0 else np.array([-0.2 + 0.4, -0.3, 0.03])
        if direction == [1, 0, 0]:
            start = np.array([0.0, -0.3, 0.03])
        hit_m = mujoco.mj_ray(world.model, world.data, start, np.array(direction, float), groups, 1, -1, inner)
        assert hit_m == pytest.approx(expected, abs=0.008)
