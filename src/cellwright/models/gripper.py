"""A parallel gripper as a MuJoCo model: two coupled fingers, one drive, pads that hold by friction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue.grippers import GripperFigures
from cellwright.models.arm_visuals import add_hulls, add_pieces
from cellwright.models.contact_settings import METAL, PAD, make_collision
from cellwright.shapes.body_shape import BodyShape
from cellwright.shapes.grippers import gripper_shape
from cellwright.shapes.robotiq_2f_85 import robotiq_shape
from cellwright.shapes.wsg_50 import wsg_50_shape

__all__ = ["GRIPPER_SHAPES", "build_gripper", "finish_gripper", "gripper_skeleton"]

GRIPPER_SHAPES: Mapping[str, Callable[[GripperFigures], BodyShape]] = MappingProxyType(
    {"wsg_50": wsg_50_shape, "robotiq_2f_85": robotiq_shape}
)
"""Grippers with looks of their own; all others look like those of the APRS lab."""


def build_gripper(figures: GripperFigures) -> mujoco.MjSpec:
    """Returns the gripper as a spec whose root body `tool` has the flange's frame; attach it at the flange.

    Bodies `tool`, `finger_left` (on the +x side), `finger_right`; a slide joint of the same name for each finger,
    whose position is its pad's distance from the middle; pads `pad_left`, `pad_right`; site `tcp` between them.

    The actuator `grip` is commanded with the position of the fingers, half the gap between the pads, in metres. It
    acts on one finger and the coupling hands half of its force on to the other, so each presses with half of it. On
    a part the drive stalls at its limit, hence a constant force; the damping of the fingers sets the closing speed.
    """
    spec, bodies = gripper_skeleton(figures)
    finish_gripper(spec, bodies, figures)
    return spec


def gripper_skeleton(figures: GripperFigures) -> tuple[Any, dict[str, Any]]:
    """Returns the moving parts and the drive without visuals: the specification and its bodies by name."""
    spec = mujoco.MjSpec()
    spec.modelname = figures.name
    spec.compiler.degree = False
    tool = spec.worldbody.add_body(name="tool")
    tool.mass, tool.ipos, tool.inertia = figures.body_mass_kg, *_box_inertia(figures)
    bodies = {"tool": tool}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        bodies[f"finger_{side}"] = _add_finger(tool, figures, side, sign)
    tool.add_site(name="tcp", pos=figures.tcp_xyz_m, size=[0.003, 0.003, 0.003], group=4)
    _add_drive(spec, figures)
    return spec, bodies


def finish_gripper(spec: Any, bodies: Mapping[str, Any], figures: GripperFigures) -> None:
    """Adds visuals and hulls; the bodies have their masses, carry themselves and do not collide with each other."""
    for body in bodies.values():
        body.explicitinertial = True
        body.gravcomp = 1.0
    for first, second in combinations(bodies, 2):
        spec.add_exclude(name=f"{first}-{second}", bodyname1=first, bodyname2=second)
    shape = GRIPPER_SHAPES.get(figures.name, gripper_shape)(figures)
    add_hulls(bodies, shape.hulls, METAL)
    add_pieces(spec, bodies, shape.pieces(), figures.colours)


def _box_inertia(figures: GripperFigures) -> tuple[Any, Any]:
    """Returns centre and moments of mount and housing as one solid block."""
    size = np.array(figures.body_size_m)
    size[2] += figures.mount_height_m
    centre = np.array([figures.tcp_xyz_m[0] / 2, figures.tcp_xyz_m[1] / 2, size[2] / 2])
    return centre, figures.body_mass_kg / 12 * ((size**2).sum() - size**2)


def _add_finger(tool: Any, figures: GripperFigures, side: str, sign: float) -> Any:
    """Returns a finger whose frame sits on its pad's face; the right one is the left one turned round."""
    x, y, z = figures.tcp_xyz_m
    half_turn = [1.0, 0.0, 0.0, 0.0] if sign > 0 else [0.0, 0.0, 0.0, 1.0]
    finger = tool.add_body(name=f"finger_{side}", pos=[x + sign * figures.open_m, y, z], quat=half_turn)
    thick, wide, long = figures.finger_size_m
    size = np.array([2 * thick, wide, long])
    finger.mass = figures.finger_mass_kg
    finger.ipos = [figures.pad_size_m[0] + thick, 0.0, figures.pad_offset_m + figures.pad_size_m[2] / 2 - long / 2]
    finger.inertia = figures.finger_mass_kg / 12 * ((size**2).sum() - size**2)
    slide = finger.add_joint(name=f"finger_{side}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1.0, 0.0, 0.0])
    slide.ref = figures.open_m
    slide.range = (figures.closed_m, figures.open_m)
    slide.limited = True
    slide.armature = figures.finger_armature_kg
    slide.damping[0] = figures.finger_damping_nspm
    thickness, width, length = figures.pad_size_m
    pad = finger.add_geom(
        name=f"pad_{side}",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[thickness / 2, width / 2, length / 2],
        pos=[thickness / 2, 0.0, figures.pad_offset_m],
        mass=0.0,
    )
    make_collision(pad, PAD)
    return finger


def _add_drive(spec: Any, figures: GripperFigures) -> None:
    spec.add_equality(
        name="fingers_move_alike",
        type=mujoco.mjtEq.mjEQ_JOINT,
        objtype=mujoco.mjtObj.mjOBJ_JOINT,
        name1="finger_right",
        name2="finger_left",
        data=[0.0, 1.0] + [0.0] * 10,
        solref=[figures.coupling_time_s, 1.0],
    )
    grip = spec.add_actuator(name="grip", target="finger_left", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    grip.set_to_position(kp=figures.stiffness_npm)
    grip.ctrllimited = True
    grip.ctrlrange = (figures.closed_m, figures.open_m)
    grip.forcelimited = True
    grip.forcerange = (-figures.drive_force_n, figures.drive_force_n)
