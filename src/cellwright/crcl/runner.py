"""Runs a program: sends its commands one after the other, repeats its loops, tells how far it is.

Servers never see a program, and loop blocks never reach them: repeating is the business of whoever runs it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from cellwright.core.errors import BadInput
from cellwright.crcl.messages import (
    CRCLCommand,
    CRCLProgram,
    EndCanon,
    LoopBlockEnd,
    LoopBlockStart,
    MiddleCommand,
    StopConditionEnum,
)
from cellwright.crcl.options import ProgramPlace
from cellwright.crcl.outcome import Outcome, OutcomeState

__all__ = ["Executing", "ProgramReport", "Progress", "Step", "run_program", "steps"]

MAX_DEPTH = 50

_MAY_MOVE = (OutcomeState.TIMEOUT, OutcomeState.LOST)


class Executing(Protocol):
    """What a program is run on: a client, or a target that can be switched."""

    @property
    def aborts(self) -> int:
        """How often it was stopped."""

    async def execute(
        self, command: CRCLCommand, *, timeout_s: float | None = None, place: ProgramPlace | None = None
    ) -> Outcome:
        """Does a command."""

    async def abort(self, condition: StopConditionEnum = StopConditionEnum.FAST, *, timeout_s: float = 5.0) -> Outcome:
        """Stops the robot."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a program as it comes to be executed.

    Attributes:
        index: Its place in the file: 0 is InitCanon, 1 the first middle command.
        command: Itself.
        passes: The loops around it from outside in, each with the number of the pass from 1.
    """

    index: int
    command: CRCLCommand
    passes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a program is; `outcome` is None when the step begins."""

    step: Step
    length: int
    executed: int
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """How a program ended.

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


def steps(program: CRCLProgram) -> Iterator[Step]:
    """The commands in the order of execution, loops repeated `MaxCount` times.

    Raises:
        BadInput: At once, if loops do not match.
    """
    ends = _loop_ends(program.middle_command)
    return _steps(program, ends)


def _steps(program: CRCLProgram, ends: dict[int, int]) -> Iterator[Step]:
    yield Step(0, program.init_canon)
    yield from _block(program.middle_command, 0, len(program.middle_command), ends, ())
    yield Step(len(program.middle_command) + 1, program.end_canon)


def _block(
    commands: Sequence[MiddleCommand], start: int, end: int, ends: dict[int, int], passes: tuple[tuple[str, int], ...]
) -> Iterator[Step]:
    at = start
    while at < end:
        command = commands[at]
        if isinstance(command, LoopBlockStart):
            closing = commands[ends[at]]
            assert isinstance(closing, LoopBlockEnd)
            for number in range(1, closing.max_count + 1):
                yield from _block(commands, at + 1, ends[at], ends, (*passes, (command.loop_name, number)))
            at = ends[at]
        else:
            yield Step(at + 1, command, passes)
        at += 1


def _loop_ends(commands: Sequence[MiddleCommand]) -> dict[int, int]:
    """The place of each loop's end by that of its start."""
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
    robot: Executing,
    program: CRCLProgram,
    *,
    file: str | None = None,
    setup: Sequence[CRCLCommand] = (),
    on_progress: Callable[[Progress], None] = lambda _progress: None,
) -> ProgramReport:
    """Runs a program to its end or to the first command that is not done.

    A robot that may still be moving then is stopped, and so it is when the task is cancelled.

    Args:
        robot: What executes.
        program: What.
        file: Its name, which servers show in their status.
        setup: Commands right after InitCanon, such as units that the program takes for granted.
        on_progress: Is told when a step begins and ends.

    Raises:
        BadInput: Its loops do not match; nothing was sent.
    """
    loop = asyncio.get_running_loop()
    started_s, aborts_before = loop.time(), robot.aborts
    length, executed, outcome = len(program.middle_command), 0, None

    def report(state: OutcomeState, reason: str) -> ProgramReport:
        return ProgramReport(state, reason, executed, length, outcome, loop.time() - started_s)

    try:
        for step in _with_setup(steps(program), setup):
            if robot.aborts != aborts_before:
                return report(OutcomeState.ABORTED, f"stopped before command {step.index}")
            on_progress(Progress(step, length, executed, None))
            outcome = await robot.execute(step.command, place=ProgramPlace(file, min(step.index, length), length))
            executed += outcome.done
            on_progress(Progress(step, length, executed, outcome))
            if not outcome.done:
                reason = f"command {step.index} of {length}, {outcome.text}"
                if outcome.state in _MAY_MOVE:
                    stopped = await robot.abort()
                    reason += "; stopped" if stopped.done else f"; NOT STOPPED: {stopped.text}"
                return report(outcome.state, reason)
    except asyncio.CancelledError:
        await robot.abort()
        raise
    return report(OutcomeState.DONE, "")


def _with_setup(program: Iterator[Step], setup: Sequence[CRCLCommand]) -> Iterator[Step]:
    for step in program:
        yield step
        if step.index == 0 and not isinstance(step.command, EndCanon):
            yield from (Step(0, command) for command in setup)
