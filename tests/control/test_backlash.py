"""Play in the gears: the tool stands where the last motion left it, and the encoders do not know."""

import numpy as np
import pytest

from cellwright.control import CONTROLLERS, CommandMode, Controller, ControllerContext
from cellwright.core.messages import JointState
from cellwright.core.pose import Pose

PLAY_DEG = 0.05
PLAY_RAD = np.radians(PLAY_DEG)
ERRORS = {"backlash_deg": PLAY_DEG, "joint_zero_deg": 0.1}
GOAL_RAD = np.radians([20, 10, -10, 15, -80, 30])
CASES = [("pid", "physics"), ("pid", "kinematic"), ("computed_torque", "physics"), ("cartesian", "physics")]
# What the slow modes of the torque controllers (2 per second) have left after the wait.
TOLERANCE = {"pid": 0.005, "computed_torque": 0.05, "cartesian": 0.1}


def links_rad(lab) -> np.ndarray:
    """Where the links really are."""
    return lab.world.data.qpos[lab.world.robots["arm"].qpos].copy()


def come_from(lab, side: float) -> None:
    """To the goal from one side of it, for all joints, and to rest."""
    arm = lab.robots["arm"]
    lab.perform(arm.move_joints(GOAL_RAD + side * 0.1))
    lab.perform(arm.move_joints(GOAL_RAD))
    lab.advance(0.3 if arm.controller == "pid" else 3.0)


def open_arm(open_lab, controller: str, fidelity: str, **keys):
    lab = open_lab(fidelity=fidelity, **keys)
    if controller != "pid":
        pytest.importorskip("numba", reason="compiled controllers need the extra 'motion'")
        lab.robots["arm"].use_controller(controller)
    return lab


@pytest.mark.slow
@pytest.mark.parametrize(("controller", "fidelity"), CASES)
def test_a_point_is_two_places_depending_on_the_side_from_which_it_is_reached(open_lab, controller, fidelity):
    lab = open_arm(open_lab, controller, fidelity, actual=ERRORS)
    arm, limit = lab.robots["arm"], TOLERANCE[controller] * PLAY_RAD
    come_from(lab, -1)
    low, low_tool, low_reading = links_rad(lab), lab.world.tcp_pose("arm"), arm.joints_rad
    come_from(lab, +1)
    high, high_tool, high_reading = links_rad(lab), lab.world.tcp_pose("arm"), arm.joints_rad
    assert high - low == pytest.approx(np.full(6, PLAY_RAD), abs=2 * limit)
    assert low == pytest.approx(GOAL_RAD + np.radians(0.1) - PLAY_RAD / 2, abs=5 * limit)
    for reading in (low_reading, high_reading):
        assert reading == pytest.approx(GOAL_RAD, abs=5 * limit)
    # Forward kinematics of the true angles: base and tool have no errors here.
    for links, tool in ((low, low_tool), (high, high_tool)):
        believed = arm.ring.tool_in_world(arm.kinematics.forward(links))
        assert tool.is_close(believed, tolerance_m=1e-9, tolerance_rad=1e-7)
    assert high_tool.distance_m(low_tool) > 5e-4


@pytest.mark.parametrize(("controller", "fidelity"), CASES)
def test_a_reversal_within_the_play_moves_the_motors_and_not_the_links(open_lab, controller, fidelity):
    lab = open_arm(open_lab, controller, fidelity, actual=ERRORS)
    arm, limit = lab.robots["arm"], 2 * TOLERANCE[controller] * PLAY_RAD
    come_from(lab, +1)
    links, reading = links_rad(lab), arm.joints_rad
    lab.perform(arm.move_joints(GOAL_RAD + 0.9 * PLAY_RAD))
    lab.advance(1.0)
    assert links_rad(lab) == pytest.approx(links, abs=limit)
    assert arm.joints_rad - reading == pytest.approx(np.full(6, 0.9 * PLAY_RAD), abs=limit)
    lab.perform(arm.move_joints(GOAL_RAD + 1.9 * PLAY_RAD))  # and now it has been taken up
    lab.advance(1.0)
    assert links_rad(lab) - links == pytest.approx(np.full(6, 0.9 * PLAY_RAD), abs=limit)


@pytest.mark.slow
@pytest.mark.parametrize("controller", ["pid", "computed_torque"])
def test_without_backlash_a_run_is_the_same_to_the_last_bit(open_lab, controller):
    def run(**actual) -> bytes:
        lab = open_arm(open_lab, controller, "physics", actual=actual)
        come_from(lab, -1)
        assert bool(lab.world.backlash) == ("backlash_deg" in actual and bool(actual["backlash_deg"]))
        return lab.world.data.qpos.tobytes() + lab.world.data.qvel.tobytes()

    assert run() == run(backlash_deg=0.0)
    assert run() != run(backlash_deg=0.01)


