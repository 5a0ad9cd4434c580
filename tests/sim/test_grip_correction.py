"""What friction holds does not creep in a moving hand, and slips where it should."""

import numpy as np
import pytest

from cellwright.core.pose import Pose

SWING_RAD = np.array([1.2, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture
def holding(open_lab, make_bench, grasp):
    """Opens a bench whose arm holds the gear."""

    def make(**keys):
        lab = open_lab(make_bench(**keys))
        lab.perform(grasp(lab, "arm", "gear"))
        lab.advance(0.2)
        return lab

    return make


def pose_in_hand(lab) -> Pose:
    return lab.world.tcp_pose("arm").inverse() @ lab.world.pose_of("gear")


def swing(lab, speed: float = 0.6) -> float:
    """Swings the arm to and fro; how far the gear has strayed in the hand then."""
    start = pose_in_hand(lab)
    arm = lab.robots["arm"]

    async def work() -> None:
        home = arm.joints_rad.copy()
        await arm.move_joints(home + SWING_RAD, speed)
        await arm.move_joints(home, speed)

    lab.perform(work())
    return pose_in_hand(lab).distance_m(start)


def press(lab, force_n: float) -> None:
    """Lets each finger press with another force."""
    grip = lab.world.robots["arm"].tool.actuator
    lab.world.model.actuator_forcerange[grip] = (-2 * force_n, 2 * force_n)
    lab.advance(0.3)


def pad_speeds(world) -> np.ndarray:
    return world.model.geom_surfacevel[list(world.robots["arm"].tool.pad_geoms)]


def test_a_gear_creeps_in_a_swing_only_without_the_correction(holding):
    assert swing(holding(grip_correction=False)) > 2e-4
    assert swing(holding()) < 2e-5


def test_at_rest_nothing_changes(holding):
    sunk = []
    for on in (True, False):
        lab = holding(grip_correction=on)
        start = pose_in_hand(lab)
        lab.advance(1.0)
        sunk.append(pose_in_hand(lab).position - start.position)
    assert np.abs(sunk[0] - sunk[1]).max() < 1e-7
    assert np.linalg.norm(sunk[0]) < 5e-6


@pytest.mark.parametrize("on", [True, False])
def test_a_grip_that_is_just_firm_enough_at_rest_loses_the_gear_in_a_swing(holding, on):
    """At rest 0.123 N carry its weight; at 0.8 N the gear slips in the swing, at 0.2 N it is thrown."""
    lab = holding(grip_correction=on)
    start = lab.snapshot()
    for force_n, lost in ((0.8, False), (0.2, True)):
        lab.restore(start)
        press(lab, force_n)
        assert lab.world.pose_of("gear").position[2] > 0.09, "held at rest"
        assert (swing(lab, 1.0) > 0.02) == lost


@pytest.mark.parametrize("on", [True, False])
def test_a_load_beyond_friction_slips_in_a_moving_hand_as_in_one_at_rest(holding, on):
    """Coulomb: 1.6 times 5 N is 8 N, less the weight of 0.2 N."""
    lab = holding(grip_correction=on)
    start, body = lab.snapshot(), lab.world.objects["gear"].body
    for load_n, lost in ((7.2, False), (8.4, True)):
        lab.restore(start)
        lab.world.data.xfrc_applied[body, 2] = -load_n
        assert (swing(lab, 0.3) > 0.01) == lost


def test_the_pads_surfaces_move_only_while_they_hold_something_and_move(holding):
    lab = holding()
    assert np.abs(pad_speeds(lab.world)).max() < 1e-6
    seen = []
    lab.stepper.every(10, lambda: seen.append(np.abs(pad_speeds(lab.world)).max()), order=35, name="watch")
    swing(lab)
    assert max(seen) > 1e-3
    lab.perform(lab.robots["arm"].open_gripper())
    lab.advance(0.1)
    assert (pad_speeds(lab.world) == 0).all()
    seen.clear()
    swing(lab)
    assert max(seen) == 0


@pytest.mark.parametrize("keys", [{"grip_correction": False}, {"grasp_lock": True}, {"fidelity": "kinematic"}])
def test_it_is_off_where_it_is_not_wanted_or_has_no_place(open_lab, make_bench, keys):
    assert not open_lab(make_bench(**keys)).world.model.flg_surfacevel


def test_whoever_looks_changes_nothing(holding):
    ends = []
    for watched in (False, True):
        lab = holding()
        if watched:
            lab.stepper.every(3, lambda lab=lab: lab.world.tcp_pose("arm"), order=35, name="watch")
        swing(lab)
        ends.append(lab.world.data.qpos.tobytes())
    assert ends[0] == ends[1]


def test_a_snapshot_in_mid_swing_goes_on_alike(holding):
    lab = holding()
    world = lab.world
    world.data.ctrl[world.robots["arm"].ctrl_position[0]] += 0.1
    lab.advance(0.05)
    start, speeds = lab.snapshot(), pad_speeds(world).copy()
    assert np.abs(speeds).max() > 1e-5
    runs = []
    for _ in range(2):
        lab.restore(start)
        assert (pad_speeds(world) == speeds).all()
        lab.advance(0.5)
        runs.append(world.data.qpos.tobytes())
    assert runs[0] == runs[1]


def test_it_goes_on_when_bodies_come_and_go(holding):
    lab = holding()
    lab.world.add("guest", "small_gear", Pose.from_xyz_rpy([0.2, -0.4, 0]))
    lab.world.remove("supply")
    assert swing(lab) < 2e-5
