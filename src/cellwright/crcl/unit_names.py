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
        word: SetLengthUnits(0, unit)
        for unit, words in {
            LengthUnitEnum.METER: ("meter", "metre", "m"),
            LengthUnitEnum.MILLIMETER: ("millimeter", "millimetre", "mm"),
            LengthUnitEnum.INCH: ("inch", "in"),
        }.items()
        for word in words
    },
    **{word: SetAngleUnits(0, AngleUnitEnum.RADIAN) for word in ("radian", "rad")},
    **{word: SetAngleUnits(0, AngleUnitEnum.DEGREE) for word in ("degree", "deg")},
    **{word: SetForceUnits(0, ForceUnitEnum.NEWTON) for word in ("newton", "N")},
    **{word: SetForceUnits(0, ForceUnitEnum.POUND) for word in ("pound", "lbf")},
    **{word: SetForceUnits(0, ForceUnitEnum.OUNCE) for word in ("ounce", "ozf")},
    **{word: SetTorqueUnits(0, TorqueUnitEnum.NEWTON_METER) for word in ("newtonMeter", "Nm")},
    **{word: SetTorqueUnits(0, TorqueUnitEnum.FOOT_POUND) for word in ("footPound", "ftlb")},
}


def unit_commands(words: str) -> list[CRCLCommand]:
    """Returns the commands that set the units named, such as `mm,degree`.

    Raises:
        UnknownName: A name that is no unit. BadInput: Two units of one kind.
    """
    found: dict[type[CRCLCommand], str] = {}
    commands = []
    for word in filter(None, (part.strip() for part in words.split(","))):
        if word not in _COMMANDS:
            raise UnknownName("unit", word, _COMMANDS)
        command = _COMMANDS[word]
        if type(command) in found:
            raise BadInput(f"'{found[type(command)]}' and '{word}' are units of the same kind (allowed: one)")
        found[type(command)] = word
        commands.append(command)
    return commands
