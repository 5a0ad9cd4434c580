"""Robots on wheels: four e-pucks drive a square by their own odometry.

Shows:

- `lab.mobiles`: speeds for wheels, steps counted, odometry with its covariance, LEDs
- messages of the encoders on the bus
- why odometry cannot be trusted for ever: real wheels are not those of the drawings
"""

import asyncio

import numpy as np

import cellwright as cw

SIDE_M, SPEED_MPS, TURN_RADPS = 0.12, 0.08, 1.5


async def straight(robot, way_m):
    """Drives ahead until odometry reports the distance."""
    start = robot.odometry
    robot.move(SPEED_MPS, 0.0)
    while np.hypot(robot.odometry.x_m - start.x_m, robot.odometry.y_m - start.y_m) < way_m:
        await lab.clock.sleep(0.04)
    robot.stop()


async def turn(robot, by_rad):
    """Turns on the spot until odometry reports the angle, slower towards the end."""
    goal = robot.odometry.yaw_rad + by_rad
    while abs(left := goal - robot.odometry.yaw_rad) > 0.005:
        robot.move(0.0, np.clip(4 * left, -TURN_RADPS, TURN_RADPS))
        await lab.clock.sleep(0.04)
    robot.stop()


async def square(robot, rounds):
    for side in range(4 * rounds):
        robot.set_leds([lamp == 2 * (side % 4) for lamp in range(8)])
        await straight(robot, SIDE_M)
        await turn(robot, np.pi / 2)


async def work():
    await asyncio.gather(*(square(robot, rounds=3) for robot in lab.mobiles.values()))


with cw.Lab.from_cell("epucks", seed=2) as lab:
    counted = {}
    for name in lab.mobiles:
        lab.bus.subscribe(f"/{name}/encoders", lambda _, m: counted.update({m.source: m.counts}), subscriber="example")
    lab.perform(work())
    print(f"three squares each after {lab.clock.time_s:.1f} s")
    for name, robot in lab.mobiles.items():
        found, true = robot.odometry, lab.world.pose_of(name)  # the truth is for the judge, not for controllers
        off_mm = 1000 * np.hypot(found.x_m - true.position[0], found.y_m - true.position[1])
        sd_mm = 1000 * np.sqrt(found.covariance[0, 0] + found.covariance[1, 1])
        print(f"{name}: {counted[name]} steps, odometry is off by {off_mm:.1f} mm, expected {sd_mm:.1f} mm")
