"""An arm does what a ROS program tells it, and refuses what it cannot do with what is allowed."""

import asyncio

import numpy as np
import pytest
from tests.interfaces.ros.graph_rig import GraphRig

from cellwright import Lab
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose

NAMES = [f"joint_{number}" for number in range(1, 7)]
JOINTS, GRIPPER, FLOAT = "sensor_msgs/msg/JointState", "control_msgs/msg/GripperCommand", "std_msgs/msg/Float64"


@pytest.fixture(scope="module")
def rig():
    with Lab.from_cell("rovi", seed=2) as lab:
        yield GraphRig(lab)


@pytest.fixture
def robot(rig):
    robot = rig.lab.robot("ur5")
    yield robot
    robot.reset()
    if not np.allclose(robot.set_point_rad, robot.home_rad):
        rig.lab.perform(robot.move_home())


def during(rig, duration_s, *sends):
    """Sends in the laboratory's loop, and lets time pass."""

    async def work():
        for topic, message in sends:
            rig.send(topic, message)
        await rig.lab.clock.sleep(duration_s)

    rig.lab.perform(work())


def test_joints_go_where_the_papers_topic_says(rig, robot):
    goal = robot.home_rad + [0.3, -0.1, 0.1, 0.1, -0.2, 0.5]
    during(rig, 1.5, ("/ur5_joint_position_controller/command", rig.joints(NAMES[::-1], goal[::-1])))
    assert np.abs(robot.joints_rad - goal).max() < 2e-3


def test_joints_that_are_not_named_stay(rig, robot):
    during(rig, 1.0, ("/ur5/joint_command", rig.joints(["joint_6"], [0.4])))
    expected = robot.home_rad
    expected[5] = 0.4
    assert np.abs(robot.joints_rad - expected).max() < 2e-3


@pytest.mark.parametrize(
    ("names", "positions", "velocities", "why"),
    [
        ([], [1.0, 2.0], [], "6 names with 2 positions"),
        (["joint_1"], [np.nan], [], "not finite"),
        (["joint_1"], [0.0], [np.inf], "velocity has a number that is not finite"),
        (["elbow"], [0.0], [], r"unknown joint of ur5 'elbow'.*joint_1, joint_2"),
        (["joint_1", "joint_1"], [0.0, 0.1], [], "joint_1 is named 2 times"),
        (["joint_1"], [7.0], [], r"joint_1 is 7 rad, allowed -6.28\d* to 6.28\d* rad"),
        ([], [], [1.0] * 6, "there are none in this JointState"),
    ],
)
def test_joints_that_make_no_sense_are_refused(rig, robot, names, positions, velocities, why):
    with pytest.raises(BadInput, match=why):
        rig.send("/ur5/joint_command", rig.joints(names, positions, velocities))
    rig.lab.advance(0.05)
    assert np.allclose(robot.set_point_rad, robot.home_rad)


def test_the_flange_goes_to_a_pose_in_the_base_frame(rig, robot):
    begin = robot.kinematics.forward(robot.joints_rad)
    goal = Pose(begin.position + [0.02, 0.0, -0.05], begin.quaternion)
    command = rig.make("ur5_controllers/msg/PoseTwist", pose=rig.pose(goal))
    during(rig, 1.0, ("/ur5_cartesian_pose_controller/command", command))
    assert np.linalg.norm(robot.kinematics.forward(robot.joints_rad).position - goal.position) < 1e-3


@pytest.mark.parametrize("frame", ["world", "", "ur5/base_link"])
def test_the_tool_goes_to_a_pose_in_the_frame_that_is_named(rig, robot, frame):
    goal = Pose(robot.tool_in_world.position + [0.0, 0.03, 0.02], robot.tool_in_world.quaternion)
    told = goal if frame == "world" else robot.ring.pose_base_in_world.inverse() @ goal
    stamped = rig.make("geometry_msgs/msg/PoseStamped", pose=rig.pose(told))
    stamped.header.frame_id = frame
    during(rig, 1.0, ("/ur5/pose_command", stamped))
    assert np.linalg.norm(robot.tool_in_world.position - goal.position) < 1e-3


def test_poses_that_make_no_sense_are_refused(rig, robot):
    begin = robot.kinematics.forward(robot.joints_rad)
    far = rig.make("ur5_controllers/msg/PoseTwist", pose=rig.pose(Pose(begin.position + 3, begin.quaternion)))
    turnless = rig.make("ur5_controllers/msg/PoseTwist")
    odd = rig.make("geometry_msgs/msg/PoseStamped", pose=rig.pose(begin))
    odd.header.frame_id = "moon"
    nan = rig.make("ur5_controllers/msg/PoseTwist", pose=rig.pose(begin))
    nan.twist.linear.x = np.nan
    for topic, message, why in (
        ("/ur5/pose_twist_command", far, "out of reach"),
        ("/ur5/pose_twist_command", turnless, "quaternion of a pose has length 0"),
        ("/ur5/pose_twist_command", nan, "twist has a number that is not finite"),
        ("/ur5/pose_command", odd, "unknown frame of a pose 'moon'.*world, ur5/base_link|ur5/base_link, world"),
    ):
        with pytest.raises(BadInput, match=why):
            rig.send(topic, message)


