"""Units as people write them on a command line: `mm,degree`."""

from __future__ import annotations

from cellwright.core.errors import BadInput, UnknownName
from cellwright.crcl.messages import (
    AngleUnitEnum,
    CRCLCommand,
    ForceUnitEnum,
    LengthUnitEnum,
    SetAngleUnits,
    SetForceUnits,
    SetLengthUnits,
    SetTorqueUnits,
    TorqueUnitEnum,
)

__all__ = ["unit_commands"]

_COMMANDS: dict[str, CRCLCommand] = {
    **{
        name: SetLengthUnits(0, unit)
        for unit, names in {
            LengthUnitEnum.METER: ("meter", "metre", "m"),
            LengthUnitEnum.MILLIMETER: ("millimeter", "millimetre", "mm"),
            LengthUnitEnum.INCH: ("inch", "in"),
        }.items()
        for name in names
    },
    **{name: SetAngleUnits(0, AngleUnitEnum.RADIAN) for name in ("radian", "rad")},
    **{name: SetAngleUnits(0, AngleUnitEnum.DEGREE) for name in ("degree", "deg")},
    **{name: SetForceUnits(0, ForceUnitEnum.NEWTON) for name in ("newton", "N")},
    **{name: SetForceUnits(0, ForceUnitEnum.POUND) for name in ("pound", "lbf")},
    **{name: SetForceUnits(0, ForceUnitEnum.OUNCE) for name in ("ounce", "ozf")},
    **{name: SetTorqueUnits(0, TorqueUnitEnum.NEWTON_METER) for name in ("newtonMeter", "Nm")},
    **{name: SetTorqueUnits(0, TorqueUnitEnum.FOOT_POUND) for name in ("footPound", "ftlb")},
}


def unit_commands(names: str) -> list[CRCLCommand]:
    """Returns the commands that set the units named, such as `mm,degree`.

    Raises:
        UnknownName: A name that is no unit. BadInput: Two units of one kind.
    """
    found: dict[type[CRCLCommand], str] = {}
    commands = []
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name not in _COMMANDS:
            raise UnknownName("unit", name, _COMMANDS)
        command = _COMMANDS[name]
        if type(command) in found:
            raise BadInput(f"'{found[type(command)]}' and '{name}' are units of the same kind (allowed: one)")
        found[type(command)] = name
        commands.append(command)
    return commands
