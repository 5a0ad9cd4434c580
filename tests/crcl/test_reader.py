"""Reading: tolerant of what peers do, strict in what matters, safe with what attackers send."""

from __future__ import annotations

import pytest

from cellwright.crcl import (
    CRCLCommandInstance,
    CRCLProgram,
    CRCLStatus,
    DecodeError,
    Dwell,
    EndCanon,
    GetStatus,
    InitCanon,
    MoveTo,
    PoseAndSet,
    check,
    decode,
    encode,
)

XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
POSE = (
    "<Point><X>1</X><Y>1</Y><Z>1</Z></Point><XAxis><I>1</I><J>0</J><K>0</K></XAxis>"
    "<ZAxis><I>0</I><J>0</J><K>1</K></ZAxis>"
)
DWELL = CRCLCommandInstance(Dwell(7, 0.5))


def command(kind: str, inside: str, number: int = 7) -> str:
    return (
        f'<CRCLCommandInstance><CRCLCommand xsi:type="{kind}" {XSI}><CommandID>{number}</CommandID>{inside}'
        "</CRCLCommand></CRCLCommandInstance>"
    )


@pytest.mark.parametrize(
    "text",
    [
        command("DwellType", "<DwellTime>0.5</DwellTime>"),
        command("DwellType", "\n<!-- half a second -->\n<DwellTime> 5E-1 </DwellTime>\n"),
        command(" DwellType ", "<DwellTime><![CDATA[0.5]]></DwellTime>"),
        command("DwellType", "<DwellTime>0<!-- a -->.5</DwellTime>"),
        "\n \0<?xml version='1.0'?>\n\0<?xml version='1.0' encoding='UTF-8'?>"
        + command("DwellType", "<DwellTime>.5</DwellTime>"),
        "\ufeff" + command("DwellType", "<DwellTime>.5</DwellTime>") + "\0\0\n",
        command("DwellType", "<DwellTime what='ever'>.5</DwellTime>stray"),  # reported by check, passed over here
    ],
)
def test_one_command_in_many_clothes(text):
    assert decode(text) == decode(text.encode()) == DWELL


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "windows-1252", "UTF-16", "us-ascii"])
def test_other_encodings(encoding):
    name = "Motoman" if encoding == "us-ascii" else "Jörg"
    named = command("GetStatusType", "").replace(f"{XSI}>", f"{XSI}><Name>{name}</Name>")
    text = f"<?xml version='1.0' encoding='{encoding}'?>{named}"
    assert decode(text.encode(encoding)).crcl_command == GetStatus(7, name=name)
    assert decode(text).crcl_command.name == name  # text has no encoding, whatever it says
    assert check(text.encode(encoding)) == []


def test_the_document_that_is_expected():
    raw = encode(DWELL)
    assert decode(raw, CRCLCommandInstance) == DWELL
    with pytest.raises(DecodeError, match=r"the document is CRCLCommandInstance .allowed: CRCLStatus") as wrong:
        decode(raw, CRCLStatus)
    assert wrong.value.command_id == 7
    with pytest.raises(DecodeError, match="the document is Bogus"):
        decode("<Bogus/>", CRCLProgram)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (command("DwellType", ""), "line 1 at CRCLCommandInstance/CRCLCommand: DwellType lacks DwellTime"),
        (command("DwellType", "\n<DwellTime>soon</DwellTime>"), "line 2 .*DwellTime is 'soon' .allowed: a number"),
        (command("DwellType", "<DwellTime>1</DwellTime><DwellTime>1</DwellTime>"), "DwellTime is there twice"),
        (command("DwellType", "<DwellTime>1</DwellTime><Name>x</Name>"), "Name stands after DwellTime"),
        (command("DwellType", "<Bogus/>"), "Bogus does not belong into DwellType .allowed: Name, CommandID, Guard"),
        (command("WaltzType", ""), "CRCLCommand has the type 'WaltzType' .allowed: .*MoveToType"),
        (command("PoseType", ""), "CRCLCommand has the type 'PoseType'"),
        (command("MiddleCommandType", ""), "CRCLCommand has the type 'MiddleCommandType'"),
        (command("SetEndEffectorType", "<Setting>1.7</Setting>"), "Setting is '1.7' .allowed: a number from 0 to 1"),
        (command("MessageType", "<Message>a<b/>c</Message>"), "Message is 'ac'"),
        ("<CRCLCommandInstance><CRCLCommand/></CRCLCommandInstance>", "CRCLCommand has no xsi:type"),
    ],
)
def test_says_what_is_wrong_and_where(text, message):
    with pytest.raises(DecodeError, match=message):
        decode(text)
    assert check(text)


