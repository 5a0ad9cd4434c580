"""`cellwright crcl send`: a command or a program to any CRCL server."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from cellwright.cli.crcl_options import Json, tell_findings
from cellwright.cli.crcl_pause import Pauses
from cellwright.cli.numbers import numbers
from cellwright.cli.output import Quiet, err, print_json, say, tell
from cellwright.core.errors import BadInput, CellwrightError, OutOfRange
from cellwright.core.pose import Pose
from cellwright.crcl import decode
from cellwright.crcl.client import CrclClient
from cellwright.crcl.command_timeouts import CommandTimeouts
from cellwright.crcl.connection import parse_address
from cellwright.crcl.findings import DocumentFindings
from cellwright.crcl.frame import FrameMove
from cellwright.crcl.messages import (
    CRCLCommand,
    CRCLCommandInstance,
    CRCLProgram,
    CRCLStatus,
    InitCanon,
    LoopBlockEnd,
    MiddleCommand,
)
from cellwright.crcl.options import ClientOptions
from cellwright.crcl.outcome import Outcome
from cellwright.crcl.runner import ProgramProgress, ProgramReport, run_program, steps
from cellwright.crcl.unit_names import unit_commands

__all__ = ["send"]

MAX_LOOKED_AT = 100_000
"""So many commands are looked at before anything is sent: loops in loops in loops have no end."""


def send(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A command or program (XML); - reads it from stdin.")],
    to: Annotated[str, typer.Option("--to", metavar="HOST:PORT", help="The CRCL server.")],
    units: Annotated[
        str, typer.Option(metavar="U,U", help="What the file's numbers are in, such as mm,degree; set before it runs.")
    ] = "",
    timeout: Annotated[
        float | None, typer.Option(min=0.0, metavar="S", help="How long a move may take; 90 s by default.")
    ] = None,
    start: Annotated[
        int | None,
        typer.Option("--from", metavar="N", help="Start at this command; settings before it are sent all the same."),
    ] = None,
    until: Annotated[int | None, typer.Option(metavar="N", help="Stop after this command, with EndCanon.")] = None,
    pause_at: Annotated[
        list[int] | None, typer.Option(metavar="N", help="Pause before this command; may be repeated.")
    ] = None,
    step: Annotated[bool, typer.Option("--step", help="Pause before each command.")] = False,
    move_frame: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,Z[,R,P,Y]",
            help="Where the file's frame lies in the robot's: x,y,z in m, then roll, pitch, yaw in degrees.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> int:
    """Sends a command, or runs a program, and waits until it is done: exit 0; 1 when it failed. Ctrl-C stops the robot.

    Commands get new numbers, so that none is taken for another one. Those of a program count from 1; InitCanon and
    EndCanon are not counted. It pauses between commands: p pauses, Enter goes on, s does one command, c goes on without
    steps, q ends; without a terminal SIGUSR1 pauses and SIGUSR2 goes on.
    """
    parse_address(to)
    setup = unit_commands(units)
    name = "stdin" if file == "-" else file
    document = _document(file, name)
    frame = None if move_frame is None else _frame(move_frame)
    options = _SendOptions(setup, 1 if start is None else start, until, frozenset(pause_at or ()), step, frame)
    if isinstance(document, CRCLProgram):
        options.check(document, name)
    elif step or pause_at or start is not None or until is not None:
        raise BadInput(f"{name} is one command (allowed with --from, --until, --pause-at and --step: a program)")
    timeouts = CommandTimeouts() if timeout is None else CommandTimeouts(move_s=timeout, margin_s=0.0)
    client_options = ClientOptions(timeouts=timeouts)
    report, command, findings = asyncio.run(_send(document, to, options, client_options, Path(name).name))
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


@dataclass(frozen=True)
class _SendOptions:
    """Options of sending a document.

    Attributes:
        setup: Commands that set the units of its numbers.
        start: The first command.
        until: The last one; None: to the end.
        pause_at: Before which to pause.
        stepping: Whether to pause before each.
        pose_program_in_robot: The frame of its poses; None: the robot's.
    """

    setup: Sequence[CRCLCommand]
    start: int
    until: int | None
    pause_at: frozenset[int]
    stepping: bool
    pose_program_in_robot: Pose | None

    def change(self) -> Callable[[CRCLCommand], CRCLCommand]:
        """Returns the function that moves commands into the robot's frame; a new one for each run: it tracks units."""
        frame = self.pose_program_in_robot
        return (lambda command: command) if frame is None else FrameMove(frame)

    def check(self, program: CRCLProgram, name: str) -> None:
        """Refuses what cannot be done before anything is sent, and warns of what may be unexpected.

        Raises:
            BadInput: A command that is not there, or a pose whose unit is not known.
        """
        length = len(program.middle_command)
        for index in self.pause_at:
            if not 1 <= index <= length:
                raise OutOfRange("the command to pause at", index, 1, length)
        once = replace(program, middle_command=tuple(map(_once, program.middle_command)))
        steps(program, start=self.start, until=self.until)
        change, warned = self.change(), set()
        looked_at = steps(once, start=self.start, until=self.until, setup=self.setup)
        for step in islice(looked_at, MAX_LOOKED_AT):
            try:
                change(step.command)
            except BadInput as error:
                raise BadInput(f"{name}, command {step.index}: {error}") from None
            remark = change.remark(step.command) if isinstance(change, FrameMove) else ""
            if remark and step.index not in warned:
                warned.add(step.index)
                say(f"command {step.index}, {type(step.command).__name__}: {remark}", to=err)
        if self.start > 1:
            say(f"starts at command {self.start}: of those before it only settings are sent", to=err)


