"""The shape of a camera housing on a mast, turned the way its cameras look."""

from __future__ import annotations

import numpy as np

from cellwright.catalogue.furniture_kinds import CameraRigFigures
from cellwright.core.pose import Pose
from cellwright.shapes.body_shape import Hull
from cellwright.shapes.furniture_builder import BODY, FurnitureBuilder, FurnitureShape, slab
from cellwright.shapes.mesh import Mesh
from cellwright.shapes.solids import ALONG_X, drum, placed, rod

__all__ = ["camera_rig_shape"]

NECK_RADIUS_M = 0.012
CLEAR_M = 0.002  # the lens ends just behind the centre of projection, so that no camera sees its own


def camera_rig_shape(figures: CameraRigFigures) -> FurnitureShape:
    """Returns foot, mast, boom, neck, housing, lenses."""
    builder = FurnitureBuilder()
    first = figures.lenses[0]
    pose = Pose.from_xyz_rpy(first.xyz_m, first.rpy_rad)
    middle = _housing(builder, figures, pose)
    (x, y), (foot_x, foot_y, foot), side = figures.mast_xy_m, figures.foot_size_m, figures.profile_m
    boom = figures.boom_m
    builder.add_visual("black", placed(slab((foot_x, foot_y), 0.03, 0.0, foot, 0.003), (x, y, 0.0)))
    builder.hulls.append(Hull.box(BODY, (x - foot_x / 2, y - foot_y / 2, 0.0), (x + foot_x / 2, y + foot_y / 2, foot)))
    builder.add_profile(side, (x, y, foot), (x, y, boom + side / 2))
    end = float(middle[1])
    if abs(end - y) > side:
        toward = np.sign(end - y)
        builder.add_profile(side, (x, y + toward * side / 2, boom), (x, end + toward * side, boom))
    top = (x, end, boom)
    builder.add_visual("black", rod([middle, 0.5 * (middle + top), top], NECK_RADIUS_M, points=16, steps=3))
    builder.hulls.append(Hull.cylinder(BODY, NECK_RADIUS_M, (*middle,), top))
    return builder.build()


def _housing(builder: FurnitureBuilder, figures: CameraRigFigures, pose: Pose) -> np.ndarray:
    """Adds housing and lenses, along the way the cameras look; returns the housing's middle in the piece's frame."""
    (deep, wide, high), (front, y, z) = figures.housing_size_m, figures.housing_offset_m

    def laid(mesh: Mesh) -> Mesh:
        return Mesh(pose.apply(placed(mesh, rpy_rad=ALONG_X).vertices), mesh.faces)

    builder.add_visual("housing", laid(slab((high, wide), 0.008, front - deep, front, 0.003).moved((-z, y, 0.0))))
    centre = pose @ Pose.from_xyz_rpy((front - deep / 2, y, z))
    builder.hulls.append(Hull(BODY, "box", (deep / 2, wide / 2, high / 2), centre))
    radius = 0.3 * high
    for lens in figures.lenses:
        _, aside, up = pose.inverse().apply(lens.xyz_m)
        builder.add_visual("black", laid(drum(radius, (front, -CLEAR_M), (0.0, 0.0015)).moved((-up, aside, 0.0))))
        builder.add_visual("glass", laid(drum(0.75 * radius, (front, -CLEAR_M + 0.0005)).moved((-up, aside, 0.0))))
    if figures.projector is not None:
        builder.add_visual("projector", laid(drum(0.8 * radius, (front, front + 0.006), 0.001).moved((-z, y, 0.0))))
    return centre.position
