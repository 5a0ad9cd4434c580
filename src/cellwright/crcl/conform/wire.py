"""Documents without delimiters: split, glued, with what peers put between them."""

from __future__ import annotations

from cellwright.crcl.conform.check import ambiguous, check, fail, require
from cellwright.crcl.conform.probe import Probe
from cellwright.crcl.link import LinkLost, NoAnswer
from cellwright.crcl.messages import CRCLCommandInstance, GetStatus, Message
from cellwright.crcl.writer import encode

__all__: list[str] = []


async def _count(probe: Probe, start: int, wanted: int, within_s: float) -> int:
    """Returns the number of statuses on the main connection beyond the first `start`, waiting for so many."""
    until_s = probe.now_s() + within_s
    while probe.main.arrived - start < wanted and probe.now_s() < until_s:
        try:
            await probe.main.next_status(max(until_s - probe.now_s(), 0.01))
        except NoAnswer:
            break
    return probe.main.arrived - start


def _request(number: int = 1, *, declaration: bool = True) -> bytes:
    return encode(CRCLCommandInstance(GetStatus(number)), declaration=declaration)


@check("split-message", "A message may come in pieces: there is no framing (practice).", prepared=False)
async def split_message(probe: Probe) -> str:
    """Sends GetStatus in pieces of 7 bytes."""
    text, before = _request(), probe.main.arrived
    for at in range(0, len(text), 7):
        await probe.main.send_bytes(text[at : at + 7])
        await probe.sleep(0.002)
    require(await _count(probe, before, 1, probe.options.answer_s) >= 1, "a message in pieces is not answered")
    return f"{len(text)} bytes in {-(-len(text) // 7)} pieces answered"


@check("glued-messages", "Messages may come in one piece (practice).", prepared=False)
async def glued_messages(probe: Probe) -> str:
    """Sends five GetStatus in one write."""
    before = probe.main.arrived
    await probe.main.send_bytes(_request(declaration=False) * 5)
    came = await _count(probe, before, 5, probe.options.answer_s)
    if came < 5:
        fail(f"{came} of 5 messages in one piece were answered")
    return f"{came} of 5 answered"


@check("glued-commands", "Of commands in one piece the last one counts (pre-emption, Reference).")
async def glued_commands(probe: Probe) -> str:
    """Sends three Messages in one write and asks."""
    numbers = [probe.next_id() for _ in range(3)]
    texts = [encode(CRCLCommandInstance(Message(n, "conformance: glued")), declaration=False) for n in numbers]
    await probe.main.send_bytes(b"".join(texts))
    answer = await probe.outcome(numbers[-1])
    require(answer.done, f"the last of three commands is {answer.text}")
    return answer.text


@check(
    "declaration-and-blanks",
    "XML declarations and white space between messages are passed over (practice).",
    prepared=False,
)
async def declaration_and_blanks(probe: Probe) -> str:
    """Sends GetStatus with declarations, blanks and line ends around it."""
    before = probe.main.arrived
    await probe.main.send_bytes(b"\r\n  " + _request() + b"\n\n\t" + _request() + b"\n")
    try:
        came = await _count(probe, before, 2, probe.options.answer_s)
    except LinkLost:
        fail("the connection was closed")
    require(came >= 2, f"{came} of 2 answered")
    return "2 of 2 answered"


@check(
    "nul-between-messages",
    "NULs between messages are passed over (some clients end messages so; practice).",
    prepared=False,
    harms=True,
)
async def nul_between_messages(probe: Probe) -> str:
    """Sends GetStatus twice with a NUL after each."""
    connection = await probe.open()
    await connection.send_bytes(_request() + b"\0" + _request() + b"\0")
    await probe.sleep(0.3)
    if connection.arrived < 2:
        ambiguous(f"{connection.arrived} of 2 answered" + ("" if connection.is_open else ", the connection was closed"))
    return "2 of 2 answered"


@check(
    "nothing-unasked",
    "A status is sent when it is asked for (NIST's client gets out of step otherwise).",
    prepared=False,
)
async def nothing_unasked(probe: Probe) -> str:
    """Listens for 1.2 s."""
    await probe.ask()
    came = await _count(probe, probe.main.arrived, 1, 1.2)
    if came:
        ambiguous("the server reports by itself: fine by the standard, too much for NIST's client")
    return "silence for 1.2 s"
