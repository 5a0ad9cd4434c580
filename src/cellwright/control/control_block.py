"""The memory of a compiled controller: one block with the arm, the gains, and the addresses to read and write."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput
from cellwright.core.gravity import GRAVITY_MPS2
from cellwright.core.pose import Pose
from cellwright.motion.dynamics import NO_PAYLOAD, Payload
from cellwright.sim import GripperIndex, RobotIndex
from cellwright.sim.tool_index import VacuumIndex

__all__ = ["BLOCK", "make_block"]

Array = npt.NDArray[np.float64]

MOST_JOINTS = 7
BLOCK = np.dtype(
    [(name, np.int64) for name in ("joints", "count", "rows", "reference", "qpos", "qvel", "ctrl", "play")]
    + [(name, np.float64) for name in ("stiffness", "damping", "epsilon", "null_share")]
    + [(name, np.float64, (MOST_JOINTS,)) for name in ("zeros", "masses", "armatures", "losses", "limits", "effort")]
    + [(name, np.float64, (MOST_JOINTS, 3)) for name in ("offsets", "axes", "centres")]
    + [(name, np.float64, (MOST_JOINTS, 3, 3)) for name in ("turns", "inertias")]
    + [("gravity", np.float64, (3,)), ("flange", np.float64, (3,))]
)
"""Addresses (`reference`, `qpos`, `qvel`, `ctrl`, `play`) are those of the first number of an array; 0 is none."""


def make_block(
    robot: RobotIndex,
    pose_base_in_world: Pose,
    payload: Payload = NO_PAYLOAD,
    *,
    with_tool: bool = True,
    gravity_mps2: float = GRAVITY_MPS2,
) -> npt.NDArray[Any]:
    """Returns the block of an arm from its catalogue figures; tool and payload are fixed to its last link."""
    arm = robot.figures
    if len(arm.joints) > MOST_JOINTS:
        raise BadInput(f"{arm.name} has {len(arm.joints)} joints; controllers take up to {MOST_JOINTS}")
    block = np.zeros(1, BLOCK)
    row = block[0]
    row["joints"] = len(arm.joints)
    for k, (joint, link) in enumerate(zip(arm.joints, arm.links[1:], strict=True)):
        row["turns"][k] = Pose.from_xyz_rpy((0, 0, 0), joint.origin_rpy_rad).rotation_matrix
        row["offsets"][k], row["axes"][k] = joint.origin_xyz_m, joint.axis
        row["masses"][k], row["centres"][k] = link.mass_kg, link.com_xyz_m
        row["inertias"][k] = np.diag(link.inertia_diagonal_kgm2)
        row["armatures"][k], row["losses"][k] = joint.armature_kgm2, joint.viscous_damping_nms_per_rad
        row["limits"][k] = joint.effort_limit_nm
    pose_flange = Pose.from_xyz_rpy(arm.flange_xyz_m, arm.flange_rpy_rad)
    for mass, centre, moments in (*(_hanging(robot) if with_tool else ()), _payload_body(payload)):
        _add_body(row, mass, pose_flange.apply(centre), pose_flange.rotation_matrix, moments)
    row["flange"] = pose_flange.position
    row["gravity"] = pose_base_in_world.rotation_matrix.T @ [0.0, 0.0, -gravity_mps2]
    return block


Body = tuple[float, Array, Array]


def _payload_body(payload: Payload) -> Body:
    return payload.mass_kg, np.array(payload.centre_in_flange_m), np.array(payload.inertia_kgm2)


def _hanging(robot: RobotIndex) -> list[Body]:
    """Returns the bodies on the flange, in its frame: a changer with its coupling, and the tool."""
    gripper, cup, changer = robot.gripper, robot.vacuum, robot.changer
    bodies = _gripper_bodies(gripper) if gripper else _vacuum_bodies(cup) if cup else []
    if changer is None:
        return bodies
    figures = changer.figures
    plate_m, coupling_m = np.array([0.0, 0.0, figures.plate_height_m]), np.array(figures.coupling_in_flange_m)
    plate = (figures.plate_mass_kg, plate_m / 2, _disc(figures.plate_mass_kg, figures.radius_m))
    if not bodies:
        return [plate]
    end_m = coupling_m + [0.0, 0.0, figures.coupling_height_m]
    coupling = (figures.coupling_mass_kg, (coupling_m + end_m) / 2, _disc(figures.coupling_mass_kg, figures.radius_m))
    return [plate, coupling, *((mass, centre + end_m, moments) for mass, centre, moments in bodies)]


def _vacuum_bodies(index: VacuumIndex) -> list[Body]:
    tool = index.figures
    length_m = tool.tcp_xyz_m[2] - tool.cup_length_m
    rod = np.full(3, tool.body_mass_kg * length_m**2 / 12)
    cup_m = np.array([0.0, 0.0, length_m + tool.cup_length_m / 2])
    cup = _disc(tool.cup_mass_kg, tool.cup_diameter_m / 2)
    cups = [(tool.cup_mass_kg, cup_m + [x, y, 0.0], cup) for x, y in tool.cups_xy_m]
    return [(tool.body_mass_kg, np.array([0.0, 0.0, 0.4 * length_m]), rod), *cups]


def _disc(mass_kg: float, radius_m: float) -> Array:
    return np.asarray(mass_kg * radius_m**2 * np.array([0.25, 0.25, 0.5]))


def _gripper_bodies(index: GripperIndex) -> list[Body]:
    """Returns housing and open fingers as solid blocks, in the tool's frame."""
    tool = index.figures
    x, y, z = tool.tcp_xyz_m
    housing = np.array(tool.body_size_m) + [0, 0, tool.mount_height_m]
    bodies = [(tool.body_mass_kg, np.array([x / 2, y / 2, housing[2] / 2]), _box(tool.body_mass_kg, housing))]
    thick, wide, long = tool.finger_size_m
    for side in (1.0, -1.0):
        out = side * (tool.open_m + tool.pad_size_m[0] + thick)
        along = z + tool.pad_offset_m + tool.pad_size_m[2] / 2 - long / 2
        size = np.array([2 * thick, wide, long])
        bodies.append((tool.finger_mass_kg, np.array([x + out, y, along]), _box(tool.finger_mass_kg, size)))
    for mass, start, end in tool.rods:
        along_m = np.subtract(end, start)
        bodies.append((mass, np.add(start, end) / 2, np.full(3, mass * float(along_m @ along_m) / 12)))
    return bodies


def _box(mass_kg: float, size_m: Array) -> Array:
    return np.asarray(mass_kg / 12 * ((size_m**2).sum() - size_m**2))


def _add_body(row: Any, mass: float, centre: Array, turn: Array, moments: Array) -> None:
    """Fixes a body to the last link: masses add, moments by the theorem of parallel axes."""
    k = int(row["joints"]) - 1
    total = row["masses"][k] + mass
    if mass == 0.0:
        return
    joint_centre = (row["masses"][k] * row["centres"][k] + mass * centre) / total
    inertia = np.array(row["inertias"][k]) + turn @ np.diag(moments) @ turn.T
    for part, where in ((row["masses"][k], row["centres"][k]), (mass, centre)):
        arm = where - joint_centre
        inertia += part * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    row["masses"][k], row["centres"][k], row["inertias"][k] = total, joint_centre, inertia
