"""Opening and closing a session, numbers of commands, errors and their end."""

from __future__ import annotations

from cellwright.crcl.conform.answer import Answer
from cellwright.crcl.conform.check import ambiguous, check, fail, require
from cellwright.crcl.conform.probe import Probe
from cellwright.crcl.messages import (
    CommandStateEnum,
    CRCLCommand,
    CRCLCommandInstance,
    Dwell,
    EnableSensor,
    EndCanon,
    GetStatus,
    InitCanon,
    Message,
    ParameterSetting,
    SetRobotParameters,
)
from cellwright.crcl.writer import encode

__all__ = ["provoke_error"]

DWELL_S = 0.4
LONGEST_DWELL_S = 6.0
"""NIST's simulator makes longer ones shorter."""


def _must_be_refused(answer: Answer) -> str:
    require(not answer.done, f"it was executed: {answer.text}")
    if not answer.is_error:
        ambiguous(f"it was not executed, but no error is signalled either: {answer.text}")
    return answer.text


async def provoke_error(probe: Probe) -> Answer:
    """Provokes an error in an open session, by things that do not exist; nothing is sent that could harm a server."""
    attempts: list[CRCLCommand] = [
        EnableSensor(0, "cellwright_conform"),
        SetRobotParameters(0, (ParameterSetting("cellwright_conform", "1"),)),
    ]
    for command in attempts:
        answer = await probe.do(command)
        if answer.is_error:
            return answer
    ambiguous(f"cannot be tried: no error could be provoked, {type(command).__name__} is {answer.text}")


@check("answers", "GetStatus is answered with a status at once (schema).", prepared=False)
async def answers(probe: Probe) -> str:
    """Asks for the status five times on one connection; the first answer of all may be slow."""
    slowest_s = 0.0
    for _ in range(5):
        start_s = probe.now_s()
        current = (await probe.ask()).command_status
        slowest_s = max(slowest_s, probe.now_s() - start_s)
    first = probe.first_answer_s or 0.0
    cold = f"; the first of all took {first:.1f} s" if first > probe.options.answer_s else ""
    return f"command {current.command_id}, {current.command_state}, after {1000 * slowest_s:.1f} ms at most{cold}"


@check("commands-before-init", "Commands before InitCanon must not be executed (Reference).", prepared=False)
async def commands_before_init(probe: Probe) -> str:
    """Sends Message to a server that nobody has initialised yet."""
    first = (await probe.ask()).command_status
    if first.command_id > 0:
        ambiguous(f"the server was in use before (command {first.command_id}): it may be initialised")
    return _must_be_refused(await probe.do(Message(0, "conformance: before InitCanon")))


@check("init-canon", "InitCanon is executed first and makes the robot ready (Reference).", prepared=False)
async def init_canon(probe: Probe) -> str:
    """Sends InitCanon and waits for CRCL_Done with its number."""
    answer = await probe.do(InitCanon(0))
    require(answer.done, f"InitCanon is {answer.text}")
    return f"done after {answer.took_s:.3f} s"


@check("end-canon", "After EndCanon only InitCanon may be executed; anything else must signal an error (schema).")
async def end_canon(probe: Probe) -> str:
    """Sends EndCanon, then Message, which is done before."""
    await probe.prove(Message(0, "conformance: before EndCanon"))
    ended = await probe.do(EndCanon(0))
    require(ended.done, f"EndCanon is {ended.text}")
    return _must_be_refused(await probe.do(Message(0, "conformance: after EndCanon")))


@check("init-after-end", "A session can be opened again after EndCanon (schema).")
async def init_after_end(probe: Probe) -> str:
    """Sends EndCanon, InitCanon, Message."""
    await probe.do(EndCanon(0))
    for command in (InitCanon(0), Message(0, "conformance: opened again")):
        answer = await probe.do(command)
        require(answer.done, f"{type(command).__name__} is {answer.text}")
    return "both done"


@check("init-clears-error", "InitCanon ends an error (practice of NIST's servers).")
async def init_clears_error(probe: Probe) -> str:
    """Provokes an error after EndCanon, sends InitCanon and Message."""
    await probe.do(EndCanon(0))
    error = await probe.do(Message(0, "conformance: must be an error"))
    if not error.is_error:
        ambiguous(f"no error could be provoked: {error.text}")
    for command in (InitCanon(0), Message(0, "conformance: after the error")):
        answer = await probe.do(command)
        require(answer.done, f"{type(command).__name__} after an error is {answer.text}")
    return "both done"


@check("error-lasts", "An error lasts until InitCanon (practice of NIST's servers; the standard does not say).")
async def error_lasts(probe: Probe) -> str:
    """Provokes an error, then sends Message without InitCanon."""
    await provoke_error(probe)
    answer = await probe.do(Message(0, "conformance: in the error state"))
    if not answer.is_error:
        ambiguous(f"the next command ended the error without InitCanon: {answer.text}")
    return answer.text


@check("error-is-explained", "StateDescription tells people what is wrong (schema).")
async def error_is_explained(probe: Probe) -> str:
    """Provokes an error and reads its description."""
    answer = await provoke_error(probe)
    require(bool(answer.status.command_status.state_description), "CRCL_Error without a StateDescription")
    return answer.text


