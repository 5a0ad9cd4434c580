"""The serial chain of an arm inside whatever a file holds: from its base to its tip, joint by joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.models.importing.notes import Notes

__all__ = ["Chain", "body_pose", "find_chain"]

Array = npt.NDArray[np.float64]
TIPS = ("tool0", "flange", "tool", "attachment_site", "ee_link", "end_effector", "tcp", "ee", "tool_link", "hand")
"""What a flange is called; the first of them that the file has is taken."""

_NAMES = {0: "free", 1: "ball", 2: "prismatic", 3: "revolute"}


@dataclass(frozen=True, eq=False)
class Chain:
    """A chain of revolute joints.

    Attributes:
        base: Number of the body that stands still.
        joints: Names, from the base on.
        bodies: Number of the body that each joint moves.
        link_names: Its name.
        frames: Each joint's frame in the base's, at zero angles: its origin on the axis, axes as the body's.
        axes: Unit axis of each, in its frame.
        tip: The flange in the base's frame, at zero angles.
        tip_body: The body that carries the flange.
        tip_pose: The flange in that body's frame.
        tip_name: What the file calls it.
        zero: Positions of all joints of the file, those of the chain at zero.
    """

    base: int
    joints: list[str]
    bodies: list[int]
    link_names: list[str]
    frames: list[Pose]
    axes: list[tuple[float, float, float]]
    tip: Pose
    tip_body: int
    tip_pose: Pose
    tip_name: str
    zero: Array

    def owners(self, model: Any) -> dict[int, int]:
        """Body -> number of the joint that it moves with, counted from 1; 0 for what stands still with the base."""
        order = {body: number for number, body in enumerate(self.bodies, 1)} | {self.base: 0}
        owners: dict[int, int] = {}
        for body in range(1, model.nbody):
            at = body
            while at not in order and at > 0:
                at = int(model.body_parentid[at])
            if at in order:
                owners[body] = order[at]
        return owners


def body_pose(data: Any, body: int) -> Pose:
    """A body's pose in the world."""
    return Pose.from_matrix(np.column_stack([data.xmat[body].reshape(3, 3), data.xpos[body]]))


def find_chain(model: Any, base: str, tip: str, where: str, notes: Notes) -> Chain:
    """The chain between two links; where they are not named, the longest one of the file.

    Raises:
        UnknownName: There is no such link.
        BadInput: A joint of it is not revolute, or there is none at all.
    """
    data = mujoco.MjData(model)
    tip_body, tip_pose, tip_name = _tip(model, base, tip, where, notes)
    path = [tip_body]
    while path[-1] > 0 and model.body(path[-1]).name != base:
        path.append(int(model.body_parentid[path[-1]]))
    if base:
        names = _body_names(model)
        if base not in names:
            raise UnknownName("link", base, names, f"{where}: base")
        if path[-1] == 0:
            raise BadInput(f"{where}: link '{tip_name}' does not hang on '{base}'")
    else:
        path.pop()  # the world
    ground = path[-1]
    numbers = []
    for body in reversed(path):
        for number in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
            kind = int(model.jnt_type[number])
            if body == ground:
                notes.dropped(f"joint {model.joint(number).name}", "moves the base, which is fixed in a cell")
                continue
            if kind != mujoco.mjtJoint.mjJNT_HINGE:
                name = model.joint(number).name
                what = f"joint '{name}' is {_NAMES[kind]}; an arm has revolute joints only"
                raise BadInput(f"{where}: {what} (base and tip may leave it out)")
            numbers.append(number)
    if not numbers:
        raise BadInput(
            f"{where}: no joint moves '{tip_name}' against '{model.body(ground).name}'; import it as a fixture"
        )
    followers = {int(model.eq_obj1id[n]) for n in range(model.neq) if model.eq_type[n] == mujoco.mjtEq.mjEQ_JOINT}
    for number in numbers:
        if number in followers:
            raise BadInput(f"{where}: joint '{model.joint(number).name}' follows another; a serial arm drives each")
    data.qpos[:] = model.qpos0
    data.qpos[model.jnt_qposadr[numbers]] = 0.0
    mujoco.mj_kinematics(model, data)
    inverse = body_pose(data, ground).inverse()
    bodies = [int(model.jnt_bodyid[number]) for number in numbers]
    frames, axes = [], []
    for number, body in zip(numbers, bodies, strict=True):
        here = body_pose(data, body)
        frames.append(inverse @ Pose(data.xanchor[number], here.quaternion))
        x, y, z = here.rotation_matrix.T @ data.xaxis[number]
        axes.append((float(x), float(y), float(z)))
    names = [_inner(model.body(body).name) for body in bodies]
    tip_in_base = inverse @ body_pose(data, tip_body) @ tip_pose
    joints = [model.joint(number).name for number in numbers]
    return Chain(
        ground, joints, bodies, names, frames, axes, tip_in_base, tip_body, tip_pose, tip_name, np.array(data.qpos)
    )


