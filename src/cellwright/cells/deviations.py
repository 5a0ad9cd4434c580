"""Deviations of an actual layout from the nominal one."""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.catalogue import FURNITURE
from cellwright.cells.layout import Layout
from cellwright.cells.schema import Cell
from cellwright.cells.standing import pivot_m
from cellwright.core.pose import Pose

__all__ = ["LayoutDeviation", "layout_deviations"]


@dataclass(frozen=True)
class LayoutDeviation:
    """The way of something from where it is drawn to where it is.

    Attributes:
        shift_m: Of the point about which its error turns it.
        turn_rad: About any axis.
    """

    shift_m: float
    turn_rad: float


def layout_deviations(cell: Cell, nominal: Layout, actual: Layout) -> dict[str, LayoutDeviation]:
    """Returns name -> deviation of all robots, cameras and fixtures; a fixture's camera counts, not its post."""
    pairs = {name: (base, actual.bases[name]) for name, base in nominal.bases.items()}
    for name, pose in nominal.fixtures.items():
        top = Pose.from_xyz_rpy(pivot_m(FURNITURE.get(cell.fixtures[name].model)))
        pairs[name] = (pose @ top, actual.fixtures[name] @ top)
    for name, camera in nominal.cameras.items():
        pairs[name] = (camera.pose_in_world, actual.cameras[name].pose_in_world)
    return {
        name: LayoutDeviation(drawn.distance_m(real), drawn.angle_rad(real)) for name, (drawn, real) in pairs.items()
    }
