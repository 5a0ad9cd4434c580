"""Furniture for the simulation: it never moves, so it needs no mass."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue.furniture_kinds import (
    CameraRigFigures,
    FloorFigures,
    FurnitureFigures,
    OpticalTableFigures,
    PlatedTableFigures,
)
from cellwright.core.pose import Pose
from cellwright.models.arm_visuals import add_hulls, add_pieces
from cellwright.models.contact_settings import METAL, PLASTIC, GeomGroup, make_collision, make_visual
from cellwright.shapes.body_shape import Hull
from cellwright.shapes.furniture import BODY, furniture_shape

__all__ = ["build_furniture", "camera_frame", "vertical_fov_rad"]

PANE_ALPHA = 0.16
CAMERA_TURN = Pose.from_xyz_rpy((0.0, 0.0, 0.0), (np.pi / 2, 0.0, -np.pi / 2))
"""From figures that look along x, with z up, to MuJoCo's cameras, which look along -z, with y up."""


def build_furniture(figures: FurnitureFigures) -> Any:
    """Returns a piece of furniture as an `MjSpec` with one body `furniture`, without a joint.

    Its cameras have the names of their figures. A projector is a site of the name `projector`, turned like a camera;
    a table's raised plates have sites of their names in the middle of their upper faces.
    """
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name=BODY)
    if isinstance(figures, FloorFigures):
        _add_floor(spec, body, figures)
        return spec
    shape = furniture_shape(figures)
    add_pieces(spec, {BODY: body}, shape.pieces, figures.colours)
    add_hulls({BODY: body}, (*shape.hulls, *shape.panes), METAL)
    if shape.panes:
        spec.add_material(name="pane", rgba=[*figures.colours["pane"], PANE_ALPHA], specular=0.6, shininess=0.8)
    for number, pane in enumerate(shape.panes):
        _add_pane(body, f"pane_{number}", pane)
    if isinstance(figures, OpticalTableFigures | PlatedTableFigures):
        _add_holes(spec, body, figures)
    for camera in figures.cameras:
        body.add_camera(
            name=camera.name,
            fovy=np.degrees(vertical_fov_rad(camera.fov_rad, camera.resolution_px)),
            resolution=camera.resolution_px,
            **camera_frame(Pose.from_xyz_rpy(camera.xyz_m, camera.rpy_rad)),
        )
    if isinstance(figures, CameraRigFigures) and figures.projector is not None:
        frame = camera_frame(Pose.from_xyz_rpy(figures.projector.xyz_m, figures.projector.rpy_rad))
        body.add_site(name="projector", group=GeomGroup.COLLISION, **frame)
    if isinstance(figures, PlatedTableFigures):
        for plate in figures.plates:
            middle = np.add(plate.min_xy_m, plate.max_xy_m) / 2
            body.add_site(name=plate.name, pos=[*middle, plate.top_m], group=GeomGroup.COLLISION)
    return spec


def camera_frame(looking_along_x: Pose) -> dict[str, Any]:
    """Returns position and orientation of a MuJoCo camera that looks along x of a pose."""
    pose = looking_along_x @ CAMERA_TURN
    return {"pos": np.array(pose.position), "quat": np.array(pose.quaternion)}


def vertical_fov_rad(fov_rad: float, resolution_px: tuple[int, int]) -> float:
    """Returns the angle of view across the rows, from that across the columns."""
    columns, rows = resolution_px
    return float(2 * np.arctan(np.tan(fov_rad / 2) * rows / columns))


def _add_pane(body: Any, name: str, pane: Hull) -> None:
    geom = body.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=pane.size_m,
        pos=pane.pose.position,
        quat=pane.pose.quaternion,
        material="pane",
        castshadow=False,
    )
    make_visual(geom)


def _add_holes(spec: Any, body: Any, figures: OpticalTableFigures | PlatedTableFigures) -> None:
    """Adds the grid of threaded holes as a texture: 4,700 holes cost nothing that way."""
    side, pitch = 64, figures.hole_pitch_m
    x, y = np.meshgrid(*[(np.arange(side) + 0.5) / side * pitch - pitch / 2] * 2)
    blend = np.clip((np.hypot(x, y) - figures.hole_diameter_m / 2) / (pitch / side) + 0.5, 0, 1)[..., None]
    colours = np.array(figures.colours["hole"]) * (1 - blend) + np.array(figures.colours["steel"]) * blend
    spec.add_texture(
        name="holes",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        width=side,
        height=side,
        nchannel=3,
        data=np.round(colours * 255).astype(int).reshape(-1).tolist(),
    )
    material = spec.add_material(name="holes", specular=0.4, shininess=0.5, texuniform=True)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "holes"
    material.texrepeat = [2 / pitch, 2 / pitch]  # per two metres, MuJoCo's unit for uniform textures
    half_x, half_y = (np.floor(length / pitch) * pitch / 2 for length in figures.size_m)
    plane = body.add_geom(
        name="holes",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[half_x, half_y, 1.0],
        pos=[0.0, 0.0, figures.top_m + 0.0003],
        material="holes",
        castshadow=False,
    )
    make_visual(plane)


def _add_floor(spec: Any, body: Any, figures: FloorFigures) -> None:
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    make_collision(body.add_geom(name="floor", type=plane, size=[0.0, 0.0, 1.0]), PLASTIC)
    spec.add_material(name="floor", rgba=[*figures.colours["floor"], 1.0], specular=0.1, shininess=0.2)
    # It would shadow itself: a shadow map knows depths in steps, and part of the floor would lie below its own.
    seen = body.add_geom(name="floor_visual", type=plane, size=[0.0, 0.0, 1.0], material="floor", castshadow=False)
    make_visual(seen)
    spec.add_material(name="yellow", rgba=[*figures.colours["yellow"], 1.0], specular=0.1, shininess=0.2)
    half, thick = figures.line_width_m / 2, 0.0005
    lx, ly = figures.line_size_m[0] / 2 + half, figures.line_size_m[1] / 2 + half
    for number, (px, py, sx, sy) in enumerate(
        [(0, -ly, lx + half, half), (0, ly, lx + half, half), (-lx, 0, half, ly - half), (lx, 0, half, ly - half)]
    ):
        geom = body.add_geom(
            name=f"line_{number}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[sx, sy, thick],
            pos=[px, py, thick],
            material="yellow",
            castshadow=False,
        )
        make_visual(geom)
