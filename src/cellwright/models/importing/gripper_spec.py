"""An imported gripper as a model: the file's mechanism, slides that carry the width, and a drive that acts on them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue import GripperFigures
from cellwright.core.pose import Pose
from cellwright.models.contact_settings import PAD, make_collision
from cellwright.models.importing.jaws import PREFIX, Jaws

__all__ = ["SLIDES", "empty_spec", "gripper_spec"]

ROTOR_KGM2, ROTOR_KGM2PN = 5e-4, 5e-5  # at the joints that the drive moves, and of the drive itself by its force
STIFF = [0.9999, 0.9999, 0.001, 0.5, 2.0]
SLIDES = ("finger_left", "finger_right")


def empty_spec(name: str) -> Any:
    """Returns a new specification in radians."""
    spec = mujoco.MjSpec()
    spec.modelname = name
    spec.compiler.degree = False
    return spec


def gripper_spec(spec: Any, model: Any, jaws: Jaws, turn: Pose, figures: GripperFigures) -> Any:
    """Returns the gripper: root body `tool` in the flange's frame, mechanism, slides, drive, pads and centre point."""
    for item in [*spec.actuators, *spec.sensors, *spec.excludes, *spec.tendons]:
        spec.delete(item)
    names = {
        model.geom(geom).name: f"pad_{side}" if number == 0 else f"pad_{side}_{number}"
        for side, geoms in zip(("left", "right"), jaws.faces, strict=True)
        for number, geom in enumerate(geoms)
    }
    for name in names:
        make_collision(spec.geom(name), PAD)
    whole = empty_spec(figures.name)
    tool = whole.worldbody.add_body(name="tool")
    frame = tool.add_frame(pos=np.array(turn.position), quat=np.array(turn.quaternion))
    frame.attach_body(next(iter(spec.worldbody.bodies)), PREFIX, "")
    for own, name in names.items():
        whole.geom(f"{PREFIX}{own}").name = name
    tool.add_site(name="tcp", pos=figures.tcp_xyz_m, size=[0.003, 0.003, 0.003], group=4)
    driver = f"{PREFIX}{jaws.driver}"
    start = float(model.qpos0[model.joint(jaws.driver).qposadr[0]])
    degree = min(4, len(jaws.positions) - 1)
    fit = np.polynomial.polynomial.polyfit(jaws.positions - start, jaws.halves_m - figures.open_m, degree)
    for name, sign in zip(SLIDES, (1.0, -1.0), strict=True):
        _add_width_slide(tool, name, sign, figures)
        whole.add_equality(
            name=f"{name} follows {driver}",
            type=mujoco.mjtEq.mjEQ_JOINT,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            name1=name,
            name2=driver,
            data=[*fit.tolist(), *[0.0] * (12 - len(fit))],
        )
    grip = whole.add_actuator(name="grip", target="finger_left", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    grip.set_to_position(kp=figures.stiffness_npm)
    grip.ctrlrange, grip.ctrllimited = (figures.closed_m, figures.open_m), True
    grip.forcerange, grip.forcelimited = (-figures.drive_force_n, figures.drive_force_n), True
    _stiffen(whole, driver, figures)
    for body in whole.bodies:
        body.gravcomp = 1.0
    solid = sorted({geom.parent.name for geom in whole.geoms if geom.contype or geom.conaffinity})
    for first, second in combinations(solid, 2):
        whole.add_exclude(name=f"{first}-{second}", bodyname1=first, bodyname2=second)
    whole.copy().compile()
    return whole


def _stiffen(whole: Any, driver: str, figures: GripperFigures) -> None:
    """Removes all losses of what the drive moves but the drive's own, and adds rotors.

    The force of the figures is what arrives at the pads. The engine weighs a coupling by its lighter end, metres and
    radians alike: without rotors couplings would be springs, and pads would give way by millimetres.
    """
    for item in whole.equalities:
        item.solref, item.solimp = [figures.coupling_time_s, 1.0], STIFF
    couplings = [item for item in whole.equalities if item.type == mujoco.mjtEq.mjEQ_JOINT]
    for name in {driver} | {coupling.name1 for coupling in couplings} - set(SLIDES):
        joint = whole.joint(name)
        joint.actfrclimited = False  # the drive's limit counts at the pads
        rotor = max(ROTOR_KGM2, ROTOR_KGM2PN * figures.grip_force_n) if name == driver else ROTOR_KGM2
        least = rotor if joint.type == mujoco.mjtJoint.mjJNT_HINGE else figures.finger_armature_kg
        joint.armature = max(float(joint.armature), least)
        joint.damping[0], joint.frictionloss = figures.losses.get(name, 0.0), 0.0


def _add_width_slide(tool: Any, name: str, sign: float, figures: GripperFigures) -> None:
    """Adds a slide whose position is the pad's distance from the middle."""
    body = tool.add_body(name=name.replace("finger", "gauge"), pos=figures.tcp_xyz_m)
    body.explicitinertial = True
    body.mass, body.inertia = 1e-4, [1e-8] * 3
    slide = body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[sign, 0.0, 0.0])
    slide.ref = figures.open_m
    slide.range, slide.limited = (figures.closed_m, figures.open_m), True
    slide.armature = figures.finger_armature_kg
