"""Prior knowledge of a controller: what its real counterpart reads from drawings and data sheets.

Everything here follows from the cell file and the catalogue. How the cell really is, which the seed decides, is for the
controller to see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import (
    FURNITURE,
    PARTS,
    TOOLS,
    TRAYS,
    GripperFigures,
    PartGrasp,
    part_grasp,
    part_of_sku,
)
from cellwright.catalogue.furniture_kinds import TableFigures
from cellwright.catalogue.tray_grasps import tray_grasp
from cellwright.catalogue.vacuum import VacuumFigures
from cellwright.cells import Cell, nominal_cameras
from cellwright.cells.actual import LensErrorCfg, PoseErrorCfg
from cellwright.core.camera import Camera
from cellwright.core.config import Number
from cellwright.core.pose import Pose
from cellwright.drawings.prior import deviation, expected_parts
from cellwright.drawings.reach import top_grasps
from cellwright.knowledge.tray_layout import SlotPlace, tray_layout

__all__ = ["NominalReach", "drawings"]

DIGITS = 9  # of lengths and angles: a nanometre is more than any drawing says
VIEW_FIELDS = ("rate_hz", "delay_s", "plane_m", "planes")


class NominalReach(Protocol):
    """A test of whether a robot reaches a point from above, with a tool that it changes or with its own one."""

    def __call__(self, robot: str, point_in_world_m: npt.NDArray[np.float64], tool: str = "") -> bool:
        """Returns whether the robot reaches the point."""


def drawings(cell: Cell, reach: NominalReach, time_limit_s: float | None) -> dict[str, Any]:
    """Returns trays, slots, heights, frames, reach, view areas and tools of a cell, by its drawings alone.

    Lengths are in metres and angles in radians, as the keys say; a pose is `xyz_m` and `rpy_rad`. Names stand in the
    order of the cell file.

    Args:
        cell: The cell.
        reach: The reach of the robots, by the drawings.
        time_limit_s: Of the trial.
    """
    bases = {name: robot.base.pose for name, robot in cell.robots.items()}
    trays = {name: _tray(cell, name, bases, reach) for name in cell.trays}
    skus = _unique(slot["part_sku"] for tray in trays.values() for slot in tray["slots"].values())
    skus = _unique([*skus, *(PARTS.get(model).sku for model in _part_models(cell))])
    counts = expected_parts(cell)
    return {
        "cell": cell.name,
        "time_limit_s": time_limit_s,
        "robots": {name: _robot(cell, name, bases, trays) for name in cell.robots},
        "tools": _tools(cell, skus),
        "trays": trays,
        "parts": {sku: _part(sku) | {"count": counts[sku]} for sku in skus},
        "surfaces": {
            name: {"pose_in_world": _pose(fixture.pose.pose), "size_m": list(figures.size_m), "top_m": figures.top_m}
            for name, fixture in cell.fixtures.items()
            if isinstance(figures := FURNITURE.get(fixture.model), TableFigures)
        },
        "views": {
            robot.vision.detector: _view(cell, name, robot.vision.detector)
            for name, robot in cell.robots.items()
            if robot.vision is not None
        },
        "errors": _errors(cell),
    }


def _errors(cell: Cell) -> dict[str, Any]:
    """Returns how large the errors of the real cell may be: root mean squares, those of zero left out."""
    told: dict[str, Any] = {}
    for key, errors in cell.actual:
        if isinstance(errors, PoseErrorCfg | LensErrorCfg):
            found = dict(_size(name, error) for name, error in errors if error != 0)
            told |= {key: found} if found else {}
        elif isinstance(errors, tuple):
            told |= {_size(key, 0.0)[0]: [_size(key, error)[1] for error in errors]} if any(errors) else {}
        elif key != "size" and errors != 0:
            told |= [_size(key, errors)]
    return told


def _size(key: str, error: Number) -> tuple[str, float]:
    """Returns the key and the size of an error, angles in radians."""
    size = deviation(error)
    if key.endswith("_deg"):
        key, size = key.replace("_deg", "_rad"), float(np.radians(size))
    return key, round(size, DIGITS)


def _robot(cell: Cell, name: str, bases: Mapping[str, Pose], trays: Mapping[str, Any]) -> dict[str, Any]:
    robot, to_base = cell.robots[name], bases[name].inverse()
    return {
        "model": robot.model,
        "pose_base_in_world": _pose(bases[name]),
        "bases_of_others_in_base": {other: _pose(to_base @ base) for other, base in bases.items() if other != name},
        "home_rad": _numbers(np.radians(robot.home_deg)),
        "tools": list(_tools_of(cell, name)),
        "changes_tools": robot.changer is not None,
        "reaches_trays": [tray for tray, told in trays.items() if name in told["reached_by"]],
        "detector": robot.vision.detector if robot.vision else None,
    }


def _tray(cell: Cell, name: str, bases: Mapping[str, Pose], reach: NominalReach) -> dict[str, Any]:
    figures, pose = TRAYS.get(cell.trays[name].model), cell.trays[name].pose.pose
    layout = tray_layout(figures.sku)
    heights_m = {slot.name: _grasp_m(slot) for slot in layout.slots}
    parts_m = [pose.apply([*slot.pose_part_in_tray.position[:2], heights_m[slot.name]]) for slot in layout.slots]

    def reached(robot: str, tool: str, asked: str) -> bool:
        """Returns whether a gripper gets to all parts, or a vacuum tool to where it takes the tray."""
        work = TOOLS.get(cell.tools[tool].model if tool in cell.tools else tool)
        if not isinstance(work, VacuumFigures):
            return all(reach(robot, point_m, asked) for point_m in parts_m)
        grip = tray_grasp(figures, work)
        return grip is not None and reach(robot, pose.apply(grip.xyz_m), asked)

    return {
        "sku": figures.sku,
        "kind": figures.kind.value,
        "size_m": list(layout.size_m),
        "pose_in_world": _pose(pose),
        "pose_in_base": {robot: _pose(base.inverse() @ pose) for robot, base in bases.items()},
        "reached_by": {
            robot: tools
            for robot in bases
            if (tools := [tool for tool, asked in _tools_of(cell, robot).items() if reached(robot, tool, asked)])
        },
        "slots": {
            slot.name: {
                "part_sku": slot.sku,
                "part_xyz_m": _numbers(slot.pose_part_in_tray.position),
                "grasp_z_m": round(heights_m[slot.name], DIGITS),
            }
            for slot in layout.slots
        },
    }


def _grasp_m(slot: SlotPlace) -> float:
    """Returns the height of the tool's centre point above the tray's origin when it holds a seated part."""
    height_m = float(slot.pose_part_in_tray.position[2])
    return height_m + part_of_sku(slot.sku).grasp_height_m if slot.sku else height_m


def _tools_of(cell: Cell, robot: str) -> dict[str, str]:
    """Returns the tools that a robot has or can take -> what its reach is asked by."""
    cfg = cell.robots[robot]
    if cfg.changer is not None:
        return {name: name for name in cell.tools}
    return {cfg.tool: ""} if cfg.tool is not None else {}


def _tools(cell: Cell, skus: Iterable[str]) -> dict[str, Any]:
    fixed = {robot.tool: robot.tool for robot in cell.robots.values() if robot.tool is not None}
    told = {name: _tool(cell, model, skus) for name, model in fixed.items()}
    for name, tool in cell.tools.items():
        handles = None if tool.handles is None else [PARTS.get(part).sku for part in tool.handles]
        holder = None if tool.holder is None else _pose(cell.fixtures[tool.holder].pose.pose)
        told[name] = _tool(cell, tool.model, skus if handles is None else handles)
        told[name] |= {"holder": tool.holder, "pose_holder_in_world": holder, "on_robot": tool.robot}
    return told


def _grip(grip: PartGrasp) -> dict[str, Any]:
    told: dict[str, Any] = {"height_m": round(grip.xyz_m[2], DIGITS), "width_m": round(grip.width_m, DIGITS)}
    if grip.yaw_rad is not None:
        told |= {"xy_m": _numbers(grip.xyz_m[:2]), "yaw_rad": round(grip.yaw_rad, DIGITS)}
    return told


def _tool(cell: Cell, model: str, skus: Iterable[str]) -> dict[str, Any]:
    figures = TOOLS.get(model)
    told: dict[str, Any] = {"model": model, "centre_point_xyz_m": _numbers(figures.tcp_xyz_m)}
    if isinstance(figures, GripperFigures):
        return told | {
            "kind": "gripper",
            "open_width_m": round(2 * figures.open_m, DIGITS),
            "closed_width_m": round(2 * figures.closed_m, DIGITS),
            "force_limits_n": list(figures.force_limits_n),
            "takes_parts": (taken := [sku for sku in skus if top_grasps(sku, model)]),
            "grasps": {sku: _grip(part_grasp(part_of_sku(sku), figures)) for sku in taken},
        }
    if isinstance(figures, VacuumFigures):
        trays = [TRAYS.get(name) for name in _unique(tray.model for tray in cell.trays.values())]
        taken = [tray.sku for tray in trays if tray_grasp(tray, figures)]
        return told | {"kind": "vacuum", "load_kg": figures.load_kg, "takes_trays": taken}
    return told | {"kind": "other"}


def _part(sku: str) -> dict[str, Any]:
    part = part_of_sku(sku)
    return {
        "mass_kg": part.mass_kg,
        "diameter_m": round(2 * part.radius_m, DIGITS),
        "height_m": round(part.height_m, DIGITS),
        "grasp_height_m": round(part.grasp_height_m, DIGITS),
    }


def _part_models(cell: Cell) -> list[str]:
    return [*(part.model for part in cell.parts.values()), *(group.model for group in cell.populations)]


def _view(cell: Cell, robot: str, detector: str) -> dict[str, Any]:
    line = next((line for _, line in cell.sensor_lines() if line.get("name") == detector), {})
    told = {key: line[key] for key in VIEW_FIELDS if key in line}
    camera = nominal_cameras(cell).get(str(line.get("camera")))
    field: dict[str, Any] = {key: line[key] for key in ("min_xy_m", "max_xy_m") if key in line}
    if camera is not None:
        told["camera"] = {
            "pose_in_world": _pose(camera.pose_in_world),
            "fov_rad": round(camera.fov_rad, DIGITS),
            "resolution_px": list(camera.resolution_px),
        }
        field = _picture(cell, line, camera) | field
    if len(field) == 2:
        told |= field
        (x0, y0), (x1, y1) = field["min_xy_m"], field["max_xy_m"]
        base = cell.robots[robot].base.pose
        corners = ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
        in_base = [base.inverse().apply([*corner, base.position[2]]) for corner in corners]
        told["corners_xy_in_base_m"] = [_numbers(point[:2]) for point in in_base]
    return {"robot": robot, **told}


def _picture(cell: Cell, line: Mapping[str, Any], camera: Camera) -> dict[str, list[float]]:
    """Returns the corners of what a camera's picture shows of the plane on which trays stand."""
    heights_m = [tray.pose.xyz_m[2] for tray in cell.trays.values()] or [0.0]
    plane_m = float(line.get("plane_m", min(heights_m)))
    columns, rows = camera.resolution_px
    corners = camera.on_plane(np.array([[0, 0], [columns, 0], [columns, rows], [0, rows]], float), plane_m)
    if not np.isfinite(corners).all():
        return {}
    return {"min_xy_m": _numbers(corners[:, :2].min(axis=0)), "max_xy_m": _numbers(corners[:, :2].max(axis=0))}


def _pose(pose: Pose) -> dict[str, list[float]]:
    return {"xyz_m": _numbers(pose.position), "rpy_rad": _numbers(pose.rpy)}


def _numbers(values: npt.ArrayLike) -> list[float]:
    return [float(value) for value in np.round(np.asarray(values, float), DIGITS) + 0.0]  # no -0.0


def _unique(names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name]
