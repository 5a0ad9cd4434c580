"""The person of a simulated cell who holds the calibration board: has the world, and hands out pictures alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cellwright.catalogue.printed import CALIBRATION_BOARD
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.core.rng import RandomStreams
from cellwright.lab.pictures import take_pictures
from cellwright.perception.picture import Picture
from cellwright.sensors import ColorCamera, make_sensor
from cellwright.sim import World
from cellwright.sim.contacts import deepest_overlap

__all__ = ["LabHands"]

BOARD = "calibration_board"
START = Pose.from_xyz_rpy([0.0, 0.0, 2.5])  # when it comes into the cell: near the rest, whose extent counts for light
AWAY = Pose.from_xyz_rpy([0.0, 0.0, 30.0])  # out of every picture
HELD_SD_M, HELD_SD_RAD = 0.01, 0.05  # of a board that is held up by eye; estimated
FIXED_SD_M, FIXED_SD_RAD = 0.004, 0.03  # of one that is bolted to a hand; estimated
TRIES = 6
CLOSER = 0.06  # m towards the camera with each try
TOUCHES_M = 0.0005


class LabHands:
    """Holds the board in a world, and takes pictures with sensors of its own.

    Args:
        world: The world, without the board.
        lines: Camera -> the line of a sensor that takes its pictures.
        seed: Decides how far the board is beside where it is wanted.
    """

    def __init__(self, world: World, lines: Mapping[str, Mapping[str, Any]], seed: int) -> None:
        self._world = world
        self._rng = RandomStreams(seed).stream("calibrate/board")
        self._sensors: dict[str, ColorCamera] = {}
        for name, line in lines.items():
            sensor = make_sensor(dict(line), world, f"camera {name}")
            if not isinstance(sensor, ColorCamera):
                raise BadInput(f"{world.cell.where}: {name} takes no pictures")
            self._sensors[name] = sensor
        self._name = BOARD if BOARD not in world.objects else f"{BOARD}_shown"
        self._mounted: tuple[str, Pose] | None = None
        world.add(self._name, CALIBRATION_BOARD.name, START, clamped=True)
        self.put_away()

    def show(self, pose_board_in_world: Pose) -> None:
        """Holds the board up about there, higher where something is in the way; not at all where that is no help."""
        self._mounted = None
        for number in range(TRIES):
            up = Pose.from_xyz_rpy([0.0, 0.0, CLOSER * number])
            self._world.place(self._name, up @ pose_board_in_world @ self._error(HELD_SD_M, HELD_SD_RAD))
            if not self._touches():
                return
        self.put_away()

    def mount(self, robot: str, pose_board_in_tool: Pose) -> None:
        """Fixes the board to a robot's hand."""
        self._mounted = robot, pose_board_in_tool @ self._error(FIXED_SD_M, FIXED_SD_RAD)

    def put_away(self) -> None:
        """Takes the board out of the cell."""
        self._mounted = None
        self._world.place(self._name, AWAY)

    def take(self, cameras: Sequence[str]) -> Mapping[str, Picture]:
        """Returns a picture of each of these cameras, of this moment; a mounted board is where the hand is."""
        if self._mounted is not None:
            robot, pose_in_tool = self._mounted
            self._world.place(self._name, self._world.tcp_pose(robot) @ pose_in_tool)
            if overlap := self._touches():
                where = f"the board in the hand of {robot} ran into something: {overlap}"
                self._world.place(self._name, AWAY)
                raise BadInput(f"{where}; make room about the hand, or calibrate by tags")
        pictures = {name: self._picture(name) for name in cameras}
        if self._mounted is not None:
            self._world.place(self._name, AWAY)
        return pictures

    def _picture(self, name: str) -> Picture:
        (picture,) = take_pictures(self._sensors[name])
        return picture

    def _error(self, sd_m: float, sd_rad: float) -> Pose:
        return Pose.from_xyz_rpy(self._rng.normal(0, sd_m, 3), self._rng.normal(0, sd_rad, 3))

    def _touches(self) -> str:
        """Returns what the board runs into, in words; empty when it is free, but for the hand that holds it."""
        world = self._world
        overlap = deepest_overlap(world.model, world.data, world.objects[self._name].body)
        if overlap is None or overlap.depth_m < TOUCHES_M:
            return ""
        return str(overlap)


def tag_parts(places: Mapping[int, Pose]) -> dict[str, Any]:
    """Returns tags at places, as the section `parts` of a cell has them."""
    return {
        f"calibration_tag_{number}": {
            "model": f"calibration_tag_{number}",
            "pose": {"xyz_m": pose.position.tolist(), "rpy_deg": np.degrees(pose.rpy).tolist()},
        }
        for number, pose in places.items()
    }
