"""A control law of your own: registered by name, it drives an arm like those that come with the package.

Shows:

- a controller: a class with `command`, called at a fixed rate with reference, position and velocity
- `CONTROLLERS`, by which it is found; an installed package names it in the entry-point group `cellwright.controllers`
- command modes: this one gives torques, so the drive no longer carries the arm's weight by itself
- how well it follows, compared with the servos that the arm comes with

A control law lives inside the robot controller: what it is made of comes from that package, `cellwright.control`.
"""

import numpy as np

import cellwright as cw
from cellwright.control import CONTROLLERS, CommandMode, Controller

STIFFNESS = np.array([4000, 4000, 1200, 150, 150, 20.0])  # as the inertias are: a light wrist needs a soft spring
DAMPING = STIFFNESS / 12


@CONTROLLERS.register("spring")
class Spring(Controller):
    """A spring and a damper at every joint, and an integral for the load: no model of the arm at all."""

    mode = CommandMode.EFFORT
    rate_hz = 500.0

    def start(self):
        """Begins with the torques that hold the arm now."""
        self.weight = self.drive.effort_nm
        super().start()

    def command(self, reference, position_rad, velocity_radps):
        """Returns torques, from the three rows of the reference and what the encoders say."""
        error = reference[0] - position_rad
        self.weight += 10 * STIFFNESS * error * self.period_s
        return self.weight + STIFFNESS * error + DAMPING * (reference[1] - velocity_radps)


for name in ("pid", "spring"):
    with cw.Lab.from_cell("aprs") as lab:
        arm = lab.robot("fanuc")
        arm.use_controller(name)
        home = arm.joints_rad
        goal = home + np.radians([30, 10, -10, 0, 20, 45])
        lab.perform(arm.move_joints(goal, speed=0.3))
        at_end = np.degrees(np.abs(arm.joints_rad - goal).max())
        lab.advance(1.0)
        settled = np.degrees(np.abs(arm.joints_rad - goal).max())
        print(f"{name}: {at_end:.2f} deg off at the end of the move, {settled:.2f} deg a second later")
