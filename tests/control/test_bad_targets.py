"""Targets that make no sense or cannot be reached: an error that says why, no time passes, and the arm stays."""

import numpy as np
import pytest

from cellwright.control import NotReady
from cellwright.core.errors import BadInput, JobFailed, OutOfRange
from cellwright.core.pose import Pose
from cellwright.motion import LineSpeed, Unreachable

DOWN = [np.pi, 0, 0]
NEAR = Pose.from_xyz_rpy([0.4, 0.1, 0.3], DOWN)
FAR_AWAY = Pose.from_xyz_rpy([2.0, 0.0, 0.3], DOWN)
HOME_RAD = np.radians([0, 0, 0, 0, -90, 0])


@pytest.fixture
def arm(lab):
    """The arm, of which nothing may have moved in the end."""
    arm = lab.robots["arm"]
    before = lab.world.data.ctrl.copy()
    yield arm
    assert (lab.world.data.ctrl == before).all()
    assert lab.clock.time_s == 0.0
    assert not arm.moving
    lab.perform(arm.move_joints(HOME_RAD + 0.05))  # and it can be used


def shifted(joint: int, angle_rad: float) -> np.ndarray:
    goal = HOME_RAD.copy()
    goal[joint] = angle_rad
    return goal


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        (shifted(2, np.nan), "lr_mate_200id has 6 joints and needs 6 finite angles"),
        (shifted(2, np.inf), "lr_mate_200id has 6 joints and needs 6 finite angles"),
        (HOME_RAD[:5], "lr_mate_200id has 6 joints and needs 6 finite angles"),
        (shifted(4, -3.0), r"lr_mate_200id joint_5 is -171\.8\d* deg, allowed -125 to 125 deg"),
    ],
)
def test_joint_targets(lab, arm, goal, message):
    with pytest.raises(BadInput, match=message):
        lab.perform(arm.move_joints(goal))


@pytest.mark.parametrize("speed", [0.0, -0.5, 1.5, np.nan])
def test_speeds(lab, arm, speed):
    with pytest.raises(OutOfRange, match="speed is"):
        lab.perform(arm.move_joints(HOME_RAD, speed))
    with pytest.raises(OutOfRange, match=r"speed along a straight line is \S+ m/s, allowed"):
        LineSpeed(speed_mps=speed if speed < 1 else -1.0)


@pytest.mark.parametrize("way", ["move_tool", "move_tool_straight", "move_through"])
def test_poses_out_of_reach(lab, arm, way):
    moves = {
        "move_tool": lambda: arm.move_tool(FAR_AWAY),
        "move_tool_straight": lambda: arm.move_tool_straight(FAR_AWAY, LineSpeed()),
        "move_through": lambda: arm.move_through([NEAR, FAR_AWAY], LineSpeed(), 0.02),
    }
    with pytest.raises(
        Unreachable, match=r"^arm cannot reach .* \(its tool in the cell\): (out of reach|joint_\d would be at)"
    ):
        lab.perform(moves[way]())


def test_a_pose_that_only_the_joint_limits_forbid(lab, arm):
    flange = arm.kinematics.forward(np.radians([0, 0, 0, 0, -130, 0]))
    message = r"joint_5 would be at -130\.00 deg, allowed -125\.00 to 125\.00 deg"
    with pytest.raises(Unreachable, match=message):
        lab.perform(arm.move_tool(arm.ring.tool_in_world(flange)))


def test_ways_past_a_singular_configuration(lab):
    arm = lab.robots["arm"]
    lab.perform(arm.move_joints(np.radians([0.0, 20.0, 10.0, 0.0, -20.0, 0.0])))
    lab.advance(0.3)
    before, time_s = lab.world.data.ctrl.copy(), lab.clock.time_s
    flange = arm.kinematics.forward(arm._servo.set_point_rad)
    goal = arm.ring.tool_in_world(flange @ Pose.from_xyz_rpy([0, 0, 0], [0.001, 0.7, 0.0]))
    refusal = r"(cannot follow|have to crawl along) the (straight line|way): after \d+ % .* joint_"
    for move in (arm.move_tool_straight(goal, LineSpeed()), arm.move_through([goal], LineSpeed(), 0.02)):
        with pytest.raises(JobFailed, match=refusal):
            lab.perform(move)
    assert (lab.world.data.ctrl == before).all()
    assert lab.clock.time_s == time_s


