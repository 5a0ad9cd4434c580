"""A status that breaks the schema is read as far as it goes, and what is wrong with it is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.crcl import (
    CommandStateEnum,
    CommandStatus,
    CRCLStatus,
    DecodeError,
    DocumentProblem,
    JointStatus,
    JointStatuses,
    SettingsStatus,
    TransSpeedRelative,
    encode,
)
from cellwright.crcl.findings import MAX_KINDS, DocumentFindings
from cellwright.crcl.lenient import read_status

WORKING = CommandStateEnum.CRCL_WORKING


def status(number="7", state="CRCL_Done", said="", more=""):
    said = f"<StateDescription>{said}</StateDescription>" if said else ""
    return (
        f'<?xml version="1.0"?>\n<CRCLStatus><CommandStatus><CommandID>{number}</CommandID><StatusID>3</StatusID>'
        f"<CommandState>{state}</CommandState>{said}</CommandStatus>{more}</CRCLStatus>"
    ).encode()


def settings(inside):
    return f"<SettingsStatus>{inside}</SettingsStatus>"


def test_a_valid_status_has_no_findings():
    told = CRCLStatus(CommandStatus(7, 3, CommandStateEnum.CRCL_DONE))
    assert read_status(encode(told)) == (told, [])


def test_a_fraction_above_one_is_that_number_and_a_finding():
    more = settings("<TransSpeedRelative><Fraction>1.7</Fraction></TransSpeedRelative>")
    told, (problem,) = read_status(status(more=more))
    assert told.settings_status == SettingsStatus(trans_speed_relative=TransSpeedRelative(1.7))
    assert told.command_status.command_id == 7
    assert str(problem) == (
        "CRCLStatus/SettingsStatus/TransSpeedRelative/Fraction: '1.7' is not FractionType "
        "(allowed: a number from 0 to 1)"
    )


@pytest.mark.parametrize(
    ("said", "read", "named"),
    [
        ("a\0b", "ab", "the character U+0000"),
        ("a&#0;b", "ab", "the character &#0;"),
        ("a\x0bb&#xFFFF;", "ab", "the character U+000B"),
        ("a & b", "a  b", "not well-formed"),
    ],
)
def test_what_xml_cannot_hold_is_left_out_of_a_text(said, read, named):
    told, problems = read_status(status(said=said))
    assert told.command_status.state_description == read
    assert told.command_status.command_state is CommandStateEnum.CRCL_DONE
    assert named in str(problems[0])
    assert problems[0].line == 2


@pytest.mark.parametrize(
    ("state", "read"), [("CRCL_Thinking", WORKING), ("", WORKING), ("crcl_ERROR", CommandStateEnum.CRCL_ERROR)]
)
def test_a_state_that_is_not_known_is_neither_done_nor_failed(state, read):
    told, problems = read_status(status(state=state, more="<Mood>good</Mood>"))
    assert told.command_status.command_state is read
    assert "Mood: does not belong into CRCLStatusType" in " ".join(map(str, problems))


@pytest.mark.parametrize(("number", "read"), [("7.0", 7), (str(1 << 63), 0), ("seven", 0), ("", 0)])
def test_a_number_of_a_command_that_cannot_be_read_is_no_command(number, read):
    told, problems = read_status(status(number=number))
    assert told.command_status == CommandStatus(read, 3, CommandStateEnum.CRCL_DONE)
    assert "CommandID" in problems[0].where


def test_what_cannot_be_read_is_left_out_and_the_rest_is_there():
    joints = (
        "<JointStatuses><JointStatus><JointNumber>1</JointNumber><JointPosition>0,5</JointPosition></JointStatus>"
        "<JointStatus><JointNumber>two</JointNumber></JointStatus></JointStatuses>"
    )
    pose = "<PoseStatus><Pose><Point><X>1</X><Y>2</Y><Z>high</Z></Point></Pose></PoseStatus>"
    units = settings("<LengthUnitName>furlong</LengthUnitName><AngleUnitName>Degree</AngleUnitName>")
    gripper = "<GripperStatus><GripperName>g</GripperName></GripperStatus>"
    told, problems = read_status(status(more=units + pose + joints + gripper))
    assert told.joint_statuses == JointStatuses((JointStatus(1),))
    assert told.pose_status is None
    assert told.gripper_status is None
    assert told.settings_status.length_unit_name is None
    assert told.settings_status.angle_unit_name == "degree"
    assert len(problems) >= 8


def test_order_doubles_namespaces_and_prefixes_are_read_as_they_are_meant():
    text = status(
        more='<c:GripperStatus xsi:type="c:ParallelGripperStatusType"><c:GripperName>my gripper</c:GripperName>'
        "<c:Separation>1</c:Separation></c:GripperStatus>"
    )
    text = text.replace(
        b"<CRCLStatus>",
        b'<CRCLStatus xmlns:c="urn:c" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        b"<CommandStatus><CommandID>9</CommandID><StatusID>1</StatusID>"
        b"<CommandState>CRCL_Done</CommandState></CommandStatus>",
    )
    told, problems = read_status(text)
    assert told.command_status.command_id == 9
    assert told.gripper_status.separation == 1.0
    assert told.gripper_status.gripper_name == "my gripper"
    said = " ".join(map(str, problems))
    assert "is in the namespace 'urn:c'" in said
    assert "is there more than once" in said


def test_an_answer_without_anything_in_it_is_an_answer():
    told, problems = read_status(b"<CRCLStatus/>")
    assert told == CRCLStatus(CommandStatus(0, 0, WORKING))
    assert str(problems[0]) == "CRCLStatus: lacks CommandStatus (allowed: one)"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"SSH-2.0",
        b"<CRCLCommandInstance/>",
        b"<!DOCTYPE x [<!ENTITY a 'b'>]><CRCLStatus>&a;</CRCLStatus>",
        b"<html><body>404</body></html>",
    ],
)
def test_what_is_no_status_is_none(text):
    with pytest.raises(DecodeError):
        read_status(text)


@given(st.binary(max_size=30), st.integers(0, 400), st.integers(0, 40))
def test_whatever_is_damaged_it_is_a_status_or_a_clear_refusal(noise, at, gone):
    whole = status(more=settings("<TransSpeedRelative><Fraction>0.5</Fraction></TransSpeedRelative>"))
    try:
        told, _ = read_status(whole[:at] + noise + whole[at + gone :])
    except DecodeError:
        return
    assert isinstance(told.command_status, CommandStatus)


def test_findings_tell_each_kind_once_and_stay_small():
    findings = DocumentFindings()
    for index in range(50):
        told = findings.add([DocumentProblem(1, f"'{index}' is not FractionType", f"A/B[{index}]/C")])
        assert bool(told) == (index == 0)
    assert findings.lines == ["A/B[0]/C: '0' is not FractionType, 50 times"]
    for index in range(10 * MAX_KINDS):
        findings.add([DocumentProblem(1, "is odd", f"Made/Up{index}")])
    assert len(findings.lines) == MAX_KINDS + 1
    assert findings.lines[-1].endswith("more of other kinds")
