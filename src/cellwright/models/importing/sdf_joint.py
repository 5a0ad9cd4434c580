"""Joints of SDF files: their ends, axes and limits, in all versions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cellwright.core.pose import Pose
from cellwright.models.description import (
    WORLD,
    JointDescription,
    JointKind,
    LimitsDescription,
    LinkDescription,
    Mimic,
    SensorDescription,
)
from cellwright.models.importing.sdf_link import LinkReader

__all__ = ["SdfJointReader", "UnresolvedModel", "attached_link", "is_true"]

KINDS = {
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.CONTINUOUS,
    "prismatic": JointKind.PRISMATIC,
    "fixed": JointKind.FIXED,
    "ball": JointKind.BALL,
    "universal": JointKind.UNIVERSAL,
    "revolute2": JointKind.UNIVERSAL,
    "screw": JointKind.SCREW,
}
UNLIMITED = 1e15  # SDF says 1e16 for "no limit"


@dataclass
class UnresolvedModel:
    """A model while it is read: frames of everything, then the elements to be placed in them."""

    links: list[LinkDescription] = field(default_factory=list)
    joints: list[tuple[Any, Any, str, str]] = field(default_factory=list)  # reader, element, name, scope
    frames: dict[str, str] = field(default_factory=dict)  # name -> what it is attached to
    carriers: dict[str, str] = field(default_factory=dict)  # joint -> the link that it moves
    called: dict[str, str] = field(default_factory=dict)  # joint as the file calls it -> its name
    sensors: list[tuple[SensorDescription, str]] = field(default_factory=list)
    static: bool = False


class SdfJointReader(LinkReader):
    """Reads the joints of an SDF file, whose version decides what an axis is given in."""

    version = (1, 6)

    def joint(
        self, element: Any, name: str, prefix: str, raw: UnresolvedModel, links: set[str], poses: dict[str, Pose]
    ) -> JointDescription | None:
        """Returns a joint between two links, or None where one of them does not exist."""
        text = (element.get("type") or "").strip()
        kind = KINDS.get(text)
        if kind is None:
            known = ", ".join(KINDS)
            self.notes.changed(self.where(element), f"joint '{name}': type '{text}' is not known ({known}); fixed")
            kind = JointKind.FIXED
        ends = []
        for tag in ("parent", "child"):
            end = (element.findtext(tag) or "").strip()
            end = end if end == WORLD else attached_link(raw, prefix + end, links)
            if not end:
                said = element.findtext(tag)
                self.notes.dropped(self.where(element), f"joint '{name}': its {tag} '{said}' is no link")
                return None
            ends.append(end)
        parent, child = ends
        if child == WORLD:
            parent, child = child, parent
        if child == WORLD:
            return None
        here = poses[child]
        joint_in_child = here.inverse() @ poses[name]
        first, second = element.find("axis"), element.find("axis2")
        limits, damping, friction, mimic = self._axis_figures(first, prefix, element, name)
        if mimic is not None:
            mimic = replace(mimic, joint=raw.called.get(mimic.joint, mimic.joint))
        if kind is JointKind.REVOLUTE and limits.lower is None and limits.upper is None:
            kind = JointKind.CONTINUOUS
        pitch = element.findtext("screw_thread_pitch") or ""
        old = element.findtext("thread_pitch") or ""
        return JointDescription(
            name=name,
            kind=kind,
            parent=parent,
            child=child,
            pose=here if parent == WORLD else poses[parent].inverse() @ here,
            anchor_m=_vector(joint_in_child.position),
            axis=self._axis(first, prefix, name, here, poses, (0.0, 0.0, 1.0)),
            axis_2=None if second is None else self._axis(second, prefix, name, here, poses, (0.0, 1.0, 0.0)),
            limits=limits,
            damping=damping,
            friction=friction,
            mimic=mimic,
            # the old element has radians per metre, and the other sign
            thread_pitch_m=float(pitch) if pitch else (-2 * np.pi / float(old) if old and float(old) else 0.0),
        )

    def _axis(
        self, element: Any, prefix: str, joint: str, here: Pose, poses: dict[str, Pose], default: tuple[float, ...]
    ) -> tuple[float, float, float]:
        """Returns the axis in the child's frame; files give it in the joint's, before 1.5 or on demand the model's."""
        given = None if element is None else element.find("xyz")
        vector = np.array(default) if given is None else np.array(self.text_numbers(given, 3))
        frame = joint
        if given is not None and given.get("expressed_in"):
            frame = prefix + given.get("expressed_in")
        elif element is not None and (is_true(element.find("use_parent_model_frame")) or self.version < (1, 5)):
            frame = f"{prefix}__model__"
        if frame not in poses:
            raise self.error(given, f"axis of joint '{joint}' is expressed in '{frame}', which does not exist")
        length = float(np.linalg.norm(vector))
        if length < 1e-9:
            raise self.error(given, f"axis of joint '{joint}' has no direction")
        return _vector(here.rotation_matrix.T @ poses[frame].rotation_matrix @ vector / length)

    def _axis_figures(
        self, axis: Any, prefix: str, joint: Any, name: str
    ) -> tuple[LimitsDescription, float, float, Mimic | None]:
        if axis is None:
            return LimitsDescription(), 0.0, 0.0, None
        found = axis.findall("limit")
        if len(found) > 1:
            self.notes.changed(self.where(found[1]), f"joint '{name}' has {len(found)} <limit>; the first is used")
        values: dict[str, float | None] = {}
        for key in ("lower", "upper", "velocity", "effort"):
            value = self.child_number(found[0], key) if found else None
            unlimited = value is None or abs(value) >= UNLIMITED or (key in ("velocity", "effort") and value < 0)
            values[key] = None if unlimited else value
        lower, upper = values["lower"], values["upper"]
        if lower is not None and upper is not None and lower > upper:
            self.notes.changed(
                self.where(found[0]), f"joint '{name}': lower {lower:g} is above upper {upper:g}; swapped"
            )
            lower, upper = upper, lower
        if lower is None or upper is None:
            lower = upper = None
        limits = LimitsDescription(lower=lower, upper=upper, velocity=values["velocity"], effort=values["effort"])
        dynamics, given = axis.find("dynamics"), axis.find("mimic")
        mimic = None
        if given is not None and given.get("joint"):
            multiplier, offset = (self.child_number(given, key) for key in ("multiplier", "offset"))
            reference = self.child_number(given, "reference") or 0.0
            factor = 1.0 if multiplier is None else multiplier
            mimic = Mimic(prefix + given.get("joint"), factor, (offset or 0.0) - factor * reference)
        damping, friction = (max(0.0, self.child_number(dynamics, key) or 0.0) for key in ("damping", "friction"))
        return limits, damping, friction, mimic


def attached_link(raw: UnresolvedModel, name: str, links: set[str]) -> str:
    """Returns the link that a frame, a joint's frame or a nested model belongs to; an empty text without one."""
    for _ in range(len(raw.frames) + 2):
        if name in links:
            return name
        inside = [link.name for link in raw.links if link.name.startswith(f"{name}::")]
        if inside:
            return inside[0]
        name = raw.frames.get(name) or raw.carriers.get(name, "")
    return ""


def _vector(values: Any) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def is_true(element: Any) -> bool:
    """Returns whether an element is true."""
    return element is not None and (element.text or "").strip().lower() in ("1", "true")
