"""The serial chain of an arm inside a description: from its base to its tip, joint by joint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.models.importing.notes import Notes

__all__ = ["FEWEST", "Chain", "NotSerialError", "PrismaticJointError", "body_pose", "find_chain"]

Array = npt.NDArray[np.float64]
TIPS = (
    *(
        "tool0",
        "flange",
        "tool",
        "attachment_site",
        "ee_link",
        "link_ee",
        "link_eef",
        "end_effector",
        "tcp",
        "ee",
        "eef",
    ),
    *("tool_link", "tool_frame", "tcp_link", "hand"),
)
"""Common names of a flange, after any prefix; the first of them that the file has is taken."""

_NAMES = {0: "free", 1: "ball", 2: "prismatic", 3: "revolute"}
_KIND = mujoco.mjtJoint
FREE, HINGE, SLIDE = int(_KIND.mjJNT_FREE), int(_KIND.mjJNT_HINGE), int(_KIND.mjJNT_SLIDE)
FEWEST = 3  # joints of an arm: what has fewer is a tool or a piece of furniture


class NotSerialError(BadInput):
    """A robot that is driven, but not by one chain of revolute joints: neither a tool nor a thing that stands still."""


class PrismaticJointError(NotSerialError):
    """A single chain in which a joint is prismatic."""


@dataclass(frozen=True, eq=False, kw_only=True)
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
        tip_name: Its name in the file.
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
        """Returns body -> number of the joint that it moves with, counted from 1; 0 for what is fixed to the base."""
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
    """Returns a body's pose in the world."""
    return Pose.from_matrix(np.column_stack([data.xmat[body].reshape(3, 3), data.xpos[body]]))