def test_speeds_take_up_the_play_first(open_lab):
    lab = open_lab(actual={"backlash_deg": 1.0})
    arm, play_rad = lab.robots["arm"], np.radians(1.0)
    arm.set_mode(CommandMode.VELOCITY)
    start = links_rad(lab)
    speeds = np.array([0.1, 0, 0, 0, 0, 0])
    arm.command(speeds)
    lab.advance(0.08)  # 0.46 degrees of the half degree that is free
    assert links_rad(lab)[0] == pytest.approx(start[0], abs=1e-5)
    assert arm.velocity_radps[0] == pytest.approx(0.1, rel=0.02)
    lab.advance(0.92)
    assert links_rad(lab)[0] - start[0] == pytest.approx(0.1 - play_rad / 2, rel=0.03)
    before = links_rad(lab)[0]
    arm.command(-speeds)
    lab.advance(0.16)  # 0.92 degrees of the whole degree that is free now
    assert links_rad(lab)[0] == pytest.approx(before, abs=3e-4)


def test_torques_from_outside_take_up_the_play_by_the_motion_of_the_links(open_lab):
    lab = open_lab(actual={"backlash_deg": 0.2})
    arm = lab.robots["arm"]
    arm.set_mode(CommandMode.EFFORT)
    still = arm.effort_nm
    for sign, time_s in ((1.0, 0.15), (-1.0, 0.4)):
        arm.command(still + sign * np.array([3.0, 0, 0, 0, 0, 0]))
        lab.advance(time_s)
        assert sign * arm.velocity_radps[0] > 0.01
        assert links_rad(lab)[0] - arm.joints_rad[0] == pytest.approx(-sign * np.radians(0.1), rel=0.01)


class Slow(Controller):
    """The law of computed torque, called in Python."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._law = CONTROLLERS.get("computed_torque")(context)

    def command(self, reference, position_rad, velocity_radps):
        return self._law.command(reference, position_rad, velocity_radps)


@pytest.mark.slow
def test_a_controller_in_python_meets_the_same_play_as_a_compiled_one(open_lab):
    pytest.importorskip("numba", reason="compiled controllers need the extra 'motion'")

    if "slow" not in CONTROLLERS:
        CONTROLLERS.add("slow", Slow)
    ends = []
    for controller in ("computed_torque", "slow"):
        lab = open_arm(open_lab, controller, "physics", actual=ERRORS)
        come_from(lab, -1)
        ends.append(links_rad(lab))
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)


def test_changes_of_mode_do_not_lose_the_play(open_lab):
    lab = open_lab(actual=ERRORS)
    arm = lab.robots["arm"]
    come_from(lab, -1)
    for mode in (CommandMode.VELOCITY, CommandMode.POSITION):
        arm.set_mode(mode)
        lab.advance(0.2)
        assert links_rad(lab) - arm.joints_rad == pytest.approx(np.full(6, np.radians(0.1) - PLAY_RAD / 2), abs=1e-9)
        assert arm.joints_rad == pytest.approx(GOAL_RAD, abs=1e-4)


@pytest.mark.parametrize("controller", ["pid", "computed_torque"])
def test_a_snapshot_remembers_where_in_the_play_the_joints_are(open_lab, controller):
    lab = open_arm(open_lab, controller, "physics", actual=ERRORS)
    come_from(lab, -1)
    moment, ends = lab.snapshot(), []
    for _ in range(2):
        lab.perform(lab.robots["arm"].move_joints(GOAL_RAD + 0.5 * PLAY_RAD))
        lab.perform(lab.robots["arm"].move_joints(GOAL_RAD - 0.1))
        ends.append(lab.world.data.qpos.tobytes() + lab.robots["arm"].joints_rad.tobytes())
        lab.restore(moment)
    assert ends[0] == ends[1]


def test_joint_states_are_those_of_the_motors(open_lab):
    lab = open_lab(actual=ERRORS, sensors=[{"type": "joint_state", "robot": "arm", "rate_hz": 50}])
    readings: list[JointState] = []
    lab.bus.subscribe("/arm/joint_states", lambda _, m: readings.append(m), subscriber="test")
    come_from(lab, +1)
    assert readings[-1].position == pytest.approx(GOAL_RAD, abs=1e-5)
    assert links_rad(lab) == pytest.approx(GOAL_RAD + np.radians(0.1) + PLAY_RAD / 2, abs=1e-5)
    fast = max(readings, key=lambda m: abs(m.velocity[0]))
    steps = np.diff([m.position[0] for m in readings]) * 50
    assert abs(fast.velocity[0]) == pytest.approx(np.abs(steps).max(), rel=0.1)


def test_a_world_that_gets_another_body_keeps_its_play(open_lab):
    lab = open_lab(actual=ERRORS)
    come_from(lab, -1)
    before = lab.robots["arm"].joints_rad
    lab.world.add("more", "medium_gear", Pose.from_xyz_rpy([1.5, 0, 0.01]))
    lab.advance(0.1)
    assert lab.robots["arm"].joints_rad == pytest.approx(before, abs=1e-5)
    come_from(lab, +1)
    assert links_rad(lab) == pytest.approx(GOAL_RAD + np.radians(0.1) + PLAY_RAD / 2, abs=0.02 * PLAY_RAD)
