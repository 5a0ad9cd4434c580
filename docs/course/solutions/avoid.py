"""Solution of exercise 2: Braitenberg's vehicle, which in a corner turns one way until it is free."""

WEIGHTS = {0: 7.0, 1: 6.0, 2: 2.5, 5: -2.5, 6: -6.0, 7: -7.0}


class Controller:
    def __init__(self):
        self.escape = 0.0
        self.near = [0.0] * 8

    def update(self, robot):
        for k in range(8):  # a mean over some readings takes the noise away
            now = max(0.0, 1 - robot.ranges_m[k] / robot.max_range_m)
            self.near[k] += 0.6 * (now - self.near[k])
        ahead = max(self.near[0], self.near[7], 0.8 * self.near[1], 0.8 * self.near[6])
        turn = sum(weight * self.near[k] for k, weight in WEIGHTS.items())
        if ahead > 0.45:
            self.escape = self.escape or (2.0 if turn >= 0 else -2.0)
            return 0.0, self.escape
        if ahead < 0.2:
            self.escape = 0.0
        return 0.06 * max(0.0, 1 - 1.6 * ahead), self.escape or max(-3.0, min(3.0, turn))
