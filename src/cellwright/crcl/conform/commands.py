"""Every command that moves nothing: that it is taken up, and that the answer is true."""

from __future__ import annotations

from cellwright.crcl.conform.answer import Reaction
from cellwright.crcl.conform.check import ambiguous, check, fail, require
from cellwright.crcl.conform.probe import Probe
from cellwright.crcl.messages import (
    AngleUnitEnum,
    CloseToolChanger,
    CRCLCommand,
    DisableGripper,
    DisableRobotParameterStatus,
    DisableSensor,
    EnableGripper,
    EnableRobotParameterStatus,
    EnableSensor,
    ForceUnitEnum,
    JointPositionsTolerances,
    JointPositionToleranceSetting,
    LengthUnitEnum,
    LoopBlockEnd,
    LoopBlockStart,
    Message,
    OpenToolChanger,
    ParameterSetting,
    PoseTolerance,
    RotAccelAbsolute,
    RotAccelRelative,
    RotSpeedAbsolute,
    RotSpeedRelative,
    RunProgram,
    SetAngleUnits,
    SetDefaultJointPositonsTolerances,
    SetEndEffector,
    SetEndEffectorParameters,
    SetEndPoseTolerance,
    SetForceUnits,
    SetIntermediatePoseTolerance,
    SetLengthUnits,
    SetMotionCoordination,
    SetRobotParameters,
    SetRotAccel,
    SetRotSpeed,
    SetTorqueUnits,
    SetTransAccel,
    SetTransSpeed,
    StopConditionEnum,
    StopMotion,
    TorqueUnitEnum,
    TransAccelAbsolute,
    TransAccelRelative,
    TransSpeedAbsolute,
    TransSpeedRelative,
)

__all__: list[str] = []

UNKNOWN = "cellwright_conform"
_TOLERANCE = PoseTolerance(x_point_tolerance=0.001, y_point_tolerance=0.001, z_point_tolerance=0.001)

MUST_WORK: dict[str, CRCLCommand] = {
    "message": Message(0, "conformance: a message"),
    "set-length-units": SetLengthUnits(0, LengthUnitEnum.MILLIMETER),
    "set-angle-units": SetAngleUnits(0, AngleUnitEnum.DEGREE),
    "set-force-units": SetForceUnits(0, ForceUnitEnum.POUND),
    "set-torque-units": SetTorqueUnits(0, TorqueUnitEnum.FOOT_POUND),
    "set-trans-speed-absolute": SetTransSpeed(0, TransSpeedAbsolute(0.01)),
    "set-trans-speed-relative": SetTransSpeed(0, TransSpeedRelative(0.05)),
    "set-trans-accel-absolute": SetTransAccel(0, TransAccelAbsolute(0.1)),
    "set-trans-accel-relative": SetTransAccel(0, TransAccelRelative(0.1)),
    "set-rot-speed-absolute": SetRotSpeed(0, RotSpeedAbsolute(0.05)),
    "set-rot-speed-relative": SetRotSpeed(0, RotSpeedRelative(0.05)),
    "set-rot-accel-absolute": SetRotAccel(0, RotAccelAbsolute(0.5)),
    "set-rot-accel-relative": SetRotAccel(0, RotAccelRelative(0.1)),
    "set-end-pose-tolerance": SetEndPoseTolerance(0, _TOLERANCE),
    "set-intermediate-pose-tolerance": SetIntermediatePoseTolerance(0, _TOLERANCE),
    "set-joint-tolerances": SetDefaultJointPositonsTolerances(
        0, JointPositionsTolerances((JointPositionToleranceSetting(1, 0.001),))
    ),
    "set-motion-coordination": SetMotionCoordination(0, True),
    "stop-motion-normal-at-rest": StopMotion(0, StopConditionEnum.NORMAL),
    "stop-motion-fast-at-rest": StopMotion(0, StopConditionEnum.FAST),
}
"""Commands that any server can do."""

MAY_BE_REFUSED: dict[str, CRCLCommand] = {
    "enable-robot-parameter-status": EnableRobotParameterStatus(0, UNKNOWN),
    "disable-robot-parameter-status": DisableRobotParameterStatus(0, UNKNOWN),
    "set-robot-parameters": SetRobotParameters(0, (ParameterSetting(UNKNOWN, "1"),)),
    "set-end-effector-parameters": SetEndEffectorParameters(0, (ParameterSetting(UNKNOWN, "1"),)),
    "enable-gripper": EnableGripper(0, UNKNOWN),
    "disable-gripper": DisableGripper(0, UNKNOWN),
    "enable-sensor": EnableSensor(0, UNKNOWN),
    "disable-sensor": DisableSensor(0, UNKNOWN),
    "run-program": RunProgram(0, "cellwright conformance: this is no program"),
    "loop-block-start": LoopBlockStart(0, UNKNOWN),
    "loop-block-end": LoopBlockEnd(0, UNKNOWN, 1),
}
"""Commands about things that the server does not know: done or an error, but with a clear answer."""


