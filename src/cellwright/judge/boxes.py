"""Boxes for finished kits: which they are, and whether a tray stands in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cellwright.catalogue import FURNITURE, TRAYS, BoxFigures, TrayFigures, TrayKind
from cellwright.core.pose import Pose
from cellwright.sim import World

__all__ = ["BoxPlacement", "KitBoxes", "boxes_of"]

HEIGHT_LIMIT_M = 0.003


@dataclass(frozen=True)
class BoxPlacement:
    """The placement of a tray in or out of boxes.

    Attributes:
        box: The box that it is in, or the nearest one.
        inside: Whether its middle is in a compartment of that.
        stands: Whether it is on the bottom there, or on another tray.
        reason: Why not, or how well.
    """

    box: str
    inside: bool
    stands: bool
    reason: str


@dataclass(frozen=True)
class KitBoxes:
    """The boxes of a cell, by what its drawings have in them: empty kit trays, or nothing yet.

    Attributes:
        supplies: Boxes of empty kit trays.
        outlets: Boxes for finished kits.
    """

    supplies: Mapping[str, BoxFigures]
    outlets: Mapping[str, BoxFigures]

    def placement(self, world: World, tray: str, boxes: Mapping[str, BoxFigures] | None = None) -> BoxPlacement:
        """Returns the placement of a tray in one of the boxes, or in one for finished kits; there must be one."""
        some = self.outlets if boxes is None else boxes
        pose, figures = world.pose_of(tray), world.objects[tray].figures
        assert isinstance(figures, TrayFigures)
        nearest = min(some, key=lambda name: _distance_m(world.layout.fixtures[name], some[name], pose))
        box, place = some[nearest], world.layout.fixtures[nearest]
        pose_in_box = place.inverse() @ pose
        if not box.holds(pose_in_box.position.tolist()):
            return BoxPlacement(nearest, False, False, f"{_distance_m(place, box, pose):.3f} m from {nearest}")
        levels_m = [box.bottom_m + layer * figures.thickness_m for layer in range(box.layers)]
        up_m = min((float(pose_in_box.position[2]) - level_m for level_m in levels_m), key=abs)
        if abs(up_m) > HEIGHT_LIMIT_M:
            off = f"{abs(up_m) * 1000:.1f} mm {'above' if up_m > 0 else 'below'} its place"
            return BoxPlacement(nearest, True, False, f"in {nearest}, {off} (limit {HEIGHT_LIMIT_M * 1000:g} mm)")
        off_m = min(float(np.hypot(*(pose_in_box.position[:2] - spot[:2]))) for spot in box.places_xyz_m)
        return BoxPlacement(nearest, True, True, f"in {nearest}, {off_m * 1000:.1f} mm from its place")


def boxes_of(world: World) -> KitBoxes:
    """Returns the boxes of a cell."""
    cell = world.cell
    boxes = {
        name: figures
        for name, fixture in cell.fixtures.items()
        if isinstance(figures := FURNITURE.get(fixture.model), BoxFigures)
    }
    trays = [tray.pose.pose for tray in cell.trays.values() if TRAYS.get(tray.model).kind is TrayKind.KIT]

    def is_supply(name: str) -> bool:
        from_world = cell.fixtures[name].pose.pose.inverse()
        return any(boxes[name].holds((from_world @ tray).position.tolist()) for tray in trays)

    supplies = {name: figures for name, figures in boxes.items() if is_supply(name)}
    return KitBoxes(supplies, {name: figures for name, figures in boxes.items() if name not in supplies})


def _distance_m(pose_box: Pose, box: BoxFigures, pose_tray: Pose) -> float:
    return min(pose_tray.distance_m(pose_box @ Pose.from_xyz_rpy(place)) for place in box.places_xyz_m)
