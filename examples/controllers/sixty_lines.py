"""An external controller: `python sixty_lines.py CRCL_HOST:PORT VISION_HOST:PORT` builds kit_m2l1 (Fanuc)."""

import math
import random
import socket
import sys
import time

HELD_MM, TRAVEL_MM = 13.0, 80.0  # heights of the hand above the robot's base: where gears are held, where it is free
SLOTS = [("medium", -40, 55), ("medium", 40, 55), ("large", 0, -40)]  # of the kit tray: size of gear, x, y in mm
XSI = "http://www.w3.org/2001/XMLSchema-instance"
crcl, vision = ((address.split(":")[0], int(address.split(":")[1])) for address in sys.argv[1:3])
robot, sent = socket.create_connection(crcl), 0


def tell(kind, body=""):
    command = f'<CRCLCommand xmlns:xsi="{XSI}" xsi:type="{kind}Type"><CommandID>{sent}</CommandID>{body}</CRCLCommand>'
    robot.sendall(f"<CRCLCommandInstance>{command}</CRCLCommandInstance>".encode())


def do(kind, body=""):
    global sent
    sent, status = sent + 1, ""
    tell(kind, body)
    while f"<CommandID>{sent}<" not in status or "CRCL_Done" not in status:
        if "CRCL_Error" in status:
            sys.exit(status)
        time.sleep(0.005)
        status = tell("GetStatus") or ""
        while not status.endswith("</CRCLStatus>"):
            status += robot.recv(65536).decode() or sys.exit("the robot has hung up")


def visit(x, y, z, hand):
    axes = "<XAxis><I>1</I><J>0</J><K>0</K></XAxis><ZAxis><I>0</I><J>0</J><K>-1</K></ZAxis>"
    for height in (TRAVEL_MM, z, TRAVEL_MM):
        pose = f"<EndPosition><Point><X>{x}</X><Y>{y}</Y><Z>{height}</Z></Point>{axes}</EndPosition>"
        do("MoveTo", f"<MoveStraight>true</MoveStraight>{pose}")
        do("SetEndEffector", f"<Setting>{hand}</Setting>") if height == z else None


def look():  # which places of the kit are empty, and which gears lie elsewhere
    do("Dwell", "<DwellTime>0.3</DwellTime>")
    words = socket.create_connection(vision).makefile().readline().split(",")
    seen = [(words[i], *map(float, words[i + 1 : i + 4])) for i in range(0, len(words) - 5, 6)]
    turn, x0, y0 = next(group[1:] for group in seen if group[0] == "sku_kit_m2l1_vessel")
    c, s = math.cos(turn), math.sin(turn)
    places = [(f"sku_part_{size}_gear", x0 + c * x - s * y, y0 + s * x + c * y) for size, x, y in SLOTS]
    gears = [(name, x, y) for name, _, x, y in seen]
    empty = [p for p in places if not any(g[0] == p[0] and math.dist(g[1:], p[1:]) < 8 for g in gears)]
    return empty, [g for g in gears if all(math.dist(g[1:], p[1:]) > 30 for p in places)]


do("InitCanon")
do("SetLengthUnits", "<UnitName>millimeter</UnitName>")
do("SetEndEffector", "<Setting>1</Setting>")
while (found := look())[0]:  # what was dropped or taken away is seen to be missing, and another gear is brought
    visit(*random.choice([gear[1:] for gear in found[1] if gear[0] == found[0][0][0]]), HELD_MM, hand=0)
    visit(*found[0][0][1:], HELD_MM + 2, hand=1)
do("Message", "<Message>submit kit_m2l1</Message>")
