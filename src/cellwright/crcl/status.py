"""The text of a status, from a robot's reading and settings.

Clients poll far more often than anything changes. So the text is kept in pieces, for every combination of units and
reports that is in use, each until its source changes; only the part about the command is written every time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from cellwright.core.pose import Pose
from cellwright.crcl import messages as m
from cellwright.crcl.current_command import CommandSource
from cellwright.crcl.errors import EncodeError
from cellwright.crcl.executor import CommandExecutor
from cellwright.crcl.reports import Reports
from cellwright.crcl.status_parts import (
    gripper_part,
    guards_part,
    joints_part,
    pose_part,
    sensors_part,
    settings_part,
)
from cellwright.crcl.units import CrclUnits, from_si
from cellwright.crcl.writer import encode

__all__ = ["StatusWriter"]

LOG = logging.getLogger(__name__)
_END = b"</CRCLStatus>"
_HEAD_END = b"</CommandStatus>"
_ANY = m.CommandStatus(0, 0, m.CommandStateEnum.CRCL_READY)


class StatusWriter:
    """Writes the status of one robot, for all connections."""

    def __init__(self, executor: CommandExecutor) -> None:
        self._executor = executor
        self._in_base = executor.pose_base.is_close(Pose.identity())
        self._motion = _Kept(self._write_motion)
        self._settings = _Kept(self._write_settings)
        self._sensing = _Kept(self._write_sensing)
        self._said = ""

    def text(self, source: CommandSource) -> bytes:
        """Returns the status now, for a connection."""
        executor, units, reports = self._executor, source.units, source.reports
        reading, settings = executor.robot.read(), executor.settings
        parameters = executor.robot.parameters if settings.parameters else None
        pieces = (
            self._head(executor.command_status(source)),
            self._motion.text((reading, settings), units, reports),
            self._settings.text((settings, parameters), units, reports),
            self._sensing.text((reading, settings, executor.guard_record), units, reports),
            _END,
        )
        return b"".join(pieces)

    def _write_motion(self, units: CrclUnits, reports: Reports) -> bytes:
        executor, reading = self._executor, self._executor.robot.read()
        return self._write(
            m.CRCLStatus(
                _ANY,
                joint_statuses=joints_part(reading, reports) if reports.joints else None,
                pose_status=pose_part(reading, executor.pose_base) if reports.pose else None,
                gripper_status=gripper_part(reading.gripper, executor.settings) if reports.gripper else None,
            ),
            units,
        )

    def _write_settings(self, units: CrclUnits, reports: Reports) -> bytes:
        if not reports.settings:
            return b""
        part = settings_part(self._executor.robot, self._executor.settings, units, in_base=self._in_base)
        return self._write(m.CRCLStatus(_ANY, settings_status=part), units)

    def _write_sensing(self, units: CrclUnits, reports: Reports) -> bytes:
        executor = self._executor
        sensors = sensors_part(executor.robot.read(), executor.settings, executor.epoch_s) if reports.sensors else None
        guards = guards_part(executor.guard_record, executor.pose_base) if reports.guards else None
        if sensors is None and guards is None:
            return b""
        return self._write(m.CRCLStatus(_ANY, sensor_statuses=sensors, guards_statuses=guards), units)

    def _head(self, status: m.CommandStatus) -> bytes:
        try:
            return encode(m.CRCLStatus(status))[: -len(_END)]
        except EncodeError as error:
            self._say(error)
            plain = m.CommandStatus(0, status.status_id, status.command_state, state_description=f"left out: {error}")
            return encode(m.CRCLStatus(plain))[: -len(_END)]

    def _write(self, status: m.CRCLStatus, units: CrclUnits) -> bytes:
        """Returns the text behind the head; nothing where a value has no text, because a status must come."""
        try:
            text = encode(from_si(status, units, self._executor.linear_joints), declaration=False)
        except EncodeError as error:
            self._say(error)
            return b""
        return text[text.index(_HEAD_END) + len(_HEAD_END) : -len(_END)]

    def _say(self, error: EncodeError) -> None:
        """Logs an error once, and not with every status."""
        if self._said != str(error):
            self._said = str(error)
            LOG.warning("the status of %s lacks a part: %s", self._executor.robot.name, error)


class _Kept:
    """A piece of text by units and reports, as long as its source objects are the same ones."""

    def __init__(self, write: Callable[[CrclUnits, Reports], bytes]) -> None:
        self._write = write
        self._of: tuple[object, ...] = ()
        self._texts: dict[tuple[CrclUnits, Reports], bytes] = {}

    def text(self, of: tuple[object, ...], units: CrclUnits, reports: Reports) -> bytes:
        if len(of) != len(self._of) or any(one is not other for one, other in zip(of, self._of, strict=True)):
            self._of = of
            self._texts.clear()
        text = self._texts.get((units, reports))
        if text is None:
            text = self._texts[units, reports] = self._write(units, reports)
        return text
