"""The things that a detector's camera can see once nothing that moves is in the way, for the judge's oracle."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from cellwright.lab.camera_detector import CameraDetector
from cellwright.lab.lab import Lab
from cellwright.sensors.detector import Detector
from cellwright.sim.sight_points import facing_side, surface_points

__all__ = ["OracleView"]

UNSEEN_GROUP = 5  # of geoms that stop no line of sight


class OracleView:
    """Asks the detectors of a laboratory whether they could see a thing; where there are none, anything can be seen.

    What counts is their cameras, what they look for, and the visible share that they need; not what they miss by
    chance, nor faults, which pass. Arms and their tools can be moved away, and hide nothing.
    """

    def __init__(self, lab: Lab) -> None:
        self._world = lab.world
        self._detectors = [sensor for sensor in lab.sensors if isinstance(sensor, Detector | CameraDetector)]

    def __call__(self, thing: str, without: Collection[str] = ()) -> bool:
        """Returns whether a detector can see a loose thing.

        Args:
            thing: Its name.
            without: Loose things that can be taken away before.
        """
        if not self._detectors:
            return True
        model = self._world.model
        aside = np.isin(model.geom_bodyid, self._bodies_aside(without))
        groups = model.geom_group[aside].copy()
        model.geom_group[aside] = UNSEEN_GROUP
        try:
            return any(self._sees(detector, thing) for detector in self._detectors)
        finally:
            model.geom_group[aside] = groups

    def _sees(self, detector: Detector[Any] | CameraDetector, thing: str) -> bool:
        item, pose, cfg = self._world.objects[thing], self._world.pose_of(thing), detector.cfg
        xy = pose.position[:2]
        if not ((xy >= cfg.min_xy_m).all() and (xy <= cfg.max_xy_m).all()):
            return False
        to_eye = pose.inverse().apply(detector.actual.pose_in_world.position)
        points = pose.apply(surface_points(item.figures, facing_side(item.figures, to_eye)))
        return bool(detector.sight.share(points, [item.body]) >= cfg.min_share)

    def _bodies_aside(self, without: Collection[str]) -> list[int]:
        """Returns the bodies of all robots, of the tools on them, and of some loose things."""
        world, model = self._world, self._world.model
        roots = [model.body_rootid[robot.base_body] for robot in world.robots.values()]
        arms = np.flatnonzero(np.isin(model.body_rootid, roots)).tolist()
        tools = [body for name in world.mounts.on.values() for body in world.loose_tools[name].bodies]
        return [*arms, *tools, *(world.objects[name].body for name in without)]
