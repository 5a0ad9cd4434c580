"""Runs a program: sends its commands one after the other, repeats its loops, reports its progress.

Servers never see a program, and loop blocks never reach them: repeating is the task of the client that runs it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from cellwright.core.errors import BadInput, OutOfRange
from cellwright.crcl import messages as m
from cellwright.crcl.messages import (
    CRCLCommand,
    CRCLProgram,
    LoopBlockEnd,
    LoopBlockStart,
    MiddleCommand,
    StopConditionEnum,
)
from cellwright.crcl.options import ProgramPlace
from cellwright.crcl.outcome import Outcome, OutcomeState

__all__ = ["CommandClient", "ProgramProgress", "ProgramReport", "ProgramStep", "run_program", "steps"]

MAX_DEPTH = 50
MAX_SKIPPED = 20_000
_UNITS = (m.SetLengthUnits, m.SetAngleUnits, m.SetForceUnits, m.SetTorqueUnits)
_SETTINGS = (
    *_UNITS,
    m.SetTransSpeed,
    m.SetTransAccel,
    m.SetRotSpeed,
    m.SetRotAccel,
    m.SetEndPoseTolerance,
    m.SetIntermediatePoseTolerance,
    m.SetDefaultJointPositonsTolerances,
    m.SetMotionCoordination,
    m.SetRobotParameters,
    m.SetEndEffectorParameters,
    m.ConfigureJointReports,
    m.ConfigureStatusReport,
    m.EnableRobotParameterStatus,
    m.DisableRobotParameterStatus,
    m.EnableSensor,
    m.DisableSensor,
    m.EnableGripper,
    m.DisableGripper,
)
"""Commands that move nothing and change what later ones mean or do."""

_MAY_MOVE = (OutcomeState.TIMEOUT, OutcomeState.LOST)


class CommandClient(Protocol):
    """The executor of a program's commands: a client, or a target that can be switched."""

    @property
    def aborts(self) -> int:
        """The number of times that it was stopped."""

    async def execute(
        self, command: CRCLCommand, *, timeout_s: float | None = None, place: ProgramPlace | None = None
    ) -> Outcome:
        """Executes a command."""

    async def abort(self, condition: StopConditionEnum = StopConditionEnum.FAST, *, timeout_s: float = 5.0) -> Outcome:
        """Stops the robot."""


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """One command of a program as it comes to be executed.

    Attributes:
        index: Its place in the file: 0 is InitCanon, 1 the first middle command.
        command: Itself.
        passes: The loops around it from outside in, each with the number of the pass from 1.
    """

    index: int
    command: CRCLCommand
    passes: tuple[tuple[str, int], ...] = ()

    def place(self, length: int) -> str:
        """Returns its place in a program of so many middle commands, which alone are counted."""
        if 1 <= self.index <= length:
            return f"command {self.index} of {length}"
        return "the end" if self.index else "the beginning"


@dataclass(frozen=True, slots=True)
class ProgramProgress:
    """The progress of a program; `outcome` is None when the step begins."""

    step: ProgramStep
    length: int
    executed: int
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """The outcome of a program.

    Attributes:
        state: That of the command at which it ended.
        reason: Why it is not done.
        executed: Commands that were done, repetitions counted.
        length: Middle commands in the file.
        last: How the last command ended.
        took_s: The whole time.
    """

    state: OutcomeState
    reason: str
    executed: int
    length: int
    last: Outcome | None
    took_s: float

    @property
    def done(self) -> bool:
        """Whether all of it was done."""
        return self.state is OutcomeState.DONE


def steps(
    program: CRCLProgram, *, start: int = 1, until: int | None = None, setup: Sequence[CRCLCommand] = ()
) -> Iterator[ProgramStep]:
    """Returns the commands in the order of execution, loops repeated `MaxCount` times.

    Args:
        program: The program.
        start: The first middle command. Settings of those before it come first, so that it means the same; inside a
            loop it is begun in the first pass.
        until: The last one; EndCanon follows. If it ends a loop, that is the last pass.
        setup: Commands right after InitCanon, such as units that the program takes for granted.

    Raises:
        BadInput: At once, if loops do not match, or there are no such commands.
    """
    ends, length = _loop_ends(program.middle_command), len(program.middle_command)
    until = length if until is None else until
    if start != 1 or until != length:
        for what, index, least in (("the command to start at", start, 1), ("the command to stop at", until, start)):
            if not least <= index <= length:
                raise OutOfRange(what, index, least, length)
    first = [ProgramStep(0, command) for command in (program.init_canon, *setup)]
    return _steps(program, ends, start, until, [*first, *_settings_before(program.middle_command, ends, start)])


def _steps(
    program: CRCLProgram, ends: dict[int, int], start: int, until: int, first: Sequence[ProgramStep]
) -> Iterator[ProgramStep]:
    commands = program.middle_command
    yield from first
    for step in _block(commands, 0, len(commands), ends, (), start - 1):
        if step.index > until:
            break
        yield step
        if step.index == until:
            break
    yield ProgramStep(len(commands) + 1, program.end_canon)