@check("get-status-is-no-command", "GetStatus must change neither CommandID nor CommandState (schema).")
async def get_status_is_no_command(probe: Probe) -> str:
    """Asks three times under numbers of their own after a command is done."""
    done = await probe.do(Message(0, "conformance: GetStatus follows"))
    if not done.done:
        ambiguous(f"cannot be tried: Message is {done.text}")
    for _ in range(3):
        number = probe.next_id()
        current = (await probe.ask(command_id=number)).command_status
        require(current.command_id != number, f"the status took over the number {number} of GetStatus")
        same = (current.command_id, current.command_state) == (done.command_id, CommandStateEnum.CRCL_DONE)
        require(
            same,
            f"the status went from command {done.command_id}, Done to {current.command_id}, {current.command_state}",
        )
    return f"still command {done.command_id}"


@check("number-at-once", "The first status after a command bears its number (NIST's client relies on it).")
async def number_at_once(probe: Probe) -> str:
    """Sends Dwell and GetStatus in one write, and reads the first answer."""
    number = probe.next_id()
    dwell = encode(CRCLCommandInstance(Dwell(number, DWELL_S)))
    before = probe.main.arrived
    await probe.main.send_bytes(dwell + encode(CRCLCommandInstance(GetStatus(number)), declaration=False))
    current = (await probe.main.next_status(probe.options.answer_s)).command_status
    if probe.main.arrived > before + 1:
        ambiguous("the server reports by itself: which status is the answer cannot be told")
    found = current.command_id
    await probe.outcome(number, timeout_s=DWELL_S + probe.options.done_s)
    require(found == number, f"the first status after command {number} bears {found}")
    return f"command {found}, {current.command_state}"


@check("working-then-done", "A command is CRCL_Working while it is executed, then CRCL_Done (schema).")
async def working_then_done(probe: Probe) -> str:
    """Sends Dwell and watches the status."""
    number = await probe.send(Dwell(0, DWELL_S))
    start_s, states = probe.now_s(), []
    while probe.now_s() - start_s < DWELL_S + probe.options.done_s:
        current = (await probe.ask()).command_status
        if current.command_id == number and current.command_state not in states:
            states.append(current.command_state)
        if states and states[-1] is not CommandStateEnum.CRCL_WORKING:
            break
        await probe.sleep(probe.options.poll_s)
    wanted = [CommandStateEnum.CRCL_WORKING, CommandStateEnum.CRCL_DONE]
    require(states == wanted, f"Dwell {DWELL_S} s went through {', '.join(states) or 'no state'}")
    return f"Working, then Done after {probe.now_s() - start_s:.2f} s"


@check("dwell-time", "Dwell stands still for its time (schema).")
async def dwell_time(probe: Probe) -> str:
    """Sends Dwell and takes the time."""
    answer = await probe.do(Dwell(0, DWELL_S), timeout_s=DWELL_S + probe.options.done_s)
    require(answer.done, f"Dwell is {answer.text}")
    require(answer.took_s >= 0.9 * DWELL_S, f"Dwell {DWELL_S} s was done after {answer.took_s:.3f} s")
    return f"{answer.took_s:.3f} s for {DWELL_S} s"


@check("new-command-replaces-old", "A new command ends the one in progress and is executed (Reference).")
async def new_command_replaces_old(probe: Probe) -> str:
    """Sends Dwell, and Message once the Dwell has been executed for a while."""
    usual = await probe.prove(Message(0, "conformance: before waiting"))
    dwell_s = min(2 * probe.options.done_s, LONGEST_DWELL_S)
    number, start_s = await probe.send(Dwell(0, dwell_s)), probe.now_s()
    # Some servers look for commands now and then, and report the number of one that they have not looked at yet: two
    # that come within such a time replace each other, though otherwise the second one waits.
    while probe.now_s() - start_s < dwell_s / 4:
        current = (await probe.ask()).command_status
        if current.command_id == number and current.command_state is not CommandStateEnum.CRCL_WORKING:
            ambiguous(
                f"cannot be tried: Dwell {dwell_s:g} s is {current.command_state} after {probe.now_s() - start_s:.2f} s"
            )
        await probe.sleep(probe.options.poll_s)
    if current.command_id != number:
        ambiguous(f"cannot be tried: Dwell {dwell_s:g} s is not taken up")
    answer = await probe.do(Message(0, "conformance: instead of waiting"), timeout_s=dwell_s + probe.options.done_s)
    if answer.took_s > usual.took_s + dwell_s / 4:
        fail(f"the new command waits for the old one: {answer.text} after {answer.took_s:.1f} s")
    require(answer.done, f"the new command is {answer.text}")
    await probe.sleep(0.1)
    current = (await probe.ask()).command_status
    same = (current.command_id, current.command_state) == (answer.command_id, CommandStateEnum.CRCL_DONE)
    require(same, f"later the status is command {current.command_id}, {current.command_state}: the old one came back")
    return f"done after {answer.took_s:.3f} s"
