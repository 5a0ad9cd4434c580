"""Plausibility checks of the positions in a status: NaN, or a pose out of all reach, counts as not reported."""

from __future__ import annotations

from dataclasses import replace

from cellwright.core.errors import BadInput
from cellwright.crcl.messages import CRCLStatus, Pose
from cellwright.crcl.poses import checked_pose
from cellwright.crcl.units import CrclUnits, Quantity

__all__ = ["without_implausible_positions"]

FARTHEST_M = 100.0  # no arm reaches so far, and a pose in millimetres that is read as metres is beyond it
MOST_IN_JOINT = 1e6
AXIS_ERROR = 0.05  # of lengths and of the right angle; generous, since some servers write two digits


def without_implausible_positions(status: CRCLStatus, units: CrclUnits) -> tuple[CRCLStatus, tuple[str, ...]]:
    """Returns a status without positions that are impossible, and why each of them was left out.

    The state of its command is kept, whatever the rest is worth.

    Args:
        status: As it came.
        units: Those of the session, where it does not name its own.
    """
    doubts: list[str] = []
    if status.pose_status is not None and (why := _impossible(status.pose_status.pose, units, status)):
        doubts.append(f"where it says that its tool is, is not believed: {why}")
        status = replace(status, pose_status=None)
    if status.joint_statuses is not None:
        joints = status.joint_statuses.joint_status
        bad = [j for j in joints if j.joint_position is not None and not abs(j.joint_position) <= MOST_IN_JOINT]
        if bad:
            reported = ", ".join(f"joint {joint.joint_number} at {joint.joint_position:g}" for joint in bad)
            doubts.append(f"its joints are not believed: {reported}")
            kept = tuple(replace(joint, joint_position=None) if joint in bad else joint for joint in joints)
            status = replace(status, joint_statuses=replace(status.joint_statuses, joint_status=kept))
    return status, tuple(doubts)


def _impossible(pose: Pose, units: CrclUnits, status: CRCLStatus) -> str:
    """Returns why a tool cannot be there; empty if it can."""
    try:
        checked_pose(pose, "tool", AXIS_ERROR)
    except BadInput as error:
        return str(error)
    in_m = units.with_reported(status.settings_status).factor(Quantity.LENGTH)
    far_m = in_m * max(abs(pose.point.x), abs(pose.point.y), abs(pose.point.z))
    return "" if far_m <= FARTHEST_M else f"it is {far_m:g} m away (allowed: {FARTHEST_M:g} m)"