def _inner(name: str) -> str:
    """Names that the arm's own model needs for itself give way."""
    return f"{name}_frame" if name in ("base", "flange") else name


def _body_names(model: Any) -> list[str]:
    return [model.body(number).name for number in range(1, model.nbody)]


def _tip(model: Any, base: str, tip: str, where: str, notes: Notes) -> tuple[int, Pose, str]:
    bodies = {model.body(number).name: number for number in range(1, model.nbody)}
    sites = {model.site(number).name: number for number in range(model.nsite)}

    def place(name: str) -> tuple[int, Pose, str]:
        if name in bodies:
            return bodies[name], Pose.identity(), name
        site = sites[name]
        return int(model.site_bodyid[site]), Pose(model.site_pos[site], model.site_quat[site]), name

    if tip:
        if tip not in bodies and tip not in sites:
            raise UnknownName("link or frame", tip, {*bodies, *sites}, f"{where}: tip")
        return place(tip)
    last = _last_of_arm(model, bodies.get(base, 0))
    for name in TIPS:
        if (name in bodies or name in sites) and int(model.body_weldid[place(name)[0]]) == last:
            notes.guessed("tip", f"'{name}' is taken as the flange; name another with --tip")
            return place(name)
    chosen = model.body(last).name
    notes.guessed("tip", f"link '{chosen}' is taken as the flange, its z axis out of it; name another with --tip")
    return place(chosen)


def _last_of_arm(model: Any, start: int) -> int:
    """The last body of the chain of driven hinges, which ends where it branches into equals, such as fingers."""
    coupled = [n for n in range(model.neq) if model.eq_type[n] == mujoco.mjtEq.mjEQ_JOINT]
    followers = {int(ids[n]) for n in coupled for ids in (model.eq_obj1id, model.eq_obj2id)}  # and whom they follow
    below: dict[int, list[int]] = {}
    for body in range(1, model.nbody):
        if model.body_weldid[body] == body:
            below.setdefault(int(model.body_weldid[model.body_parentid[body]]), []).append(body)

    def hinged(body: int) -> bool:
        numbers = range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
        hinge = mujoco.mjtJoint.mjJNT_HINGE
        return bool(numbers) and all(model.jnt_type[n] == hinge and n not in followers for n in numbers)

    def length(body: int) -> int:
        if not hinged(body):
            return 0
        return int(model.body_jntnum[body]) + max((length(child) for child in below.get(body, [])), default=0)

    at = int(model.body_weldid[start])
    while True:
        ahead = sorted(((length(child), -child) for child in below.get(at, [])), reverse=True)
        if not ahead or ahead[0][0] == 0 or (len(ahead) > 1 and ahead[0][0] == ahead[1][0] and at != 0):
            return at or max(1, start)
        at = -ahead[0][1]
