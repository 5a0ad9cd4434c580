#!/usr/bin/env python3
"""Drives an e-puck ahead and turns it away from what its proximity sensors see, with nothing but rospy.

    ROS_NAMESPACE=ePuck0 python3 avoid_walls.py

The names of its topics are relative, so the namespace chooses the robot. `_speed:=0.05 _turn:=2.0` are the speeds in
the units of the robot's driver; a driver that takes others is told others, and the program stays the same.
"""

import rospy
from geometry_msgs.msg import Twist
from sensor_msgs.msg import Range

FRONT_RIGHT, FRONT_LEFT = (0, 1, 2), (7, 6, 5)  # sensors of the ring, clockwise from the front


class AvoidWalls:
    """Looks at the sensors ten times a second, and says how to drive."""

    def __init__(self):
        self.ranges = {}
        self.speed, self.turn = rospy.get_param("~speed", 0.05), rospy.get_param("~turn", 2.0)
        self.velocity = rospy.Publisher("cmd_vel", Twist, queue_size=1)
        for number in range(8):
            rospy.Subscriber(f"proximity{number}", Range, self.take_range, number, queue_size=1)

    def take_range(self, message, number):
        """Keeps what a sensor sees: 0 touches it, 1 is nothing."""
        self.ranges[number] = min(message.range / message.max_range, 1.0)

    def drive(self):
        """Drives ahead, or turns to the side where more room is."""
        right, left = (min(self.ranges.get(number, 1.0) for number in side) for side in (FRONT_RIGHT, FRONT_LEFT))
        command = Twist()
        if min(left, right) < 0.8:
            command.angular.z = self.turn if right < left else -self.turn
        else:
            command.linear.x = self.speed
        self.velocity.publish(command)


if __name__ == "__main__":
    rospy.init_node("avoid_walls")
    program = AvoidWalls()
    rospy.on_shutdown(lambda: program.velocity.publish(Twist()))
    rate = rospy.Rate(10)  # of simulation time where there is one
    while not rospy.is_shutdown():
        program.drive()
        try:
            rate.sleep()
        except rospy.ROSInterruptException:
            break
