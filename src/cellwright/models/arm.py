"""A robot arm as a MuJoCo model: joints, servos, gravity compensation, wrist sensor, hulls and looks."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue.arms import ArmFigures, JointFigures
from cellwright.core.errors import UnknownName
from cellwright.core.rotation import quaternion_from_rpy
from cellwright.models.arm_visuals import add_hulls, add_pieces
from cellwright.models.contact_settings import METAL
from cellwright.shapes.body_shape import BodyShape
from cellwright.shapes.lr_mate_200id import LR_MATE_200ID_SHAPE
from cellwright.shapes.sia20f import SIA20F_SHAPE
from cellwright.shapes.ur5 import UR5_SHAPE

__all__ = ["ARM_SHAPES", "SERVO_INPUTS", "add_wrist", "build_arm"]

ARM_SHAPES: Mapping[str, BodyShape] = MappingProxyType(
    {"lr_mate_200id": LR_MATE_200ID_SHAPE, "sia20f": SIA20F_SHAPE, "ur5": UR5_SHAPE}
)

SERVO_INPUTS = sum(int(getattr(mujoco.mjtCtrlInput, f"mjINPUT_{name}")) for name in ("POS", "VEL", "FF"))
"""What a joint's servo is commanded with: position, velocity, torque."""


def build_arm(figures: ArmFigures, shape: BodyShape | None = None) -> mujoco.MjSpec:
    """Returns the arm as a spec whose root body `base` is fixed; attach it at a frame of the world.

    Bodies `base`, `link_1` ... `link_n`, `flange`; joints and actuators `joint_1` ... `joint_n`; site `flange` (z
    out of the flange); sensors `wrist_force` and `wrist_torque`, which read what the flange carries: `flange`
    weighs nothing itself, so tool and part are all that hangs on it.

    Each actuator is a `pid` with three controls, position, velocity and torque (added to what the pid makes of the
    others): find the first in ``model.actuator_ctrladr[actuator]``; the others follow it. A set point is met at the
    end of the step that it is written for. With its gains at zero, the actuator is a plain motor.

    Args:
        figures: From the catalogue.
        shape: Looks and hulls; by default the one that belongs to the figures' name.
    """
    if shape is None:
        if figures.name not in ARM_SHAPES:
            raise UnknownName("arm shape", figures.name, ARM_SHAPES)
        shape = ARM_SHAPES[figures.name]
    spec = mujoco.MjSpec()
    spec.modelname = figures.name
    spec.compiler.degree = False
    bodies: dict[str, Any] = {"base": spec.worldbody.add_body(name="base")}
    parent = bodies["base"]
    gains = zip(figures.stiffness_nm_per_rad, figures.damping_nms_per_rad, strict=True)
    for joint, link, (kp, kv) in zip(figures.joints, figures.links[1:], gains, strict=True):
        body = parent.add_body(name=link.name, pos=joint.origin_xyz_m, quat=_quat(joint.origin_rpy_rad))
        _add_drive(spec, body, joint, kp, kv)
        bodies[link.name] = parent = body
    for link in figures.links:
        body = bodies[link.name]
        body.mass, body.ipos, body.inertia = link.mass_kg, link.com_xyz_m, link.inertia_diagonal_kgm2
        body.explicitinertial = True
        body.gravcomp = 1.0
    _add_flange(spec, parent, figures)
    for first, second in pairwise(bodies):
        spec.add_exclude(name=f"{first}-{second}", bodyname1=first, bodyname2=second)
    add_hulls(bodies, shape.hulls, METAL)
    add_pieces(spec, bodies, shape.pieces(), figures.colours)
    return spec


def _quat(rpy_rad: tuple[float, float, float]) -> Any:
    return quaternion_from_rpy(np.asarray(rpy_rad))


def _add_drive(spec: Any, body: Any, joint: JointFigures, kp: float, kv: float) -> None:
    """Adds the joint and its servo; the drive carries the arm's weight within its own torque limit."""
    effort = (-joint.effort_limit_nm, joint.effort_limit_nm)
    hinge = body.add_joint(name=joint.name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=joint.axis)
    hinge.range = joint.position_limits_rad
    hinge.limited = True
    hinge.armature = joint.armature_kgm2
    hinge.damping[0] = joint.viscous_damping_nms_per_rad
    hinge.actgravcomp = True
    hinge.actfrclimited = True
    hinge.actfrcrange = effort
    servo = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    servo.set_to_pid(kp=kp, kv=kv, ctrlspec=SERVO_INPUTS)
    servo.ctrllimited = True
    servo.ctrlrange = joint.position_limits_rad
    servo.velrange = (-joint.velocity_limit_radps, joint.velocity_limit_radps)
    servo.forcelimited = True
    servo.forcerange = effort


def _add_flange(spec: Any, last_link: Any, figures: ArmFigures) -> None:
    pose = {"pos": figures.flange_xyz_m, "quat": _quat(figures.flange_rpy_rad)}
    add_wrist(spec, last_link.add_body(name="flange", **pose))


def add_wrist(spec: Any, flange: Any) -> None:
    """Puts a site of its own name and its sensors on the body of a flange."""
    flange.add_site(name=flange.name, size=[0.005, 0.005, 0.005], group=4)
    for name, kind in (
        ("wrist_force", mujoco.mjtSensor.mjSENS_FORCE),
        ("wrist_torque", mujoco.mjtSensor.mjSENS_TORQUE),
    ):
        spec.add_sensor(name=name, type=kind, objtype=mujoco.mjtObj.mjOBJ_SITE, objname=flange.name)