def _add_must_work(name: str, command: CRCLCommand) -> None:
    kind = type(command).__name__

    async def run(probe: Probe) -> str:
        answer = await probe.do(command)
        if answer.is_error and answer.status.command_status.state_description:
            ambiguous(f"the server does not support it: {answer.text}")
        require(answer.done, f"{kind} is {answer.text}")
        return f"done after {answer.took_s:.3f} s"

    run.__doc__ = f"Sends {kind}."
    run.__module__ = __name__
    check(f"command-{name}", f"{kind} is executed (schema).")(run)


def _add_may_be_refused(name: str, command: CRCLCommand) -> None:
    kind = type(command).__name__

    async def run(probe: Probe) -> str:
        answer = await probe.do(command)
        if answer.reaction in (Reaction.SILENT, Reaction.WORKING):
            fail(f"{kind} is {answer.text}: nobody learns what became of it")
        if answer.is_error and not answer.status.command_status.state_description:
            fail(f"{kind} is refused without a StateDescription")
        return answer.text

    run.__doc__ = f"Sends {kind} with an invented name."
    run.__module__ = __name__
    clause = f"{kind} ends as done or as an error that is explained (schema)."
    check(f"command-{name}", clause, moves=isinstance(command, RunProgram))(run)


for _name, _command in MUST_WORK.items():
    _add_must_work(_name, _command)
for _name, _command in MAY_BE_REFUSED.items():
    _add_may_be_refused(_name, _command)


@check("command-set-end-effector", "SetEndEffector is executed (schema).", moves=True)
async def set_end_effector(probe: Probe) -> str:
    """Sends SetEndEffector with the setting that is in force already."""
    settings = (await probe.ask()).settings_status
    if settings is None or settings.end_effector_setting is None:
        ambiguous("not tried: the present setting is not reported, and another one might drop a part")
    answer = await probe.do(SetEndEffector(0, settings.end_effector_setting), timeout_s=10.0)
    if answer.is_error and answer.status.command_status.state_description:
        ambiguous(f"the server does not support it: {answer.text}")
    require(answer.done, f"SetEndEffector is {answer.text}")
    return answer.text


@check("fraction-range", "A fraction lies between 0 and 1 (schema).", harms=True)
async def fraction_range(probe: Probe) -> str:
    """Sends SetTransSpeed with a relative speed of 1.7, after one of 0.5."""
    await probe.prove(SetTransSpeed(0, TransSpeedRelative(0.5)))
    number = probe.next_id()
    text = (
        f'<CRCLCommandInstance><CRCLCommand xsi:type="SetTransSpeedType" xmlns:xsi='
        f'"http://www.w3.org/2001/XMLSchema-instance"><CommandID>{number}</CommandID>'
        f'<TransSpeed xsi:type="TransSpeedRelativeType"><Fraction>1.7</Fraction></TransSpeed>'
        f"</CRCLCommand></CRCLCommandInstance>"
    )
    other = await probe.open()
    await other.send_bytes(text.encode())
    answer = await probe.outcome(number)
    if answer.done:
        settings = answer.status.settings_status
        speed = settings.trans_speed_relative if settings else None
        fail("a relative speed of 1.7 is done" + (f", and {speed.fraction:g} is reported" if speed else ""))
    if not answer.is_error and not await probe.closes(other, 0.0):
        ambiguous(f"it is not executed, but its sender does not learn that: {answer.text}")
    return answer.text


@check(
    "command-tool-changer",
    "OpenToolChanger and CloseToolChanger are executed (schema).",
    moves=True,
    needs="tool-changer",
)
async def tool_changer(probe: Probe) -> str:
    """Opens the tool changer and closes it again, where the robot stands."""
    texts = []
    for command in (OpenToolChanger(0), CloseToolChanger(0)):
        answer = await probe.do(command, timeout_s=10.0)
        if answer.reaction in (Reaction.SILENT, Reaction.WORKING):
            fail(f"{type(command).__name__} is {answer.text}")
        texts.append(f"{type(command).__name__} {answer.text}")
        if answer.is_error:
            ambiguous("; ".join(texts))
    return "; ".join(texts)
