"""The definition of a seated part, by the true state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellwright.catalogue import PartFigures, SlotFigures, TrayFigures, seated_pose
from cellwright.catalogue.seating import seated_tolerance
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.sim import World

__all__ = ["Seating", "judge_slot", "judge_slots", "lean_rad"]

STILL_MPS = 0.01
STILL_RADPS = 0.2
NEAR_M = 0.2  # a part farther above a slot, in a gripper perhaps, is not of this slot


@dataclass(frozen=True, kw_only=True)
class Seating:
    """The verdict on a slot: which part is in it, and how well it is seated.

    Attributes:
        slot: As `tray/slot`.
        part: The part over the slot that is nearest to its floor, or empty.
        seated: Whether it is the right part, at rest in the slot, centred and upright.
        reason: Why not, or how well.
        centre_error_m: Distance of its axis from the slot's, in the tray's plane.
        tilt_rad: Angle between its axis and the tray's.
        height_error_m: How far it stands above its seat.
    """

    slot: str
    part: str
    seated: bool
    reason: str
    centre_error_m: float = float("nan")
    tilt_rad: float = float("nan")
    height_error_m: float = float("nan")


def judge_slot(world: World, slot: str) -> Seating:
    """Returns the verdict on one slot, written `tray/slot`."""
    tray_name, _, slot_name = slot.partition("/")
    tray = world.object(tray_name).figures
    if not isinstance(tray, TrayFigures):
        raise BadInput(f"'{tray_name}' is not a tray")
    slots = {s.name: s for s in tray.slots}
    if slot_name not in slots:
        raise UnknownName(f"slot of {tray_name}", slot_name, slots)
    return _judge(world, slot, tray_name, tray, slots[slot_name])


def judge_slots(world: World, tray_name: str) -> tuple[Seating, ...]:
    """Returns the verdicts on all slots of a tray, in its order."""
    tray = world.object(tray_name).figures
    if not isinstance(tray, TrayFigures):
        raise BadInput(f"'{tray_name}' is not a tray")
    return tuple(_judge(world, f"{tray_name}/{slot.name}", tray_name, tray, slot) for slot in tray.slots)


def _judge(world: World, slot: str, tray_name: str, tray: TrayFigures, figures: SlotFigures) -> Seating:
    pose_world_in_tray = world.pose_of(tray_name).inverse()
    part = _part_over(world, pose_world_in_tray, figures)
    if part is None:
        return Seating(slot=slot, part="", seated=False, reason="the slot is empty")
    item = world.objects[part]
    assert isinstance(item.figures, PartFigures)
    pose = pose_world_in_tray @ world.pose_of(part)
    x_m, y_m, height_m = (float(error) for error in pose.position - seated_pose(tray, figures, item.figures).position)
    centre_m = float(np.hypot(x_m, y_m))
    tilt_rad = lean_rad(pose)
    speed_mps, spin_radps = np.abs(world.data.qvel[item.dof : item.dof + 6]).reshape(2, 3).max(axis=1)
    problems, limit = [], seated_tolerance(figures, item.figures)
    if item.sku != figures.accepts:
        problems.append(f"it is a {item.sku}, the slot is for a {figures.accepts}")
    if centre_m > limit.beside_m:
        problems.append(f"{centre_m * 1000:.2f} mm off centre (limit {limit.beside_m * 1000:g} mm)")
    if tilt_rad > limit.tilt_rad:
        problems.append(f"tilted by {np.degrees(tilt_rad):.1f} deg (limit {np.degrees(limit.tilt_rad):g} deg)")
    if abs(height_m) > limit.above_m:
        where = "above" if height_m > 0 else "below"
        problems.append(f"{abs(height_m) * 1000:.1f} mm {where} its seat (limit {limit.above_m * 1000:g} mm)")
    if speed_mps > STILL_MPS or spin_radps > STILL_RADPS:
        problems.append(f"still moving at {speed_mps * 1000:.0f} mm/s and {np.degrees(spin_radps):.0f} deg/s")
    fine = f"{centre_m * 1000:.2f} mm off centre, tilt {np.degrees(tilt_rad):.2f} deg"
    return Seating(
        slot=slot,
        part=part,
        seated=not problems,
        reason="; ".join(problems) or fine,
        centre_error_m=centre_m,
        tilt_rad=tilt_rad,
        height_error_m=height_m,
    )


def _part_over(world: World, pose_world_in_tray: Pose, slot: SlotFigures) -> str | None:
    """Returns the part that the slot is judged by: of those over it the one nearest to its floor."""
    found: dict[str, float] = {}
    floor = np.array([*slot.xy_m, slot.floor_m])
    for name, item in world.objects.items():
        if isinstance(item.figures, PartFigures):
            foot = world.pose_of(name).apply([0.0, 0.0, item.figures.bottom_m])
            offset = pose_world_in_tray.apply(foot) - floor
            if np.hypot(*offset[:2]) < slot.top_radius_m and abs(offset[2]) < NEAR_M:
                found[name] = float(np.linalg.norm(offset))
    return min(found, key=lambda name: found[name], default=None)


def lean_rad(pose: Pose) -> float:
    """Returns the angle between a thing's axis and that of the frame in which its pose is given."""
    return float(np.arccos(np.clip(pose.rotation_matrix[2, 2], -1, 1)))
