"""Units: defaults, switching, and that each connection has its own."""

from __future__ import annotations

import math

from cellwright.crcl.conform.check import ambiguous, check, require
from cellwright.crcl.conform.probe import Probe, ProbeConnection
from cellwright.crcl.messages import (
    AngleUnitEnum,
    CRCLCommand,
    CRCLStatus,
    ForceUnitEnum,
    InitCanon,
    LengthUnitEnum,
    SetAngleUnits,
    SetForceUnits,
    SetLengthUnits,
    SetTorqueUnits,
    SetTransSpeed,
    TorqueUnitEnum,
    TransSpeedAbsolute,
)

__all__: list[str] = []

MM, INCH, METER = LengthUnitEnum.MILLIMETER, LengthUnitEnum.INCH, LengthUnitEnum.METER
PER_METER = {METER: 1.0, MM: 1000.0, INCH: 1 / 0.0254}
DEFAULTS = (METER, AngleUnitEnum.RADIAN, ForceUnitEnum.NEWTON, TorqueUnitEnum.NEWTON_METER)


def _names(status: CRCLStatus) -> tuple[str, str, str, str]:
    reported = status.settings_status
    if reported is None:
        ambiguous("cannot be seen: the status holds no SettingsStatus")
    names = (reported.length_unit_name, reported.angle_unit_name, reported.force_unit_name, reported.torque_unit_name)
    if None in names:
        ambiguous(f"cannot be seen: unit names are {', '.join(str(name) for name in names)}")
    return tuple(str(name) for name in names)  # type: ignore[return-value]


async def _set(probe: Probe, command: CRCLCommand, connection: ProbeConnection | None = None) -> None:
    answer = await probe.do(command, connection)
    require(answer.done, f"{type(command).__name__} is {answer.text}")


def _close(a: float, b: float, scale: float) -> bool:
    return abs(a - b) <= 1e-4 * max(abs(a), abs(b), scale)


@check("default-units", "After InitCanon units are metre, radian, newton and newton metre (Reference).", prepared=False)
async def default_units(probe: Probe) -> str:
    """Sends InitCanon and reads the names of the units."""
    answer = await probe.do(InitCanon(0))
    if not answer.done:
        ambiguous(f"cannot be tried: InitCanon is {answer.text}")
    await probe.report_all()
    names = _names(await probe.ask())
    require(names == DEFAULTS, f"units after InitCanon are {', '.join(names)}")
    return ", ".join(names)


@check("init-resets-units", "Every InitCanon resets all units (Reference).")
async def init_resets_units(probe: Probe) -> str:
    """Sends InitCanon, sets inch, degree, pound and foot-pound, sends InitCanon again, compares the names."""
    await probe.do(InitCanon(0))
    await probe.report_all()
    defaults = _names(await probe.ask())
    for command in (
        SetLengthUnits(0, INCH),
        SetAngleUnits(0, AngleUnitEnum.DEGREE),
        SetForceUnits(0, ForceUnitEnum.POUND),
        SetTorqueUnits(0, TorqueUnitEnum.FOOT_POUND),
    ):
        answer = await probe.do(command)
        if not answer.done:
            ambiguous(f"cannot be tried: {type(command).__name__} is {answer.text}")
    other = _names(await probe.ask())
    if other == defaults:
        ambiguous("cannot be tried: the names of the units do not change")
    await probe.do(InitCanon(0))
    await probe.report_all()
    after = _names(await probe.ask())
    require(after == defaults, f"{', '.join(other)} became {', '.join(after)}, not {', '.join(defaults)}")
    return f"{', '.join(other)} became {', '.join(after)}"


@check("length-units", "SetLengthUnits converts later reports (Reference).")
async def length_units(probe: Probe) -> str:
    """Reads the pose in metre, millimetre, inch and metre again."""
    home = (await probe.pose()).point
    for unit in (MM, INCH, METER):
        await _set(probe, SetLengthUnits(0, unit))
        point, factor = (await probe.pose()).point, PER_METER[unit]
        pairs = [(point.x, home.x), (point.y, home.y), (point.z, home.z)]
        right = all(_close(now, then * factor, factor) for now, then in pairs)
        reported = f"{point.x:g}, {point.y:g}, {point.z:g} {unit}"
        require(right, f"{home.x:g}, {home.y:g}, {home.z:g} m became {reported}")
    return "metre, millimetre, inch, metre"


