"""The laboratory that `bench crcl` polls, in a process of its own: both arms move all the time, in real time.

It prints where it listens, then a line with its times for every line that it reads; it ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

import numpy as np

from cellwright.bench.patrol import WAYPOINTS_DEG
from cellwright.crcl import CrclClient
from cellwright.crcl.messages import ActuateJoint, ActuateJoints, InitCanon, JointSpeedAccel
from cellwright.interfaces import CrclInterface
from cellwright.lab import Lab

__all__ = ["main"]

CELL = "aprs"
SPEED_RADPS, ACCELERATION_RADPS2 = 0.8, 4.0


def main(seed: int) -> None:
    """Serves until its input ends."""
    with Lab.from_cell(CELL, seed, pace=1.0) as lab:
        lab.perform(_serve(lab))


async def _serve(lab: Lab) -> None:
    crcl = await CrclInterface(lab).start(ports=dict.fromkeys(lab.robots, 0))
    moved = dict.fromkeys(lab.robots, 0)
    patrols = [asyncio.get_running_loop().create_task(_patrol(crcl, robot, moved)) for robot in lab.robots]
    _say({robot: server.address[1] for robot, server in crcl.servers.items()})
    ended = asyncio.Event()

    def answer() -> None:
        if not sys.stdin.readline():
            ended.set()
            return
        _say(
            {
                "wall_s": time.monotonic(),
                "time_s": lab.clock.time_s,
                "slipped_s": lab.loop.pacing.slipped_s,
                "moved": moved,
            }
        )

    lab.loop.add_reader(sys.stdin, answer)
    await asyncio.wait([*patrols, lab.loop.create_task(ended.wait())], return_when=asyncio.FIRST_COMPLETED)
    lab.loop.remove_reader(sys.stdin)
    for patrol in patrols:
        if patrol.done():
            patrol.result()  # nothing ends it but an error
    await crcl.close()


async def _patrol(crcl: CrclInterface, robot: str, moved: dict[str, int]) -> None:
    """Moves one arm from configuration to configuration, as a client of its own server."""
    pace = JointSpeedAccel(joint_speed=SPEED_RADPS, joint_accel=ACCELERATION_RADPS2)
    async with CrclClient(lambda: crcl.connect(robot)) as client:
        (await client.execute(InitCanon(0))).check()
        while True:
            for waypoint_deg in WAYPOINTS_DEG[robot]:
                joints = enumerate(np.radians(waypoint_deg).tolist(), start=1)
                goal = tuple(ActuateJoint(number, position, joint_details=pace) for number, position in joints)
                (await client.execute(ActuateJoints(0, actuate_joint=goal))).check()
                moved[robot] += 1


def _say(data: dict[str, Any]) -> None:
    print(json.dumps(data), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
