"""CRCL traffic as rows: messages without polls, the ways that commands tell, the deeds of a robot by them."""

from __future__ import annotations

from typing import Any

from cellwright import crcl
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.crcl.poses import checked_pose
from cellwright.crcl.units import to_si, unit_profile
from cellwright.viewing.rows import Row, Rows, rounded

__all__ = ["CrclRows"]

LONGEST_TEXT = 2000
DOES = (
    crcl.MoveTo, crcl.MoveThroughTo, crcl.MoveScrew, crcl.ActuateJoints, crcl.SetEndEffector, crcl.Dwell,
    crcl.OpenToolChanger, crcl.CloseToolChanger, crcl.RunProgram,
)  # fmt: skip
ENDS = (crcl.CommandStateEnum.CRCL_DONE, crcl.CommandStateEnum.CRCL_ERROR)


class CrclRows:
    """The talk of one robot and its controller.

    Args:
        robot: The robot.
        rows: Takes the rows.
        frame: Of the poses of commands, in the world, by the drawings; without it no ways are told.
        profile: The units after InitCanon.

    Attributes:
        left_out: Polls of the status, and statuses that say what the one before said.
        actions: A row for each command that does something, for a controller that tells of no actions.
    """

    def __init__(self, robot: str, rows: Rows, frame: Pose | None, profile: str = "spec") -> None:
        self._robot, self._rows, self._frame = robot, rows, frame
        self._first_units = self._units = unit_profile(profile)
        self._said: tuple[Any, ...] | None = None
        self._at: list[float | None] | None = None
        self._doing: dict[int, Row] = {}
        self.left_out = 0
        self.actions: list[Row] = []

    def take_command(self, time_s: float, document: str) -> Row | None:
        """Takes a command; returns the row of an action if it does something."""
        try:
            command = crcl.decode(document)
        except BadInput:
            self._message(time_s, "command", "unreadable", None, document)
            return None
        if not isinstance(command, crcl.CRCLCommandInstance):
            return None
        what = command.crcl_command
        if isinstance(what, crcl.GetStatus):
            self.left_out += 1
            return None
        name = type(what).__name__
        self._message(time_s, "command", name, what.command_id, document)
        if isinstance(what, crcl.InitCanon):
            self._units = self._first_units
        self._units = self._units.after(what)
        points = self._way(what)
        if points and self._frame is not None:
            self._rows.add("paths", {"time_s": time_s, "robot": self._robot, "points": points})
        return self._begin(time_s, what, name, points) if isinstance(what, DOES) else None

    def _way(self, what: Any) -> list[list[float | None]]:
        """Returns the points that a motion is told to pass, in the world, from where the one before ended."""
        if isinstance(what, crcl.MoveTo):
            poses: tuple[Any, ...] = (what.end_position,)
        elif isinstance(what, crcl.MoveThroughTo):
            poses = what.waypoint
        else:
            self._at = None if isinstance(what, crcl.ActuateJoints | crcl.MoveScrew) else self._at
            return []
        frame = self._frame or Pose.identity()
        try:
            found = [frame @ checked_pose(to_si(pose, self._units, ()), "pose") for pose in poses]
        except BadInput:
            return []
        points = [rounded(pose.position) for pose in found]
        points = points if self._at is None else [self._at, *points]
        self._at = points[-1]
        return points

    def _begin(self, time_s: float, what: Any, name: str, points: list[list[float | None]]) -> Row:
        end = " ".join(f"{value:.2f}" for value in points[-1] if value is not None) if points else ""
        if isinstance(what, crcl.SetEndEffector):
            end = f"{what.setting:g}"
        elif isinstance(what, crcl.Dwell):
            end = f"{what.dwell_time:g} s"
        row = {
            "id": f"{self._robot} {len(self.actions) + 1}", "robot": self._robot, "text": f"{name} {end}".strip(),
            "start_s": time_s, "end_s": None, "phase": "running", "reason": "", "predicates": [],
        }  # fmt: skip
        self._doing[what.command_id] = row
        self.actions.append(row)
        return row

    def take_status(self, time_s: float, document: str) -> list[Row]:
        """Takes a status; returns the rows of actions that have ended with it."""
        try:
            status = crcl.decode(document)
        except BadInput:
            self._message(time_s, "status", "unreadable", None, document)
            return []
        if not isinstance(status, crcl.CRCLStatus):
            return []
        told = status.command_status
        said = (told.command_id, told.command_state, told.state_description)
        if said == self._said:
            self.left_out += 1
            return []
        self._said = said
        self._message(time_s, "status", str(told.command_state.value), told.command_id, document)
        if self._at is None and status.pose_status is not None:
            self._at = self._start(status)
        if told.command_state not in ENDS:
            return []
        failed = told.command_state is not crcl.CommandStateEnum.CRCL_DONE
        ended = []
        for number in [number for number in self._doing if number <= told.command_id]:
            row = self._doing.pop(number)
            row["end_s"], row["phase"] = time_s, "end"
            if failed and number == told.command_id:
                row["phase"], row["reason"] = "failed", told.state_description or "the robot reports an error"
            ended.append(row)
        return ended

    def _start(self, status: crcl.CRCLStatus) -> list[float | None] | None:
        """Returns where the robot says that it is."""
        units = self._units.with_reported(status.settings_status)
        try:
            pose = checked_pose(to_si(status.pose_status, units, ()).pose, "pose") if status.pose_status else None
        except BadInput:
            return None
        return None if pose is None else rounded(((self._frame or Pose.identity()) @ pose).position)

    def _message(self, time_s: float, direction: str, name: str, number: int | None, document: str) -> None:
        text = document if len(document) <= LONGEST_TEXT else document[: LONGEST_TEXT - 1] + "\N{HORIZONTAL ELLIPSIS}"
        row = {"time_s": time_s, "robot": self._robot, "direction": direction, "name": name, "id": number}
        self._rows.add("messages", {**row, "text": text})