@check("angle-units", "SetAngleUnits converts later reports (Reference).")
async def angle_units(probe: Probe) -> str:
    """Reads the joints in radian and in degree."""
    radians = _positions(await probe.ask())
    await _set(probe, SetAngleUnits(0, AngleUnitEnum.DEGREE))
    degrees = _positions(await probe.ask())
    turning = 0
    for number, value in radians.items():
        now = degrees.get(number)
        require(now is not None, f"joint {number} is not reported any more")
        assert now is not None
        turns, slides = _close(now, math.degrees(value), 1.0), _close(now, value, 1e-3)
        require(turns or slides, f"joint {number} went from {value:g} to {now:g}")
        turning += turns and not slides
    if not turning:
        ambiguous("all joints stand at 0 or slide: nothing to convert")
    return f"{turning} of {len(radians)} joints converted, the others slide or stand at 0"


@check("units-convert-settings", "Set...Units converts settings that are stored (Reference).")
async def units_convert_settings(probe: Probe) -> str:
    """Sets a speed in metre, switches to millimetre, reads the speed."""
    await _set(probe, SetTransSpeed(0, TransSpeedAbsolute(0.01)))
    before = (await probe.ask()).settings_status
    if before is None or before.trans_speed_absolute is None:
        ambiguous("cannot be seen: the status does not tell TransSpeedAbsolute")
    require(
        _close(before.trans_speed_absolute.setting, 0.01, 0.0), f"0.01 is reported as {before.trans_speed_absolute}"
    )
    await _set(probe, SetLengthUnits(0, MM))
    after = (await probe.ask()).settings_status
    if after is None or after.trans_speed_absolute is None:
        ambiguous("cannot be seen: the status does not tell TransSpeedAbsolute after the switch")
    setting = after.trans_speed_absolute.setting
    require(_close(setting, 10.0, 0.0), f"0.01 m/s became {setting:g} mm/s")
    return "0.01 m/s is 10 mm/s"


@check("unit-names-in-status", "The status tells the units in force (schema).")
async def unit_names_in_status(probe: Probe) -> str:
    """Sets each unit to another one and reads its name."""
    changes: list[tuple[CRCLCommand, int, str]] = [
        (SetLengthUnits(0, MM), 0, MM),
        (SetAngleUnits(0, AngleUnitEnum.DEGREE), 1, AngleUnitEnum.DEGREE),
        (SetForceUnits(0, ForceUnitEnum.OUNCE), 2, ForceUnitEnum.OUNCE),
        (SetTorqueUnits(0, TorqueUnitEnum.FOOT_POUND), 3, TorqueUnitEnum.FOOT_POUND),
    ]
    for command, place, name in changes:
        await _set(probe, command)
        reported = _names(await probe.ask())
        require(reported[place] == name, f"after {type(command).__name__} {name} the status says {reported[place]}")
    return ", ".join(name for _, _, name in changes)


@check("units-per-connection", "Units belong to the connection that set them (practice of NIST's servers).")
async def units_per_connection(probe: Probe) -> str:
    """Sets metre on one connection and millimetre on another, reads the pose on both."""
    other = await probe.open()
    home = (await probe.pose()).point
    await _set(probe, SetLengthUnits(0, MM), other)
    here, there = (await probe.pose()).point, (await probe.pose(other)).point
    if max(abs(home.x), abs(home.y), abs(home.z)) < 1e-3:
        ambiguous("cannot be seen: the robot stands at the origin")
    require(
        _close(here.x, home.x, 1.0) and _close(here.z, home.z, 1.0), f"the first connection went to {here.x:g} as well"
    )
    require(
        _close(there.x, 1000 * home.x, 1.0) and _close(there.z, 1000 * home.z, 1.0),
        f"the second connection reports {there.x:g}, {there.z:g} after millimetre, the first {home.x:g}, {home.z:g} m",
    )
    return f"x {here.x:g} m on one, {there.x:g} mm on the other"


def _positions(status: CRCLStatus) -> dict[int, float]:
    joints = status.joint_statuses.joint_status if status.joint_statuses else ()
    found = {joint.joint_number: joint.joint_position for joint in joints if joint.joint_position is not None}
    if not found:
        ambiguous("cannot be seen: no joint positions are reported")
    return found
