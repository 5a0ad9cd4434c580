"""Drives an e-puck over ROS, simulated or real: the same control program, whichever way its topics come.

    python drive.py avoid --robot ePuck0 --over rosbridge=127.0.0.1:9090
    python drive.py wall --robot ePuck0 --over ros1                       # as a node, with rospy
    python drive.py my_program.py --robot epuck_robot_0 --over ros1 --profile epuck1-driver      # a real one

A program is a name (avoid, follow_range, follow_transform, square, square_open, wall) or a file with a class
Controller, as in the course. The profile is the driver at the other end: names of topics, and what a unit of speed is.
"""

import argparse
import json
import runpy
import sys
import time
import traceback
from pathlib import Path

from cellwright.core.errors import CellwrightError
from cellwright.core.listener import host_and_port
from cellwright.core.rospy_import import import_rospy
from cellwright.mobile import RosbridgeRobot, RospyRobot
from cellwright.mobile.behaviours import behaviour_named
from cellwright.mobile.program_process import check_program


def program_of(name):
    if name.endswith(".py"):
        check_program(Path(name))
        return runpy.run_path(name, run_name="controller")["Controller"]()
    return behaviour_named(name)


def task_of(text):
    """Returns the figures that a program of the course finds in `robot.task`."""
    try:
        task = json.loads(text)
    except ValueError:
        task = None
    if not isinstance(task, dict):
        sys.exit(f"drive.py: --task is a JSON object such as '{{\"distance_m\": 0.02}}', not '{text}'")
    return task


def connect(arguments, program):
    kind, _, address = arguments.over.partition("=")
    if kind == "rosbridge":
        host, port = host_and_port(address.removeprefix("ws://") or "127.0.0.1", "--over rosbridge", 9090)
        return RosbridgeRobot(arguments.robot, program, host, port, arguments.profile, task_of(arguments.task))
    if kind != "ros1":
        sys.exit(f"drive.py: --over is rosbridge=HOST:PORT or ros1, not '{arguments.over}'")
    import_rospy().init_node("drive", anonymous=True)
    return RospyRobot(arguments.robot, program, arguments.profile, task_of(arguments.task))


def main():
    parser = argparse.ArgumentParser(description="Drives an e-puck over ROS.")
    parser.add_argument("program", help="a name, or a file with a class Controller")
    parser.add_argument("--robot", default="ePuck0", help="the namespace of its topics")
    parser.add_argument("--over", default="rosbridge=127.0.0.1:9090", help="rosbridge=HOST:PORT or ros1")
    parser.add_argument("--profile", default="epuck1-si", help="the driver at the other end")
    parser.add_argument("--task", default="{}", help="figures of an exercise, as JSON")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="real time until it stops")
    arguments = parser.parse_args()
    try:
        robot = connect(arguments, program_of(arguments.program))
    except CellwrightError as error:
        sys.exit(f"drive.py: {error}")
    end_s = time.monotonic() + arguments.seconds
    try:
        while time.monotonic() < end_s and robot.failure is None:
            time.sleep(0.05)
    except KeyboardInterrupt:
        pass
    robot.close()
    if robot.failure is not None:
        what = str(robot.failure)
        if not isinstance(robot.failure, CellwrightError):
            place = traceback.extract_tb(robot.failure.__traceback__)[-1]
            what = f"{place.filename}, line {place.lineno}: {type(robot.failure).__name__}: {what}"
        sys.exit(f"drive.py: the program failed, and {arguments.robot} stands: {what}")
    if not robot.updates:
        sys.exit(f"drive.py: no odometry came from {arguments.robot}: is it the robot's name, and the right profile?")
    here = robot.readings
    print(f"{arguments.robot}: {robot.updates} updates, odometry says x {here.x_m:.3f}, y {here.y_m:.3f} m")


if __name__ == "__main__":
    main()
