"""Arms by the names that ROS has for their frames: `base_link`, `base`, `flange`, `tool0` (REP 199, ROS-Industrial)."""

from __future__ import annotations

from dataclasses import replace
from math import pi

from cellwright.catalogue import ArmFigures
from cellwright.core.pose import Pose
from cellwright.models.description import FrameDescription, JointKind, ModelDescription
from cellwright.models.importing.arm import ImportedArmFigures
from cellwright.models.importing.tree import renamed

__all__ = ["with_ros_names"]

BASE, BASE_LINK, FLANGE, TOOL0 = "base", "base_link", "flange", "tool0"
TOOL0_IN_FLANGE = Pose.from_xyz_rpy((0.0, 0.0, 0.0), (pi / 2, 0.0, pi / 2))
"""What is z out of `tool0` is x out of `flange`."""


def with_ros_names(model: ModelDescription, arm: ArmFigures) -> ModelDescription:
    """Returns an arm's model as ROS calls its links.

    Our own arms get the root link `base_link`, the frame `base` that the maker's controller counts from, and at the
    flange `tool0`, z out of it, with the frame `flange`, x out of it. An imported arm has the names of its file; our
    flange goes where it says nothing new, and is called so where the file has no `tool0`.
    """
    own = isinstance(arm, ImportedArmFigures)
    model = _without_our_flange(model, arm.flange_body) if own else _called(model, BASE, BASE_LINK)
    named = {link.name for link in model.links} | {frame.name for frame in model.frames}
    if arm.flange_body in named and TOOL0 not in named and (not own or arm.flange_body == FLANGE):
        model = _called(model, arm.flange_body, TOOL0)
        model = _framed(model, FrameDescription(name=FLANGE, link=TOOL0, pose=TOOL0_IN_FLANGE.inverse()))
    if not own:
        pose = Pose.from_xyz_rpy(arm.maker_base_xyz_m, arm.maker_base_rpy_rad)
        model = _framed(model, FrameDescription(name=BASE, link=BASE_LINK, pose=pose))
    return model


def _called(model: ModelDescription, old: str, new: str) -> ModelDescription:
    """Returns the model with a link of another name, and the fixed joint that is called by it."""
    names = {old: new, f"{old}_fixed": f"{new}_fixed"}
    return renamed(model, lambda name: names.get(name, name))


def _framed(model: ModelDescription, frame: FrameDescription) -> ModelDescription:
    taken = {link.name for link in model.links} | {other.name for other in model.frames}
    return model if frame.name in taken else replace(model, frames=(*model.frames, frame))


def _without_our_flange(model: ModelDescription, flange: str) -> ModelDescription:
    """Returns the model without the flange's marker link where a massless link of the file marks the flange, too."""
    carrier = model.joint_of(flange)
    tip = None if carrier is None else next((link for link in model.links if link.name == carrier.parent), None)
    above = None if tip is None else model.joint_of(tip.name)
    if carrier is None or tip is None or above is None or tip.inertial is not None or tip.visuals or tip.collisions:
        return model
    if above.kind is not JointKind.FIXED or not carrier.pose.is_close(Pose.identity()):
        return model
    links = tuple(link for link in model.links if link.name != flange)
    joints = tuple(joint for joint in model.joints if joint is not carrier)
    return renamed(replace(model, links=links, joints=joints), lambda name: tip.name if name == flange else name)
