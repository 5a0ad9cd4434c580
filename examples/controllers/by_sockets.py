"""A controller by sockets and text alone: `python by_sockets.py CRCL_HOST:PORT VISION_HOST:PORT` builds kit_m2l1."""

import math
import random
import socket
import sys
import time
from statistics import median_low

HELD_MM, FREE_MM, HUB_MM = 16.0, 80.0, 8.0  # by the drawings: the hand over the robot's base at a gear, free; the hub
SEATED_MM = 5.0  # a gear that is seen farther from the middle of a slot leans on its edge
LOOK_MM = (385, 0, 433)  # home: from here the arm hides no gear and no slot, as `cellwright cell check aprs` says
KIT = "sku_kit_m2l1_vessel"
SLOTS = {  # of the trays: size of gear, x, y in mm
    KIT: [("medium", -40, 55), ("medium", 40, 55), ("large", 0, -40)],
    "sku_medium_gear_vessel": [("medium", x, y) for x in (-40.5, 40.5) for y in (-40.5, 40.5)],
    "sku_large_gear_vessel": [("large", 1, 55), ("large", 1, -55)],
}
XSI = "http://www.w3.org/2001/XMLSchema-instance"
crcl, vision = ((address.split(":")[0], int(address.split(":")[1])) for address in sys.argv[1:3])
robot, sent = socket.create_connection(crcl), 0


def tell(kind, body=""):
    command = f'<CRCLCommand xmlns:xsi="{XSI}" xsi:type="{kind}Type"><CommandID>{sent}</CommandID>{body}</CRCLCommand>'
    robot.sendall(f"<CRCLCommandInstance>{command}</CRCLCommandInstance>".encode())


def do(kind, body=""):  # returns the status in which the command is done
    global sent
    sent, status = sent + 1, ""
    tell(kind, body)
    while f"<CommandID>{sent}<" not in status or "CRCL_Done" not in status:
        if f"<CommandID>{sent}<" in status and "CRCL_Error" in status:
            raise RuntimeError(status.partition("<StateDescription>")[2].partition("<")[0])
        time.sleep(0.005)
        status = tell("GetStatus") or ""
        while not status.endswith("</CRCLStatus>"):
            status += robot.recv(65536).decode() or sys.exit("the robot has hung up")
    return status


def go(x, y, z):
    axes = "<XAxis><I>1</I><J>0</J><K>0</K></XAxis><ZAxis><I>0</I><J>0</J><K>-1</K></ZAxis>"
    pose = f"<EndPosition><Point><X>{x}</X><Y>{y}</Y><Z>{z}</Z></Point>{axes}</EndPosition>"
    return do("MoveTo", f"<MoveStraight>true</MoveStraight>{pose}")


def visit(x, y, z, hand):  # returns whether the fingers have a hub between them then: their width says it, no camera
    go(x, y, FREE_MM), go(x, y, z), do("SetEndEffector", f"<Setting>{hand}</Setting>")
    return abs(float(go(x, y, FREE_MM).partition("<Separation>")[2].partition("<")[0]) - HUB_MM) < 2


def is_near(gear, slot, mm):  # and of the kind for it
    return gear[0] == slot[0] and math.dist(gear[1:], slot[1:]) < mm


def look():  # with the arm out of the way: which slots of the kit are empty, and which gears can be had
    go(*LOOK_MM), do("SetEndEffector", "<Setting>1</Setting>"), do("Dwell", "<DwellTime>0.2</DwellTime>")
    with socket.create_connection(vision) as eye, eye.makefile() as lines:
        frames = [next(lines).split(",") for _ in range(10)]
    groups = [(f[i], *map(float, f[i + 1 : i + 4])) for f in frames for i in range(0, len(f) - 5, 6)]
    alike = [[g for g in groups if g[0] == h[0] and math.dist(g[2:], h[2:]) < 10] for h in groups]
    often = [list(zip(*a, strict=True)) for a in alike if len(a) > 2]  # a single frame errs, or misses something
    seen = {(names[0], *map(median_low, numbers)) for names, *numbers in often}
    slots = {}
    for tray, turn, x0, y0 in (thing for thing in seen if thing[0] in SLOTS):
        c, s = math.cos(turn), math.sin(turn)
        slots[tray] = [(f"sku_part_{g}_gear", x0 + c * x - s * y, y0 + s * x + c * y) for g, x, y in SLOTS[tray]]
    if KIT not in slots:
        return look()  # a tray that is not seen is not an empty tray
    gears = [(name, x, y) for name, _, x, y in seen if "_part_" in name]
    empty = [slot for slot in slots[KIT] if not any(is_near(gear, slot, SEATED_MM) for gear in gears)]
    beside = [gear for gear in gears if any(is_near(gear, slot, 40) for slot in empty)]  # it missed its slot
    stock = [g for g in gears if any(is_near(g, slot, 8) for tray in slots if tray != KIT for slot in slots[tray])]
    return empty, beside or stock  # others may lean, or lie lower


empty = [KIT]
while empty:  # what was dropped or taken away is seen to be missing, and another gear is brought
    try:
        do("InitCanon"), do("SetLengthUnits", "<UnitName>millimeter</UnitName>")  # an error lasts until InitCanon
        empty, gears = look()
        wanted = [(slot, gear) for slot in empty for gear in gears if gear[0] == slot[0]]
        if wanted:
            slot, gear = random.choice(wanted)
            visit(*gear[1:], HELD_MM, hand=0) and visit(*slot[1:], HELD_MM + 2, hand=1)
    except RuntimeError as stopped:  # by contact, for instance: something is in the way that was not seen
        print(stopped, file=sys.stderr)
do("Message", "<Message>submit kit_m2l1</Message>")
