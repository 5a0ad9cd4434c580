"""The exact checker: the engine's own collision detection on a model of the scene; names the bodies that touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.rotation import quaternion_from_rpy
from cellwright.motion.kinematics import checked_angles
from cellwright.motion.planning.checker import CollisionPair, Relaxed, between
from cellwright.motion.planning.collision_bodies import CollisionBodies, CollisionBody
from cellwright.motion.planning.pieces import ConvexPiece
from cellwright.motion.planning.scene import Scene

__all__ = ["ExactChecker"]

Array = npt.NDArray[np.float64]

_GEOMS = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "plane": mujoco.mjtGeom.mjGEOM_PLANE,
    "mesh": mujoco.mjtGeom.mjGEOM_MESH,
}


class ExactChecker:
    """Says whether a configuration is free, by the hulls that the physics uses.

    Attributes:
        margin_m: The distance from which on an obstacle counts as touched; links may come nearer to each other.
        relaxed: Pairs to which the margin does not apply.
        checks: The number of configurations that were checked.
    """

    def __init__(self, scene: Scene | CollisionBodies, margin_m: float = 0.0, relaxed: Relaxed = frozenset()) -> None:
        self.bodies = scene if isinstance(scene, CollisionBodies) else CollisionBodies(scene)
        self.arm = self.bodies.scene.robot.arm
        self.margin_m = margin_m
        self.relaxed = relaxed
        self._model = _compile(self.bodies, margin_m)
        self._data = mujoco.MjData(self._model)
        self._qpos = self._data.qpos
        self._names = [self._model.body(number).name for number in range(self._model.nbody)]
        self._last = self._names.index(self.arm.links[-1].name)
        self._rank = {body.name: -1 if body.chain is None else body.chain for body in self.bodies.bodies}
        self.checks = 0

    def is_free(self, joints_rad: npt.ArrayLike) -> bool:
        """Returns whether nothing touches."""
        self.checks += 1
        self._qpos[:] = joints_rad
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_collision(self._model, self._data)
        return self._data.ncon == 0 or (bool(self.relaxed) and not self._found())

    def touch(self, joints_rad: npt.ArrayLike) -> CollisionPair | None:
        """Returns the pair that touches deepest, if there is one."""
        return next(iter(self.touches(joints_rad)), None)

    def touches(self, joints_rad: npt.ArrayLike) -> list[CollisionPair]:
        """Returns all pairs that touch, the deepest first."""
        if self.is_free(checked_angles(self.arm, joints_rad)):
            return []
        return sorted(
            (CollisionPair(*pair, distance) for pair, distance in self._found().items()), key=lambda t: t.distance_m
        )

    def _found(self) -> dict[tuple[str, str], float]:
        """Returns the least distance of every pair that the engine found and that counts."""
        least: dict[tuple[str, str], float] = {}
        for contact in self._data.contact[: self._data.ncon]:
            names = (self._names[self._model.geom_bodyid[geom]] for geom in contact.geom)
            second, first = sorted(names, key=lambda name: self._rank[name])
            if contact.dist <= 0 or frozenset((first, second)) not in self.relaxed:
                least[first, second] = min(least.get((first, second), np.inf), float(contact.dist))
        return least

    def tilt_rad(self, limit: Array, joints_rad: npt.ArrayLike | None = None) -> float:
        """Returns the tilt of the tool (see `kernel_motion`), by default in the configuration that was checked last."""
        if joints_rad is not None:
            self._qpos[:] = joints_rad
            mujoco.mj_kinematics(self._model, self._data)
        axis = self._data.xmat[self._last].reshape(3, 3) @ limit[1:4]
        return float(np.arccos(np.clip(axis @ limit[4:7], -1.0, 1.0)))

    def is_motion_free(self, start_rad: npt.ArrayLike, end_rad: npt.ArrayLike, step_rad: float) -> bool:
        """Returns whether nothing touches on the straight line between two configurations, checked in steps."""
        line = np.array([start_rad, end_rad], float)
        return self.first_blocked(between(line, step_rad)) is None

    def first_blocked(self, states_rad: Array) -> Array | None:
        """Returns the first of many configurations (n, joints) that is not free."""
        model, data, qpos = self._model, self._data, self._qpos
        kinematics, collision = mujoco.mj_kinematics, mujoco.mj_collision
        for number, joints in enumerate(states_rad, start=1):
            qpos[:] = joints
            kinematics(model, data)
            collision(model, data)
            if data.ncon and not (self.relaxed and not self._found()):
                self.checks += number
                return np.asarray(joints)
        self.checks += len(states_rad)
        return None


def _compile(bodies: CollisionBodies, margin_m: float) -> Any:
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    # The pairs say what is checked, and one point of contact is enough.
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT | mujoco.mjtDisableBit.mjDSBL_MULTICCD)
    robot = bodies.scene.robot
    base = robot.pose_base_in_world
    by_name = {body.name: body for body in bodies.bodies}
    for body in bodies.bodies:
        if body.frame == 0:
            mj_body = spec.worldbody.add_body(name=body.name)
            _add_solids(spec, mj_body, body.pieces, margin_m if body.chain is None else 0.0)
    parent = spec.worldbody.add_body(name="robot base frame", pos=base.position, quat=base.quaternion)
    for joint, link in zip(robot.arm.joints, robot.links[1:], strict=True):
        quat = quaternion_from_rpy(np.asarray(joint.origin_rpy_rad))
        parent = parent.add_body(name=link, pos=joint.origin_xyz_m, quat=quat)
        parent.mass, parent.inertia, parent.explicitinertial = 1.0, [1.0, 1.0, 1.0], True
        parent.add_joint(name=joint.name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=joint.axis)
        _add_solids(spec, parent, by_name[link].pieces)
    for body in bodies.bodies:
        if body.chain is not None and body.chain > len(robot.arm.joints):
            _add_solids(spec, parent.add_body(name=body.name), body.pieces)
    _exclude(spec, bodies)
    return spec.compile()


def _exclude(spec: Any, bodies: CollisionBodies) -> None:
    checked = {frozenset((a.name, b.name)) for a, b in bodies.pairs}
    every: Sequence[CollisionBody] = bodies.bodies
    for number, first in enumerate(every):
        for second in every[number + 1 :]:
            if first.frame != second.frame and frozenset((first.name, second.name)) not in checked:
                spec.add_exclude(
                    name=f"{first.name} may touch {second.name}", bodyname1=first.name, bodyname2=second.name
                )


def _add_solids(spec: Any, body: Any, pieces: Sequence[ConvexPiece], margin_m: float = 0.0) -> None:
    for number, piece in enumerate(pieces):
        size = [*piece.size_m, 0.0, 0.0, 0.0][:3] if piece.kind != "plane" else [0.0, 0.0, 1.0]
        geom = body.add_geom(
            type=_GEOMS[piece.kind], size=size, pos=piece.pose.position, quat=piece.pose.quaternion, mass=0.0
        )
        geom.margin = margin_m
        if piece.kind == "mesh":
            mesh = spec.add_mesh(name=f"{body.name} {number}")
            mesh.uservert = piece.vertices_m.reshape(-1)
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
            geom.meshname = mesh.name