def _once(command: MiddleCommand) -> MiddleCommand:
    return replace(command, max_count=min(command.max_count, 2)) if isinstance(command, LoopBlockEnd) else command


def _frame(text: str) -> Pose:
    values = numbers("--move-frame", text, (3, 6))
    return Pose.from_xyz_rpy(values[:3], np.radians(values[3:] or (0.0, 0.0, 0.0)))


def report_count(report: Outcome | ProgramReport) -> int:
    """Returns the number of commands that were done."""
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
    options: _SendOptions,
    client_options: ClientOptions,
    name: str,
) -> tuple[Outcome | ProgramReport, CRCLCommand | None, DocumentFindings]:
    async with CrclClient.to(to, options=client_options, say=lambda text: say(text, to=err)) as client:
        try:
            if isinstance(document, CRCLProgram):
                pauses = Pauses(client, options.pause_at, options.stepping, options.start, len(document.middle_command))
                with pauses.listening():
                    report = await run_program(
                        client, document, file=name, setup=options.setup, start=options.start, until=options.until,
                        change=options.change(), before=pauses.before, on_progress=_tell,
                    )  # fmt: skip
                return report, None, client.findings
            command = document.crcl_command
            return await _one(client, command, options), command, client.findings
        except asyncio.CancelledError:
            stopped = await client.abort()
            say("the robot was stopped" if stopped.done else f"THE ROBOT WAS NOT STOPPED: {stopped.text}", to=err)
            raise


async def _one(client: CrclClient, command: CRCLCommand, options: _SendOptions) -> Outcome:
    """Executes a command in its units: InitCanon would undo them, so they come after it."""
    order = [command, *options.setup] if isinstance(command, InitCanon) else [*options.setup, command]
    change = options.change()
    for each in [change(each) for each in order]:
        outcome = await client.execute(each)
        if not outcome.done:
            break
    return outcome


def _tell(progress: ProgramProgress) -> None:
    if progress.outcome is None:
        return
    passes = "".join(f", {name} {number}" for name, number in progress.step.passes)
    kind, took_s = type(progress.step.command).__name__, progress.outcome.took_s
    index, length = progress.step.index, progress.length
    place = f"{index:4d}/{length}" if 1 <= index <= length else " " * (5 + len(str(length)))  # InitCanon, EndCanon
    tell(f"{place} {kind}: {progress.outcome.state}, {took_s:.2f} s{passes}")


def _as_dict(report: Outcome | ProgramReport, to: str, last: Outcome | None) -> dict[str, Any]:
    made: dict[str, Any] = {"to": to, "state": report.state.value, "reason": report.reason, "took_s": report.took_s}
    if isinstance(report, ProgramReport):
        made |= {"executed": report.executed, "length": report.length}
    if last is not None:
        made |= {"command": type(last.command).__name__, "command_id": last.command.command_id}
    return made
