"""`cellwright crcl record`: a proxy that records all messages."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from cellwright.cli.crcl_options import Json, Server, tell_findings
from cellwright.cli.output import err, prepare_output, print_json, say
from cellwright.core import Bus
from cellwright.core.errors import BadInput
from cellwright.core.files import refuse_existing
from cellwright.core.messages import CrclCommand, CrclStatus
from cellwright.crcl import CRCLCommandInstance, DecodeError, DocumentProblem, decode
from cellwright.crcl.connection import parse_address, tcp
from cellwright.crcl.findings import DocumentFindings
from cellwright.crcl.lenient import read_status
from cellwright.crcl.proxy import CrclProxy, ProxiedMessage
from cellwright.crcl.xml_log import XmlLog
from cellwright.record import Recorder

__all__ = ["record"]


def record(
    server: Server,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where clients connect instead; port 0 picks a free one.")
    ] = "127.0.0.1:0",
    out: Annotated[Path, typer.Option(metavar="FILE", help="The log (MCAP).")] = Path("out/crcl.mcap"),
    xml: Annotated[Path | None, typer.Option(metavar="FILE", help="The documents as text, unchanged.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
    robot: Annotated[str, typer.Option(metavar="NAME", help="What the robot is called in the log.")] = "robot",
    duration: Annotated[
        float | None, typer.Option("--for", min=0.0, metavar="S", help="End after so many seconds.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Stands between clients and a CRCL server, passes everything on unchanged and records both ways with times.

    Ends with Ctrl-C, or after --for. Times are those of this machine's clock, since 1970. What breaks the schema is
    passed on and recorded all the same; each finding is a line on stderr.
    """
    parse_address(server)
    host, port = _listen_address(listen)
    text_file = xml if xml is not None else out.with_suffix(".xml")
    if text_file.absolute() == out.absolute():
        raise BadInput(f"log and text cannot both be written to {out}")
    if not overwrite:
        refuse_existing(out, text_file)
    for path in (out, text_file):
        prepare_output(path)
    bus = Bus()
    command_topic, status_topic = f"/{robot}/crcl_command", f"/{robot}/crcl_status"
    bus.declare(command_topic, CrclCommand)
    bus.declare(status_topic, CrclStatus)
    recorder, text, numbers = (
        Recorder(bus, out, metadata={"server": server, "robot": robot}),
        XmlLog(text_file),
        count(),
    )

    answers, commands = DocumentFindings(), DocumentFindings()

    def write(message: ProxiedMessage) -> None:
        header = message.time_ns, next(numbers), f"connection_{message.connection}"
        document = message.data.decode(errors="replace")
        if message.to_robot:
            bus.publish(command_topic, CrclCommand(*header, document=document))
        else:
            bus.publish(status_topic, CrclStatus(*header, document=document))
        text.add(message)
        (commands if message.to_robot else answers).add(_problems(message))

    proxy = CrclProxy(tcp(server), write, say=lambda line: say(line, to=err))
    try:
        asyncio.run(_serve(proxy, host, port, duration, server))
    finally:
        lost = recorder.close()
        text.close()
    problem = proxy.recording_error or lost.reason
    tell_findings(commands, "the clients' commands")
    tell_findings(answers)
    if as_json:
        found = {"commands": commands.lines, "answers": answers.lines}
        counts = {"connections": proxy.accepted, "documents": text.written}
        print_json({"server": server, "log": out, "text": text_file, **counts, "findings": found, "trouble": problem})
    else:
        say(f"{text.written} documents on {proxy.accepted} connections: {out}, {text_file}")
    if problem:
        say(f"the record is incomplete: {problem}", to=err)
    return 1 if problem else 0


def _problems(message: ProxiedMessage) -> list[DocumentProblem]:
    """Returns the problems of a message; none where it can be read."""
    if not message.is_document:
        return [DocumentProblem(1, f"{len(message.data)} bytes that are no document")]
    try:
        if not message.to_robot:
            return read_status(message.data)[1]
        decode(message.data, CRCLCommandInstance)
        return []
    except DecodeError as error:
        return [DocumentProblem(error.line, error.what, error.where, error.allowed)]


async def _serve(proxy: CrclProxy, host: str, port: int, duration_s: float | None, server: str) -> None:
    """Serves until the time is over or the user interrupts, which is the ordinary end."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, ended.set)
        except (NotImplementedError, RuntimeError, ValueError):  # not on Windows, not outside the main thread
            break
    await proxy.start(host, port)
    say(f"clients of {server} connect to {proxy.address}; Ctrl-C ends the record", to=err)
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(duration_s):
                await ended.wait()
    finally:
        await proxy.close()


def _listen_address(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if colon and host and port == "0":
        return host.strip("[]"), 0
    return parse_address(address)
