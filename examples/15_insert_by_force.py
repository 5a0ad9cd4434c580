"""Inserting a plug by force: a CRCL client of any kind does it, by motions with guards and the wrist's readings.

Shows:

- a cell with slots of 0.5 mm of clearance, `aprs@tight`, as a file without errors of its layout
- guards and the status's forces: a plug that is brought 1 mm beside its slot gives way until it stands on the floor
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cellwright as cw

m, SENSOR, CELLWRIGHT = cw.crcl, "ATINetFT", (sys.executable, "-m", "cellwright")
GEAR_M, SLOT_M = (0.1195, -0.9595), (0.3200, -0.9450)  # by the drawings: a medium gear, and slot_1 of the kit tray
FLOOR_M, GRASP_M, DEPTH_M = 0.9215, 0.0266, 0.0115  # floors of slots, the grasp above a plug's bottom, a slot's depth
TOLD, OPEN = (True, True, True, False, True, False), m.SetEndEffector(0, setting=1.0)  # joints, pose, tool, sensors


def move(robot, x, y, z, speed_mps=0.3, guard_n=None):
    """Moves the tool, pointing down; with a guard, until a force has changed so much."""
    kinds = (m.GuardLimitEnum.INCREASE_OVER_LIMIT, m.GuardLimitEnum.DECREASE_BEYOND_LIMIT) if guard_n else ()
    guards = tuple(m.Guard(SENSOR, sub_field=f, limit_type=k, limit_value=guard_n) for f in ("Fx", "Fz") for k in kinds)
    robot.execute(m.SetTransSpeed(0, m.TransSpeedAbsolute(setting=speed_mps))).check()
    pose = m.Pose(m.Point(x, y, z), m.Vector(1.0, 0.0, 0.0), m.Vector(0.0, 0.0, -1.0))
    robot.execute(m.MoveTo(0, guard=guards, move_straight=True, end_position=pose)).check()


def read(robot):
    """Returns where the tool is, and the force at its wrist in the world's directions: the tool points down."""
    felt = (status := robot.status()).sensor_statuses.force_torque_sensor_status[0]
    return status.pose_status.pose.point, (felt.fx, -felt.fy, -felt.fz)


def insert(robot, x, y):
    """Goes down in guarded steps, sideways by 0.1 mm for each newton, until the floor pushes back; or gives up."""
    move(robot, x, y, FLOOR_M + DEPTH_M + GRASP_M + 0.002, 0.1, guard_n=8)
    air = read(robot)[1]
    for _ in range(150):
        point, now = read(robot)
        (side_x, side_y, push), left_m = [a - b for a, b in zip(now, air, strict=True)], point.z - GRASP_M - FLOOR_M
        if push > 1.5 and left_m < 0.001:
            break
        down_m = min(0.0001 * (3 - push), 0.0003 if left_m > 0.0015 else 0.0001)
        move(robot, point.x + 0.0001 * side_x, point.y + 0.0001 * side_y, point.z - down_m, 0.02, guard_n=3)
    return DEPTH_M - left_m, push, x - point.x


with tempfile.TemporaryDirectory() as folder:
    text = subprocess.check_output([*CELLWRIGHT, "cell", "show", "aprs@tight", "--yaml"], text=True)
    (file := Path(folder) / "exact.yaml").write_text(re.sub(r"(?ms)^actual:.*?(?=^\w)", "actual: {}\n", text))
    serve = [*CELLWRIGHT, "serve", str(file), "--any-port", "--json", "--frame", "world", "--pace", "4"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as served:
        try:
            with cw.BlockingCrclClient(json.loads(served.stdout.readline())["crcl"]["fanuc"]) as fanuc:
                for command in (m.InitCanon(0), m.EnableSensor(0, SENSOR), m.ConfigureStatusReport(0, *TOLD), OPEN):
                    fanuc.execute(command).check()
                move(fanuc, *GEAR_M, 1.05)
                move(fanuc, *GEAR_M, FLOOR_M + GRASP_M, 0.1)
                fanuc.execute(m.SetEndEffector(0, setting=0.0)).check()
                move(fanuc, *GEAR_M, 1.05)
                deep_m, push_n, way_m = insert(fanuc, SLOT_M[0] + 0.001, SLOT_M[1])
                fanuc.execute(OPEN).check()
                print(f"{1e3 * deep_m:.1f} mm deep, pushed by {push_n:.1f} N; it gave way by {1e3 * way_m:.1f} mm")
        finally:
            served.terminate()