def points(rig, *rows):
    kind = "trajectory_msgs/msg/JointTrajectoryPoint"
    made = []
    for time_s, row in rows:
        span = rig.make("builtin_interfaces/msg/Duration", sec=int(time_s), nanosec=round(time_s % 1 * 1e9))
        made.append(rig.make(kind, positions=np.array(row, float), time_from_start=span))
    return made


def trajectory(rig, *rows, names=NAMES):
    kind = "trajectory_msgs/msg/JointTrajectory"
    return rig.make(kind, joint_names=list(names), points=points(rig, *rows))


def test_a_trajectory_passes_its_points_at_their_times(rig, robot):
    home = robot.home_rad
    bend = np.array([-0.3, 0.1, 0.0, 0.1, 0.2, 0.2])
    seen = []

    async def work():
        rows = (1.0, (home + bend)[::-1]), (2.0, (home + bend / 2)[::-1])
        rig.send("/ur5/joint_trajectory", trajectory(rig, *rows, names=NAMES[::-1]))
        await rig.lab.clock.sleep(1.0)
        seen.append(robot.joints_rad)
        with pytest.raises(BadInput, match="follows a trajectory"):
            rig.send("/ur5/joint_command", rig.joints(["joint_1"], [0.0]))
        await rig.lab.clock.sleep(1.2)
        seen.append(robot.joints_rad)

    rig.lab.perform(work())
    assert np.abs(seen[0] - home - bend).max() < 0.02
    assert np.abs(seen[1] - home - bend / 2).max() < 2e-3


def test_a_trajectory_gives_way_to_another_and_ends_without_points(rig, robot):
    home = robot.home_rad

    async def work():
        rig.send("/ur5/joint_trajectory", trajectory(rig, (3.0, home - 0.3)))
        await rig.lab.clock.sleep(0.5)
        rig.send("/ur5/joint_trajectory", trajectory(rig, (1.0, home - [0.2, 0, 0, 0, 0, 0])))
        await rig.lab.clock.sleep(1.6)
        reached = robot.joints_rad
        rig.send("/ur5/joint_trajectory", trajectory(rig, (3.0, home)))
        await rig.lab.clock.sleep(0.5)
        rig.send("/ur5/joint_trajectory", trajectory(rig))
        await rig.lab.clock.sleep(0.5)
        return reached, robot.moving

    reached, moving = rig.lab.perform(work())
    assert np.abs(reached - home + [0.2, 0, 0, 0, 0, 0]).max() < 2e-3
    assert not moving


def test_trajectories_that_make_no_sense_are_refused(rig, robot):
    home = robot.home_rad
    for message, why in (
        (trajectory(rig, (1.0, home[:3])), "point 1 has 3 positions"),
        (trajectory(rig, (1.0, home), (0.5, home)), "time_from_start of point 2 is 0.5 s"),
        (trajectory(rig, (1.0, home), names=NAMES[:5]), "a trajectory has all joints of ur5"),
        (trajectory(rig, (1.0, home * np.nan)), "positions has a number that is not finite"),
    ):
        with pytest.raises(BadInput, match=why):
            rig.send("/ur5/joint_trajectory", message)


def test_a_trajectory_that_is_too_quick_is_told_and_moves_nothing(rig, robot, caplog):
    during(rig, 0.2, ("/ur5/joint_trajectory", trajectory(rig, (0.1, robot.home_rad + 1.0))))
    assert np.allclose(robot.set_point_rad, robot.home_rad)
    assert "speed in a motion" in caplog.text


def test_the_gripper_takes_efforts_as_the_paper_sends_them_again_and_again(rig, robot):
    effort = rig.make(FLOAT, data=-50.0), rig.make(FLOAT, data=30.0)
    topic, (closed_m, open_m) = "/wsg_hybrid_controller/command", robot.gripper.width_limits_m

    async def work(message):
        for _ in range(150):
            rig.send(topic, message)
            await rig.lab.clock.sleep(0.01)

    for message, width_m in ((effort[0], closed_m), (effort[1], open_m)):
        rig.lab.perform(work(message))
        assert robot.gripper.width_m == pytest.approx(width_m, abs=5e-4)


def test_the_gripper_takes_a_width_and_the_last_of_several(rig, robot):
    kinds = [rig.make(GRIPPER, position=width_m, max_effort=20.0) for width_m in (0.08, 0.03, 0.06)]
    during(rig, 2.0, *(("/ur5/gripper_command", kind) for kind in kinds))
    assert robot.gripper.width_m == pytest.approx(0.06, abs=5e-4)
    during(rig, 2.0, ("/ur5/tool_command", rig.make(FLOAT, data=1.0)))
    assert robot.gripper.width_m == pytest.approx(robot.gripper.width_limits_m[1], abs=5e-4)


