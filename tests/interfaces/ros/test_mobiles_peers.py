"""A rospy program written against the e-puck2's ROS 1 driver runs unchanged against a cell with that profile."""

from __future__ import annotations

import numpy as np
import pytest
from tests.interfaces.ros.roscore import ServedCell

pytestmark = pytest.mark.peer

CELL = """
name: lesson
title: An e-puck2 before a wall
timestep_s: 0.004
arena: {size_m: [0.8, 0.8], lines_m: [[[-0.3, 0.0], [0.3, 0.0]]]}
fixtures: {floor: {model: floor, pose: {xyz_m: [0, 0, 0]}}}
mobiles:
  epuck_robot_0:
    model: epuck
    profile: epuck2
    camera_hz: 5
    pose: {xyz_m: [0.325, 0.0, 0.0]}   # 40 mm from its front sensors to the wall
    sensors: [{type: encoders, rate_hz: 25}]
"""

PROGRAM = """
import json, rospy, tf2_ros
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import BatteryState, Image, Imu, LaserScan, Range
from std_msgs.msg import UInt8MultiArray

rospy.init_node("lesson")
robot = "/epuck_robot_0/"
heard = {}
for name, kind in (
    ("proximity0", Range), ("proximity7", Range), ("dist_sens", Range), ("battery", BatteryState), ("imu", Imu),
    ("scan", LaserScan), ("camera", Image), ("odom", Odometry),
):
    rospy.Subscriber(robot + name, kind, lambda message, name=name: heard.__setitem__(name, message))
speed = rospy.Publisher(robot + "mobile_base/cmd_vel", Twist, queue_size=1)
colours = rospy.Publisher(robot + "mobile_base/rgb_leds", UInt8MultiArray, queue_size=1)
frames = tf2_ros.Buffer()
tf2_ros.TransformListener(frames)
while len(heard) < 8 or not speed.get_num_connections() or not colours.get_num_connections():
    rospy.rostime.wallsleep(0.05)
first = heard["proximity0"].range
colours.publish(data=[0, 0, 100] * 4)
ahead = Twist()
ahead.linear.x = 2.0
while heard["proximity0"].range > 0.02:  # as the driver's program for obstacles does
    speed.publish(ahead)
    rospy.rostime.wallsleep(0.02)
speed.publish(Twist())
rospy.rostime.wallsleep(0.5)
place = frames.lookup_transform("odom", "epuck_robot_0/base_prox0", rospy.Time(0), rospy.Duration(5)).transform
print(json.dumps({
    "first": first,
    "last": heard["proximity0"].range,
    "fov": heard["proximity0"].field_of_view,
    "frame": heard["proximity0"].header.frame_id,
    "dist_frame": heard["dist_sens"].header.frame_id,
    "dist": heard["dist_sens"].range,
    "voltage": heard["battery"].voltage,
    "percentage": heard["battery"].percentage,
    "z": heard["imu"].linear_acceleration.z,
    "covariance": heard["imu"].linear_acceleration_covariance[0],
    "beams": len(heard["scan"].ranges),
    "angle_min": heard["scan"].angle_min,
    "image": [heard["camera"].height, heard["camera"].width, heard["camera"].encoding, len(heard["camera"].data)],
    "x": heard["odom"].pose.pose.position.x,
    "speed": heard["odom"].twist.twist.linear.x,
    "place": [place.translation.x, place.translation.y, place.translation.z],
}))
"""


def test_a_program_for_the_real_driver_runs_unchanged(ros, tmp_path):
    file = tmp_path / "lesson.yaml"
    file.write_text(CELL)
    served = ServedCell(ros, tmp_path, file)
    try:
        told = ros.python(PROGRAM, within_s=60)
        assert ros.run("rostopic", "type", "/epuck_robot_0/battery").strip() == "sensor_msgs/BatteryState"
        assert served.is_alive, served.said()
    finally:
        served.close()
    assert told["first"] > told["last"]
    assert told["last"] < 0.025
    assert told["fov"] == pytest.approx(0.26)
    assert told["frame"] == "epuck_robot_0/base_prox0"
    assert told["dist_frame"] == "epuck_robot_0/base_dist_sens"
    assert 0.005 <= told["dist"] < 0.04  # the wall is higher than what it looks at
    assert 3.9 < told["voltage"] <= 4.2
    assert 0.5 < told["percentage"] <= 1.0
    assert told["z"] == pytest.approx(9.81, abs=0.2)
    assert told["covariance"] == 0.01
    assert (told["beams"], told["angle_min"]) == (19, pytest.approx(-np.pi / 2))
    assert told["image"] == [39, 52, "rgb8", 39 * 52 * 3]
    assert told["speed"] == pytest.approx(0.0, abs=0.005)
    assert 0.33 < told["x"] < 0.40  # has come nearer to the wall
    assert told["place"] == pytest.approx([told["x"] + 0.035, -0.01, 0.034], abs=0.004)
