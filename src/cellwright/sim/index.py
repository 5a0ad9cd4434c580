"""Indices of robots and objects in MuJoCo's arrays; made anew whenever the model is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import (
    CHANGERS,
    MOBILES,
    PARTS,
    ROBOTS,
    TOOLS,
    TRAYS,
    ArmFigures,
    GripperFigures,
    MobileFigures,
    PartFigures,
    TrayFigures,
    VacuumFigures,
)
from cellwright.cells import Cell, own_name
from cellwright.shapes.epuck import WHEELS
from cellwright.sim.tool_compose import LOCK
from cellwright.sim.tool_index import ChangerIndex, VacuumIndex, balance_ratio, bodies_of, index_changer, index_vacuum

__all__ = [
    "GripperIndex",
    "MobileIndex",
    "ObjectIndex",
    "RobotIndex",
    "index_loose_grippers",
    "index_mobiles",
    "index_objects",
    "index_robots",
]

IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True)
class GripperIndex:
    """A parallel gripper's indices: its fingers' joints, its command, its pads and its centre point.

    Attributes:
        body: Its root.
        pads: Geom of a pad -> 0 on the left finger, 1 on the right one.
        bodies: All of its bodies, the root first.
        joints: Address of every joint of its mechanism, fingers included, by name.
    """

    figures: GripperFigures
    qpos: IntArray
    dof: IntArray
    ctrl: int
    actuator: int
    tcp_site: int
    body: int
    pads: Mapping[int, int]
    bodies: tuple[int, ...]
    joints: Mapping[str, int]

    def place_fingers(self, data: Any, half_width_m: float) -> None:
        """Places each pad at a distance from the middle, and the mechanism behind it accordingly."""
        for name, position in self.figures.joints_at(half_width_m).items():
            data.qpos[self.joints[name]] = position

    def set_damping(self, model: Any) -> None:
        """Sets the joints' damping so that the fingers keep their speed, whatever limits their force now."""
        limit_n, joint = model.actuator_forcerange[self.actuator, 1], model.dof_jntid[self.dof[0]]
        if model.jnt_actfrclimited[joint]:
            limit_n = min(limit_n, model.jnt_actfrcrange[joint, 1])
        for name, damping in self.figures.losses.items():
            number = np.searchsorted(model.jnt_qposadr, self.joints[name])
            model.dof_damping[model.jnt_dofadr[number]] = damping * limit_n / self.figures.drive_force_n


@dataclass(frozen=True)
class RobotIndex:
    """An arm's indices; `ctrl_position`, `ctrl_velocity` and `ctrl_effort` are the inputs of each joint's servo.

    Attributes:
        gripper: Its gripper, fixed or locked to its changer, if it has one now.
        vacuum: The same of a vacuum tool.
        tool_name: The tool's name: its model, or the name that the cell gives it.
        fixed_bodies: Bodies of a tool that is not changed.
        changer: Its half of a changer.
        balance: The load of the changer's balance while a tool is locked, in multiples of its own weight.
    """

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
    gripper: GripperIndex | None
    vacuum: VacuumIndex | None = None
    tool_name: str = ""
    fixed_bodies: tuple[int, ...] = ()
    changer: ChangerIndex | None = None
    balance: float = 0.0

    @property
    def hand(self) -> GripperIndex | VacuumIndex | None:
        """The tool, of any kind."""
        return self.gripper or self.vacuum

    @property
    def tcp_in_flange_m(self) -> tuple[float, float, float]:
        """Its tool's centre point by the drawings; the flange's middle, when it has no tool."""
        if self.hand is None:
            return (0.0, 0.0, 0.0)
        tcp_m = self.hand.figures.tcp_xyz_m
        return tcp_m if self.changer is None else self.changer.figures.tcp_in_flange_m(tcp_m)


@dataclass(frozen=True)
class MobileIndex:
    """A mobile robot's indices: the seven numbers of its free joint, its wheels left and right, its sensors.

    Attributes:
        accelerometer: Where its three values begin in the sensors' data.
        gyroscope: The same.
    """

    name: str
    figures: MobileFigures
    body: int
    qpos: int
    dof: int
    wheel_qpos: IntArray
    wheel_dof: IntArray
    ctrl: IntArray
    proximity_sites: IntArray
    imu_site: int
    accelerometer: int
    gyroscope: int
    camera: int


@dataclass(frozen=True)
class ObjectIndex:
    """A loose object's indices: its body and the seven numbers of its free joint."""

    name: str
    figures: PartFigures | TrayFigures
    body: int
    qpos: int
    dof: int

    @property
    def sku(self) -> str:
        """Its SKU, as orders and vision use it."""
        return self.figures.sku

    @property
    def is_tray(self) -> bool:
        """Whether it is a tray, not a part."""
        return isinstance(self.figures, TrayFigures)