def _settings_before(commands: Sequence[MiddleCommand], ends: dict[int, int], start: int) -> list[ProgramStep]:
    """Returns the settings of the commands that are skipped.

    After two passes of a loop a third one changes nothing more, and after one where it sets no unit.

    Raises:
        BadInput: Loops that set units are nested so deep that it would take for ever.
    """
    fewer = list(commands)
    for begin, end in ends.items():
        closing = commands[end]
        assert isinstance(closing, LoopBlockEnd)
        passes = 2 if any(isinstance(command, _UNITS) for command in commands[begin:end]) else 1
        fewer[end] = replace(closing, max_count=min(closing.max_count, passes))
    found: list[ProgramStep] = []
    for number, step in enumerate(_block(fewer, 0, len(fewer), ends, (), 0)):
        if step.index >= start:
            break
        if number > MAX_SKIPPED:
            raise BadInput(f"loops before command {start} are nested too deep to start there")
        if isinstance(step.command, _SETTINGS):
            found.append(ProgramStep(step.index, step.command))
    return found


def _block(
    commands: Sequence[MiddleCommand],
    start: int,
    end: int,
    ends: dict[int, int],
    passes: tuple[tuple[str, int], ...],
    first: int,
) -> Iterator[ProgramStep]:
    """Yields the commands from `start` to before `end`, without those before `first`."""
    at = start
    while at < end:
        command = commands[at]
        if isinstance(command, LoopBlockStart):
            closing = commands[ends[at]]
            assert isinstance(closing, LoopBlockEnd)
            for number in range(1, closing.max_count + 1 if ends[at] >= first else 1):
                inside = (*passes, (command.loop_name, number))
                yield from _block(commands, at + 1, ends[at], ends, inside, first if number == 1 else 0)
            at = ends[at]
        elif at >= first:
            yield ProgramStep(at + 1, command, passes)
        at += 1


def _loop_ends(commands: Sequence[MiddleCommand]) -> dict[int, int]:
    """Returns the place of each loop's end by that of its start."""
    ends: dict[int, int] = {}
    open_at: list[int] = []
    for at, command in enumerate(commands):
        if isinstance(command, LoopBlockStart):
            open_at.append(at)
            if len(open_at) > MAX_DEPTH:
                raise BadInput(f"command {at + 1}: loops are nested deeper than {MAX_DEPTH}")
        elif isinstance(command, LoopBlockEnd):
            started = commands[open_at[-1]] if open_at else None
            if not isinstance(started, LoopBlockStart) or started.loop_name != command.loop_name:
                inside = (
                    f"loop '{started.loop_name}' is open" if isinstance(started, LoopBlockStart) else "none is open"
                )
                raise BadInput(f"command {at + 1} ends the loop '{command.loop_name}', but {inside}")
            if command.max_count < 1:
                raise BadInput(f"command {at + 1}: MaxCount is {command.max_count} (allowed: 1 or more)")
            ends[open_at.pop()] = at
    if open_at:
        started = commands[open_at[-1]]
        raise BadInput(f"command {open_at[-1] + 1} starts a loop that does not end")
    return ends


async def run_program(
    robot: CommandClient,
    program: CRCLProgram,
    *,
    file: str | None = None,
    setup: Sequence[CRCLCommand] = (),
    start: int = 1,
    until: int | None = None,
    change: Callable[[CRCLCommand], CRCLCommand] = lambda command: command,
    before: Callable[[ProgramStep], Awaitable[bool]] | None = None,
    on_progress: Callable[[ProgramProgress], None] = lambda _progress: None,
) -> ProgramReport:
    """Runs a program to its end or to the first command that is not done.

    A robot that may still be moving then is stopped, and so it is when the task is cancelled.

    Args:
        robot: The client or target that executes it.
        program: The program.
        file: Its name, which servers show in their status.
        setup: Commands right after InitCanon, such as units that the program takes for granted.
        start: The first middle command; settings of those before it are sent all the same.
        until: The last middle command; EndCanon follows.
        change: What is sent instead of a command, such as the same one in another frame.
        before: Is awaited before each step, for as long as the program is to pause; False ends it there.
        on_progress: Is called when a step begins and ends.

    Raises:
        BadInput: Its loops do not match, or there are no such commands; nothing was sent.
    """
    loop = asyncio.get_running_loop()
    started_s, aborts_before = loop.time(), robot.aborts
    length, executed, outcome = len(program.middle_command), 0, None

    def report(state: OutcomeState, reason: str) -> ProgramReport:
        return ProgramReport(state, reason, executed, length, outcome, loop.time() - started_s)

    try:
        for step in steps(program, start=start, until=until, setup=setup):
            goes_on = before is None or await before(step)
            if robot.aborts != aborts_before:
                return report(OutcomeState.ABORTED, f"stopped before {step.place(length)}")
            if not goes_on:
                await robot.execute(program.end_canon)
                return report(OutcomeState.ABORTED, f"ended before {step.place(length)}")
            on_progress(ProgramProgress(step, length, executed, None))
            command = change(step.command)
            outcome = await robot.execute(command, place=ProgramPlace(file, min(step.index, length), length))
            executed += outcome.done
            on_progress(ProgramProgress(step, length, executed, outcome))
            if not outcome.done:
                reason = f"{step.place(length)}, {outcome.text}"
                if outcome.state in _MAY_MOVE:
                    stopped = await robot.abort()
                    reason += "; stopped" if stopped.done else f"; NOT STOPPED: {stopped.text}"
                return report(outcome.state, reason)
    except asyncio.CancelledError:
        await robot.abort()
        raise
    return report(OutcomeState.DONE, "")
