"""The joints of a compiled specification as joints of a description: zero positions, limits, couplings."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from cellwright.core.pose import Pose
from cellwright.core.rotation import quaternion_from_vector
from cellwright.models.description import JointDescription, JointKind, LimitsDescription, Mimic
from cellwright.models.importing.notes import Notes

__all__ = ["SpecJointReader"]

Kind = mujoco.mjtJoint


class SpecJointReader:
    """Reads the joints of one specification.

    Args:
        spec: The specification; it alone knows the speed limits of servos.
        model: The compiled model.
        notes: Gets a note for everything that cannot be described.
    """

    def __init__(self, spec: Any, model: Any, notes: Notes) -> None:
        self._model = model
        self._notes = notes
        self._drives: dict[str, Any] = {}
        on_joint = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
        for actuator in spec.actuators:
            if actuator.trntype in on_joint:
                self._drives.setdefault(actuator.target, actuator)
            else:
                notes.dropped(f"actuator {actuator.name}", "acts on no joint")
        self._mimics = self._read_mimics()

    def joint(self, number: int, parent: str, child: str, carried: Pose, prefix: str) -> JointDescription:
        """Returns a joint between two links.

        Args:
            number: The joint's number.
            parent: The link that carries it.
            child: The link that it moves.
            carried: The child in the parent's frame where the joint stands at the model's reference.
            prefix: The prefix that is removed from names.
        """
        model = self._model
        name = model.joint(number).name
        hinge, ball = (int(model.jnt_type[number]) == int(kind) for kind in (Kind.mjJNT_HINGE, Kind.mjJNT_BALL))
        axis, anchor = model.jnt_axis[number], model.jnt_pos[number]
        limits = self._limits(number, name)
        if ball:
            if model.jnt_limited[number]:
                self._notes.dropped(f"joint {name}", "the cone that limits a ball joint")
            return JointDescription(
                name=name.removeprefix(prefix),
                kind=JointKind.BALL,
                parent=parent,
                child=child,
                pose=carried,
                anchor_m=tuple(anchor.tolist()),
                limits=limits,
            )
        reference = float(model.qpos0[model.jnt_qposadr[number]])
        bounded = limits.lower is not None
        kind = JointKind.PRISMATIC if not hinge else JointKind.REVOLUTE if bounded else JointKind.CONTINUOUS
        dof = int(model.jnt_dofadr[number])
        self._note_rest(number, name)
        mimic = self._mimics.get(number)
        return JointDescription(
            name=name.removeprefix(prefix),
            kind=kind,
            parent=parent,
            child=child,
            pose=carried @ _moved(hinge, axis, anchor, -reference),
            anchor_m=tuple(anchor.tolist()) if hinge else (0.0, 0.0, 0.0),
            axis=tuple(axis.tolist()),
            limits=limits,
            damping=float(np.ravel(model.dof_damping[dof])[0]),
            friction=float(np.ravel(model.dof_frictionloss[dof])[0]),
            mimic=mimic and Mimic(mimic.joint.removeprefix(prefix), mimic.multiplier, mimic.offset),
        )

    def _limits(self, number: int, name: str) -> LimitsDescription:
        model, drive = self._model, self._drives.get(name)
        lower, upper = model.jnt_range[number].tolist() if model.jnt_limited[number] else (None, None)
        effort = velocity = None
        if model.jnt_actfrclimited[number]:
            effort = float(np.abs(model.jnt_actfrcrange[number]).max())
        if drive is not None:
            at = model.actuator(drive.name).id
            forces = np.abs(model.actuator_forcerange[at]).max() if model.actuator_forcelimited[at] else 0.0
            gear = abs(float(drive.gear[0]))
            if effort is None and forces:
                effort = float(forces) * gear
            speed = float(np.abs(_speeds(drive)).max())
            velocity = speed / gear if speed and gear else None
        if int(model.jnt_type[number]) == int(Kind.mjJNT_BALL):
            lower = upper = None
        return LimitsDescription(lower=lower, upper=upper, velocity=velocity, effort=effort)

    def _note_rest(self, number: int, name: str) -> None:
        """Notes what the engine has and descriptions do not."""
        model = self._model
        if np.any(model.jnt_stiffness[number]):
            self._notes.dropped(f"joint {name}", f"spring of {float(np.ravel(model.jnt_stiffness[number])[0]):g}")

    def _read_mimics(self) -> dict[int, Mimic]:
        """Returns joints that a linear equality ties to another: ``q - q0 = a + b (p - p0)``."""
        model, found = self._model, {}
        for eq in range(model.neq):
            name = model.equality(eq).name or f"number {eq}"
            kind = mujoco.mjtEq(int(model.eq_type[eq]))
            if kind == mujoco.mjtEq.mjEQ_CONNECT and model.eq_active0[eq]:
                continue  # a loop
            if kind != mujoco.mjtEq.mjEQ_JOINT:
                what = kind.name.removeprefix("mjEQ_").lower()
                self._notes.dropped(f"constraint {name}", f"a '{what}'; a tree of joints cannot say it")
                continue
            follower, leader = int(model.eq_obj1id[eq]), int(model.eq_obj2id[eq])
            a, b, *bent = model.eq_data[eq, :5].tolist()
            if leader < 0 or any(bent):
                self._notes.dropped(f"constraint {name}", "ties joints by more than a factor and an offset")
                continue
            if len({int(model.body_rootid[model.jnt_bodyid[joint]]) for joint in (follower, leader)}) > 1:
                self._notes.dropped(f"constraint {name}", "ties joints of two models")
                continue
            q0, p0 = (float(model.qpos0[model.jnt_qposadr[joint]]) for joint in (follower, leader))
            found[follower] = Mimic(model.joint(leader).name, b, q0 + a - b * p0)
        return found


def _speeds(drive: Any) -> Any:
    """Returns the range of a drive's speed; the input of a velocity servo is a speed itself."""
    is_velocity = drive.biastype == mujoco.mjtBias.mjBIAS_AFFINE and not drive.biasprm[1] and drive.biasprm[2]
    return drive.ctrlrange if is_velocity and drive.ctrllimited else drive.velrange


def _moved(hinge: bool, axis: Any, anchor: Any, by: float) -> Pose:
    """Returns the motion of a joint by a displacement, in the child's frame."""
    if not by:
        return Pose.identity()
    if not hinge:
        return Pose(axis * by, np.array([1.0, 0.0, 0.0, 0.0]))
    turn = Pose(np.zeros(3), quaternion_from_vector(axis * by))
    return Pose(anchor - turn.apply(anchor), turn.quaternion)
