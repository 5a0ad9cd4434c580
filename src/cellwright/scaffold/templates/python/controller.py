"""A controller for the cell mycell: `python controller.py ADDRESS` builds the kit that is ordered, with the Fanuc.

ADDRESS is HOST:PORT of the cell's control interface, or the file that `cellwright trial --addresses` writes. From there
come the order, the drawings of the cell, and the addresses of robot and camera: the controller moves by CRCL, sees by
the vision socket, and knows nothing else. The camera tells class, x, y and rotation, and sees nothing below the arm. So
the controller looks from home, takes heights from the drawings, and asks the fingers whether they hold something.
"""

import json
import math
import random
import socket
import sys
import time
from pathlib import Path
from statistics import median_low

import cellwright as cw
from cellwright import crcl

ROBOT = "fanuc"
FREE_MM = 70.0  # so high above a place the hand passes over everything
SEATED_MM = 5.0  # a part that is seen farther from the middle of a slot leans on its edge
FRAMES = 5  # of a look: one alone may err, or miss something


class Builder:
    """Fills a kit by what it sees. A place is SKU, x, y, height of the hand, in mm in the robot's base frame."""

    def __init__(self, robot, vision, drawings, kit):
        self.robot, self.vision, self.kit, self.trays = robot, vision, kit, drawings["trays"].values()
        self.home_rad, (tool, *_) = (drawings["robots"][ROBOT][key] for key in ("home_rad", "tools"))
        self.grasps = drawings["tools"][tool]["grasps"]

    def build(self):
        """Looks and brings a part until none is missing: one that was dropped is seen to be missing."""
        empty = True
        while empty:
            try:
                self.do(crcl.InitCanon(0))  # also ends an error
                self.do(crcl.SetLengthUnits(0, crcl.LengthUnitEnum.MILLIMETER))
                empty, parts = self.look()
                if fitting := [(part, slot) for slot in empty for part in parts if part[0] == slot[0]]:
                    self.bring(*random.choice(fitting))
            except crcl.CommandFailed as failure:  # stopped by contact, for instance
                if failure.outcome.state == "lost":
                    sys.exit(str(failure))  # the robot has hung up
                print(failure, file=sys.stderr)

    def look(self):
        """Returns the places of the kit that want a part, and those where parts can be had."""
        kit_places = []
        while not kit_places:  # a tray that is not seen is not an empty tray
            seen = self.see()
            of_trays = [(tray["sku"], place) for tray in self.trays for place in self.places(tray, seen)]
            kit_places = [place for sku, place in of_trays if sku == self.kit["tray_sku"]]
        wanted = [p for sku, n in self.kit["parts"].items() for p in [q for q in kit_places if q[0] == sku][:n]]
        parts = [(sku, x, y) for sku, _, x, y in seen if sku in self.grasps]
        empty = [place for place in wanted if not any(is_near(part, place, SEATED_MM) for part in parts)]
        beside = [(*part, place[3]) for place in empty for part in parts if is_near(part, place, 40)]
        stock = [place for _, place in of_trays if place not in kit_places]
        return empty, beside or [(*part, p[3]) for p in stock for part in parts if is_near(part, p, 8)]

    def see(self):
        """Returns what most frames show, seen from home: SKU, rotation, x, y."""
        joints = (crcl.ActuateJoint(n, rad, crcl.JointSpeedAccel()) for n, rad in enumerate(self.home_rad, 1))
        for command in (crcl.ActuateJoints(0, tuple(joints)), crcl.SetEndEffector(0, 1.0), crcl.Dwell(0, 0.2)):
            self.do(command)
        things = [(t.name, t.rotation_rad, t.x_mm, t.y_mm) for _ in range(FRAMES) for t in self.vision.next_frame(60)]
        alike = [[t for t in things if t[0] == one[0] and math.dist(t[2:], one[2:]) < 10] for one in things]
        return {(a[0][0], *map(median_low, list(zip(*a, strict=True))[1:])) for a in alike if len(a) > FRAMES // 2}

    def places(self, tray, seen):
        """Returns the slots of a tray as places, if it is seen near to where it is drawn."""
        drawn_x, drawn_y, z0 = (1000 * v for v in tray["pose_in_base"][ROBOT]["xyz_m"])
        found = []
        for _, turn, x0, y0 in [s for s in seen if s[0] == tray["sku"] and math.dist(s[2:], (drawn_x, drawn_y)) < 100]:
            c, s = math.cos(turn), math.sin(turn)
            for slot in tray["slots"].values():
                x, y, z = (1000 * v for v in (*slot["part_xyz_m"][:2], slot["grasp_z_m"]))
                found.append((slot["part_sku"], x0 + c * x - s * y, y0 + s * x + c * y, z0 + z))
        return found

    def bring(self, part, slot):
        """Brings a part into a slot, if the fingers have got it: then they are as far apart as it is thick."""
        width_mm = 1000 * self.grasps[part[0]]["width_m"]
        got = abs(self.visit(*part[1:], opening=0.0) - width_mm) < 2
        if got:
            self.visit(*slot[1:3], slot[3] + 2, opening=1.0)
        print("brought" if got else "did not get", "a", part[0], flush=True)

    def visit(self, x, y, z, opening):
        """Opens (1) or closes (0) the hand at a place; returns how far its fingers are apart when it is up again."""
        for height in (z + FREE_MM, z, z + FREE_MM):
            pose = crcl.Pose(crcl.Point(x, y, height), crcl.Vector(1, 0, 0), crcl.Vector(0, 0, -1))  # pointing down
            status = self.do(crcl.MoveTo(0, True, pose))
            if height == z:
                self.do(crcl.SetEndEffector(0, opening))
        return status.gripper_status.separation

    def do(self, command):
        """Returns the robot's status when a command is done."""
        return self.robot.execute(command).check().status


def is_near(part, place, mm):
    """Returns whether a part is that near to a place for its kind."""
    return part[0] == place[0] and math.dist(part[1:3], place[1:3]) < mm


def connect(address):
    """Returns a connection to the control interface, as soon as it is open."""
    while True:
        try:
            place = json.loads(Path(address).read_text())["control"] if address.endswith(".json") else address
            host, port = place.rsplit(":", 1)
            return socket.create_connection((host, int(port)))
        except OSError:  # the file is not there yet, or is of an earlier trial
            time.sleep(0.1)


def main(address):
    """Fills the kit that is ordered, and submits it; the control interface speaks JSON, an object a line."""
    with connect(address) as connection, connection.makefile("rw") as control:
        order = json.loads(control.readline())["announce"]  # comes without being asked
        print('{"ask": "addresses"}\n{"ask": "drawings"}', file=control, flush=True)
        addresses = next(line["addresses"] for line in map(json.loads, control) if "addresses" in line)
        drawings = next(line["drawings"] for line in map(json.loads, control) if "drawings" in line)
        with (
            cw.BlockingCrclClient(addresses["crcl"][ROBOT]) as robot,
            cw.BlockingVisionClient(addresses["vision"][ROBOT]) as vision,
        ):
            Builder(robot, vision, drawings, order["kits"][0]).build()
        print(json.dumps({"submit": order["order"]}), file=control, flush=True)
        print("submitted", order["order"])


if __name__ == "__main__":
    main(sys.argv[1])
