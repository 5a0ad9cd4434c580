"""Solution of exercise 1: proportional control on odometry, side by side."""

import math


class Controller:
    def __init__(self):
        self.start = None
        self.side = 0
        self.turning = False

    def update(self, robot):
        here = robot.x_m, robot.y_m, robot.yaw_rad
        if self.start is None:
            self.start = here
        if self.side == 4:
            return 0.0, 0.0
        sign = 1 if robot.task["turn"] == "left" else -1
        heading = self.start[2] + sign * self.side * math.pi / 2
        if self.turning:
            heading += sign * math.pi / 2
            error = math.remainder(heading - robot.yaw_rad, 2 * math.pi)
            if abs(error) > 0.005:
                return 0.0, max(-1.5, min(1.5, 4 * error))
            self.turning = False
            self.side += 1
            return 0.0, 0.0
        ahead, aside = self.to_corner(robot, sign, heading)
        if ahead < 0.001:
            self.turning = True
            return 0.0, 0.0
        error = math.remainder(heading - robot.yaw_rad, 2 * math.pi)
        return min(0.08, 0.005 + 4 * ahead), 4 * (error + 8 * aside)

    def to_corner(self, robot, sign, heading):
        """Way to the next corner, along the side and across it."""
        x, y, yaw = self.start
        for side in range(self.side + 1):
            x += robot.task["side_m"] * math.cos(yaw + sign * side * math.pi / 2)
            y += robot.task["side_m"] * math.sin(yaw + sign * side * math.pi / 2)
        dx, dy = x - robot.x_m, y - robot.y_m
        return dx * math.cos(heading) + dy * math.sin(heading), dy * math.cos(heading) - dx * math.sin(heading)
