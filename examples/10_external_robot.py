"""Simulated or real: the same commands for both, and switching between the two while work goes on.

Shows:

- `Targets`: each robot is `simulated`, or the HOST:PORT of any CRCL server, such as that of a real arm
- `switch`: only between commands, and only where both stand at the same place; units, speeds and override go along
- a robot that is no part of the laboratory: here a practice arm in a process of its own, without any simulator
"""

import asyncio
import subprocess
import sys
from dataclasses import replace

import cellwright as cw
from cellwright.crcl import CrclClient, SwitchRefused, Targets, TargetsCfg
from cellwright.crcl.messages import InitCanon, LengthUnitEnum, MoveTo, SetLengthUnits
from cellwright.lab import CrclDoors

EXTERNAL = """
import asyncio, sys
from cellwright.crcl import CrclServer, PracticeArm, WallClock

async def main():
    async with await CrclServer(PracticeArm(WallClock())).start(port=0) as server:
        print("{}:{}".format(*server.address), "mujoco" in sys.modules, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""

MILLIMETRES = SetLengthUnits(0, LengthUnitEnum.MILLIMETER)


async def lower(robot, by_mm):
    """Moves the tool down, whatever robot it is; one line of what happened."""
    here = (await robot.status()).pose_status.pose
    there = replace(here, point=replace(here.point, z=here.point.z - by_mm))
    (await robot.execute(MoveTo(0, move_straight=True, end_position=there))).check()
    reached = (await robot.status()).pose_status.pose
    kind = "simulated" if robot.endpoint.at == "simulated" else "external"
    print(f"{kind}: from {here.point.z:.1f} mm down by {here.point.z - reached.point.z:.1f} mm")


async def bring(address, to):
    """Moves the external robot to where the other one stands, with a client of its own."""
    async with CrclClient.to(address) as external:
        for command in (InitCanon(0), MILLIMETRES, MoveTo(0, move_straight=False, end_position=to)):
            (await external.execute(command)).check()


async def work(lab, address):
    doors = CrclDoors(lab)
    # A gantry has other joints than the arm: only the tools are compared, 5 mm and 1 degree at most.
    cfg = TargetsCfg.model_validate({"robots": {"fanuc": {"at": "simulated", "joint_tolerance_deg": None}}})
    async with Targets(cfg, {"fanuc": lambda: doors.connect("fanuc")}) as targets:
        fanuc = targets.robot("fanuc")
        for command in (InitCanon(0), MILLIMETRES):
            (await fanuc.execute(command)).check()
        moving = asyncio.ensure_future(lower(fanuc, 20))
        await lab.clock.sleep(0.2)
        try:
            await fanuc.switch(address, wait_s=0)
        except SwitchRefused as refusal:
            print("refused:", "between commands only" in str(refusal))
        await moving
        try:
            await fanuc.switch(address)
        except SwitchRefused as refusal:
            print("refused:", "it stands elsewhere" in str(refusal))
        await bring(address, (await fanuc.status()).pose_status.pose)
        switched = await fanuc.switch(address)
        print("taken over at the same place:", switched.apart.tool_mm < 1.0)
        await lower(fanuc, 3)
        await fanuc.switch("simulated")
        await lower(fanuc, 3)
    await doors.close()


with subprocess.Popen([sys.executable, "-c", EXTERNAL], stdout=subprocess.PIPE, text=True) as external:
    try:
        address, has_simulator = external.stdout.readline().split()
        print("the external robot has a simulator:", has_simulator)
        with cw.Lab.from_cell("aprs", pace=1.0) as lab:
            lab.perform(work(lab, address))
    finally:
        external.kill()
