"""Solution of exercise 3: a proportional controller on the sensor at the right, and cases for corners."""


class Controller:
    SPEED = 0.05

    def __init__(self):
        self.ranges = None
        self.turning = False

    def update(self, robot):
        if self.ranges is None:
            self.ranges = list(robot.ranges_m)
        for k in range(8):
            self.ranges[k] += 0.6 * (robot.ranges_m[k] - self.ranges[k])
        right, aslant, ahead = self.ranges[2], self.ranges[1], min(self.ranges[0], self.ranges[7])
        far = 0.95 * robot.max_range_m
        if ahead < 0.025 or (self.turning and ahead < 0.045):  # a wall ahead: to the left until the way is free
            self.turning = True
            return 0.0, 2.0
        self.turning = False
        if right > far and aslant > far:  # the wall has ended: round its corner
            return self.SPEED, -self.SPEED / (0.037 + robot.task["distance_m"])
        # The sensor stands 7 mm inside of the ring's edge.
        error = right - (robot.task["distance_m"] + 0.007)
        turn = -30 * error + 50 * max(0.0, 0.034 - aslant)
        return self.SPEED, max(-2.0, min(2.0, turn))
