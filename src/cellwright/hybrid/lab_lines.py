"""Lines of the APRS laboratory's vision as detections: in the world, with what was not measured marked as such."""

from __future__ import annotations

import numpy as np

from cellwright.catalogue import PARTS, TRAYS, PartFigures, TrayFigures, part_of_sku, tray_of_sku
from cellwright.cells import DetectorTargetCfg
from cellwright.core.errors import JobFailed, UnknownName
from cellwright.core.messages import Detections
from cellwright.core.pose import Pose
from cellwright.interfaces import VisionGroup
from cellwright.lab import Lab
from cellwright.sensors.overhead_detector import is_round

__all__ = ["LabLines", "figures_of"]

YAW_SD_RAD = 0.005  # as our own overhead detectors have it
M_PER_MM = 1e-3


class LabLines:
    """Converts the groups of lines to detections.

    Lines have no heights. A thing is taken to be as high as that of its class which the drawings have nearest to it.

    Args:
        lab: The laboratory.
        detector: The detector whose lines they are.
        cfg: Its target; says in which robot's coordinates they are.

    Raises:
        JobFailed: No robot's coordinates are known for them.
        UnknownName: There is no such robot.
    """

    def __init__(self, lab: Lab, detector: str, cfg: DetectorTargetCfg) -> None:
        robots = lab.cell.robots
        own = [name for name, robot in robots.items() if robot.vision is not None and robot.vision.detector == detector]
        robot = cfg.robot or (own[0] if own else "")
        if not robot:
            raise JobFailed(f"{detector}: in which robot's coordinates are the lines of {cfg.at}? Name it by 'robot'")
        lab.robot(robot)
        self._pose_robot_in_world: Pose = lab.nominal.bases[robot]
        self._heights: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        drawn = list(lab.nominal.objects.values())
        for sku in {_sku(placed.model) for placed in drawn}:
            places = np.array([one.pose_in_world.position for one in drawn if _sku(one.model) == sku])
            self._heights[sku] = places[:, :2], places[:, 2]
        self._usual_m = float(np.mean([one.pose_in_world.position[2] for one in drawn])) if drawn else 0.0
        self._variance_m2 = (cfg.deviation_mm * M_PER_MM) ** 2

    def detections(self, groups: list[VisionGroup], time_ns: int, sequence: int, source: str) -> Detections:
        """Returns what a line tells, in the world."""
        base, skus = self._pose_robot_in_world, tuple(group.name for group in groups)
        positions, quaternions = np.zeros((len(groups), 3)), np.zeros((len(groups), 4))
        variances = np.full((len(groups), 6), np.inf)
        variances[:, :2] = self._variance_m2
        for row, group in enumerate(groups):
            in_world = base @ Pose.from_xyz_rpy(
                [group.x_mm * M_PER_MM, group.y_mm * M_PER_MM, 0.0], (0.0, 0.0, group.rotation_rad)
            )
            positions[row] = *in_world.position[:2], self._height_m(group.name, in_world.position[:2])
            quaternions[row] = in_world.quaternion
            figures = figures_of(group.name)
            if figures is not None and not is_round(figures):
                variances[row, 5] = YAW_SD_RAD**2
        return Detections(
            time_ns,
            sequence,
            source,
            frame="world",
            skus=skus,
            positions=positions,
            quaternions=quaternions,
            variances=variances,
            scores=np.clip([group.score for group in groups], 0.0, 1.0),
        )

    def _height_m(self, sku: str, xy: np.ndarray) -> float:
        if sku not in self._heights:
            return self._usual_m
        places, heights_m = self._heights[sku]
        return float(heights_m[np.hypot(*(places - xy).T).argmin()])


def figures_of(sku: str) -> PartFigures | TrayFigures | None:
    """Returns the figures of a part or tray; None where the catalogue has none of that SKU."""
    try:
        return tray_of_sku(sku) or part_of_sku(sku)
    except UnknownName:
        return None


def _sku(model: str) -> str:
    return (TRAYS.get(model) if model in TRAYS else PARTS.get(model)).sku
