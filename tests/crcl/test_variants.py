"""Documents of older schemas."""

from __future__ import annotations

import pytest

from cellwright.crcl import (
    CommandStateEnum,
    ConfigureStatusReport,
    CRCLCommandInstance,
    CRCLStatus,
    DecodeError,
    SetLengthUnits,
    check,
    decode,
)

XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
POSE = (
    "<Pose><Point><X>1.5</X> <Y>1</Y> <Z>1</Z></Point><XAxis><I>1</I> <J>0</J> <K>0</K></XAxis>"
    "<ZAxis><I>0</I> <J>0</J> <K>-1</K></ZAxis></Pose>"
)


def status(state: str = "CRCL_Done", rest: str = "") -> str:
    head = f"<CommandID>1</CommandID><StatusID>1</StatusID><CommandState>{state}</CommandState>"
    return f"<CRCLStatus><CommandStatus>{head}</CommandStatus>{rest}</CRCLStatus>"


def command(kind: str, inside: str) -> str:
    head = f'<CRCLCommand xsi:type="{kind}" {XSI}><CommandID>1</CommandID>'
    return f"<CRCLCommandInstance>{head}{inside}</CRCLCommand></CRCLCommandInstance>"


def read_old(text: str):
    """What a lenient reader makes of a text that a strict one and the checker refuse."""
    assert check(text)
    with pytest.raises(DecodeError):
        decode(text, lenient=False)
    return decode(text)


@pytest.mark.parametrize("state", ["Done", "DONE", " CRCL_Done ", "crcl_done"])
def test_states_of_2014(state):
    document = read_old(status(state))
    assert isinstance(document, CRCLStatus)
    assert document.command_status.command_state is CommandStateEnum.CRCL_DONE


def test_pose_of_2014():
    document = read_old(status("Working", POSE))
    assert document.pose_status.pose.point.x == 1.5
    assert document.command_status.command_state is CommandStateEnum.CRCL_WORKING


def test_four_flags_of_2016():
    names = ("JointStatuses", "PoseStatus", "GripperStatus", "SettingsStatus")
    flags = "".join(f"<Report{name}>true</Report{name}>" for name in names)
    document = read_old(command("ConfigureStatusReportType", flags))
    assert document == CRCLCommandInstance(ConfigureStatusReport(1, True, True, True, True, False, False))


def test_one_missing_flag_is_a_mistake():
    names = ("JointStatuses", "PoseStatus", "GripperStatus", "SettingsStatus", "SensorsStatus")
    flags = "".join(f"<Report{name}>true</Report{name}>" for name in names)
    with pytest.raises(DecodeError, match="lacks ReportGuardsStatus"):
        decode(command("ConfigureStatusReportType", flags))


def test_pose_tolerance_of_2019():
    tolerance = "<PoseTolerance><XPointTolerance>2</XPointTolerance></PoseTolerance>"
    document = read_old(status(rest=f"<SettingsStatus>{tolerance}</SettingsStatus>"))
    assert document.settings_status.end_pose_tolerance.x_point_tolerance == 2


def test_slips_that_the_standard_invites():
    assert read_old(command("SetLengthUnitsType", "<UnitName>mm</UnitName>")) == CRCLCommandInstance(
        SetLengthUnits(1, "millimeter")
    )
    sensor = "<SensorID>s</SensorID><ReadCount>1</ReadCount><LastReadTime>2</LastReadTime>"
    document = read_old(
        status(
            rest="<SensorStatuses>"
            f"<ScalarSensorStatus>{sensor}<ScalarValue>1.5</ScalarValue></ScalarSensorStatus>"
            f"<CountSensorStatus>{sensor}<CountValue>3</CountValue></CountSensorStatus></SensorStatuses>"
        )
    )
    assert document.sensor_statuses.scalar_sensor_status[0].scalar_value == 1.5
    assert document.sensor_statuses.count_sensor_status[0].count_value == 3


@pytest.mark.parametrize("state", ["Finished", "", "CRCL_"])
def test_other_mistakes_stay_mistakes(state):
    with pytest.raises(DecodeError, match="allowed: CRCL_Done, CRCL_Error, CRCL_Working, CRCL_Ready"):
        decode(status(state, POSE))
