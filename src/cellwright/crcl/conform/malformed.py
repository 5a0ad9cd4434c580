"""Messages that are none: they must hurt no other client, and must not be executed. These come last."""

from __future__ import annotations

import contextlib

from cellwright.core.errors import JobFailed
from cellwright.crcl.conform.check import CheckEnded, ambiguous, check, fail, require
from cellwright.crcl.conform.probe import Probe
from cellwright.crcl.link import LinkLost
from cellwright.crcl.messages import (
    CommandStateEnum,
    CRCLProgram,
    Dwell,
    EndCanon,
    InitCanon,
    Message,
)
from cellwright.crcl.writer import encode

__all__: list[str] = []

EXECUTED = "it was executed"
XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'


def _instance(kind: str, number: int, inside: str = "") -> bytes:
    command = f'<CRCLCommand xsi:type="{kind}" {XSI}><CommandID>{number}</CommandID>{inside}</CRCLCommand>'
    return f"<CRCLCommandInstance>{command}</CRCLCommandInstance>".encode()


async def _bad(probe: Probe, text: bytes, number: int | None = None) -> str:
    """Sends a bad message on a connection of its own; returns its effects there, here, and on the robot."""
    bad = await probe.open()
    await probe.ask(bad)
    with contextlib.suppress(LinkLost):  # some hang up before everything is sent
        await bad.send_bytes(text)
    closed = await probe.closes(bad, 0.5)
    try:
        reported = (await probe.ask()).command_status
    except JobFailed as error:
        fail(f"the server answers other connections no more: {error}")
    executed = number is not None and (reported.command_id, reported.command_state) == (
        number,
        CommandStateEnum.CRCL_DONE,
    )
    require(not executed, EXECUTED)
    try:
        fresh = await probe.open()
        require(await probe.responds(fresh), "a new connection is not answered")
    except JobFailed as error:
        fail(f"the server accepts no connection any more: {error}")
    for command in (InitCanon(0), Message(0, "conformance: after a bad message")):
        answer = await probe.do(command)
        require(answer.done, f"{type(command).__name__} after it is {answer.text}")
    is_error = reported.command_state is CommandStateEnum.CRCL_ERROR
    if not (is_error or closed):
        ambiguous("the message was passed over in silence: its sender does not learn that it was bad")
    seen = " and ".join(["the connection was closed"] * closed + ["the state became CRCL_Error"] * is_error)
    return f"{seen}; others go on, InitCanon recovers"


@check(
    "malformed-xml",
    "A message that is not XML ends its own connection at most (practice of NIST's servers).",
    harms=True,
)
async def malformed_xml(probe: Probe) -> str:
    """Sends a command whose tags do not match."""
    number = probe.next_id()
    text = _instance("MessageType", number, "<Message>conformance: broken").replace(b"</CRCLCommand>", b"")
    return await _bad(probe, text, number)


@check(
    "garbage", "Bytes that begin no message end their own connection at most (practice of NIST's servers).", harms=True
)
async def garbage(probe: Probe) -> str:
    """Sends bytes that are not text."""
    return await _bad(probe, bytes(range(128, 160)) + b"conformance: no XML at all\r\n" + _instance("GetStatusType", 1))


@check("unknown-command", "A command that does not exist is an error (practice of NIST's servers).", harms=True)
async def unknown_command(probe: Probe) -> str:
    """Sends a command of the type MakeCoffeeType."""
    number = probe.next_id()
    return await _bad(probe, _instance("MakeCoffeeType", number), number)


@check("missing-element", "A command without a required element is not executed (schema).", harms=True)
async def missing_element(probe: Probe) -> str:
    """Sends Dwell without DwellTime, after one with it."""
    await probe.prove(Dwell(0, 0.1))
    number = probe.next_id()
    return await _bad(probe, _instance("DwellType", number), number)


@check("wrong-value", "A value outside its type is not accepted (schema).", harms=True)
async def wrong_value(probe: Probe) -> str:
    """Sends SetLengthUnits with `furlong`, which is no unit of the schema."""
    number = probe.next_id()
    return await _bad(probe, _instance("SetLengthUnitsType", number, "<UnitName>furlong</UnitName>"), number)


@check("no-number", "A text where a number should be is not accepted (schema).", harms=True)
async def no_number(probe: Probe) -> str:
    """Sends Dwell with `soon` as its time, after one of 0.1 s."""
    await probe.prove(Dwell(0, 0.1))
    number = probe.next_id()
    return await _bad(probe, _instance("DwellType", number, "<DwellTime>soon</DwellTime>"), number)


@check(
    "program-on-the-socket",
    "A program is a file; sent as a whole it is not executed (practice of NIST's servers).",
    harms=True,
)
async def program_on_the_socket(probe: Probe) -> str:
    """Sends a CRCLProgram with one Message."""
    first, middle, last = probe.next_id(), probe.next_id(), probe.next_id()
    message = Message(middle, "conformance: in a program")
    program = CRCLProgram(init_canon=InitCanon(first), middle_command=(message,), end_canon=EndCanon(last))
    return await _bad(probe, encode(program), last)


@check(
    "document-type", "A document type is refused: with it come entities and foreign files (good practice).", harms=True
)
async def document_type(probe: Probe) -> str:
    """Sends Message with a document type that defines a harmless entity, and uses it."""
    number = probe.next_id()
    body = _instance("MessageType", number, "<Message>conformance: &word;</Message>")
    try:
        return await _bad(probe, b'<!DOCTYPE CRCLCommandInstance [<!ENTITY word "hello">]>' + body, number)
    except CheckEnded as ended:
        if ended.reason == EXECUTED:
            ambiguous("the entity was accepted: nothing in CRCL needs it, and others can be harmful")
        raise