def test_a_bad_command_can_be_answered():
    with pytest.raises(DecodeError) as wrong:
        decode(command("WaltzType", "", number=41))
    assert wrong.value.command_id == 41
    with pytest.raises(DecodeError) as wrong:
        decode(command("WaltzType", "", number="x"))
    assert wrong.value.command_id is None


def test_too_few_waypoints():
    pose = f"<Waypoint>{POSE}</Waypoint>"
    text = command("MoveThroughToType", f"<MoveStraight>true</MoveStraight>{pose}<NumPositions>1</NumPositions>")
    with pytest.raises(DecodeError, match=r"has one Waypoint .allowed: 2 or more"):
        decode(text)
    assert len(decode(text.replace(pose, pose * 2)).crcl_command.waypoint) == 2


def test_a_derived_type_in_place_of_a_concrete_one():
    end = f'<EndPosition xsi:type="PoseAndSetType">{POSE}<Coordinated>1</Coordinated></EndPosition>'
    document = decode(command("MoveToType", f"<MoveStraight>true</MoveStraight>{end}"), CRCLCommandInstance)
    assert isinstance(document.crcl_command, MoveTo)
    assert isinstance(document.crcl_command.end_position, PoseAndSet)
    assert decode(encode(document)) == document


BOMB = "<!DOCTYPE a [<!ENTITY b 'bbbbbbbbbb'><!ENTITY c '&b;&b;&b;&b;&b;&b;'>]>"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (BOMB + "<CRCLStatus>&c;</CRCLStatus>", "has a document type declaration"),
        ("<!-- x -->\n<!DOCTYPE CRCLStatus SYSTEM 'file:///etc/passwd'><CRCLStatus/>", "line 2: has a document type"),
        ("<CRCLStatus>&xxe;</CRCLStatus>", "not well-formed"),
        (("<!DOCTYPE a [<!ENTITY b 'x'>]><a/>").encode("utf-16"), "has a document type declaration"),
        (b"<?xml version='1.0' encoding='UTF-7'?>+ADwAIQ-DOCTYPE a>", "has the encoding 'utf-7'"),
        (b"<?xml version='1.0' encoding='EBCDIC-CP-US'?><a/>", "has the encoding"),
        ("<CRCLStatus>" * 1000 + "</CRCLStatus>" * 1000, "xcessive depth"),
        ("<CRCLStatus>", "line 1: is not well-formed XML: "),
        ("\n\n<CRCLStatus>\n</CRCL>", "line 4: is not well-formed XML: "),
        (b"<CRCLStatus>\xff</CRCLStatus>", "is not well-formed XML"),
        ("<CRCLStatus>\ud800</CRCLStatus>", "is not well-formed XML"),
        ("", "does not begin with an element"),
        ("hello", "does not begin with an element"),
        ("<!-- for ever", "ends inside what stands before the document"),
        (b"\xff\xfe\x00", "is not text in utf-16"),
        ("<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'x'>]><a/>".encode("utf-16-le"), "is not well-formed XML"),
        ("<CRCLStatus/><CRCLStatus/>", "is not well-formed XML"),
    ],
)
def test_hostile_and_broken_input(data, message):
    with pytest.raises(DecodeError, match=message) as error:
        decode(data)
    assert "\n" not in str(error.value)
    assert check(data)


def test_size_is_limited_before_anything_is_parsed():
    with pytest.raises(DecodeError, match=r"bytes .allowed: 50 or fewer"):
        decode(encode(DWELL), max_bytes=50)
    assert "allowed" in str(check(encode(DWELL), max_bytes=50)[0])


def test_errors_in_long_programs_name_the_command():
    program = CRCLProgram(
        init_canon=InitCanon(1), middle_command=tuple(Dwell(i, 1.0) for i in range(2, 9)), end_canon=EndCanon(9)
    )
    text = encode(program, indent=" ").replace(b"<CommandID>5</CommandID>", b"<CommandID>five</CommandID>")
    with pytest.raises(DecodeError, match=r"line 1\d at CRCLProgram/MiddleCommand\[4\]/CommandID"):
        decode(text)
    (problem,) = check(text)
    assert problem.where == "CRCLProgram/MiddleCommand[4]/CommandID"
