"""Light curtains and watched zones in physics: what breaks them, what does not, whom they stop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.cells import Cell
from cellwright.control import MotionStopped, NotReady, RobotState
from cellwright.control.presence_detector import boxes_overlap
from cellwright.core.config import validate
from cellwright.core.errors import ConfigError
from cellwright.core.pose import Pose
from cellwright.lab import Lab

from .conftest import BENCH

ARM = BENCH["robots"]["arm"]
CURTAIN_Y_M = -1.2
HALF_M = 0.04  # of the cube's edge


def guarded(watched: bool = False) -> dict:
    """Two arms in two zones; a curtain hangs in front of the first, and a cube is on the floor before it."""
    zones = {
        "left": {"robots": ["arm"], "pose": {"xyz_m": [0, 0, 0]}, "size_m": [2, 2, 2], "watched": watched},
        "right": {"robots": ["other"], "pose": {"xyz_m": [3, 0, 0]}, "size_m": [2, 2, 2]},
    }
    place = {"from_xy_m": [-1, CURTAIN_Y_M], "to_xy_m": [1, CURTAIN_Y_M], "bottom_m": 0.0, "top_m": 1.5}
    curtain = {"kind": "light_curtain", "zones": ["left"], "curtain": place}
    return {
        "robots": {"arm": ARM, "other": {**ARM, "base": {"xyz_m": [3, 0, 0]}}},
        "parts": {"box": {"model": "cube", "pose": {"xyz_m": [0, -1.6, HALF_M]}}},
        "safety": {"zones": zones, "inputs": {"curtain": curtain}},
    }


def slide(lab: Lab, speed_mps: float) -> None:
    """Gives the cube a push towards the arm."""
    dof = lab.world.objects["box"].dof
    lab.world.data.qvel[dof + 1] = speed_mps


def at(y_m: float, x_m: float = 0.0, z_m: float = HALF_M, yaw: float = 0.0) -> Pose:
    return Pose.from_xyz_rpy([x_m, y_m, z_m], [0, 0, yaw])


@pytest.fixture
def lab(open_lab):
    return open_lab(**guarded())


def test_a_box_that_slides_through_the_curtain_stops_the_arm_behind_it_alone(lab):
    goal, messages = np.radians([60, 30, -20, 40, -40, 90]), []
    lab.bus.subscribe("/arm/io", lambda _, m: messages.append((m.time_s, m.values)), subscriber="test")

    async def work() -> dict[str, str]:
        tasks = {name: lab.loop.create_task(arm.move_joints(goal, 0.3)) for name, arm in lab.robots.items()}
        lab.world.place("box", at(-1.5))
        slide(lab, 3.0)
        ends = {}
        for name, task in tasks.items():
            try:
                await task
                ends[name] = "done"
            except MotionStopped as error:
                ends[name] = error.reason
        return ends

    ends = lab.perform(work())
    assert ends == {"arm": "light_curtain 'curtain' opened, zone 'left'", "other": "done"}
    assert lab.robots["arm"].state is RobotState.STOPPED
    lab.advance(1.0)
    assert lab.world.pose_of("box").position[1] > CURTAIN_Y_M + 0.1  # it went through
    assert [values for _, values in messages] == [(False,), (True,)]
    front_m = -1.5 + HALF_M
    assert messages[0][0] > (CURTAIN_Y_M - front_m) / 3.0 - 0.02  # not before it could be there
    with pytest.raises(NotReady, match="locked by safety"):
        lab.perform(lab.robots["arm"].move_home())
    lab.safety.reset()
    lab.perform(lab.robots["arm"].move_home())


def test_no_reset_while_something_is_in_the_curtain(lab):
    lab.world.place("box", at(CURTAIN_Y_M))
    lab.advance(2.0)  # it falls asleep there
    assert lab.safety.inputs == {"curtain": False}
    lab.robots["arm"].io.set_input("curtain", True)  # somebody bridges the signal
    with pytest.raises(NotReady, match="safety cannot be reset: curtain open"):
        lab.safety.reset()
    lab.world.place("box", at(-1.6))
    lab.advance(0.1)
    lab.safety.reset()
    assert lab.robots["arm"].state is RobotState.IDLE


@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
@pytest.mark.parametrize(
    ("pose", "breaks"),
    [
        (at(CURTAIN_Y_M - 0.049), True),
        (at(CURTAIN_Y_M - 0.051), False),
        (at(CURTAIN_Y_M - 0.066, yaw=np.pi / 4), True),  # a corner reaches farther than a side
        (at(CURTAIN_Y_M - 0.068, yaw=np.pi / 4), False),
        (at(CURTAIN_Y_M, x_m=1.039), True),
        (at(CURTAIN_Y_M, x_m=1.041), False),  # beside the post
        (at(CURTAIN_Y_M, z_m=1.539), True),
        (at(CURTAIN_Y_M, z_m=1.541), False),  # above
    ],
)
def test_where_a_box_breaks_the_curtain(lab_of, fidelity, pose, breaks):
    lab = lab_of(fidelity)
    lab.world.place("box", pose)
    lab.safety._tick()
    assert lab.safety.inputs == {"curtain": not breaks}


@pytest.fixture(scope="module")
def lab_of():
    """One laboratory per fidelity; only places are tried out in it."""
    labs = {f: Lab.from_cell(Cell.model_validate(BENCH | guarded()), fidelity=f) for f in ("physics", "kinematic")}
    yield labs.get
    for lab in labs.values():
        lab.close()


def test_a_curtain_that_is_broken_from_the_start_is_open(open_lab):
    keys = guarded()
    keys["parts"]["box"]["pose"]["xyz_m"][1] = CURTAIN_Y_M
    lab = open_lab(**keys)
    assert lab.safety.inputs == {"curtain": False}
    assert lab.robots["arm"].state is RobotState.STOPPED


def test_a_watched_zone_notices_what_comes_in_and_forgets_it_after_a_reset(open_lab):
    lab = open_lab(**guarded(watched=True))
    told = []
    lab.bus.subscribe("/safety/status", lambda _, m: told.append((m.stop_category, m.zones_entered)), subscriber="test")
    lab.world.place("box", at(-0.5))
    lab.advance(0.1)
    assert told == [("Fast", ("left",))]
    assert lab.robots["arm"].reason == "'box' came in, zone 'left'"
    assert lab.robots["other"].state is RobotState.IDLE
    lab.safety.reset()  # it may stay, and be moved about
    lab.world.place("box", at(-0.6))
    lab.advance(0.1)
    assert lab.robots["arm"].state is RobotState.IDLE
    lab.world.add("second", "cube", at(0.5))
    lab.advance(0.1)
    assert lab.robots["arm"].reason == "'second' came in, zone 'left'"


def test_a_snapshot_remembers_what_was_in_the_curtain(lab):
    lab.world.place("box", at(CURTAIN_Y_M))
    lab.advance(0.1)
    moment = lab.snapshot()
    lab.world.place("box", at(-1.6))
    lab.advance(0.1)
    lab.safety.reset()
    lab.restore(moment)
    assert lab.safety.inputs == {"curtain": False}
    lab.world.place("box", at(-1.6))
    lab.advance(0.1)
    assert lab.safety.inputs == {"curtain": True}
    lab.safety.reset()


FLAT = {"from_xy_m": [0, 0], "to_xy_m": [1, 0], "bottom_m": 1, "top_m": 1}


@pytest.mark.parametrize(
    ("kind", "place", "message"),
    [
        ("gate", FLAT | {"top_m": 2}, "only a light_curtain has a curtain, not a gate"),
        ("light_curtain", FLAT, "the posts must be apart, and bottom_m below top_m"),
    ],
)
def test_curtains_that_cannot_hang_are_refused(kind, place, message):
    guard = {"kind": kind, "zones": [], "curtain": place}
    with pytest.raises(ConfigError, match=message):
        validate(BENCH | {"safety": {"zones": {}, "inputs": {"x": guard}}}, Cell, "mine.yaml")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_boxes_overlap_as_their_points_do(seed):
    """A point of one in the other proves an overlap; boxes that are apart along the line of their middles have none."""
    rng = np.random.default_rng(seed)
    turn = Pose.from_xyz_rpy([0, 0, 0], rng.uniform(-3, 3, 3)).rotation_matrix
    first, second, offset = rng.uniform(0.1, 1, 3), rng.uniform(0.1, 1, 3), rng.uniform(-2, 2, 3)
    points = rng.uniform(-1, 1, (2000, 3)) * second @ turn.T + offset
    overlap = boxes_overlap(turn, offset, first, second)
    if (np.abs(points) <= first).all(axis=1).any():
        assert overlap
    if np.linalg.norm(offset) > np.linalg.norm(first) + np.linalg.norm(second):
        assert not overlap
    assert overlap == boxes_overlap(turn.T, -turn.T @ offset, second, first)


def test_the_lab_stops_by_its_gate_and_by_whatever_comes_through_its_front(open_lab, aprs):
    lab = open_lab(aprs)
    fanuc, motoman = lab.robots["fanuc"], lab.robots["motoman"]
    motoman.io.set_input("gate", False)
    assert (fanuc.state, motoman.state) == (RobotState.IDLE, RobotState.STOPPED)
    lab.perform(fanuc.move_home())
    motoman.io.set_input("gate", True)
    lab.safety.reset()
    lab.world.add("box", "cube", at(-2.3))
    slide(lab, 2.0)
    lab.advance(0.5)
    assert lab.world.pose_of("box").position[1] > -2.05
    assert motoman.state is RobotState.IDLE  # it slid through below the curtain
    lab.world.place("box", at(-2.3, z_m=0.8))
    slide(lab, 2.0)
    lab.advance(0.3)
    for robot in (fanuc, motoman):
        assert robot.reason == f"light_curtain 'curtain_front' opened, zone '{robot.name}'"
        with pytest.raises(NotReady, match="locked by safety"):
            lab.perform(robot.move_home())