def index_robots(model: Any, cell: Cell, locked: Mapping[str, str] | None = None) -> dict[str, RobotIndex]:
    """Returns all robots of a compiled cell, with the tools that they have locked."""
    return {name: _index_robot(model, cell, name, (locked or {}).get(name)) for name in cell.robots}


def _index_robot(model: Any, cell: Cell, name: str, locked: str | None) -> RobotIndex:
    cfg = cell.robots[name]
    fixed = cfg.tool is not None
    tool_model = cell.tools[locked].model if locked is not None else cfg.tool
    prefix = f"{locked or name}/tool"
    figures = None if tool_model is None else TOOLS.get(tool_model)
    arm = ROBOTS.get(cfg.model)
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
        base_body=model.body(f"{name}/{arm.base_body}").id,
        flange_site=model.site(f"{name}/{arm.flange_body}").id,
        force_sensor=int(model.sensor(f"{name}/wrist_force").adr[0]),
        torque_sensor=int(model.sensor(f"{name}/wrist_torque").adr[0]),
        gripper=_index_gripper(model, prefix, figures) if isinstance(figures, GripperFigures) else None,
        vacuum=index_vacuum(model, prefix, figures) if isinstance(figures, VacuumFigures) else None,
        tool_name=locked or ("" if figures is None else own_name(figures.name)),
        fixed_bodies=bodies_of(model, f"{prefix}/") if fixed else (),
        changer=None if cfg.changer is None else index_changer(model, name, CHANGERS.get(cfg.changer), LOCK),
        balance=0.0 if locked is None else balance_ratio(model, locked),
    )


def _index_gripper(model: Any, prefix: str, figures: GripperFigures) -> GripperIndex:
    fingers = [model.joint(f"{prefix}/finger_{side}") for side in ("left", "right")]
    actuator = model.actuator(f"{prefix}/grip").id
    return GripperIndex(
        figures=figures,
        qpos=np.array([int(j.qposadr[0]) for j in fingers]),
        dof=np.array([int(j.dofadr[0]) for j in fingers]),
        ctrl=int(model.actuator_ctrladr[actuator]),
        actuator=actuator,
        tcp_site=model.site(f"{prefix}/tcp").id,
        body=model.body(f"{prefix}/tool").id,
        pads=_pads(model, prefix),
        bodies=bodies_of(model, f"{prefix}/"),
        joints={name: int(model.joint(f"{prefix}/{name}").qposadr[0]) for name in figures.joints_at(figures.open_m)},
    )


def _pads(model: Any, prefix: str) -> dict[int, int]:
    """Returns the pads by their names; those from files may be of several pieces."""
    sides = (f"{prefix}/pad_left", f"{prefix}/pad_right")
    names = {geom: str(model.geom(geom).name) for geom in range(model.ngeom)}
    firsts = {model.geom(name).id: side for side, name in enumerate(sides)}
    return firsts | {g: side for side, own in enumerate(sides) for g, n in names.items() if n.startswith(f"{own}_")}


def index_mobiles(model: Any, models: Mapping[str, str]) -> dict[str, MobileIndex]:
    """Returns all mobile robots, given the catalogue model of each."""
    return {name: _index_mobile(model, name, MOBILES.get(key)) for name, key in models.items()}


def _index_mobile(model: Any, name: str, figures: MobileFigures) -> MobileIndex:
    joint = model.joint(name)
    wheels = [model.joint(f"{name}/{wheel}") for wheel in WHEELS]
    return MobileIndex(
        name=name,
        figures=figures,
        body=model.body(name).id,
        qpos=int(joint.qposadr[0]),
        dof=int(joint.dofadr[0]),
        wheel_qpos=np.array([int(wheel.qposadr[0]) for wheel in wheels]),
        wheel_dof=np.array([int(wheel.dofadr[0]) for wheel in wheels]),
        ctrl=np.array([int(model.actuator_ctrladr[model.actuator(f"{name}/{wheel}").id]) for wheel in WHEELS]),
        proximity_sites=np.array([model.site(f"{name}/{sensor.name}").id for sensor in figures.proximity]),
        imu_site=model.site(f"{name}/imu").id,
        accelerometer=int(model.sensor(f"{name}/accelerometer").adr[0]),
        gyroscope=int(model.sensor(f"{name}/gyroscope").adr[0]),
        camera=model.camera(f"{name}/{figures.camera.name}").id,
    )


def index_loose_grippers(model: Any, cell: Cell) -> list[GripperIndex]:
    """Returns the grippers among the tools that robots change, wherever they are."""
    named = {name: TOOLS.get(tool.model) for name, tool in cell.tools.items()}
    return [
        _index_gripper(model, f"{n}/tool", figures)
        for n, figures in named.items()
        if isinstance(figures, GripperFigures)
    ]


def index_objects(model: Any, models: Mapping[str, str]) -> dict[str, ObjectIndex]:
    """Returns all loose objects, given the catalogue model of each."""
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
