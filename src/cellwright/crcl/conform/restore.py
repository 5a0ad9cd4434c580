"""Restores what the checks changed: units, speeds, tolerances, reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from cellwright.crcl.conform.answer import Answer, Reaction
from cellwright.crcl.conform.probe import Probe
from cellwright.crcl.errors import EncodeError
from cellwright.crcl.messages import (
    ConfigureJointReport,
    ConfigureJointReports,
    ConfigureStatusReport,
    CRCLCommand,
    CRCLStatus,
    DataThing,
    SettingsStatus,
)
from cellwright.crcl.session_settings import SETTING_COMMANDS, UNIT_COMMANDS
from cellwright.crcl.table import element_name

__all__ = ["PARTS", "parts_of", "put_back"]

PARTS = ("joint_statuses", "pose_status", "gripper_status", "settings_status", "sensor_statuses", "guards_statuses")
"""The parts of a status in the order of the flags of ConfigureStatusReport."""

_UNITS: dict[str, Callable[[int, Any], CRCLCommand]] = {f"{kind}_unit_name": c for kind, c in UNIT_COMMANDS.items()}
_SETTINGS: dict[str, Callable[[int, Any], CRCLCommand]] = dict(SETTING_COMMANDS)
_CLOSE = 1e-6
GIVE_UP_AFTER = 2


def parts_of(status: CRCLStatus) -> list[str]:
    """Returns the parts that a status has."""
    return [part for part in PARTS if getattr(status, part) is not None]


async def put_back(probe: Probe) -> str:
    """Restores settings and reports by the first status, in an open session; returns how far that went.

    Raises:
        JobFailed: The server does not answer.
    """
    first = probe.first
    if first is None or first.settings_status is None:
        return "what was set before is not known, no status told it"
    then, silent = first.settings_status, 0

    async def send(command: CRCLCommand) -> Answer | None:
        nonlocal silent
        try:
            answer = await probe.do(command) if silent < GIVE_UP_AFTER else None
        except EncodeError:  # the server began with a value that CRCL has not
            return None
        silent = silent + 1 if answer is not None and answer.reaction is Reaction.SILENT else 0
        return answer

    await probe.report_all()
    for name, make in _UNITS.items():
        if getattr(then, name) is not None:
            await send(make(0, getattr(then, name)))
    now = await _settings(probe)
    for name, make in _SETTINGS.items():
        if getattr(then, name) is not None and not _same(getattr(then, name), getattr(now, name)):
            await send(make(0, getattr(then, name)))
    left = _differences(then, await _settings(probe))
    for report in _reports(first):
        await send(report)
    return f"not put back: {'; '.join(left)}" if left else "units, speeds and tolerances are as they were"


async def _settings(probe: Probe) -> SettingsStatus:
    return (await probe.ask()).settings_status or SettingsStatus()


def _reports(first: CRCLStatus) -> list[CRCLCommand]:
    """Returns commands after which a status has the parts that the first one had."""
    there = parts_of(first)
    joints = first.joint_statuses.joint_status if first.joint_statuses else ()
    each = tuple(
        ConfigureJointReport(
            joint.joint_number,
            joint.joint_position is not None,
            joint.joint_torque_or_force is not None,
            joint.joint_velocity is not None,
        )
        for joint in joints
    )
    reports: list[CRCLCommand] = [ConfigureJointReports(0, True, configure_joint_report=each)] if each else []
    return [*reports, ConfigureStatusReport(0, *(part in there for part in PARTS))]


def _differences(then: SettingsStatus, now: SettingsStatus) -> list[str]:
    """Returns the settings that differ now, by their names in the schema."""
    found = []
    for name in (*_UNITS, *_SETTINGS):
        old, new = getattr(then, name), getattr(now, name)
        if old is not None and not _same(old, new):
            found.append(f"{element_name(name)} is {_text(new)}, was {_text(old)}")
    return found


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, DataThing) and type(a) is type(b):
        return all(_same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=_CLOSE, abs_tol=1e-12)
    return bool(a == b)


def _text(value: Any) -> str:
    if not isinstance(value, DataThing):
        return "not told" if value is None else str(value)
    values = [getattr(value, f.name) for f in fields(value)]
    return ", ".join(_text(each) if not isinstance(each, tuple) else "..." for each in values if each is not None)