@pytest.mark.parametrize(
    ("poses", "blend_m", "message"),
    [
        ([], 0.02, "lr_mate_200id needs at least 1 pose to move through, got 0"),
        ([NEAR], 0.0, "blend distance is 0 m, allowed 0.001 to 10 m"),
        ([NEAR], np.nan, "blend distance is nan m"),
    ],
)
def test_ways_that_are_none(lab, arm, poses, blend_m, message):
    with pytest.raises(BadInput, match=message):
        lab.perform(arm.move_through(poses, LineSpeed(), blend_m))


@pytest.mark.parametrize(
    ("position", "quaternion", "message"),
    [
        ([0.4, np.nan, 0.3], [0, 1, 0, 0], "a position has 3 finite numbers"),
        ([0.4, 0.0, 0.3], [0, 0, 0, 0], "not a rotation: quaternion"),
        ([0.4, 0.0, 0.3], [np.nan, 1, 0, 0], "not a rotation: quaternion"),
    ],
)
def test_what_is_no_pose_never_reaches_the_robot(position, quaternion, message):
    with pytest.raises(ValueError, match=message):
        Pose(position, quaternion)


def test_axes_must_be_unit_vectors_and_quaternions_are_made_so():
    with pytest.raises(ValueError, match=r"not a rotation: matrix .*unit vectors"):
        Pose.from_matrix(np.column_stack([np.diag([1.1, 1.0, 1.0]), [0.4, 0.0, 0.3]]))
    twice = Pose([0.4, 0.1, 0.3], 2 * NEAR.quaternion)
    assert twice.is_close(NEAR, tolerance_m=1e-12, tolerance_rad=1e-7)


class Motion:
    """Any motion, given as functions of time."""

    def __init__(self, position=lambda t: HOME_RAD, velocity=lambda t: np.zeros(6), duration_s: float = 1.0) -> None:
        self._position, self._velocity, self.duration_s = position, velocity, duration_s

    def at(self, time_s: float):
        return self._position(time_s), self._velocity(time_s)


PUSH = np.array([0, 1.0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        (Motion(duration_s=np.nan), "arm: the time that this motion takes is nan s"),
        (Motion(duration_s=-1.0), "arm: the time that this motion takes is -1 s, allowed 0"),
        (Motion(lambda t: HOME_RAD if t < 0.5 else HOME_RAD * np.nan), r"6 finite angles and speeds, .* at 0\.5\d* s"),
        (Motion(velocity=lambda t: PUSH * np.nan), "6 finite angles and speeds"),
        (Motion(velocity=lambda t: PUSH[:3]), "6 finite angles and speeds"),
        (Motion(lambda t: HOME_RAD + PUSH), r"arm joint_2 at the start of a motion is 1 rad, allowed -0\.02 to 0\.02"),
        (Motion(lambda t: HOME_RAD + 9 * t * PUSH), r"arm joint_2 at the end of a motion is 9 rad, allowed"),
        (Motion(lambda t: HOME_RAD + 40 * t * (1 - t) * PUSH), r"arm joint_2 at 0\.\d+ s of a motion is"),
        (Motion(velocity=lambda t: PUSH), "arm joint_2 speed at the start of a motion is 1 rad/s, allowed"),
        (Motion(velocity=lambda t: PUSH * (t >= 1)), "arm joint_2 speed at the end of a motion is 1 rad/s, allowed"),
        (
            Motion(velocity=lambda t: 99 * PUSH * t * (1 - t)),
            r"arm joint_2 speed in a motion is 24\.\d+ rad/s",
        ),
    ],
)
def test_motions_that_would_make_the_arm_jump_or_get_lost(lab, arm, motion, message):
    with pytest.raises(BadInput, match=message):
        lab.perform(arm.follow(motion))


def test_without_a_tool_there_is_nothing_to_grip_with(open_lab):
    keys = {"model": "lr_mate_200id", "base": {"xyz_m": [0, 0, 0]}, "home_deg": [0, 0, 0, 0, -90, 0]}
    lab = open_lab(robots={"arm": keys})
    arm = lab.robots["arm"]
    with pytest.raises(JobFailed, match=r"^arm has no gripper$"):
        lab.perform(arm.move_gripper(0.01))
    assert lab.clock.time_s == 0.0


def test_a_robot_that_is_locked_takes_no_targets(lab):
    arm = lab.robots["arm"]
    arm.stop(reason="gate", lock="safety")
    moves = (arm.move_home(), arm.move_tool(NEAR), arm.move_through([NEAR], LineSpeed(), 0.02))
    for move in moves:
        with pytest.raises(NotReady, match="arm is locked by safety and needs a reset: gate"):
            lab.perform(move)
    arm.reset("safety")
    assert lab.clock.time_s == 0.0
