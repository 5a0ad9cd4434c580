"""A robot's way round what is in its way, by what it holds, where the other arms stand and what is believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cellwright.catalogue import PARTS, TRAYS, ArmFigures, Figures
from cellwright.core.pose import Pose
from cellwright.execution.arm_room import ArmPosture
from cellwright.execution.surroundings import carried
from cellwright.execution.trays import hold_of
from cellwright.execution.way_finder import WayFinder
from cellwright.knowledge.held_pose import hanging_tray
from cellwright.knowledge.tray_layout import tray_layout
from cellwright.motion.planning import AttachedObject, Box, CatalogueModel, Cylinder, Obstacle

if TYPE_CHECKING:
    from cellwright.execution.manipulator import Manipulator

__all__ = ["Detours"]

ON_TRAY_M = 0.035  # how far parts stand out of a tray
ROUNDED = 3  # decimals of the angles of another arm: one that stands still stands the same


@dataclass
class Detours:
    """Takes one robot round obstacles.

    Attributes:
        worker: The robot.
        finder: Finds its ways.
        team: All robots.
        models: Robot -> the figures of its arm.
        planning_s: What planning takes of the cell's time.
    """

    worker: Manipulator
    finder: WayFinder
    team: Mapping[str, Manipulator]
    models: Mapping[str, ArmFigures]
    planning_s: float

    async def go(self, goal: Pose | Sequence[float], *, straight: bool = True) -> bool:
        """Moves to a pose of the tool, or to joint angles, round what is in the way.

        Returns:
            Whether it did; not when the straight way is free, or when the robot does not tell how it stands.

        Raises:
            StepFailed: The straight way is blocked, and there is no other.
        """
        worker = self.worker
        reading = worker.hand.reading
        if reading is None or len(reading.joints_rad) != len(self.models[worker.name].joints):
            return False
        corners = self.finder.find(
            reading.joints_rad,
            goal,
            tool=reading.gripper,
            straight=straight,
            held=self._held(reading.gripper),
            others=self._others(),
            things=self._things,
        )
        if not corners:
            return False
        await worker.hand.clock.sleep(self.planning_s)
        for corner in corners:
            await worker.arm.turn(corner)
        return True

    def blocked(self, goal: Pose) -> str:
        """Returns what is in the way of a straight line to a pose of the tool, in words; empty when it is free."""
        worker = self.worker
        reading = worker.hand.reading
        if reading is None or len(reading.joints_rad) != len(self.models[worker.name].joints):
            return ""
        held, others = self._held(reading.gripper), self._others()
        return self.finder.blocked(reading.joints_rad, goal, tool=reading.gripper, held=held, others=others)

    def _held(self, tool: str) -> AttachedObject | None:
        worker, here = self.worker, Pose.identity()
        if not worker.held:
            return None
        if not worker.carries_tray:
            figures = worker.believed.part(worker.held).figures
            return AttachedObject(worker.held, CatalogueModel(figures), worker.part_in_tool(tool))
        hold, tray = hold_of(worker.held_sku, tool), _of_sku(worker.held_sku)
        if hold is None or tray is None:
            return None
        return AttachedObject(worker.held, CatalogueModel(tray), hanging_tray(here, hold.grip, here))

    def _others(self) -> list[ArmPosture]:
        """Returns the arms that stand still; those at work are kept apart by zones."""
        found = []
        for name, other in self.team.items():
            reading, model = other.hand.reading, self.models.get(name)
            if other is self.worker or model is None or reading is None or other.busy.locked():
                continue
            if len(reading.joints_rad) == len(model.joints):
                joints = tuple(round(angle, ROUNDED) for angle in reading.joints_rad)
                found.append(ArmPosture(name, model, other.believed.pose(name), joints, reading.gripper))
        return found

    def _things(self) -> list[Obstacle]:
        """Returns trays, as high as what stands in them, and parts that lie about."""
        believed = self.worker.believed
        hanging = carried(believed) | {other.held for other in self.team.values()}
        found = []
        for tray in believed.trays():
            if tray in hanging or not believed.has_pose(tray):
                continue
            length_m, width_m, height_m = tray_layout(believed.sku(tray)).size_m
            height_m += ON_TRAY_M
            middle = believed.pose(tray) @ Pose.from_xyz_rpy([0.0, 0.0, height_m / 2])
            found.append(Obstacle(tray, Box((length_m, width_m, height_m)), middle))
        for part in believed.parts():
            if part.name not in hanging:
                solid = Cylinder(part.figures.radius_m, part.figures.height_m)
                middle = part.pose_in_world @ Pose.from_xyz_rpy([0.0, 0.0, part.figures.height_m / 2])
                found.append(Obstacle(part.name, solid, middle))
        return found


def _of_sku(sku: str) -> Figures | None:
    """Returns the model of a SKU."""
    models = [models.get(name) for models in (TRAYS, PARTS) for name in models]
    return next((model for model in models if model.sku == sku), None)
