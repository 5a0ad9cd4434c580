"""Several clients at once."""

from __future__ import annotations

from cellwright.crcl.conform.check import ambiguous, check, require
from cellwright.crcl.conform.probe import Probe
from cellwright.crcl.messages import CRCLCommandInstance, GetStatus, Message
from cellwright.crcl.writer import encode

__all__: list[str] = []


@check("three-connections", "Several clients can be connected (NIST's client opens three connections).", prepared=False)
async def three_connections(probe: Probe) -> str:
    """Opens three more connections and asks on all."""
    others = [await probe.open() for _ in range(3)]
    for index, connection in enumerate(others):
        require(await probe.responds(connection), f"connection {index + 2} of 4 is not answered")
    require(await probe.responds(probe.main), "the first connection is not answered any more")
    return "4 of 4 answered"


@check("shared-command-status", "All connections see the same command and state (practice of NIST's servers).")
async def shared_command_status(probe: Probe) -> str:
    """Sends Message on one connection and asks on another."""
    other = await probe.open()
    answer = await probe.do(Message(0, "conformance: seen by all"), other)
    if not answer.done:
        ambiguous(f"cannot be tried: Message is {answer.text}")
    # Not the first status that comes: where a server reports by itself, that may be an older one.
    seen = (await probe.outcome(answer.command_id)).status.command_status
    require(seen.command_id == answer.command_id, f"one sees command {answer.command_id}, the other {seen.command_id}")
    return f"both see command {seen.command_id}"


@check("shared-initialisation", "InitCanon on one connection opens the session for all (practice of NIST's servers).")
async def shared_initialisation(probe: Probe) -> str:
    """Sends Message on a connection that never sent InitCanon."""
    answer = await probe.do(Message(0, "conformance: not initialised here"), await probe.open())
    if not answer.done:
        ambiguous(f"Message on another connection is {answer.text}")
    return answer.text


@check("connection-comes-and-goes", "A client that leaves disturbs nobody.", harms=True)
async def connection_comes_and_goes(probe: Probe) -> str:
    """Opens and closes five connections, one in the midst of a message."""
    text = encode(CRCLCommandInstance(Message(probe.next_id(), "conformance: never finished")))
    for index in range(5):
        connection = await probe.open()
        if index == 3:
            await connection.send_bytes(text[: len(text) // 2])
        await connection.close()
    require(await probe.responds(probe.main), "the first connection is not answered any more")
    answer = (await probe.do(Message(0, "conformance: still here"))).text
    require(answer.startswith("done"), f"Message on the first connection is {answer}")
    return answer


@check("slow-reader", "A client that does not read delays nobody.", prepared=False, harms=True)
async def slow_reader(probe: Probe) -> str:
    """Sends 200 requests on one connection in a row, and asks on another meanwhile."""
    other = await probe.open_unread()
    request = encode(CRCLCommandInstance(GetStatus(1)), declaration=False)
    try:
        await other.send(request * 200)
    except OSError as error:
        ambiguous(f"cannot be tried: the server hung up on it: {error}")
    start_s = probe.now_s()
    require(await probe.responds(probe.main), "the other connection is not answered")
    took_s = probe.now_s() - start_s
    require(took_s < 1.0, f"the other connection waited {took_s:.1f} s")
    return f"answered after {1000 * took_s:.0f} ms"
