"""Kit trays for a robot that carries them: where they are taken, where they are set down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TOOLS, TrayFigures, TrayGrasp, tray_grasp, tray_of_sku
from cellwright.catalogue.vacuum import VacuumFigures
from cellwright.core.pose import Pose
from cellwright.execution.arm import tool_down
from cellwright.execution.surroundings import carried
from cellwright.knowledge import BeliefState
from cellwright.knowledge.held_pose import hanging_tray

__all__ = ["TrayHold", "free_spot", "hold_of", "kit_tray_of", "spot_on_table", "tilt_rad", "top_trays"]

BESIDE_M = 0.004  # room that a tray in a box must have on each side
LEVEL_RAD = float(np.radians(1.5))
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TrayHold:
    """The grasp of a kind of tray by a vacuum tool; the same after half a turn of the tool, which has two cups."""

    tray: TrayFigures
    grip: TrayGrasp

    def pose_tool(self, pose_tray: Pose, near_rad: float, down_m: float = 0.0) -> Pose:
        """Returns the pose of the tool on a tray, or below; of both half turns, the one nearer to an angle.

        It leans as the tray does, unless that is no more than detectors err.
        """
        x, y, z = self.grip.xyz_m
        yaw_rad = float(pose_tray.rpy[2]) + self.grip.yaw_rad
        turn_rad = np.pi * round((near_rad - yaw_rad) / np.pi)
        if tilt_rad(pose_tray) <= LEVEL_RAD:
            return tool_down(pose_tray.apply((x, y, z - down_m)), yaw_rad + turn_rad)
        return pose_tray @ Pose.from_xyz_rpy((x, y, z - down_m), (np.pi, 0.0, self.grip.yaw_rad + turn_rad))

    def hanging(self, pose_tool: Pose, seen: Pose) -> Pose:
        """Returns the pose of a tray that hangs as planned; of both half turns, the one nearer to how it was seen."""
        return hanging_tray(pose_tool, self.grip, seen)


def hold_of(tray_sku: str, tool: str) -> TrayHold | None:
    """Returns the grasp of a tray by a tool of the catalogue; None when it cannot take it."""
    figures, tray = TOOLS.get(tool) if tool in TOOLS else None, tray_of_sku(tray_sku)
    if not isinstance(figures, VacuumFigures) or tray is None:
        return None
    grip = tray_grasp(tray, figures)
    return None if grip is None else TrayHold(tray, grip)


def tilt_rad(pose: Pose) -> float:
    """Returns the angle between an upright axis and the vertical."""
    return float(np.arccos(np.clip(pose.rotation_matrix[2, 2], -1.0, 1.0)))


def kit_tray_of(believed: BeliefState, thing: str) -> str:
    """Returns the tray of a kit; of a kit tray itself."""
    return believed.tray_of.get(thing, thing)


def top_trays(believed: BeliefState, stack: str) -> list[str]:
    """Returns kit trays that are believed to be in a box, from the top down, those first that were ever seen.

    A misplaced one is known by its own name.
    """
    in_kits = set(believed.tray_of.values())
    found = [
        tray.name
        for tray in believed.of_kind("KitTray")
        if stack in (tray.reference, tray.name)
        and tray.name not in in_kits
        and tray.name not in believed.held.values()
        and tray.name not in believed.missing
    ]
    return sorted(found, key=lambda name: (not believed.source(name), -float(believed.pose(name).position[2])))


def spot_on_table(believed: BeliefState, table: str) -> Pose:
    """Returns the place for a kit tray on a table that is kept for it: the middle of its top."""
    _, _, height_m = believed.relations.sizes[table]
    return believed.pose(table) @ Pose.from_xyz_rpy((0.0, 0.0, height_m))


def free_spot(believed: BeliefState, box: str, tray: TrayFigures, capacity: int) -> Pose | None:
    """Returns the place for a tray in a box with compartments along x: the first where nothing is seen.

    It is turned by a quarter when it fits only so; None when there is no room.
    """
    length_m, width_m, _ = believed.relations.sizes[box]
    room_m = (length_m / capacity, width_m)
    x_m, y_m = tray.size_m
    fitting = [turn for turn, size in ((0.0, (x_m, y_m)), (np.pi / 2, (y_m, x_m))) if _fits(size, room_m)]
    in_air = carried(believed)
    others = [believed.pose(other).position for other in believed.trays() if other not in in_air]
    for number in range(capacity) if fitting else ():
        along_m = (number - (capacity - 1) / 2) * room_m[0]
        spot = believed.pose(box) @ Pose.from_xyz_rpy((along_m, 0.0, 0.0), (0.0, 0.0, fitting[0]))
        if all(np.hypot(*(other - spot.position)[:2]) > min(room_m) / 2 for other in others):
            return spot
    return None


def _fits(size_m: tuple[float, float], room_m: tuple[float, float]) -> bool:
    return all(size + 2 * BESIDE_M <= room for size, room in zip(size_m, room_m, strict=True))
