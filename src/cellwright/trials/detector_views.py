"""Views of the detectors of a cell, by its drawings: cameras, tables, boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cellwright.drawings.prior import Drawings
from cellwright.knowledge import BeliefState
from cellwright.motion.planning.furniture_boxes import furniture_boxes
from cellwright.perception import DetectorView, FurnitureBoxes, ViewModel
from cellwright.perception.support import Surface

__all__ = ["furniture_about", "surfaces_of", "view_model"]


def view_model(drawings: Drawings, detectors: Sequence[str]) -> ViewModel:
    """Returns what detectors can see: drawn furniture stands in their way, but for the piece that carries a camera."""
    boxes, cameras = drawings.views(detectors), drawings.detector_cameras
    found = {
        name: DetectorView(cameras[name], *boxes[name], furniture_about(drawings, cameras[name].fixture))
        for name in detectors
        if name in cameras
    }
    return ViewModel(found, tuple(drawings.cell.robots))


def furniture_about(drawings: Drawings, carrier: str = "") -> FurnitureBoxes:
    """Returns the solid pieces of all drawn furniture but one; panes are clear."""
    return FurnitureBoxes.of(
        (pose @ pose_box, half_m)
        for name, figures, pose in drawings.fixtures
        if name != carrier
        for pose_box, half_m in furniture_boxes(figures, panes=False)
    )


def surfaces_of(believed: BeliefState) -> list[Surface]:
    """Returns the tops of tables and the floors of boxes, on which things lie whose height no detector measures."""
    found = []
    for name, size_m in believed.relations.sizes.items():
        kind = believed.kind(name)
        if believed.has_pose(name) and (kind == "WorkTable" or kind.startswith("LargeBox")):
            pose, height_m = believed.pose(name), size_m[2] if kind == "WorkTable" else 0.0
            half = np.array(size_m) / 2
            corners = pose.apply([[x, y, height_m] for x in (-half[0], half[0]) for y in (-half[1], half[1])])
            (low_x, low_y, low_z), (high_x, high_y, _) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
            found.append(Surface((low_x, low_y), (high_x, high_y), low_z))
    return found
