"""The programs that were run in the APRS lab."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from cellwright.crcl import (
    CRCLProgram,
    EnableSensor,
    GuardLimitEnum,
    LoopBlockEnd,
    MoveTo,
    ParameterSetting,
    SetAngleUnits,
    SetLengthUnits,
    check,
    decode,
)

PROGRAMS = Path(__file__).parents[3] / "shared" / "aprs" / "programs"

pytestmark = pytest.mark.skipif(not PROGRAMS.is_dir(), reason="the lab's programs are not there (../shared/aprs)")


def read(name: str) -> CRCLProgram:
    text = (PROGRAMS / name).read_bytes()
    assert check(text) == []
    return decode(text, CRCLProgram, lenient=False)


def test_fanuc():
    program = read("fanucStackMoveRepeat3.xml")
    kinds = Counter(type(command).__name__ for command in program.middle_command)
    assert kinds["MoveTo"] == 8
    assert sum(kinds.values()) == 25
    (loop,) = (command for command in program.middle_command if isinstance(command, LoopBlockEnd))
    assert (loop.loop_name, loop.max_count) == ("MainLoop", 3)
    first = next(command for command in program.middle_command if isinstance(command, MoveTo))
    assert first.end_position.point.x == 290.01
    assert first.end_position.x_axis.i == -0.707  # not quite a unit vector: 0.99985 long


@pytest.mark.parametrize(
    ("name", "sensor", "limit"),
    [
        ("fanucStackMoveRepeat3.xml", "ATINetFT", GuardLimitEnum.DECREASE_BEYOND_LIMIT),
        ("motomanStackMove.xml", "MotoFit", GuardLimitEnum.INCREASE_OVER_LIMIT),
        ("simMotomanStackMove.xml", "RemoteCrclSensor", GuardLimitEnum.INCREASE_OVER_LIMIT),
    ],
)
def test_guards_on_force(name, sensor, limit):
    program = read(name)
    guards = [guard for command in program.middle_command for guard in command.guard]
    assert {(guard.sensor_id, guard.sub_field, guard.limit_type) for guard in guards} == {(sensor, "Fz", limit)}
    assert {guard.recheck_time_micro_seconds for guard in guards} == {20}
    (enable,) = (command for command in program.middle_command if isinstance(command, EnableSensor))
    assert enable.sensor_id == sensor
    assert isinstance(enable.sensor_option[0], ParameterSetting)
    assert not any(isinstance(command, SetLengthUnits | SetAngleUnits) for command in program.middle_command)
