"""The way of a plug into a straight slot: from above to the rim, then by the forces at the wrist."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellwright.catalogue import GearFigures, PartFigures, tray_of_sku
from cellwright.core.pose import Pose
from cellwright.execution.failure import StepFailed
from cellwright.execution.insertion import Inserter, Insertion
from cellwright.execution.overhead_way import OverheadWay
from cellwright.knowledge.held_pose import gripper_figures

__all__ = ["InsertionWay", "StraightFit", "straight_fit"]

EDGE_M = 0.0005  # chamfer of a plug's own edge


@dataclass(frozen=True)
class StraightFit:
    """A plug and the straight slot that it is for, by the drawings.

    Attributes:
        radius_m: Of the plug.
        depth_m: Of the slot.
        capture_m: How far beside the slot chamfers still centre the plug.
    """

    radius_m: float
    depth_m: float
    capture_m: float


def straight_fit(tray_sku: str, slot: str, part: PartFigures) -> StraightFit | None:
    """Returns how a part fits a slot of a tray, when it is a plug for straight walls; None when it is not."""
    tray = tray_of_sku(tray_sku)
    figures = next((each for each in tray.slots if each.name == slot), None) if tray else None
    if tray is None or figures is None or not figures.is_straight:
        return None
    if not isinstance(part, GearFigures) or not part.is_plug:
        return None
    depth_m = tray.thickness_m - figures.floor_m
    return StraightFit(part.cone_bottom_radius_m, depth_m, figures.chamfer_m + EDGE_M)


@dataclass
class InsertionWay(OverheadWay):
    """A way to a straight slot, into which what is held is inserted by force.

    Attributes:
        fit: The plug and its slot.
        error_m: How far beside its place the slot may be.
        done: How the insertion went, once it has.
    """

    fit: StraightFit | None = None
    error_m: float = 0.0
    done: Insertion | None = None

    async def reach(self) -> None:
        """Inserts the plug.

        Raises:
            StepFailed: It did not go in, and hangs above the slot again.
        """
        worker, fit = self.manipulator, self.fit
        assert fit is not None
        assert worker.goes_to is not None
        tool = gripper_figures((await worker.hand.read()).gripper)
        over = Pose(self.pose.position - np.array([0.0, 0.0, worker.recipe.release_m]), self.pose.quaternion)
        bottom_m = over.inverse().apply(worker.goes_to.position)
        tcp_m = np.zeros(3) if tool is None else np.array(tool.tcp_xyz_m)
        inserter = Inserter(
            arm=worker.arm,
            clock=worker.hand.clock,
            bottom_in_tool_m=bottom_m,
            bottom_in_flange_m=bottom_m + tcp_m,
            radius_m=fit.radius_m,
            seat_m=worker.goes_to.position,
            depth_m=fit.depth_m,
            where=self.place,
        )
        try:
            self.done = await inserter.insert(over, self.error_m, fit.capture_m)
        except StepFailed:
            self.short_m = fit.depth_m
            raise
        self.pose = inserter.reading.pose_tool_in_world
