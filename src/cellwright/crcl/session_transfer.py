"""Opens the session of one robot at another: the same settings, confirmed by its status, at the same position."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from cellwright.core.errors import JobFailed
from cellwright.crcl.client import CrclClient
from cellwright.crcl.messages import CRCLStatus, InitCanon, ParameterSetting, SetRobotParameters, SettingsStatus
from cellwright.crcl.plausibility import without_implausible_positions
from cellwright.crcl.position_difference import PositionDifference, PositionTolerance, position_difference
from cellwright.crcl.session_settings import SessionSettings
from cellwright.crcl.units import CrclUnits, to_si

__all__ = ["transfer_session"]

CONFIRM_S = 0.5  # servers that report by themselves may be behind by a report
CLOSE = 1e-3  # share by which a reported number may differ from the one that was set
OVERRIDE = "override_percent"
_SPEEDS = {"trans_speed": "m/s", "trans_accel": "m/s2", "rot_speed": "rad/s", "rot_accel": "rad/s2"}


async def transfer_session(
    session_settings: SessionSettings,
    here: CRCLStatus | None,
    new: CrclClient,
    tolerance: PositionTolerance,
    say: Callable[[str], None],
) -> tuple[PositionDifference, tuple[str, ...]]:
    """Opens the session of one robot at another one, which does not move by this.

    Args:
        session_settings: The settings of the robot that is left.
        here: Its last known status.
        new: A client of the other robot; it is open.
        tolerance: The largest difference of their positions.
        say: Gets a text for each position that is implausible.

    Returns:
        The difference of their positions, and the settings that the other robot does not report.

    Raises:
        JobFailed: It stands elsewhere, does not take the settings, or reports others.
    """
    ours = here.settings_status if here else None
    units = session_settings.units if session_settings.initialised else CrclUnits()
    there, doubts = without_implausible_positions(await new.status(), units)
    for doubt in doubts:
        say(f"{new.peer}: {doubt}")
    if there.settings_status is not None and there.settings_status.length_unit_name is not None:
        position_difference(here, there, units).check(tolerance, doubts)  # one that stands elsewhere is left as it is
    unconfirmed: tuple[str, ...] = ()
    if session_settings.initialised:
        begun = (await new.execute(InitCanon(0))).check().status
        for command in session_settings.robot_commands(ours, begun.settings_status if begun else None):
            (await new.execute(command)).check()
        override = here.command_status.override_percent if here else None
        if override is not None:
            await _set_override(new, override)
        unconfirmed = await _confirmed(new, override)
    there, doubts = without_implausible_positions(await new.status(), units)
    difference = position_difference(here, there, units)
    difference.check(tolerance, doubts)
    return difference, unconfirmed


async def _set_override(new: CrclClient, percent: int) -> None:
    """Sends the override unless it holds already; a robot that reports none has none until one is set."""
    reported = (await new.status()).command_status.override_percent
    if percent != (100 if reported is None else reported):
        (await new.execute(SetRobotParameters(0, (ParameterSetting(OVERRIDE, str(percent)),)))).check()


async def _confirmed(new: CrclClient, override: int | None) -> tuple[str, ...]:
    """Returns the settings that a robot does not report; raises JobFailed when it reports others than were set."""
    loop = asyncio.get_running_loop()
    until_s = loop.time() + CONFIRM_S
    while True:
        wrong, unreported = _compared(new.session_settings, override, await new.status())
        if not wrong:
            return tuple(unreported)
        if loop.time() >= until_s:
            raise JobFailed(f"it does not keep what it was told: {'; '.join(wrong)}")
        await asyncio.sleep(new.options.poll_s)


def _compared(
    session_settings: SessionSettings, override: int | None, status: CRCLStatus
) -> tuple[list[str], list[str]]:
    """Returns the settings that a status reports otherwise, and those that it does not report."""
    wrong: list[str] = []
    unreported: list[str] = []

    def compare(what: str, reported: float | str | None, wanted: float | str, unit: str = "") -> None:
        if reported is None:
            unreported.append(what)
        elif not _same(reported, wanted):
            value, asked = (v if isinstance(v, str) else f"{v:g}{unit}" for v in (reported, wanted))
            wrong.append(f"{what} is {value} by its status (asked for: {asked})")

    settings, units = status.settings_status or SettingsStatus(), session_settings.units
    compare("length unit", settings.length_unit_name, units.length)
    compare("angle unit", settings.angle_unit_name, units.angle)
    compare("force unit", settings.force_unit_name, units.force)
    compare("torque unit", settings.torque_unit_name, units.torque)
    in_si = to_si(settings, units.with_reported(settings), ())
    for command in session_settings.in_si():
        for name, unit in _SPEEDS.items():
            if (wanted := getattr(command, name, None)) is not None:
                kind, field = ("absolute", "setting") if hasattr(wanted, "setting") else ("relative", "fraction")
                reported = getattr(getattr(in_si, f"{name}_{kind}"), field, None)
                what = "".join(word.capitalize() for word in name.split("_"))
                compare(what, reported, getattr(wanted, field), f" {unit}" * (kind == "absolute"))
    if override is not None:
        compare("override", status.command_status.override_percent, override, " %")
    return wrong, unreported


def _same(reported: float | str, wanted: float | str) -> bool:
    if isinstance(reported, str) or isinstance(wanted, str):
        return reported == wanted
    return abs(reported - wanted) <= CLOSE * abs(wanted)
