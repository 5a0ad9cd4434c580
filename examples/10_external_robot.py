"""Simulated or real: the same commands for both, and switching between the two while work goes on.

Shows:

- `Targets`: each robot is `simulated`, or the HOST:PORT of any CRCL server, such as that of a real arm
- `switch`: only between commands, only where both stand at the same place; units, speeds and override go along
- a robot that is no part of the laboratory: here an example arm in a process of its own, without any simulator

Besides the names of `cellwright` it imports `CrclInterface`: a CRCL connection to a laboratory in the same process.
"""

import subprocess
import sys
from dataclasses import replace

import cellwright as cw
from cellwright.interfaces import CrclInterface

EXTERNAL = """
import asyncio, sys
from cellwright.crcl import CrclServer, ExampleArm, WallClock
async def main():
    async with await CrclServer(ExampleArm(WallClock())).start(port=0) as server:
        print("{}:{}".format(*server.address), "mujoco" in sys.modules, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""
BEGIN = (cw.crcl.InitCanon(0), cw.crcl.SetLengthUnits(0, cw.crcl.LengthUnitEnum.MILLIMETER))


async def lower(robot, by_mm):
    """Moves the tool of any robot down, and prints what happened."""
    here = (await robot.status()).pose_status.pose
    there = replace(here, point=replace(here.point, z=here.point.z - by_mm))
    (await robot.execute(cw.crcl.MoveTo(0, move_straight=True, end_position=there))).check()
    which = "simulated" if robot.endpoint.at == "simulated" else "external"
    print(f"{which}: from {here.point.z:.1f} mm by {by_mm} mm")


async def work(lab, address):
    crcl = CrclInterface(lab)
    # A gantry has other joints than the arm: only the tools are compared, 5 mm and 1 degree at most.
    cfg = cw.crcl.TargetsCfg.model_validate({"robots": {"fanuc": {"at": "simulated", "joint_tolerance_deg": None}}})
    simulated = {"fanuc": lambda: crcl.connect("fanuc")}
    async with cw.crcl.Targets(cfg, simulated) as targets, cw.crcl.CrclClient.to(address) as external:
        fanuc = targets.robot("fanuc")
        [(await fanuc.execute(command)).check() for command in BEGIN]
        await lower(fanuc, 20)
        try:
            await fanuc.switch(address)
        except cw.CellwrightError as refusal:
            print("refused:", "it stands elsewhere" in str(refusal))
        here = (await fanuc.status()).pose_status.pose
        for command in (*BEGIN, cw.crcl.MoveTo(0, move_straight=False, end_position=here)):  # by a client of its own
            (await external.execute(command)).check()
        for at in (address, "simulated"):
            print(f"the two stand together: {(await fanuc.switch(at)).difference.tool_mm < 5.0}")
            await lower(fanuc, 3)
    await crcl.close()


with subprocess.Popen([sys.executable, "-c", EXTERNAL], stdout=subprocess.PIPE, text=True) as process:
    try:
        address, has_simulator = process.stdout.readline().split()
        print("the external robot has a simulator:", has_simulator)
        with cw.Lab.from_cell("aprs", pace=1.0) as lab:
            lab.perform(work(lab, address))
    finally:
        process.kill()
