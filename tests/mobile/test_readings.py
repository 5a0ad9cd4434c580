import math
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.mobile import FrameTree, RobotReadings, RosRobot


def turned(x, y, yaw_deg=0.0):
    return Pose.from_xyz_rpy([x, y, 0.0], [0.0, 0.0, math.radians(yaw_deg)])


def test_a_sensor_of_one_robot_is_found_in_the_body_of_another():
    """The leader looks along +y at (1, 0), the follower along +x at (0, 0.2)."""
    tree = FrameTree()
    tree.put("odom", "a/base_link", turned(1.0, 0.0, 90.0), 3.0)
    tree.put("odom", "b/base_link", turned(0.0, 0.2), 2.0)
    tree.put("a/base_link", "a/base_prox0", turned(0.035, -0.010, -10.0))
    pose = tree.pose("a/base_prox0", "b/base_link")
    assert pose.position[:2] == pytest.approx([1.010, 0.035 - 0.2])
    assert math.degrees(pose.rpy[2]) == pytest.approx(80.0)
    there_and_back = pose @ tree.pose("b/base_link", "a/base_prox0")
    assert there_and_back.is_close(Pose.identity(), tolerance_m=1e-12)
    assert tree.time_s("a/base_prox0") == 3.0


def test_frames_that_are_unknown_apart_or_in_a_circle_are_told():
    tree = FrameTree()
    tree.put("odom", "a/base_link", turned(1.0, 0.0))
    with pytest.raises(BadInput, match=r"unknown frame 'a/base_lnk'; did you mean 'a/base_link'"):
        tree.pose("a/base_lnk", "odom")
    tree.put("map", "c", turned(0.0, 0.0))
    with pytest.raises(LookupError, match="nothing connects"):
        tree.pose("a/base_link", "c")
    tree.put("x", "y", turned(0, 0))
    tree.put("y", "x", turned(0, 0))
    with pytest.raises(LookupError, match="circle"):
        tree.pose("x", "odom")


def test_yaw_stays_between_minus_and_plus_pi_and_ranges_become_nearness():
    robot = RobotReadings("a")
    robot.take_odometry(1.5, [0.1, 0.2], [np.cos(2.0), 0.0, 0.0, np.sin(2.0)], 0.05, 0.1)
    assert (robot.time_s, robot.x_m, robot.base) == (1.5, 0.1, "a/base_link")
    assert robot.yaw_rad == pytest.approx(4.0 - 2 * math.pi)
    assert not robot.sees(0)  # nothing was measured yet
    assert robot.nearness(0) == 0
    robot.ranges_m[0] = 0.01
    assert robot.nearness(0) == pytest.approx(0.8)
    robot.ranges_m[0] = robot.max_range_m
    assert robot.nearness(0) == 0


def test_programs_over_ros_need_no_package_that_a_robots_machine_may_not_have():
    """rospy runs in the system's Python, where pydantic and MuJoCo mostly are not."""
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('pydantic', 'mujoco', 'typer', 'rich')));"
        "import cellwright.mobile.program_process, cellwright.core.listener"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


class Recorded(RosRobot):
    """A robot over ROS without ROS: keeps what it would publish."""

    def __init__(self, behaviour, **more):
        super().__init__("a", behaviour, **more)
        self.sent = []

    def _publish(self, linear, angular):
        self.sent.append((linear, angular))


def odometry_at(time_s):
    nothing = SimpleNamespace(x=0.0, y=0.0, z=0.0, w=1.0)
    return SimpleNamespace(
        header=SimpleNamespace(stamp=SimpleNamespace(secs=time_s, nsecs=0)),
        pose=SimpleNamespace(pose=SimpleNamespace(position=nothing, orientation=nothing)),
        twist=SimpleNamespace(twist=SimpleNamespace(linear=nothing, angular=nothing)),
    )


def test_a_program_that_fails_over_ros_leaves_its_robot_standing():
    class Fails:
        def update(self, robot):
            return 0.05 / (2 - robot.time_s), robot.task["turn"]

    robot = Recorded(Fails(), profile="epuck1-si", task={"turn": 0.5})
    for time_s in (0, 1, 2, 3):
        robot._take_odometry(odometry_at(time_s))
    assert robot.sent == [(0.025, 0.5), (0.05, 0.5), (0.0, 0.0)]
    assert isinstance(robot.failure, ZeroDivisionError)


@pytest.mark.parametrize("answer", [None, 0.1, (0.1,), (0.1, 0, 0), (float("nan"), 0), (0, 10**400), "go"], ids=str)
def test_a_program_that_answers_no_speeds_over_ros_leaves_its_robot_standing(answer):
    robot = Recorded(SimpleNamespace(update=lambda _: answer), profile="epuck1-si")
    robot._take_odometry(odometry_at(0))
    assert robot.sent == [(0.0, 0.0)]
    assert str(robot.failure).startswith(
        "update should return two finite numbers, metres a second and radians a second"
    )