@pytest.mark.parametrize(
    ("topic", "kind", "fields", "why"),
    [
        ("/ur5/gripper_command", GRIPPER, {"position": 0.5}, "width is 0.5 m, allowed 0.002 to 0.102 m"),
        ("/ur5/gripper_command", GRIPPER, {"position": 0.05, "max_effort": 500.0}, "max_effort is 500 N, allowed 5 to"),
        ("/ur5/gripper_command", GRIPPER, {"position": np.nan}, "not finite"),
        ("/ur5/gripper_effort", FLOAT, {"data": -500.0}, "effort is 500 N, allowed 5 to 80 N"),
        ("/ur5/tool_command", FLOAT, {"data": 1.5}, "share is 1.5, allowed 0 to 1"),
    ],
)
def test_what_the_gripper_cannot_do_is_refused(rig, topic, kind, fields, why):
    with pytest.raises(BadInput, match=why):
        rig.send(topic, rig.make(kind, **fields))


def test_an_arm_is_stopped_and_reset_by_services(rig, robot):
    async def work():
        rig.send("/ur5/joint_command", rig.joints(["joint_1"], [robot.home_rad[0] - 1.0]))
        await rig.lab.clock.sleep(0.3)
        answer = await rig.call("/ur5/stop")
        await rig.lab.clock.sleep(0.3)
        held = robot.joints_rad[0]
        await rig.lab.clock.sleep(0.5)
        return answer, held, robot.joints_rad[0], await rig.call("/ur5/reset")

    answer, held, later, ready = rig.lab.perform(work())
    assert answer["success"]
    assert held - (robot.home_rad[0] - 1.0) > 0.3
    assert later == pytest.approx(held, abs=1e-3)
    assert ready == {"success": True, "message": "ur5 is idle"}
    robot.stop(lock="gate", reason="open")
    with pytest.raises(BadInput, match="locked by gate"):
        rig.lab.perform(rig.call("/ur5/reset"))
    with pytest.raises(BadInput, match="locked by gate"):
        rig.send("/ur5/joint_command", rig.joints(["joint_1"], [0.0]))
    robot.reset("gate")


@pytest.mark.slow
def test_the_same_commands_give_the_same_bytes():
    logs = []
    for _ in range(2):
        with Lab.from_cell("rovi", seed=9) as lab:
            own = GraphRig(lab)
            heard = own.hear("/joint_states")

            async def work(own=own, lab=lab):
                for step in range(10):
                    own.send("/ur5/joint_command", own.joints(["joint_1"], [1.5 + 0.01 * step]))
                    await asyncio.sleep(0.02)

            lab.perform(work())
            logs.append([message.position.tobytes() for message in heard])
    assert logs[0] == logs[1]
    assert len(logs[0]) >= 10


@pytest.mark.slow
def test_the_bottle_is_picked_by_topics_alone():
    """Above it, down, close, up: and the gripper's own report says that it holds something."""
    with Lab.from_cell("rovi", seed=5) as lab:
        own, robot = GraphRig(lab), lab.robot("ur5")
        reports = own.hear("/ur5/tool_status")
        turn = robot.tool_in_world.quaternion  # pointing down
        begin_m = lab.world.pose_of("bottle").position[2]

        def to(height_m):
            stamped = own.make(
                "geometry_msgs/msg/PoseStamped", pose=own.pose(Pose(np.array([0.40, 1.05, height_m]), turn))
            )
            stamped.header.frame_id = "world"
            return "/ur5/pose_command", stamped

        for send, duration_s in (
            (to(1.05), 2.0),
            (to(0.93), 1.5),
            (("/wsg_hybrid_controller/command", own.make(FLOAT, data=-50.0)), 1.5),
            (to(1.05), 2.0),
        ):
            during(own, duration_s, send)
        assert reports[-1].holding
        assert lab.world.pose_of("bottle").position[2] == pytest.approx(begin_m + 0.12, abs=0.01)


@pytest.mark.slow
def test_an_arm_without_a_tool_says_so():
    with Lab.from_cell("kitting") as lab:
        own = GraphRig(lab)
        for topic, kind, fields, why in (
            ("/motoman/gripper_command", GRIPPER, {"position": 0.01}, "motoman has no gripper"),
            ("/motoman/gripper_effort", FLOAT, {"data": -20.0}, "motoman has no gripper"),
            ("/motoman/tool_command", FLOAT, {"data": 1.0}, "motoman has no tool now"),
        ):
            with pytest.raises(BadInput, match=why):
                own.send(topic, own.make(kind, **fields))
