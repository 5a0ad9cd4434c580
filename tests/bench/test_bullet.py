"""The peer's scene must be ours, or the comparison flatters somebody."""

import mujoco
import numpy as np
import pytest

from cellwright.bench.bullet_urdf import inset
from cellwright.cells import load_cell
from cellwright.sim import World

pytestmark = pytest.mark.slow

CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
    + [[1, 5, 7], [1, 7, 3]]
)


def test_inset_moves_every_face_by_the_distance():
    assert inset(CUBE, CUBE_FACES, 0.1) == pytest.approx(CUBE * 0.9)


@pytest.fixture(scope="module")
def world():
    return World(load_cell("aprs"), 0)


@pytest.fixture
def scene(world, tmp_path):
    pytest.importorskip("pybullet", reason="PyBullet is not installed: pip install 'cellwright[bench]'")
    from cellwright.bench.bullet_scene import BulletScene

    scene = BulletScene(world, tmp_path, sleep=True)
    yield scene
    scene.close()


def test_every_link_is_where_it_is_in_the_world(world, scene):
    import pybullet

    for body, (unit, link) in scene._links.items():
        if link >= 0:
            state = pybullet.getLinkState(unit, link, computeForwardKinematics=1, physicsClientId=scene.client)
            assert state[4] == pytest.approx(world.data.xpos[body], abs=1e-5)
            assert state[0] == pytest.approx(world.data.xipos[body], abs=1e-5)


def test_every_shape_and_mass_is_there(world, scene):
    import pybullet

    for name, item in world.objects.items():
        geoms = np.flatnonzero((world.model.geom_bodyid == item.body) & (world.model.geom_contype != 0))
        shapes = pybullet.getCollisionShapeData(scene.objects[name], -1, physicsClientId=scene.client)
        mass_kg = pybullet.getDynamicsInfo(scene.objects[name], -1, physicsClientId=scene.client)[0]
        assert len(shapes) == len(geoms)
        assert mass_kg == pytest.approx(world.model.body_mass[item.body])


def test_objects_stay_where_they_lie_and_arms_follow(world, scene):
    import pybullet

    def position_of(name):
        return np.array(pybullet.getBasePositionAndOrientation(scene.objects[name], physicsClientId=scene.client)[0])

    before = {name: position_of(name) for name in scene.objects}
    assert before["medium_gear_1"] == pytest.approx(world.data.xipos[world.objects["medium_gear_1"].body], abs=1e-5)
    ctrl = world.data.ctrl.copy()
    ctrl[world.robots["fanuc"].ctrl_position[0]] += 0.05
    scene.step(ctrl, 150)
    moved_m = max(float(np.linalg.norm(position_of(name) - before[name])) for name in before)
    assert moved_m < 0.0005
    unit, link = scene._links[mujoco.mj_name2id(world.model, mujoco.mjtObj.mjOBJ_BODY, "fanuc/link_1")]
    angle_rad = pybullet.getJointState(unit, link, physicsClientId=scene.client)[0]
    assert angle_rad == pytest.approx(ctrl[world.robots["fanuc"].ctrl_position[0]], abs=0.01)
