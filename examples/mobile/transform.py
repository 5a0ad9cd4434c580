"""Prints where a frame is in another one, by the transforms of a rosbridge server: also across robots.

python transform.py ePuck1/base_prox0 ePuck0/base_link
"""

import argparse
import sys
import time

import numpy as np

from cellwright.core.errors import CellwrightError
from cellwright.core.listener import host_and_port
from cellwright.mobile import RosbridgeRobot


class Still:
    """A program that only listens."""

    def update(self, robot):
        return 0.0, 0.0


def main():
    parser = argparse.ArgumentParser(description="Prints where a frame is in another one.")
    parser.add_argument("frame")
    parser.add_argument("in_frame")
    parser.add_argument("--over", default="127.0.0.1:9090", help="HOST:PORT of the rosbridge server")
    parser.add_argument("--seconds", type=float, default=3.0, help="real time to wait for both")
    arguments = parser.parse_args()
    try:
        host, port = host_and_port(arguments.over.removeprefix("ws://").removeprefix("rosbridge="), "--over", 9090)
        robot = RosbridgeRobot("nobody", Still(), host, port)
        frames, end_s = robot.readings.frames, time.monotonic() + arguments.seconds
        while time.monotonic() < end_s and not (arguments.frame in frames and arguments.in_frame in frames):
            time.sleep(0.05)
        time.sleep(0.2)  # for those in between
        pose = frames.pose(arguments.frame, arguments.in_frame)
    except (CellwrightError, LookupError) as error:
        sys.exit(f"transform.py: {error}")
    x, y, z = pose.position
    yaw = np.degrees(pose.rpy[2])
    print(f"{arguments.frame} in {arguments.in_frame}: x {x:.4f}, y {y:.4f}, z {z:.4f} m, yaw {yaw:.1f} degrees")
    robot.close()


if __name__ == "__main__":
    main()
