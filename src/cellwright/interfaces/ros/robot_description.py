"""Arms and their cell as ROS describes them: URDF, and the frames of the transform tree, by the same names.

All is made from the drawings and from what was calibrated; nothing in it is the truth. A link of a robot is the frame
`<robot>/<link>` of the tree and has that name in the descriptions, too, so that a viewer needs no prefix for either.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cellwright.catalogue import ArmFigures
from cellwright.catalogue.robotiq_2f_85 import LinkageGripperFigures
from cellwright.core.files import cache_folder
from cellwright.core.messages import JointState, ToolStatus
from cellwright.core.pose import Pose
from cellwright.interfaces.ros.graph import JointFrame, joint_frame
from cellwright.lab.lab import Lab
from cellwright.models.description import (
    WORLD,
    FrameDescription,
    JointDescription,
    JointKind,
    ModelDescription,
)
from cellwright.models.exporting import describe, urdf_text
from cellwright.models.exporting.files import BALL, unit_ball
from cellwright.models.exporting.mechanism import as_one_model, with_plain_joints, without_loops
from cellwright.models.importing.notes import Notes
from cellwright.models.importing.tree import renamed
from cellwright.sensors.image_camera import ImageCamera
from cellwright.sensors.laser import LaserRangeSensor
from cellwright.sensors.mount import MountCfg
from cellwright.sensors.viewfinder import OPTICAL
from cellwright.sim.compose import compose

__all__ = ["CellDescription", "describe_cell", "finger_joints", "sensor_frames"]

DESCRIPTION = "robot_description"
BASE, BASE_LINK, FLANGE, TOOL0 = "base", "base_link", "flange", "tool0"
FOLDER = "meshes/"
FINGERS = {"tool/finger_left", "tool/finger_right"}
FINGER_SHARE = 0.5  # of a gripper's width, which it reports, for each of its two fingers
MOVING = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC)


@dataclass(frozen=True)
class CellDescription:
    """A cell for ROS programs.

    Attributes:
        parameters: `/robot_description` of the whole cell, and one of each robot below its name.
        frames: The links of all of it.
    """

    parameters: dict[str, str]
    frames: list[JointFrame]


def describe_cell(lab: Lab) -> CellDescription:
    """Returns what the drawings say of a cell's arms and fixtures; loose objects are not in it.

    Meshes become files in the user's cache, which only programs of the same machine can read.
    """
    layout = replace(lab.nominal, mobiles={})
    cell = lab.cell.model_copy(update={"tools": {}, "mobiles": {}, "arena": None})
    described = describe(compose(cell, layout, []), name=cell.name, folder=FOLDER)
    placed = [
        replace(one, model=_as_ros_has_it(one.model, lab.world.robot(one.model.name).figures))
        if one.model.name in lab.robots
        else one
        for one in described.world.models
        if one.model.name in lab.robots or one.model.name in cell.fixtures
    ]
    notes = Notes()
    whole = with_plain_joints(without_loops(as_one_model(replace(described.world, models=tuple(placed))), notes), notes)
    parts = {f"/{DESCRIPTION}": _plainly_jointed(whole, next(iter(lab.robots))) if len(lab.robots) == 1 else whole}
    parts |= {f"/{robot}/{DESCRIPTION}": _plainly_jointed(_of_robot(whole, robot), robot) for robot in lab.robots}
    texts = {name: urdf_text(part, notes, FOLDER + BALL) for name, part in parts.items()}
    uri = _mesh_folder({**described.files, FOLDER + BALL: unit_ball()})
    texts = {name: text.replace(f'filename="{FOLDER}', f'filename="{uri}/') for name, text in texts.items()}
    return CellDescription(texts, list(_link_frames(lab, whole)))


def finger_joints(lab: Lab, robot: str) -> tuple[str, ...]:
    """Returns the joints of a robot's fingers that move with the width which its gripper reports."""
    tool = lab.world.robot(robot).gripper
    is_fixed = lab.cell.robots[robot].tool is not None
    return tuple(sorted(FINGERS)) if tool and is_fixed and not isinstance(tool.figures, LinkageGripperFigures) else ()


def sensor_frames(lab: Lab) -> list[JointFrame]:
    """Returns the frames of sensors: cameras and detectors as they were calibrated, the rest as it was drawn."""
    frames: list[JointFrame] = []
    for sensor in lab.sensors:
        if getattr(sensor.cfg, "robot", None) in lab.mobiles:
            continue  # it is among those of its robot
        camera = getattr(sensor.cfg, "camera", None)
        if isinstance(sensor, ImageCamera):
            mounts = {"": sensor.mount}
            if (right := getattr(sensor, "right", None)) is not None:
                mounts = {"left/": sensor.mount, "right/": right}
            for prefix, mount in mounts.items():
                pose = mount.calibrated.pose_in_world @ OPTICAL
                frames.append(joint_frame(mount.frame, sensor.optical_frame(prefix), pose))
        elif camera in lab.world.calibrated_cameras:
            pose = lab.world.calibrated_cameras[camera].pose_in_world @ OPTICAL
            frames.append(joint_frame(WORLD, f"{sensor.source}/optical", pose))
        elif isinstance(sensor, LaserRangeSensor):
            pose = Pose.from_xyz_rpy(sensor.cfg.xyz_m, np.radians(sensor.cfg.rpy_deg))
            frames.append(joint_frame(f"{sensor.cfg.robot}/{FLANGE}", f"{sensor.source}/{sensor.cfg.type}", pose))
        elif isinstance(sensor.cfg, MountCfg):
            pose = Pose.from_xyz_rpy(sensor.cfg.xyz_m, np.radians(sensor.cfg.rpy_deg))
            parent = f"{sensor.cfg.robot}/{FLANGE}" if sensor.cfg.robot else WORLD
            frames.append(joint_frame(parent, f"{sensor.source}/laser", pose))
    return frames


