"""The number of an arm's grasping configurations over places of its base, by exact inverse kinematics and collisions.

The arm's base slides in the model, so that one model serves all places, and so that the base itself is checked against
the furniture: MuJoCo does not look for contacts between things that cannot move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import pi
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import FURNITURE, PARTS, ROBOTS, ArmFigures, gripper_model
from cellwright.core.pose import Pose
from cellwright.models import build
from cellwright.motion import ArmKinematics
from cellwright.motion.grasps import GraspKind, tcp_in_part

__all__ = ["BaseReach", "ReachScene", "ReachTask"]

Array = npt.NDArray[np.float64]

BASE_CONTACT_M = 0.001  # a base that stands on something touches it; deeper than this it is inside


@dataclass(frozen=True)
class ReachTask:
    """The task to count, by names and poses, so that it can be handed to another process.

    Attributes:
        robot: Model of the arm.
        tool: Model of its gripper, which is open.
        part: Model of the object.
        pose_part_in_world: The pose of the object.
        pose_base_in_world: The pose of the arm; the grid keeps its height and its rotation.
        fixtures: Name -> model and pose of what else is there.
        home_rad: From where the distance to a configuration is counted.
        heights_m: Height of the tool's centre point above the object's origin, for each kind of grasp.
        turns: Angles about the object's axis, 0 and 360 degrees both among them.
        weighted: Whether manipulability and distance are computed as well.
    """

    robot: str
    tool: str
    part: str
    pose_part_in_world: Pose
    pose_base_in_world: Pose
    fixtures: Mapping[str, tuple[str, Pose]]
    home_rad: tuple[float, ...]
    heights_m: Mapping[GraspKind, float]
    turns: int = 181
    weighted: bool = False


@dataclass(frozen=True, kw_only=True)
class BaseReach:
    """The counts at one place of the base for one kind of grasp.

    Attributes:
        solutions: Configurations within the joint limits, up to eight for each angle.
        free: Those of them in which nothing touches.
        manipulability: Sum over the free ones of sqrt(det(J J^T)), Yoshikawa's measure, in SI units.
        nearness: Sum over the free ones of 1 / (1 + d), d the joint distance from home in radians.
    """

    x_m: float
    y_m: float
    kind: GraspKind
    solutions: int
    free: int
    manipulability: float = 0.0
    nearness: float = 0.0


class ReachScene:
    """One task as a compiled model."""

    def __init__(self, task: ReachTask) -> None:
        self.task = task
        arm = ROBOTS.get(task.robot)
        self._tool = gripper_model(task.tool)
        self._kinematics = ArmKinematics(_one_turn(arm))
        self._tcp = Pose.from_xyz_rpy(self._tool.tcp_xyz_m)
        self._model = _compile(task)
        self._data = mujoco.MjData(self._model)
        model = self._model
        joints = [model.joint(f"robot/{joint.name}") for joint in arm.joints]
        self._qpos = np.array([int(joint.qposadr[0]) for joint in joints])
        self._dofs = np.array([int(joint.dofadr[0]) for joint in joints])
        self._slides = np.array([int(model.joint(f"slide_{axis}").qposadr[0]) for axis in "xyz"])
        fingers = [int(model.joint(f"robot/tool/finger_{side}").qposadr[0]) for side in ("left", "right")]
        self._data.qpos[fingers] = self._tool.open_m
        self._site = model.site("robot/tool/tcp").id
        self._base = model.body(f"robot/{arm.base_body}").id

    def count(self, x_m: float, y_m: float) -> list[BaseReach]:
        """Returns one row per kind of grasp for a place of the base."""
        base = self.task.pose_base_in_world
        placed = Pose(np.array([x_m, y_m, base.position[2]]), base.quaternion)
        self._data.qpos[self._slides] = base.rotation_matrix.T @ (placed.position - base.position)
        base_free = self._base_is_free()
        return [self._count(placed, kind, base_free) for kind in self.task.heights_m]

    def is_free(self, joints_rad: Array) -> bool:
        """Returns whether nothing touches, except the base and what it stands on."""
        self._data.qpos[self._qpos] = joints_rad
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_collision(self._model, self._data)
        return all(self._is_base_contact(contact) for contact in self._data.contact[: self._data.ncon])

    def _count(self, pose_base: Pose, kind: GraspKind, base_free: bool) -> BaseReach:
        task = self.task
        to_base = pose_base.inverse() @ task.pose_part_in_world
        point = (0.0, 0.0, task.heights_m[kind])
        solutions = free = 0
        manipulability = nearness = 0.0
        for turn_rad in np.linspace(0.0, 2 * pi, task.turns):
            flange = to_base @ tcp_in_part(kind, float(turn_rad), point) @ self._tcp.inverse()
            found = _distinct(self._kinematics.inverse(flange))
            solutions += len(found)
            for joints in found if base_free else ():
                if self.is_free(joints):
                    free += 1
                    if task.weighted:
                        manipulability += self._manipulability()
                        nearness += 1 / (1 + float(np.linalg.norm(joints - task.home_rad)))
        x_m, y_m = float(pose_base.position[0]), float(pose_base.position[1])
        return BaseReach(
            x_m=x_m,
            y_m=y_m,
            kind=kind,
            solutions=solutions,
            free=free,
            manipulability=manipulability,
            nearness=nearness,
        )

    def _base_is_free(self) -> bool:
        """Returns whether the base itself is free of collisions; the arm is checked later."""
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_collision(self._model, self._data)
        bodies = self._model.geom_bodyid
        own = [c for c in self._data.contact[: self._data.ncon] if self._base in bodies[c.geom]]
        others = [c for c in own if all(b == self._base or self._model.body_weldid[b] == 0 for b in bodies[c.geom])]
        return all(self._is_base_contact(contact) for contact in others)

    def _is_base_contact(self, contact: Any) -> bool:
        return contact.dist > -BASE_CONTACT_M and self._base in self._model.geom_bodyid[contact.geom]

    def _manipulability(self) -> float:
        mujoco.mj_comPos(self._model, self._data)
        jacobian = np.zeros((6, self._model.nv))
        mujoco.mj_jacSite(self._model, self._data, jacobian[:3], jacobian[3:], self._site)
        own = jacobian[:, self._dofs]
        return float(np.sqrt(max(np.linalg.det(own @ own.T), 0.0)))


def _distinct(found: list[Array]) -> list[Array]:
    """Returns postures without those that are there twice because a joint is exactly at the end of its turn."""
    return list({tuple(np.round(np.exp(1j * joints), 6)): joints for joints in found}.values())


def _one_turn(arm: ArmFigures) -> ArmFigures:
    """Returns the arm with each joint held to one turn, so that the same posture is not counted again a turn later."""

    def held(limits_rad: tuple[float, float]) -> tuple[float, float]:
        low, high = limits_rad
        if high - low < 2 * pi:
            return limits_rad
        start = min(max(-pi, low), high - 2 * pi)
        return start, start + 2 * pi - 1e-9

    joints = tuple(replace(joint, position_limits_rad=held(joint.position_limits_rad)) for joint in arm.joints)
    return replace(arm, joints=joints)


def _compile(task: ReachTask) -> Any:
    spec = mujoco.MjSpec()
    # One point of contact is enough.
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MULTICCD)
    for name, (model, pose) in task.fixtures.items():
        _attach(spec, build(FURNITURE.get(model)).worldbody.first_body(), f"{name}/", pose)
    _attach(spec, build(PARTS.get(task.part)).worldbody.first_body(), "object/", task.pose_part_in_world)
    figures = ROBOTS.get(task.robot)
    arm = build(figures)
    arm.body(figures.flange_body).add_frame().attach_body(build(gripper_model(task.tool)).body("tool"), "tool/", "")
    base = _attach(spec, arm.worldbody.first_body(), "robot/", task.pose_base_in_world)
    for axis, name in zip(np.eye(3), "xyz", strict=True):
        base.add_joint(name=f"slide_{name}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    spec.discard_visual()
    spec.dedup_assets()
    return spec.compile()


def _attach(spec: Any, body: Any, prefix: str, pose: Pose) -> Any:
    frame = spec.worldbody.add_frame(pos=np.array(pose.position), quat=np.array(pose.quaternion))
    return frame.attach_body(body, prefix, "")
