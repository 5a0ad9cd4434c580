"""A controller of your own: any program that speaks CRCL moves a robot of a cell that is served.

Shows:

- `cellwright serve`: a cell in a process of its own, one CRCL server per robot, in real time
- CRCL as it goes over the wire: XML documents, one after the other, and a status for each GetStatus
- `cw.BlockingCrclClient`: the same for ordinary Python code, which waits until a command is done
- `cw.crcl`: the commands, as classes with the names of the standard
- what a command that cannot be done answers, and how to go on after it
"""

import json
import socket
import subprocess
import sys
from dataclasses import replace

import cellwright as cw

SERVE = [sys.executable, "-m", "cellwright", "serve", "aprs", "--any-port", "--json"]
GET_STATUS = """<?xml version="1.0"?>
<CRCLCommandInstance xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
  <CRCLCommand xsi:type="GetStatusType"><CommandID>1</CommandID></CRCLCommand>
</CRCLCommandInstance>"""


def ask(address):
    """A status by plain sockets: this is all that a program in another language needs."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(GET_STATUS.encode())
        text = b""
        while not text.endswith(b"</CRCLStatus>"):
            text += connection.recv(4096)
    return text.decode()


def work(address):
    """Lowers the tool by 50 mm, then asks for too much."""
    with cw.BlockingCrclClient(address) as robot:
        robot.execute(cw.crcl.InitCanon(0)).check()  # numbers are given by the client
        robot.execute(cw.crcl.SetLengthUnits(0, cw.crcl.LengthUnitEnum.MILLIMETER)).check()
        here = robot.status().pose_status.pose
        there = replace(here, point=replace(here.point, z=here.point.z - 50))
        done = robot.execute(cw.crcl.MoveTo(0, move_straight=True, end_position=there)).check()
        lowered_mm = here.point.z - robot.status().pose_status.pose.point.z
        print(f"{done.text}; the tool is {lowered_mm:.1f} mm lower")

        far = replace(here, point=replace(here.point, x=here.point.x + 3000))
        print(robot.execute(cw.crcl.MoveTo(0, move_straight=True, end_position=far)).text)
        robot.execute(cw.crcl.InitCanon(0)).check()  # an error stays until then


with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True) as served:
    try:
        addresses = json.loads(served.stdout.readline())["crcl"]
        print("robots:", ", ".join(addresses))
        print("motoman is", "ready" if "CRCL_Ready" in ask(addresses["motoman"]) else "busy")
        work(addresses["fanuc"])
    finally:
        served.terminate()
print("the server has ended with", served.returncode)