def _as_ros_has_it(model: ModelDescription, arm: ArmFigures) -> ModelDescription:
    """Returns an arm with `base_link` as its root, and with `base`, `flange` and `tool0` where they mean something.

    `flange` and `tool0` are the same place, z out of the flange: our messages call it `flange`.
    """
    names = {BASE: BASE_LINK, f"{BASE}_fixed": f"{BASE_LINK}_fixed"}
    if not any(link.name == BASE_LINK for link in model.links):
        model = renamed(model, lambda name: names.get(name, name))
    taken = {link.name for link in model.links} | {frame.name for frame in model.frames}
    maker = Pose.from_xyz_rpy(arm.maker_base_xyz_m, arm.maker_base_rpy_rad)
    wanted = [(BASE, BASE_LINK, maker)] if BASE_LINK in taken else []
    wanted += [(name, arm.flange_body, Pose.identity()) for name in (FLANGE, TOOL0)]
    added = [FrameDescription(name=name, link=link, pose=pose) for name, link, pose in wanted if name not in taken]
    return replace(model, frames=(*model.frames, *added))


def _of_robot(whole: ModelDescription, robot: str) -> ModelDescription:
    """Returns one robot out of the cell, standing where it stands."""
    mine = f"{robot}/"
    return replace(
        whole,
        name=robot,
        links=tuple(link for link in whole.links if link.name.startswith(mine)),
        joints=tuple(joint for joint in whole.joints if joint.child.startswith(mine)),
        frames=tuple(frame for frame in whole.frames if frame.link.startswith(mine)),
        sensors=(),
    )


def _plainly_jointed(model: ModelDescription, robot: str) -> ModelDescription:
    """Returns a model in which the joints of a robot are called as in its joint states, without its name."""

    def plain(joint: JointDescription) -> JointDescription:
        mimic = joint.mimic and replace(joint.mimic, joint=joint.mimic.joint.removeprefix(f"{robot}/"))
        return replace(joint, name=joint.name.removeprefix(f"{robot}/"), mimic=mimic)

    return replace(model, joints=tuple(plain(joint) for joint in model.joints))


def _link_frames(lab: Lab, whole: ModelDescription) -> Iterator[JointFrame]:
    """Yields the frames of all links; those below a joint that nothing measures are left out."""
    joint_topics = _topics(lab, JointState)
    tool_topics = _topics(lab, ToolStatus)
    unknown: set[str] = set()
    for joint in whole.joints:
        robot, _, own = joint.name.partition("/")
        moving: dict[str, Any] = {}
        if joint.kind in MOVING:
            moving = {"axis": joint.axis, "is_sliding": joint.kind is JointKind.PRISMATIC}
            if robot in joint_topics and own in {item.name for item in lab.world.robot(robot).figures.joints}:
                moving |= {"topic": joint_topics[robot], "joint": own}
            elif robot in tool_topics and own in finger_joints(lab, robot):
                moving |= {"topic": tool_topics[robot], "joint": "width_m", "scale": FINGER_SHARE}
            else:
                unknown.add(joint.child)
        if joint.parent in unknown:
            unknown.add(joint.child)
        if joint.child not in unknown:
            yield joint_frame(joint.parent, joint.child, joint.pose, **moving)
    for frame in whole.frames:
        if frame.link not in unknown:
            yield joint_frame(frame.link, frame.name, frame.pose)


def _topics(lab: Lab, kind: type) -> dict[str, str]:
    """Returns the topic of each robot's sensor that gives messages of a kind."""
    return {sensor.cfg.robot: sensor.topic for sensor in reversed(lab.sensors) if sensor.message_type is kind}


def _mesh_folder(files: Mapping[str, bytes]) -> str:
    """Writes meshes into a folder of their own, unless they are there already; returns its URI."""
    content = hashlib.blake2b(digest_size=8)
    for name, data in sorted(files.items()):
        content.update(f"{name} {len(data)} ".encode() + data)
    folder = cache_folder() / "meshes" / content.hexdigest()
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        half = Path(tempfile.mkdtemp(dir=folder.parent))  # whole, or not there: another process may look
        for name, data in files.items():
            (half / name.removeprefix(FOLDER)).write_bytes(data)
        try:
            half.replace(folder)
        except OSError:  # another process was quicker
            for file in half.iterdir():
                file.unlink()
            half.rmdir()
    return folder.as_uri()
