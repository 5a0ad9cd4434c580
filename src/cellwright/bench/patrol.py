"""Arms on patrol in free space above their tables: the work during which the laboratory's speed is measured."""

from __future__ import annotations

import asyncio

import numpy as np

from cellwright.core.messages import Message
from cellwright.lab import Lab

__all__ = ["listen", "start_patrol"]

# Found by trial: no arm touches anything, and the tools of two stay half a metre apart, in every phase.
WAYPOINTS_DEG = {
    "fanuc": (
        (25, 10, -10, 20, -75, 40),
        (-20, -12, 8, -25, -100, -60),
        (15, -5, 15, 30, -110, 90),
        (-30, 12, -5, 0, -80, 0),
    ),
    "motoman": (
        (20, 10, 15, -100, 20, -60, 50),
        (-25, 5, -10, -80, -25, -85, -60),
        (15, 20, -15, -95, 30, -65, 90),
        (-15, 0, 10, -105, -10, -90, 0),
    ),
    "ur5": (
        (100, -100, 85, 95, 90, 40),
        (70, -95, 70, 105, 80, -40),
        (115, -105, 75, 100, 100, 80),
        (80, -110, 95, 85, 90, 0),
    ),
}
SPEED = 0.8
IDLE_TASKS = 2
IDLE_PERIOD_S = 0.05


def start_patrol(lab: Lab) -> list[asyncio.Task[None]]:
    """Starts the patrols, a subscriber to all sensors, and two tasks that wake up twenty times a second.

    So much a user's controller would do at least. The tasks never end by themselves.
    """
    listen(lab)
    patrols = [_patrol(lab, robot) for robot in lab.robots]
    idle = [_wake_periodically(lab) for _ in range(IDLE_TASKS)]
    return [lab.loop.create_task(work) for work in (*patrols, *idle)]


def listen(lab: Lab) -> None:
    """Subscribes to all sensors and controllers, as a user's controller would."""
    lab.bus.subscribe(None, _receive, subscriber="bench")


async def _patrol(lab: Lab, robot: str) -> None:
    arm = lab.robot(robot)
    while True:
        for waypoint_deg in WAYPOINTS_DEG[robot]:
            await arm.move_joints(np.radians(waypoint_deg), SPEED)


async def _wake_periodically(lab: Lab) -> None:
    while True:
        await lab.clock.sleep(IDLE_PERIOD_S)


def _receive(_topic: str, _message: Message) -> None:
    pass
