"""`cellwright crcl send`: a command or a program to any CRCL server."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from cellwright.cli.crcl_options import Json, tell_findings
from cellwright.cli.output import err, print_json, say
from cellwright.core.errors import BadInput, CellwrightError
from cellwright.crcl import decode
from cellwright.crcl.client import CrclClient
from cellwright.crcl.connection import parse_address
from cellwright.crcl.findings import Findings
from cellwright.crcl.messages import CRCLCommand, CRCLCommandInstance, CRCLProgram, CRCLStatus, InitCanon
from cellwright.crcl.options import ClientOptions
from cellwright.crcl.outcome import Outcome
from cellwright.crcl.patience import Patience
from cellwright.crcl.runner import ProgramReport, Progress, run_program
from cellwright.crcl.unit_words import unit_commands

__all__ = ["send"]


def send(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A command or program (XML); - reads it from stdin.")],
    to: Annotated[str, typer.Option("--to", metavar="HOST:PORT", help="The CRCL server.")],
    units: Annotated[
        str, typer.Option(metavar="U,U", help="What the file's numbers are in, such as mm,degree; set before it runs.")
    ] = "",
    timeout: Annotated[
        float | None, typer.Option(min=0.0, metavar="S", help="How long a move may take; 90 s by default.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Sends a command, or runs a program, and waits until it is done: exit 0; 1 when it failed. Ctrl-C stops the robot.

    Commands get new numbers, so that none is taken for another one.
    """
    parse_address(to)
    setup = unit_commands(units)
    name = "stdin" if file == "-" else file
    document = _document(file, name)
    patience = Patience() if timeout is None else Patience(move_s=timeout, margin_s=0.0)
    options = ClientOptions(patience=patience)
    report, command, findings = asyncio.run(_send(document, to, setup, options, Path(name).name))
    last = report if isinstance(report, Outcome) else report.last
    tell_findings(findings)
    if as_json:
        print_json({**_as_dict(report, to, last), "findings": findings.lines})
    elif report.done:
        what = type(command).__name__ if command is not None else f"{report_count(report)} commands of {name}"
        say(f"done: {what} in {report.took_s:.2f} s")
    else:
        say(f"cellwright: {report.text if isinstance(report, Outcome) else report.reason}", to=err)
    return 0 if report.done else 1


def report_count(report: Outcome | ProgramReport) -> int:
    """How many commands were done."""
    return report.executed if isinstance(report, ProgramReport) else int(report.done)


def _document(file: str, name: str) -> CRCLCommandInstance | CRCLProgram:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from None
    try:
        document = decode(data)
    except CellwrightError as error:
        raise BadInput(f"{name}: {error}") from None
    if isinstance(document, CRCLStatus):
        raise BadInput(f"{name} is a status (allowed: CRCLCommandInstance, CRCLProgram)")
    return document


async def _send(
    document: CRCLCommandInstance | CRCLProgram,
    to: str,
    setup: Sequence[CRCLCommand],
    options: ClientOptions,
    name: str,
) -> tuple[Outcome | ProgramReport, CRCLCommand | None, Findings]:
    async with CrclClient.to(to, options=options, say=lambda text: say(text, to=err)) as client:
        try:
            if isinstance(document, CRCLProgram):
                report = await run_program(client, document, file=name, setup=setup, on_progress=_tell)
                return report, None, client.findings
            command = document.crcl_command
            return await _one(client, command, setup), command, client.findings
        except asyncio.CancelledError:
            stopped = await client.abort()
            say("the robot was stopped" if stopped.done else f"THE ROBOT WAS NOT STOPPED: {stopped.text}", to=err)
            raise


async def _one(client: CrclClient, command: CRCLCommand, setup: Sequence[CRCLCommand]) -> Outcome:
    """A command in its units: InitCanon would undo them, so they come after it."""
    order = [command, *setup] if isinstance(command, InitCanon) else [*setup, command]
    for each in order:
        outcome = await client.execute(each)
        if not outcome.done:
            break
    return outcome


def _tell(progress: Progress) -> None:
    if progress.outcome is None:
        return
    passes = "".join(f", {name} {number}" for name, number in progress.step.passes)
    kind, took_s = type(progress.step.command).__name__, progress.outcome.took_s
    say(f"{progress.step.index:4d}/{progress.length} {kind}: {progress.outcome.state}, {took_s:.2f} s{passes}", to=err)


def _as_dict(report: Outcome | ProgramReport, to: str, last: Outcome | None) -> dict[str, Any]:
    made: dict[str, Any] = {"to": to, "state": report.state.value, "reason": report.reason, "took_s": report.took_s}
    if isinstance(report, ProgramReport):
        made |= {"executed": report.executed, "length": report.length}
    if last is not None:
        made |= {"command": type(last.command).__name__, "command_id": last.command.command_id}
    return made
