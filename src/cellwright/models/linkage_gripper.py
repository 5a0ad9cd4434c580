"""A gripper with four-bar linkages as a MuJoCo model: the loops are closed by constraints, one drive moves both."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue.robotiq_2f_85 import LinkageGripperFigures
from cellwright.models.gripper import finish_gripper, gripper_skeleton

__all__ = ["build_linkage_gripper"]

CLOSURE_TIME_S = 0.002
IMPEDANCE = 0.999  # pins in bushes: no play, and hardly any give
SIDES = (("left", 1.0), ("right", -1.0))


def build_linkage_gripper(figures: LinkageGripperFigures) -> mujoco.MjSpec:
    """Returns the gripper as `build_gripper` makes one, with knuckles: bodies `knuckle_left`, `inner_left` and so on.

    Each finger may move in its plane, by a slide along x, of its own name, one along z and a hinge. Two knuckles on
    hinges carry it: each ends in a pin, and two `connect` constraints per side hold the pins in the finger. That
    leaves one freedom per side. The sides move alike, as on the motor's common screw.

    The drive is commanded, and pushes, in terms of the pads. In a mechanism with one freedom that is the same as a
    torque `F dx / da` at the knuckles, and it makes the pads' force the same at every width, as the maker states it.
    """
    spec, bodies = gripper_skeleton(figures)
    tool = bodies["tool"]
    for side, sign in SIDES:
        finger = bodies[f"finger_{side}"]
        finger.pos = [sign * figures.open_m, 0.0, figures.pad_xz_m(0.0)[1]]
        for name, kind, axis in (
            (f"lift_{side}", mujoco.mjtJoint.mjJNT_SLIDE, [0.0, 0.0, 1.0]),
            (f"tilt_{side}", mujoco.mjtJoint.mjJNT_HINGE, [0.0, -1.0, 0.0]),
        ):
            joint = finger.add_joint(name=name, type=kind, axis=axis)
            joint.armature = 1e-5  # the smallest bodies of the model: without it, the solver's numbers grow far apart
        for link, pivot, mass in (
            ("knuckle", figures.knuckle_xz_m, figures.knuckle_mass_kg),
            ("inner", figures.inner_xz_m, figures.inner_mass_kg),
        ):
            bodies[f"{link}_{side}"] = _add_link(tool, figures, f"{link}_{side}", sign, pivot, mass)
            x, z = figures.pivot_in_pad_xz_m
            dx, dz = pivot[0] - figures.knuckle_xz_m[0], pivot[1] - figures.knuckle_xz_m[1]
            finger.add_site(name=f"{link}_bush_{side}", pos=[x + dx, 0.0, z + dz], size=[0.001] * 3, group=4)
            _close(spec, f"{link}_{side}", f"{link}_pin_{side}", f"{link}_bush_{side}")
    finish_gripper(spec, bodies, figures)
    return spec


def _add_link(
    tool: Any, figures: LinkageGripperFigures, name: str, sign: float, pivot_xz_m: tuple[float, float], mass_kg: float
) -> Any:
    """Returns a knuckle: a slender rod from its pivot to its pin; it turns inwards with a growing angle."""
    half_turn = [1.0, 0.0, 0.0, 0.0] if sign > 0 else [0.0, 0.0, 0.0, 1.0]
    link = tool.add_body(name=name, pos=[sign * pivot_xz_m[0], 0.0, pivot_xz_m[1]], quat=half_turn)
    arm = np.array([figures.arm_xz_m[0], 0.0, figures.arm_xz_m[1]])
    link.mass, link.ipos = mass_kg, arm / 2
    link.inertia = np.full(3, mass_kg * float(arm @ arm) / 12)
    hinge = link.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, -1.0, 0.0])
    hinge.armature = 1e-5
    side = name.rpartition("_")[2]
    link.add_site(name=f"{name.partition('_')[0]}_pin_{side}", pos=arm, size=[0.001] * 3, group=4)
    return link


def _close(spec: Any, name: str, pin: str, bush: str) -> None:
    joint = spec.add_equality(name=name, type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE)
    joint.name1, joint.name2 = pin, bush
    joint.solref[:2] = (CLOSURE_TIME_S, 1.0)
    joint.solimp[:2] = (IMPEDANCE, IMPEDANCE)
