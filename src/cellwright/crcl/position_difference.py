"""The difference between the positions of two robots, by their statuses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cellwright.core.errors import JobFailed
from cellwright.crcl.messages import CRCLStatus
from cellwright.crcl.plausibility import AXIS_ERROR
from cellwright.crcl.poses import checked_pose
from cellwright.crcl.units import CrclUnits, to_si

__all__ = ["PositionDifference", "PositionTolerance", "position_difference"]


@dataclass(frozen=True, slots=True)
class PositionTolerance:
    """The largest difference at which one robot may take over from another; None: that is not compared."""

    tool_mm: float | None = 5.0
    tool_deg: float | None = 1.0
    joint_deg: float | None = 1.0


@dataclass(frozen=True, slots=True)
class PositionDifference:
    """The difference between the positions of two robots; None where one of them does not report.

    Attributes:
        tool_mm: The distance between the tools.
        offset_mm: The same along x, y and z: the second minus the first.
        tool_deg: The angle between the tools.
        joints_deg: The difference by joint number; a joint that slides is compared as if it turned.
        only_one: Joints that one of the two does not have.
    """

    tool_mm: float | None = None
    offset_mm: tuple[float, ...] = ()
    tool_deg: float | None = None
    joints_deg: tuple[tuple[int, float], ...] = ()
    only_one: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """One line for people."""
        parts = []
        if self.tool_mm is not None:
            offset = ", ".join(f"{letter} {value:+.1f}" for letter, value in zip("xyz", self.offset_mm, strict=True))
            parts.append(f"tools {self.tool_mm:.1f} mm ({offset}) and {self.tool_deg:.1f} deg apart")
        if self.joints_deg:
            number, most = max(self.joints_deg, key=lambda joint: abs(joint[1]))
            parts.append(f"joints at most {abs(most):.1f} deg apart (joint {number})")
        if self.only_one:
            parts.append(f"joint {', '.join(map(str, self.only_one))} on one of them only")
        return "; ".join(parts) or "where they are is not told"

    def check(self, tolerance: PositionTolerance, doubts: Sequence[str] = ()) -> None:
        """Checks that the two are near enough, and that everything could be compared that should be.

        Args:
            tolerance: The largest difference.
            doubts: Why something that was reported does not count.

        Raises:
            JobFailed: They are not, with the difference and what is allowed.
        """
        tool, joints = self.tool_mm is not None, bool(self.joints_deg or self.only_one)
        wants_tool = tolerance.tool_mm is not None or tolerance.tool_deg is not None
        wants_joints = tolerance.joint_deg is not None
        compares = (wants_tool and tool) or (wants_joints and joints)
        if (wants_tool or wants_joints) and (doubts or not compares):
            why = "; ".join(doubts) or "one of the two does not tell where it is"
            raise JobFailed(f"where it stands cannot be compared: {why}")
        if (
            _over(self.tool_mm, tolerance.tool_mm)
            or _over(self.tool_deg, tolerance.tool_deg)
            or (wants_joints and self.only_one)
            or any(_over(abs(value), tolerance.joint_deg) for _, value in self.joints_deg)
        ):
            limits = ((tolerance.tool_mm, "mm"), (tolerance.tool_deg, "deg"), (tolerance.joint_deg, "deg per joint"))
            allowed = ", ".join(f"{limit:g} {unit}" for limit, unit in limits if limit is not None)
            raise JobFailed(f"it stands elsewhere: {self.text} (allowed: {allowed})")


def _over(value: float | None, limit: float | None) -> bool:
    return value is not None and limit is not None and value > limit


def position_difference(first: CRCLStatus | None, second: CRCLStatus, units: CrclUnits) -> PositionDifference:
    """Returns the difference between two robots by their statuses, whose positions must be plausible.

    Joints are compared only when both speak in the same units: a status does not say which of them slide.

    Args:
        first: The status of one; None if it never sent any.
        second: The status of the other.
        units: Those of both, where they do not name their own.
    """
    if first is None:
        return PositionDifference()
    ours, theirs = (to_si(each, units.with_reported(each.settings_status), ()) for each in (first, second))
    found = PositionDifference()
    if ours.pose_status and theirs.pose_status:
        here, there = (checked_pose(s.pose_status.pose, "pose", AXIS_ERROR) for s in (ours, theirs) if s.pose_status)
        offset_mm = tuple((1000.0 * (there.position - here.position)).tolist())
        found = PositionDifference(1000.0 * here.distance_m(there), offset_mm, math.degrees(here.angle_rad(there)))
    at, to = _joints(ours), _joints(theirs)
    if at and to and units.with_reported(first.settings_status) == units.with_reported(second.settings_status):
        differences = tuple((number, math.degrees(to[number] - at[number])) for number in sorted(at.keys() & to.keys()))
        found = replace(found, joints_deg=differences, only_one=tuple(sorted(at.keys() ^ to.keys())))
    return found


def _joints(status: CRCLStatus) -> dict[int, float]:
    joints = status.joint_statuses.joint_status if status.joint_statuses else ()
    return {joint.joint_number: joint.joint_position for joint in joints if joint.joint_position is not None}
