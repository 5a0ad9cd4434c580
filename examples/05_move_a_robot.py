"""Moving robots: joint moves, straight lines, two arms at once.

Shows:

- coroutines in simulation time: `await` a motion, `await lab.clock.sleep(...)`
- `asyncio.gather` for two robots at the same time
- what happens when something cannot be done: an exception with the reason, and a laboratory that goes on
"""

import asyncio

import numpy as np

import cellwright as cw


async def nod(robot, joint, by_deg):
    """Turns one joint there and back."""
    home = robot.joints_rad
    goal = home.copy()
    goal[joint] += np.radians(by_deg)
    await robot.move_joints(goal, speed=0.5)
    await robot.move_joints(home, speed=0.5)


async def lower(robot, by_m):
    """Moves the tool straight down."""
    start = robot.tool_in_world
    goal = cw.Pose(start.position - np.array([0, 0, by_m]), start.quaternion)
    await robot.move_tool_straight(goal)
    return start.position[2] - robot.tool_in_world.position[2]


async def work():
    await asyncio.gather(nod(fanuc, 0, 25), nod(motoman, 4, -40))
    print(f"both have nodded at {lab.clock.time_s:.2f} s")
    await lab.clock.sleep(0.5)
    print(f"the tool went down by {1000 * await lower(fanuc, 0.05):.1f} mm, at {lab.clock.time_s:.2f} s")
    try:
        await fanuc.move_tool(cw.Pose.from_xyz_rpy([3, 0, 1], [np.pi, 0, 0]))
    except cw.CellwrightError as error:
        print("refused:", error)


with cw.Lab.from_cell("aprs", seed=0) as lab:
    fanuc, motoman = lab.robot("fanuc"), lab.robot("motoman")
    lab.perform(work())
    lab.perform(fanuc.move_home())
    print(f"home again at {lab.clock.time_s:.2f} s")
