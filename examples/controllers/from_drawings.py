"""A controller that reads the drawings: `python from_drawings.py CONTROL_HOST:PORT` builds the first order.

Nothing about the cell is written here. From the control server it gets addresses and drawings: which robot
reaches the kit's tray, which slots that has, how high the hand must be, which stock it sees. Where things really are,
it sees by the vision socket.
"""

import json
import math
import socket
import sys
import time

XSI = "http://www.w3.org/2001/XMLSchema-instance"
FREE_MM = 70.0  # above a place: there the hand passes over everything


def connect(address):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)))


control = connect(sys.argv[1]).makefile("rw")
order = json.loads(control.readline())["announce"]  # the server announces the order without being asked


def ask(what):
    print(json.dumps({"ask": what}), file=control, flush=True)
    return next(line[what] for line in map(json.loads, control) if what in line)


drawn, addresses = ask("drawings"), ask("doors")
kit = order["kits"][0]
trays = drawn["trays"]
name, tray = next((n, t) for n, t in trays.items() if t["sku"] == kit["tray_sku"] and t["reached_by"])
me = next(iter(tray["reached_by"]))
base_mm = 1000 * tray["pose_in_base"][me]["xyz_m"][2]
slots = [(s["part_sku"], *(1000 * v for v in (*s["part_xyz_m"][:2], s["grasp_z_m"]))) for s in tray["slots"].values()]
view = drawn["views"][drawn["robots"][me]["detector"]]


def is_seen(pose):
    return all(view["min_xy_m"][i] < pose["xyz_m"][i] < view["max_xy_m"][i] for i in (0, 1))


stock_mm = {  # SKU -> how high the hand is when it takes one from a parts tray that this robot sees and reaches
    slot["part_sku"]: 1000 * (other["pose_in_base"][me]["xyz_m"][2] + slot["grasp_z_m"])
    for other in trays.values()
    if other["kind"] == "parts" and me in other["reached_by"] and is_seen(other["pose_in_world"])
    for slot in other["slots"].values()
}
print(f"{me} builds {kit['kit']} on {name}; the trial takes at most {drawn['time_limit_s']:g} s", flush=True)
robot, sent = connect(addresses["crcl"][me]), 0


def tell(kind, body=""):
    command = f'<CRCLCommand xmlns:xsi="{XSI}" xsi:type="{kind}Type"><CommandID>{sent}</CommandID>{body}</CRCLCommand>'
    robot.sendall(f"<CRCLCommandInstance>{command}</CRCLCommandInstance>".encode())


def do(kind, body=""):
    global sent
    sent, status = sent + 1, ""
    tell(kind, body)
    while f"<CommandID>{sent}<" not in status or "CRCL_Done" not in status:
        if "CRCL_Error" in status:
            sys.exit(status.partition("<StateDescription>")[2].partition("<")[0])
        time.sleep(0.005)
        status = tell("GetStatus") or ""
        while not status.endswith("</CRCLStatus>"):
            status += robot.recv(65536).decode() or sys.exit("the robot has hung up")


def visit(x, y, z, hand):
    axes = "<XAxis><I>1</I><J>0</J><K>0</K></XAxis><ZAxis><I>0</I><J>0</J><K>-1</K></ZAxis>"
    for height in (z + FREE_MM, z, z + FREE_MM):
        pose = f"<EndPosition><Point><X>{x}</X><Y>{y}</Y><Z>{height}</Z></Point>{axes}</EndPosition>"
        do("MoveTo", f"<MoveStraight>true</MoveStraight>{pose}")
        do("SetEndEffector", f"<Setting>{hand}</Setting>") if height == z else None


def look():  # which places of the kit are empty, and which parts lie elsewhere
    do("Dwell", "<DwellTime>0.3</DwellTime>")
    words = connect(addresses["vision"][me]).makefile().readline().split(",")
    seen = [(words[i], *map(float, words[i + 1 : i + 4])) for i in range(0, len(words) - 5, 6)]
    turn, x0, y0 = next(group[1:] for group in seen if group[0] == kit["tray_sku"])
    c, s = math.cos(turn), math.sin(turn)
    places = [(sku, x0 + c * x - s * y, y0 + s * x + c * y, base_mm + z) for sku, x, y, z in slots]
    parts = [(sku, x, y) for sku, _, x, y in seen if sku in stock_mm]
    empty = [p for p in places if not any(g[0] == p[0] and math.dist(g[1:], p[1:3]) < 8 for g in parts)]
    return empty, [g for g in parts if all(math.dist(g[1:], p[1:3]) > 30 for p in places)]


do("InitCanon")
do("SetLengthUnits", "<UnitName>millimeter</UnitName>")
do("SetEndEffector", "<Setting>1</Setting>")
while (found := look())[0]:
    sku, x, y, z = found[0][0]
    visit(*min(part[1:] for part in found[1] if part[0] == sku), stock_mm[sku], hand=0)
    visit(x, y, z + 2, hand=1)
print(json.dumps({"submit": order["order"]}), file=control, flush=True)
print("the trial ended:", next(line["end"] for line in map(json.loads, control) if "end" in line))
