"""The equation of motion of one arm alone: the torques of a motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import ArmFigures, GripperFigures
from cellwright.core.errors import BadInput
from cellwright.core.gravity import GRAVITY_MPS2
from cellwright.models import build
from cellwright.motion.kinematics import checked_angles

__all__ = ["NO_PAYLOAD", "ArmDynamics", "DynamicsTerms", "Payload"]

Array = npt.NDArray[np.float64]
Vector3 = tuple[float, float, float]

DOWN_MPS2: Vector3 = (0.0, 0.0, -GRAVITY_MPS2)
LEAST_KGM2 = 1e-6  # moments of a body that is as good as a point


@dataclass(frozen=True)
class Payload:
    """The load of an arm beyond its tool, as its operator declares it: the arm cannot know by itself.

    Attributes:
        mass_kg: Its mass.
        centre_in_flange_m: Its centre of mass.
        inertia_kgm2: Its moments about axes through there, parallel to the flange's.
    """

    mass_kg: float = 0.0
    centre_in_flange_m: Vector3 = (0.0, 0.0, 0.0)
    inertia_kgm2: Vector3 = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        numbers = (self.mass_kg, *self.centre_in_flange_m, *self.inertia_kgm2)
        if not np.isfinite(numbers).all() or min(self.mass_kg, *self.inertia_kgm2) < 0:
            raise BadInput(f"a payload has a mass and moments of at least 0, got {self}")


NO_PAYLOAD = Payload()


@dataclass(frozen=True)
class DynamicsTerms:
    """The terms of ``M(q) qdd + C(q, qd) qd + g(q) + damping = torque``, and the flange's Jacobian.

    Attributes:
        M: Mass matrix (n, n), the rotors' inertia behind their gears included.
        C_qd: Coriolis and centrifugal torques (n).
        g: Torques against the weight (n).
        J: Velocity of the flange's origin and turn of the flange, in base axes, per joint speed (6, n).
        Jdot_qd: The part of the flange's acceleration that is there without any of the joints' (6).
    """

    M: Array
    C_qd: Array
    g: Array
    J: Array
    Jdot_qd: Array


class ArmDynamics:
    """One arm as its figures say, without surroundings: no contact, no joint limit, no servo.

    Those would put their own forces into the terms, and a controller that cancels them would push through a stop.

    Attributes:
        armature_kgm2: Of each joint, its rotor's inertia as the joint feels it; part of M.
        damping_nms_per_rad: Of each joint, viscous loss; `inverse` adds it, the terms do not hold it.

    Args:
        figures: Of the arm.
        tool: The gripper on the flange, with open fingers.
        payload: The load besides.
        gravity_mps2: In the base's axes, for an arm that does not stand upright.
    """

    def __init__(
        self,
        figures: ArmFigures,
        tool: GripperFigures | None = None,
        payload: Payload = NO_PAYLOAD,
        *,
        gravity_mps2: Vector3 = DOWN_MPS2,
    ) -> None:
        self.arm = figures
        self._model = _compile(figures, tool, payload, gravity_mps2)
        self._data: Any = mujoco.MjData(self._model)
        self._site = int(self._model.site(figures.flange_body).id)
        self._body = int(self._model.site_bodyid[self._site])
        self.armature_kgm2: Array = self._model.dof_armature.copy()
        self.damping_nms_per_rad: Array = np.array([j.viscous_damping_nms_per_rad for j in figures.joints])

    def dynamics(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> DynamicsTerms:
        """Returns every term at joint angles (rad) and speeds (rad/s)."""
        model, data, count = self._model, self._data, self._model.nv
        self._place(q, np.zeros(count))
        mass, weight, bias = np.zeros((count, count)), np.zeros(count), np.zeros(count)
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, mass)
        mujoco.mj_rne(model, data, 0, weight)
        data.qvel[:] = speeds = checked_angles(self.arm, qd)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 0, bias)
        jacobian, change = np.zeros((6, count)), np.zeros((6, count))
        mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], self._site)
        mujoco.mj_jacDot(model, data, change[:3], change[3:], data.site_xpos[self._site], self._body)
        return DynamicsTerms(mass, bias - weight, weight, jacobian, change @ speeds)

    def inverse(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> Array:
        """Returns the torques at the joints (Nm) that make this motion, viscous losses included."""
        model, data = self._model, self._data
        self._place(q, checked_angles(self.arm, qd))
        data.qacc[:] = accelerations = checked_angles(self.arm, qdd)
        torque = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 1, torque)  # knows the links, not the rotors
        return np.asarray(torque + self.armature_kgm2 * accelerations + self.damping_nms_per_rad * data.qvel)

    def _place(self, q: npt.ArrayLike, speeds: Array) -> None:
        data = self._data
        data.qpos[:] = checked_angles(self.arm, q)
        data.qvel[:] = speeds
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_comPos(self._model, data)
        mujoco.mj_comVel(self._model, data)


def _compile(figures: ArmFigures, tool: GripperFigures | None, payload: Payload, gravity_mps2: Vector3) -> Any:
    spec = build(figures)
    spec.option.gravity = gravity_mps2
    if tool is not None:
        hand = build(tool)
        for part in [*hand.actuators, *hand.equalities, *hand.joints]:
            hand.delete(part)  # the fingers are rigid here
        frame = spec.body(figures.flange_body).add_frame()
        spec.attach(hand, frame=frame, prefix="tool/")
    if payload.mass_kg:
        body = spec.body(figures.flange_body).add_body(name="payload")
        body.mass, body.ipos = payload.mass_kg, payload.centre_in_flange_m
        body.inertia = np.maximum(payload.inertia_kgm2, LEAST_KGM2)
        body.explicitinertial = True
    for body in spec.bodies:
        body.gravcomp = 0.0
    flags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    spec.option.disableflags |= int(flags | mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    return spec.compile()
