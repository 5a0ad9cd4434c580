"""Where robots and objects are in MuJoCo's arrays; made anew whenever the model is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PARTS, ROBOTS, TOOLS, TRAYS, ArmFigures, GripperFigures, PartFigures, TrayFigures
from cellwright.cells import Cell

__all__ = ["ObjectIndex", "RobotIndex", "ToolIndex", "index_objects", "index_robots"]

IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True)
class ToolIndex:
    """A parallel gripper's places: its fingers' joints, its command, its pads and its centre point."""

    figures: GripperFigures
    qpos: IntArray
    dof: IntArray
    ctrl: int
    actuator: int
    tcp_site: int
    body: int
    pad_geoms: tuple[int, int]


@dataclass(frozen=True)
class RobotIndex:
    """An arm's places; `ctrl_position`, `ctrl_velocity` and `ctrl_effort` are the inputs of each joint's servo."""

    name: str
    figures: ArmFigures
    qpos: IntArray
    dof: IntArray
    actuators: IntArray
    ctrl_position: IntArray
    ctrl_velocity: IntArray
    ctrl_effort: IntArray
    base_body: int
    flange_site: int
    force_sensor: int
    torque_sensor: int
    tool: ToolIndex | None


@dataclass(frozen=True)
class ObjectIndex:
    """A loose object's places: its body and the seven numbers of its free joint."""

    name: str
    figures: PartFigures | TrayFigures
    body: int
    qpos: int
    dof: int

    @property
    def sku(self) -> str:
        """What orders and vision call it."""
        return self.figures.sku

    @property
    def is_tray(self) -> bool:
        """Whether it is a tray, not a part."""
        return isinstance(self.figures, TrayFigures)


def index_robots(model: Any, cell: Cell) -> dict[str, RobotIndex]:
    """All robots of a compiled cell."""
    return {name: _index_robot(model, name, cfg.model, cfg.tool) for name, cfg in cell.robots.items()}


def _index_robot(model: Any, name: str, arm_model: str, tool_model: str | None) -> RobotIndex:
    arm = ROBOTS.get(arm_model)
    joints = [model.joint(f"{name}/{j.name}") for j in arm.joints]
    actuators = [model.actuator(f"{name}/{j.name}").id for j in arm.joints]
    first = np.array([model.actuator_ctrladr[a] for a in actuators])
    return RobotIndex(
        name=name,
        figures=arm,
        qpos=np.array([int(j.qposadr[0]) for j in joints]),
        dof=np.array([int(j.dofadr[0]) for j in joints]),
        actuators=np.array(actuators),
        ctrl_position=first,
        ctrl_velocity=first + 1,
        ctrl_effort=first + 2,
        base_body=model.body(f"{name}/base").id,
        flange_site=model.site(f"{name}/flange").id,
        force_sensor=int(model.sensor(f"{name}/wrist_force").adr[0]),
        torque_sensor=int(model.sensor(f"{name}/wrist_torque").adr[0]),
        tool=None if tool_model is None else _index_tool(model, f"{name}/tool", TOOLS.get(tool_model)),
    )


def _index_tool(model: Any, prefix: str, figures: GripperFigures) -> ToolIndex:
    fingers = [model.joint(f"{prefix}/finger_{side}") for side in ("left", "right")]
    actuator = model.actuator(f"{prefix}/grip").id
    return ToolIndex(
        figures=figures,
        qpos=np.array([int(j.qposadr[0]) for j in fingers]),
        dof=np.array([int(j.dofadr[0]) for j in fingers]),
        ctrl=int(model.actuator_ctrladr[actuator]),
        actuator=actuator,
        tcp_site=model.site(f"{prefix}/tcp").id,
        body=model.body(f"{prefix}/tool").id,
        pad_geoms=(model.geom(f"{prefix}/pad_left").id, model.geom(f"{prefix}/pad_right").id),
    )


def index_objects(model: Any, models: Mapping[str, str]) -> dict[str, ObjectIndex]:
    """All loose objects, given the catalogue model of each."""
    objects = {}
    for name, catalogue_name in models.items():
        joint = model.joint(name)
        objects[name] = ObjectIndex(
            name=name,
            figures=(TRAYS if catalogue_name in TRAYS else PARTS).get(catalogue_name),
            body=model.body(name).id,
            qpos=int(joint.qposadr[0]),
            dof=int(joint.dofadr[0]),
        )
    return objects
