"""Writing: the form that peers understand, and refusals that name the field."""

from __future__ import annotations

import pytest

from cellwright.crcl import (
    CommandStatus,
    CRCLCommandInstance,
    CRCLProgram,
    CRCLStatus,
    Dwell,
    EncodeError,
    EndCanon,
    GetStatus,
    InitCanon,
    JointStatuses,
    MoveThroughTo,
    MoveTo,
    ParallelGripperStatus,
    Point,
    Pose,
    PoseAndSet,
    SetEndEffector,
    TransSpeed,
    TransSpeedRelative,
    Vector,
    encode,
)

XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
POSE = Pose(Point(1, 2, 3), Vector(1, 0, 0), Vector(0, 0, 1))


def test_the_wire_form_is_that_of_the_nist_client():
    assert encode(CRCLCommandInstance(GetStatus(3))) == (
        b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><CRCLCommandInstance><CRCLCommand '
        b'xsi:type="GetStatusType" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        b"<CommandID>3</CommandID></CRCLCommand></CRCLCommandInstance>"
    )


def test_the_namespace_is_declared_once_where_it_is_needed_first():
    end = PoseAndSet(POSE.point, POSE.x_axis, POSE.z_axis, True, trans_speed=TransSpeedRelative(0.5))
    text = encode(CRCLCommandInstance(MoveTo(1, True, end)), declaration=False).decode()
    assert text.startswith("<CRCLCommandInstance><CRCLCommand xsi:type=")
    assert text.count("xmlns:xsi") == 1
    assert text.count("xsi:type") == 3
    status = CRCLStatus(CommandStatus(1, 1, "CRCL_Ready"), gripper_status=ParallelGripperStatus("jaws", 0.1))
    assert f'<GripperStatus xsi:type="ParallelGripperStatusType" {XSI}>' in encode(status).decode()
    assert b"xsi" not in encode(CRCLStatus(CommandStatus(1, 1, "CRCL_Ready")))


def test_files_are_indented_and_declare_it_at_the_root():
    program = CRCLProgram(init_canon=InitCanon(1), middle_command=(Dwell(2, 0.5),), end_canon=EndCanon(3))
    assert encode(program, indent="  ").decode().splitlines() == [
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>',
        f"<CRCLProgram {XSI}>",
        "  <InitCanon>",
        "    <CommandID>1</CommandID>",
        "  </InitCanon>",
        '  <MiddleCommand xsi:type="DwellType">',
        "    <CommandID>2</CommandID>",
        "    <DwellTime>0.5</DwellTime>",
        "  </MiddleCommand>",
        "  <EndCanon>",
        "    <CommandID>3</CommandID>",
        "  </EndCanon>",
        "</CRCLProgram>",
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            CRCLCommandInstance(SetEndEffector(1, 1.7)),
            "CRCLCommandInstance/CRCLCommand/Setting: 1.7 has no text as Frac",
        ),
        (CRCLCommandInstance(Dwell(2**63, 1.0)), "CRCLCommand/CommandID: 9223372036854775808 has no text as xs:long"),
        (CRCLCommandInstance(Dwell(1, None)), "CRCLCommand/DwellTime: is missing .allowed: a number"),
        (CRCLCommandInstance(MoveTo(1, True, None)), "EndPosition: is missing .allowed: Pose, PoseAndSet"),
        (CRCLCommandInstance(MoveTo(1, True, Point(1, 2, 3))), "Point does not belong here .allowed: Pose, PoseAndSet"),
        (CRCLCommandInstance(MoveThroughTo(1, True, (POSE,), 1)), "has 1 of Waypoint .allowed: 2 or more"),
        (CRCLCommandInstance(MoveThroughTo(1, True, POSE, 1)), "is no tuple"),
        (CRCLCommandInstance(Dwell(1, 1.0, name="a\0")), "CRCLCommand/Name: .* has no text as xs:string"),
        (CRCLStatus(CommandStatus(1, 1, "Done")), "'Done' has no text as CommandStateEnumType .allowed: CRCL_Done, "),
        (CRCLStatus(CommandStatus(1, 1, "CRCL_Done"), joint_statuses=JointStatuses(())), "has 0 of JointStatus"),
        (CRCLStatus(CommandStatus(1, 1, "CRCL_Done"), gripper_status=TransSpeed()), "TransSpeed does not belong here"),
        (Dwell(1, 1.0), "Dwell: is not a document .allowed: CRCLCommandInstance, CRCLStatus, CRCLProgram"),
    ],
)
def test_refusals_name_the_field(document, message):
    with pytest.raises(EncodeError, match=message):
        encode(document)