def find_chain(model: Any, base: str, tip: str, where: str, notes: Notes) -> Chain:
    """Returns the chain between two links; where they are not named, the longest one of the file.

    Raises:
        UnknownName: There is no such link.
        NotSerialError: A joint of it is not revolute, or there are several such chains.
        BadInput: There is none at all.
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
        path = _without_rails(model, path, where, notes)
    ground = path[-1]
    numbers = []
    for body in reversed(path):
        for number in _joints_of(model, body):
            kind = int(model.jnt_type[number])
            if body == ground:
                notes.dropped(f"joint {model.joint(number).name}", "moves the base, which is fixed in a cell")
                continue
            if kind != HINGE:
                raise _not_revolute(model, number, where)
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
    names = [model.body(body).name for body in bodies]
    tip_in_base = inverse @ body_pose(data, tip_body) @ tip_pose
    joints = [model.joint(number).name for number in numbers]
    return Chain(
        base=ground,
        joints=joints,
        bodies=bodies,
        link_names=names,
        frames=frames,
        axes=axes,
        tip=tip_in_base,
        tip_body=tip_body,
        tip_pose=tip_pose,
        tip_name=tip_name,
        zero=np.array(data.qpos),
    )


def _joints_of(model: Any, body: int) -> range:
    return range(int(model.body_jntadr[body]), int(model.body_jntadr[body] + model.body_jntnum[body]))


def _not_revolute(model: Any, joint: int, where: str) -> PrismaticJointError:
    what = f"joint '{model.joint(joint).name}' is {_NAMES[int(model.jnt_type[joint])]}, and arms have revolute joints"
    return PrismaticJointError(f"{where}: {what}; --base and --tip may leave it out, --kind fixture takes all of it")


def _without_rails(model: Any, path: list[int], where: str, notes: Notes) -> list[int]:
    """Returns the path without sliding joints before the first hinge: an arm on a rail or a lift stands still on it."""
    kinds = [[int(model.jnt_type[number]) for number in _joints_of(model, body)] for body in path]
    hinged = [place for place, own in enumerate(kinds) if HINGE in own]
    rails = [place for place, own in enumerate(kinds) if SLIDE in own and place > max(hinged, default=-1)]
    if not rails:
        return path
    if len(hinged) < FEWEST:
        raise _not_revolute(model, _joints_of(model, path[rails[-1]])[0], where)
    for place in rails[1:]:
        for number in _joints_of(model, path[place]):
            notes.dropped(f"joint {model.joint(number).name}", "prismatic, below the arm: it stands still at zero")
    return path[: rails[0] + 1]


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
    last = _last_of_arm(model, bodies.get(base, 0), where)
    near = [name for name in (*bodies, *sites) if int(model.body_weldid[place(name)[0]]) == last]
    for ending in TIPS:
        called = sorted((n for n in near if re.search(rf"(^|[_.:\- ]){ending}$", n)), key=lambda n: (len(n), n))
        if called:
            notes.guessed("tip", f"'{called[0]}' is taken as the flange; name another with --tip")
            return place(called[0])
    chosen = model.body(last).name
    notes.guessed("tip", f"link '{chosen}' is taken as the flange, its z axis out of it; name another with --tip")
    return place(chosen)


def _fingers(model: Any) -> set[int]:
    """Returns joints that follow others, and those that they follow, unless those carry joints that are free of both.

    What leads a finger is a finger's drive; what leads a rod of a linkage is a joint of the arm.
    """
    coupled = [n for n in range(model.neq) if model.eq_type[n] == mujoco.mjtEq.mjEQ_JOINT]
    followers = {int(model.eq_obj1id[n]) for n in coupled}
    leaders = {int(model.eq_obj2id[n]) for n in coupled if model.eq_obj2id[n] >= 0} - followers
    carrying: set[int] = set()
    for number in set(range(model.njnt)) - followers - leaders:
        body = int(model.body_parentid[model.jnt_bodyid[number]])
        while body > 0:
            carrying.add(body)
            body = int(model.body_parentid[body])
    return followers | {leader for leader in leaders if int(model.jnt_bodyid[leader]) not in carrying}


def _hangs_on(model: Any, body: int, start: int) -> bool:
    while body not in (start, 0):
        body = int(model.body_parentid[body])
    return body == start


def _last_of_arm(model: Any, start: int, where: str) -> int:
    """Returns the last body of the chain of driven hinges, which ends where it branches, for instance into fingers."""
    followers = _fingers(model)
    below: dict[int, list[int]] = {}
    for body in range(1, model.nbody):
        if model.body_weldid[body] == body:
            below.setdefault(int(model.body_weldid[model.body_parentid[body]]), []).append(body)
    hinges, driven = np.zeros(model.nbody, int), np.zeros(model.nbody, int)  # the most in a row from a body on
    for body in range(model.nbody - 1, 0, -1):  # children have higher numbers
        kinds = {int(model.jnt_type[n]) for n in _joints_of(model, body) if n not in followers}
        own, free = int(model.body_jntnum[body]), not followers & set(_joints_of(model, body))
        inner = below.get(body, [])
        if kinds == {FREE}:
            own = 0  # what floats stands still in a cell
        if (own and free and kinds <= {HINGE, SLIDE}) or kinds == {FREE}:
            driven[body] = own + max((driven[child] for child in inner), default=0)
            if SLIDE not in kinds:
                hinges[body] = own + max((hinges[child] for child in inner), default=0)
    at, passed = int(model.body_weldid[start]), 0
    while True:
        inner = [child for child in below.get(at, []) if _hangs_on(model, child, start)]
        ahead = sorted(((hinges[child], -child) for child in inner), reverse=True)
        most = ahead[0][0] if ahead else 0
        if len(ahead) > 1 and most == ahead[1][0] and at != 0 and most > 0:
            alike = [model.body(-child).name for number, child in ahead if number == most]
            if most >= FEWEST:
                text = f"'{model.body(at).name}' carries {len(alike)} chains of {most} joints ({', '.join(alike)} ...)"
                raise NotSerialError(f"{where}: {text}; name the end of one with --tip, its beginning with --base")
            return at
        sliding = [child for child in inner if driven[child] and not hinges[child]]
        if most == 0 and len(sliding) == 1 and passed + driven[sliding[0]] >= FEWEST:
            if passed:
                raise _not_revolute(model, _joints_of(model, sliding[0])[0], where)
            at = sliding[0]
            continue
        if most == 0:
            return at or max(1, start)
        at = -ahead[0][1]
        passed += int(model.body_jntnum[at])
