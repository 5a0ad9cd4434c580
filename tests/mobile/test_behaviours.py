"""Rules by themselves: which way they turn, and when they stop. Whether they do their work is for a laboratory."""

import math

import pytest

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.mobile import (
    AvoidObstacles,
    FollowByRange,
    FollowByTransform,
    FollowWall,
    RobotReadings,
    SquareByOdometry,
    SquareByTime,
)
from cellwright.mobile.behaviours import behaviour_named


def seeing(time_s=0.0, **ranges_m):
    """Readings with nothing in sight but what is named: r0=0.02 is a thing 2 cm before sensor 0."""
    robot = RobotReadings("a", time_s=time_s)
    robot.ranges_m = [robot.max_range_m] * 8
    for name, away_m in ranges_m.items():
        robot.ranges_m[int(name[1:])] = away_m
    return robot


def drive(behaviour, seconds, *, faster=1.0, period_s=0.04):
    """Returns where a perfect robot ends, whose motors are so much faster than it is told."""
    robot, x, y, yaw = RobotReadings("a"), 0.0, 0.0, 0.0
    for step in range(round(seconds / period_s)):
        robot.take_odometry(step * period_s, (x, y), (math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)), 0, 0)
        speed, turn = behaviour.update(robot)
        x += faster * speed * period_s * math.cos(yaw)
        y += faster * speed * period_s * math.sin(yaw)
        yaw += faster * turn * period_s
    return math.hypot(x, y), behaviour.done


def test_odometry_brings_a_robot_back_whose_motors_are_too_fast_and_the_clock_does_not():
    for program, most_m in ((SquareByOdometry(0.3), 0.01), (SquareByTime(0.3), 0.015)):
        away_m, done = drive(program, 60)
        assert done
        assert away_m < most_m
    away_m, done = drive(SquareByOdometry(0.3), 60, faster=1.2)
    assert done
    assert away_m < 0.01
    assert drive(SquareByTime(0.3), 60, faster=1.2)[0] > 0.1


def test_an_obstacle_is_turned_from_and_a_corner_left_for_good():
    avoid = AvoidObstacles()
    assert avoid.update(seeing()) == (avoid._speed_mps, 0.0)
    assert avoid.update(seeing(r1=0.02))[1] > 0  # at the right: to the left
    assert avoid.update(seeing(r6=0.02))[1] < 0
    speed, turn = avoid.update(seeing(r0=0.01, r7=0.012))
    assert speed == 0
    for right, left in ((0.012, 0.01), (0.01, 0.012), (0.012, 0.01)):  # which is nearer changes; the turn does not
        assert avoid.update(seeing(r0=right, r7=left)) == (0.0, turn)


def test_a_wall_is_kept_at_the_right():
    wall = FollowWall(0.02)
    assert wall.update(seeing()) == (0.05, 0.0)  # none has been seen yet
    assert wall.update(seeing(r2=0.02)) == (0.05, 0.0)
    assert wall.update(seeing(r2=0.03))[1] < 0  # too far: to the right
    assert wall.update(seeing(r2=0.01))[1] > 0
    assert wall.update(seeing(r0=0.02, r2=0.02)) == (0.0, 2.0)  # one ahead, too
    assert wall.update(seeing())[1] < 0  # it has ended: round its corner


def test_a_leader_is_followed_by_range_and_looked_for_when_it_is_gone():
    follow = FollowByRange(0.015)
    assert follow.update(seeing()) == (0.0, 0.0)
    assert follow.update(seeing(r0=0.03, r7=0.03))[0] > 0
    assert follow.update(seeing(r0=0.01, r7=0.01))[0] < 0
    assert follow.update(seeing(1.0, r6=0.02))[1] > 0
    speed, turn = follow.update(seeing(1.2))  # it left to the left
    assert speed > 0
    assert turn > 0
    assert follow.update(seeing(5.0)) == (0.0, 0.0)


def test_a_leader_is_followed_by_transform_only_while_it_is_fresh():
    follow, robot = FollowByTransform("b", 0.15), RobotReadings("a", time_s=10.0)
    assert follow.update(robot) == (0.0, 0.0)
    robot.frames.put("odom", "a/base_link", Pose.identity(), 10.0)
    robot.frames.put("odom", "b/base_link", Pose.from_xyz_rpy([0.3, 0.1, 0.0]), 10.0)
    speed, turn = follow.update(robot)
    assert speed > 0
    assert turn > 0
    robot.time_s = 12.0
    assert follow.update(robot) == (0.0, 0.0)


def test_an_unknown_program_is_told():
    assert isinstance(behaviour_named("wall"), FollowWall)
    with pytest.raises(BadInput, match="unknown behaviour 'wal'; did you mean 'wall'"):
        behaviour_named("wal")
