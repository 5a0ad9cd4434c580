"""Light barriers: a thing in a beam is told, a thing beside it is not; rays are cast only where one may be."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.cells import Cell
from cellwright.core.errors import ConfigError
from cellwright.core.messages import Beam
from cellwright.core.pose import Pose
from cellwright.core.ros import decode, encode
from cellwright.sensors import check_sensor
from cellwright.sim import World
from cellwright.sim.rays import RayFence, cast_ray

CELL = {
    "name": "barrier",
    "title": "A cube on the floor",
    "fidelity": "kinematic",
    "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
    "parts": {"cube": {"model": "cube", "pose": {"xyz_m": [0, 0, 0.04]}}},  # 80 mm
}
BEAM = {"type": "break_beam", "name": "gate", "from_m": [-1, 0, 0.04], "to_m": [1, 0, 0.04], "rate_hz": 50}
CURTAIN = {
    "type": "light_curtain",
    "name": "curtain",
    "from_xy_m": [-1, 0],
    "to_xy_m": [1, 0],
    "bottom_m": 0.01,
    "top_m": 0.5,
    "pitch_m": 0.02,
    "rate_hz": 20,
}


@pytest.fixture(scope="module")
def world():
    return World(Cell.model_validate(CELL))


@pytest.fixture
def cube_at(world):
    def put(*xyz_m, yaw=0.0):
        world.place("cube", Pose.from_xyz_rpy(xyz_m, [0, 0, yaw]))

    yield put
    put(0, 0, 0.04)


def bottom(world):
    """Height of the cube's lowest point above the pose that a part is placed by."""
    geoms = world.model.geom_bodyid == world.objects["cube"].body
    low = (world.data.geom_xpos[geoms, 2] - world.model.geom_aabb[geoms, 5]).min()
    return float(low - world.pose_of("cube").position[2])


def test_a_thing_in_the_beam_is_told_and_one_beside_it_is_not(world, cube_at, sensor_in):
    sensor = sensor_in(world, **BEAM)
    assert sensor.topic == "/gate/break_beam"
    low = bottom(world)
    for y_m, expected in ((0.0, True), (0.039, True), (0.041, False), (-0.041, False)):
        cube_at(0.3, y_m, -low)
        assert sensor.sample().interrupted is expected, y_m
    cube_at(1.045, 0, -low)
    assert not sensor.sample().interrupted  # behind the receiver
    cube_at(0.3, 0, -low + 0.05)
    assert not sensor.sample().interrupted  # above the beam


def test_a_curtain_tells_which_beams(world, cube_at, sensor_in):
    sensor = sensor_in(world, **CURTAIN)
    low = bottom(world)
    cube_at(0.2, 0.0, 0.1 - low)  # from 0.1 to 0.18 m
    reading = sensor.sample()
    heights = 0.01 + 0.02 * np.arange(25)
    assert len(reading.beams) == 25
    assert reading.interrupted
    assert np.array_equal(reading.beams, (heights > 0.1) & (heights < 0.18))
    cube_at(0.2, 0.2, -low)
    assert not any(sensor.sample().beams)


def test_rays_are_cast_only_where_something_may_be(world, cube_at, sensor_in, monkeypatch):
    sensor, cast, calls = sensor_in(world, **CURTAIN), mujoco.mj_ray, []
    monkeypatch.setattr(mujoco, "mj_ray", lambda *all_of_them: (calls.append(1), cast(*all_of_them))[1])
    cube_at(0.2, 0.3, 0.2)
    sensor.sample()
    assert not calls
    cube_at(0.2, 0.0, 0.2)
    assert sensor.sample().interrupted
    assert len(calls) <= 6  # of 25


@settings(max_examples=40, deadline=None)
@given(
    place=st.tuples(st.floats(-0.3, 0.3), st.floats(-0.1, 0.1), st.floats(0.05, 0.3)),
    turn=st.tuples(st.floats(-3, 3), st.floats(-1, 1), st.floats(-3, 3)),
    yaw=st.floats(-3, 3),
)
def test_leaving_out_rays_changes_nothing(place, turn, yaw):
    scene = _scene()
    scene.place("cube", Pose.from_xyz_rpy(place, turn))
    way = np.array([np.cos(yaw), np.sin(yaw), 0.0])
    starts = np.column_stack([np.tile(-0.4 * way[:2], (20, 1)), np.linspace(0.01, 0.4, 20)])
    found = RayFence(scene, starts, starts + 0.8 * way).interrupted()
    expected = [cast_ray(scene.model, scene.data, start, way, 0.8) is not None for start in starts]
    assert found.tolist() == expected


_scenes: list[World] = []


def _scene() -> World:
    if not _scenes:
        _scenes.append(World(Cell.model_validate(CELL)))
    return _scenes[0]


def test_wrong_readings_come_as_often_as_said(world, cube_at, sensor_in):
    sensor = sensor_in(world, **{**CURTAIN, "wrong": 0.1})
    cube_at(0, 0.3, 0.04)
    shares = np.mean([sensor.sample().beams for _ in range(400)])
    assert shares == pytest.approx(0.1, abs=0.015)  # five standard deviations of 10 000 draws


@pytest.mark.parametrize("line", [BEAM, CURTAIN, {**CURTAIN, "wrong": 0.05, "dropout": 0.2, "delay_s": 0.03}])
def test_check_sensor_finds_nothing_wrong(world, line):
    assert check_sensor(line, world) == []


def test_readings_come_back_from_the_wire():
    message = Beam(5, 2, "curtain", frame="world", interrupted=True, beams=(False, True))
    assert decode(Beam, encode(message)) == message


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({**BEAM, "to_m": BEAM["from_m"]}, "the same point"),
        ({key: value for key, value in BEAM.items() if key != "name"}, "name"),
        ({**CURTAIN, "top_m": 0.0}, "bottom_m below top_m"),
        ({**CURTAIN, "pitch_m": 0.0001}, "4901 beams, allowed: 1000"),
        ({**BEAM, "wrong": 1.5}, "wrong"),
    ],
)
def test_lines_that_make_no_sense(world, sensor_in, line, words):
    with pytest.raises(ConfigError, match=words):
        sensor_in(world, **line)
