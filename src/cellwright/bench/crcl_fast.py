"""Commands one after the other at full speed: client, server and physics in one process, the same in every run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import process_time

from cellwright.bench.result import MeasurementFailed
from cellwright.crcl import ClientOptions, CrclClient
from cellwright.crcl import messages as m
from cellwright.interfaces import CrclInterface
from cellwright.lab import Lab

__all__ = ["measure"]

CELL, ROBOT = "aprs", "fanuc"
STEP_M = 0.002
POLL_S = 0.01


def measure(commands: int, seed: int, say: Callable[[str], None]) -> dict[str, float]:
    """Measures commands per simulated second, and simulated seconds per second of processor time.

    Raises:
        MeasurementFailed: A command was not done.
    """
    say(f"{commands} short moves, one after the other")
    with Lab.from_cell(CELL, seed) as lab:
        passed_s, cpu_s = lab.perform(_work(lab, commands))
    return {"fast.commands_per_sim_s": commands / passed_s, "fast.real_time_factor": passed_s / cpu_s}


async def _work(lab: Lab, commands: int) -> tuple[float, float]:
    crcl = CrclInterface(lab)
    try:
        async with CrclClient(lambda: crcl.connect(ROBOT), options=ClientOptions(poll_s=POLL_S)) as client:
            for setting in (m.InitCanon(0), m.SetTransSpeed(0, m.TransSpeedAbsolute(1.0)), _quick_start()):
                (await client.execute(setting)).check()
            status = await client.status()
            if status.pose_status is None:
                raise MeasurementFailed("commands at full speed", "the server tells no pose")
            here = status.pose_status.pose
            there = replace(here, point=replace(here.point, z=here.point.z - STEP_M))
            start_s, start_cpu_s = lab.clock.time_s, process_time()
            for i in range(commands):
                goal = here if i % 2 else there
                (await client.execute(m.MoveTo(0, move_straight=True, end_position=goal))).check()
            return lab.clock.time_s - start_s, process_time() - start_cpu_s
    finally:
        await crcl.close()


def _quick_start() -> m.SetTransAccel:
    return m.SetTransAccel(0, m.TransAccelAbsolute(10.0))
