"""A controller that reads the drawings: `python from_drawings.py CONTROL_HOST:PORT` builds the first order.

Nothing about the cell is written here. From the control server it gets addresses and drawings: which robot reaches the
kit's tray, which slots that has, how high the hand must be, how thick a part is where it is held, where home is.
Where things really are, it sees by the vision socket: class, x, y and rotation, no heights, and nothing below an arm.
"""

import json
import math
import random
import socket
import sys
from statistics import median_low

import cellwright as cw
from cellwright import crcl

FREE_MM = 70.0  # above a place: there the hand passes over everything
TURNS_RAD = (0.0, 0.35)  # of the first joint from home: what the arm hides in one look, it does not in the other
FRAMES = 5  # of a look
SEATED_MM = 5.0  # a part that is seen farther from the middle of a slot leans on its edge

host, port = sys.argv[1].rsplit(":", 1)
control = socket.create_connection((host, int(port))).makefile("rw")
order = json.loads(control.readline())["announce"]  # the server announces the order without being asked


def ask(what):
    print(json.dumps({"ask": what}), file=control, flush=True)
    return next(line[what] for line in map(json.loads, control) if what in line)


def places(tray, turn, x0, y0, z0):
    """Returns SKU, x, y and height of the hand for each slot of a tray that lies so, in millimetres."""
    c, s = math.cos(turn), math.sin(turn)
    found = []
    for slot in tray["slots"].values():
        x, y, z = (1000 * v for v in (*slot["part_xyz_m"][:2], slot["grasp_z_m"]))
        found.append((slot["part_sku"], x0 + c * x - s * y, y0 + s * x + c * y, z0 + z))
    return found


def drawn_at(tray):
    """Returns turn, x, y and z of a tray in my base, by the drawings."""
    pose = tray["pose_in_base"][me]
    return pose["rpy_rad"][2], *(1000 * v for v in pose["xyz_m"])


def sees(robot, tray):
    """Returns whether the middle of a tray is in the picture of a robot's camera, by the drawings."""
    view = drawn["views"][drawn["robots"][robot]["detector"]]
    x, y, _ = tray["pose_in_world"]["xyz_m"]
    return all(low < v < high for low, v, high in zip(view["min_xy_m"], (x, y), view["max_xy_m"], strict=True))


drawn, addresses = ask("drawings"), ask("addresses")
kit, trays = order["kits"][0], drawn["trays"]
wanted = [kit["tray"]] if kit["tray"] else [name for name, tray in trays.items() if tray["sku"] == kit["tray_sku"]]
name, me = next((name, robot) for name in wanted for robot in trays[name]["reached_by"] if sees(robot, trays[name]))
kit_tray, home = trays[name], drawn["robots"][me]["home_rad"]
grasps = drawn["tools"][kit_tray["reached_by"][me][0]]["grasps"]
stock = [tray for tray in trays.values() if tray["kind"] == "parts" and me in tray["reached_by"]]
known = [place for tray in (*stock, kit_tray) for place in places(tray, *drawn_at(tray))]


def do(command):
    return robot.execute(command).check().status


def visit(x, y, z, opening):
    """Opens (1) or closes (0) the hand at a place; returns how far its fingers are apart when it is up again, in mm."""
    for height in (z + FREE_MM, z, z + FREE_MM):
        pose = crcl.Pose(crcl.Point(x, y, height), crcl.Vector(1, 0, 0), crcl.Vector(0, 0, -1))  # pointing down
        status = do(crcl.MoveTo(0, True, pose))
        if height == z:
            do(crcl.SetEndEffector(0, opening))
    return status.gripper_status.separation


def see():
    """Returns what most frames of a look show, as SKU, rotation, x, y: a single frame errs, or misses something."""
    groups = []
    for turn in TURNS_RAD:
        goals = enumerate((home[0] + turn, *home[1:]), 1)
        do(crcl.ActuateJoints(0, tuple(crcl.ActuateJoint(*goal, crcl.JointSpeedAccel()) for goal in goals)))
        do(crcl.SetEndEffector(0, 1.0))
        do(crcl.Dwell(0, 0.2))  # a frame comes a little later than it is taken
        groups += [(g.name, g.rotation_rad, g.x_mm, g.y_mm) for _ in range(FRAMES) for g in vision.next_frame(60)]
    alike = [[g for g in groups if g[0] == h[0] and math.dist(g[2:], h[2:]) < 10] for h in groups]
    return {(a[0][0], *map(median_low, list(zip(*a, strict=True))[1:])) for a in alike if len(a) > FRAMES // 2}


def look():
    """Returns the empty places of the kit, and parts elsewhere with height of the hand and way to a drawn slot."""
    _, x0, y0, z0 = drawn_at(kit_tray)
    seen = []
    while not (lies := [s[1:] for s in seen if s[0] == kit["tray_sku"] and math.dist(s[2:], (x0, y0)) < 100]):
        seen = see()  # until the tray is seen: unseen is not empty
    kit_places = places(kit_tray, *lies[0], z0)
    parts = [(sku, x, y) for sku, _, x, y in seen if sku in grasps]
    empty = [p for p in kit_places if not any(g[0] == p[0] and math.dist(g[1:], p[1:3]) < SEATED_MM for g in parts)]
    others = [g for g in parts if all(math.dist(g[1:], p[1:3]) > SEATED_MM for p in kit_places)]
    drawn_near = [min((math.dist(g[1:], p[1:3]), p[3]) for p in known if p[0] == g[0]) for g in others]
    return empty, [(*g, z, away_mm) for g, (away_mm, z) in zip(others, drawn_near, strict=True) if away_mm < 100]


def bring(place, parts):
    """Brings a part of the right kind; one that the hand does not get is left to the next look."""
    sku, x, y, z = place
    fitting = [part[1:] for part in parts if part[0] == sku]
    beside = [part for part in fitting if math.dist(part[:2], (x, y)) < 40]  # it missed its slot: this one first
    seated = [part for part in fitting if part[3] < 15]  # others may lean, or lie lower
    choice = beside or seated or fitting
    width_mm = visit(*random.choice(choice)[:3], opening=0.0) if choice else 0.0
    if abs(width_mm - 1000 * grasps[sku]["width_m"]) < 2:  # as far apart as the part is thick: the hand has it
        visit(x, y, z + 2, opening=1.0)


print(f"{me} builds {kit['kit']} on {name}; the trial takes at most {drawn['time_limit_s']:g} s", flush=True)
with (
    cw.BlockingCrclClient(addresses["crcl"][me]) as robot,
    cw.BlockingVisionClient(addresses["vision"][me]) as vision,
):
    empty = True
    while empty:
        try:
            do(crcl.InitCanon(0))
            do(crcl.SetLengthUnits(0, crcl.LengthUnitEnum.MILLIMETER))
            empty, parts = look()
            for place in empty[:1]:
                bring(place, parts)
        except crcl.CommandFailed as failure:  # stopped by contact, for instance; InitCanon ends the error
            if failure.outcome.state == "lost":
                sys.exit(str(failure))  # the robot has hung up
            print(failure, file=sys.stderr)
print(json.dumps({"submit": order["order"]}), file=control, flush=True)
print("the trial ended:", next(line["end"] for line in map(json.loads, control) if "end" in line))
