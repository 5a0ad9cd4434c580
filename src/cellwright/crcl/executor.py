"""The command state machine of one robot, shared by all its connections: a new command ends the old one.

An error stays until InitCanon. What a command asks for is checked when it is accepted; settings hold from then on, so
that commands which arrive in one piece mean what they say.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from cellwright.core.errors import CellwrightError, OutOfReach
from cellwright.core.pose import Pose
from cellwright.crcl import messages as m
from cellwright.crcl.command_plan import CommandPlan, CommandTranslator
from cellwright.crcl.current_command import CommandSource, ConnectionAnswer, CurrentCommand, PrivateCommand
from cellwright.crcl.guarded import GuardedRunner, GuardRecord
from cellwright.crcl.guards import GuardWatch
from cellwright.crcl.messages import CommandStateEnum, CRCLCommandInstance, StopConditionEnum
from cellwright.crcl.moves import Moves
from cellwright.crcl.robot import BeyondLimit, CrclRobot
from cellwright.crcl.settings import Settings
from cellwright.crcl.units import CrclUnits, other_unit, to_si

__all__ = ["CommandExecutor"]

LOG = logging.getLogger(__name__)
_WORKING, _DONE, _ERROR = CommandStateEnum.CRCL_WORKING, CommandStateEnum.CRCL_DONE, CommandStateEnum.CRCL_ERROR


class CommandExecutor:
    """Executes the commands for one robot, one at a time.

    Args:
        robot: The robot.
        pose_base: The pose of its base in the frame in which clients give poses.
        epoch_s: The Unix time at which the robot's clock began.

    Attributes:
        settings: The settings in force.
        initialised: Whether there is a session: InitCanon was there, EndCanon not yet.
        on_end: Is called when a command that was under way has ended, done or in error.
    """

    def __init__(self, robot: CrclRobot, pose_base: Pose | None = None, epoch_s: float = 0.0) -> None:
        self.robot = robot
        self.epoch_s = epoch_s
        self.pose_base = pose_base or Pose.identity()
        self.linear_joints = tuple(joint.is_linear for joint in robot.joints)
        self.settings = Settings()
        self.initialised = False
        self.on_end: Callable[[], None] = lambda: None
        self._actions = CommandTranslator(robot, Moves(robot, self.pose_base))
        self._guarded = GuardedRunner(robot)
        self._tasks: list[asyncio.Task[None]] = []  # the last one is the present command; others are ending
        self._stop_with = StopConditionEnum.NORMAL  # a harder stop that is not over yet is not made softer
        self._status_id = 0
        self._current = CurrentCommand(CRCLCommandInstance(m.GetStatus(0)), CommandStateEnum.CRCL_READY)
        self._owner: CommandSource | None = None  # the connection that sent the present command

    @property
    def state(self) -> CommandStateEnum:
        """The state of the present command."""
        return self._current.state

    @property
    def guard_record(self) -> GuardRecord:
        """The guards of the last guarded command, and their last trigger."""
        return self._guarded.record

    def command_status(self, source: CommandSource) -> m.CommandStatus:
        """Returns the status of the present command for a connection; every status has a number of its own."""
        self._status_id += 1
        current, own = self._current, source.connection_answer
        if own is not None and (own.beside is current or not own.was_sent):
            own.was_sent, current = True, own.answer
        reading = self.robot.read()
        return current.status(self._status_id, reading.override_percent, reading.activity)

    def accept(self, instance: CRCLCommandInstance, source: CommandSource) -> None:
        """Begins a command in place of the present one; the state is at once that of the new one."""
        command = instance.crcl_command
        if isinstance(command, PrivateCommand) and self._owner not in (None, source):
            self._accept_beside(instance, source)
            return
        self._owner = source
        if self.state is _ERROR and not isinstance(command, m.InitCanon):
            self._accept_in_error(instance)
            return
        if reason := self._refusal(command):
            self._fail(reason, instance)
            return
        units = source.units
        try:
            in_si = to_si(command, units, self.linear_joints)
            source.configure(command)
            plan = self._actions.plan(in_si, self.settings)
            watch = GuardWatch(in_si.guard, self.robot, self.epoch_s) if in_si.guard else None
        except Exception as error:
            self._fail(_text(error, units), instance)
            return
        if isinstance(command, m.InitCanon):
            self.initialised = True
            self._guarded = GuardedRunner(self.robot)
        elif isinstance(command, m.EndCanon):
            self.initialised = False
        elif isinstance(command, m.StopMotion):
            self._stop_with = command.stop_condition
        if plan.action is None or isinstance(command, m.InitCanon):
            self.settings = plan.settings
        moving = self._cancel()
        if plan.action is None and watch is None and not moving:
            self._current = CurrentCommand(instance, _DONE, plan.note)
        else:
            self._current = CurrentCommand(instance, _WORKING)
            self._start(lambda: self._run(plan, watch, units, halt=moving and not plan.stops))

    def _refusal(self, command: m.CRCLCommand) -> str:
        """Returns why a command may not be executed now; empty if it may."""
        if self.initialised or isinstance(command, m.InitCanon | m.EndCanon | m.StopMotion):
            return ""
        return f"not initialised: {type(command).__name__} needs an InitCanon first"

    def _accept_beside(self, instance: CRCLCommandInstance, source: CommandSource) -> None:
        """Sets units or reports of one connection while the present command is another one's, which goes on.

        NIST's client repeats the reports that it configures on the connection that it polls, with the same number and
        while the next motion is under way already. It waits for that motion, and must not lose sight of it.
        """
        state, text = _DONE, ""
        if self.state is _ERROR:
            state, text = _ERROR, self._current.text
        elif reason := self._refusal(instance.crcl_command):
            state, text = _ERROR, reason
        else:
            try:
                source.configure(instance.crcl_command)
            except CellwrightError as error:
                state, text = _ERROR, str(error)
        source.connection_answer = ConnectionAnswer(self._current, CurrentCommand(instance, state, text))

    def reject(self, text: str, command_id: int | None = None) -> None:
        """Goes into the error state for a message that cannot be read.

        The robot stops: what could not be understood may have been a stop.
        """
        instance = None if command_id is None else CRCLCommandInstance(m.GetStatus(command_id))
        if self.state is not _ERROR:
            self._fail(text, instance)
        elif instance is not None:  # the first error is the one to be reported
            self._current = CurrentCommand(instance, _ERROR, self._current.text)

    async def close(self) -> None:
        """Ends the present command; the robot stands."""
        if self._cancel():
            await self._wait_for_others()
            await self.robot.stop(StopConditionEnum.NORMAL)

    def _accept_in_error(self, instance: CRCLCommandInstance) -> None:
        """Accepts a command in the error state: only InitCanon ends it; a stop is obeyed, EndCanon ends the session."""
        command = instance.crcl_command
        if isinstance(command, m.StopMotion):
            condition = command.stop_condition
            self._cancel()
            self._start(lambda: self._halt(condition))
        elif isinstance(command, m.EndCanon):
            self.initialised = False
        # Its sender waits for an answer: the error is the answer.
        self._current = CurrentCommand(instance, _ERROR, self._current.text)

    def _fail(self, text: str, instance: CRCLCommandInstance | None = None) -> None:
        self._current = CurrentCommand(instance or self._current.instance, _ERROR, text)
        if self._cancel():
            self._start(lambda: self._halt(StopConditionEnum.NORMAL))
            self.on_end()

    def _start(self, work: Callable[[], Awaitable[None]]) -> None:
        async def job() -> None:
            await self._wait_for_others()
            await work()

        self._tasks.append(asyncio.get_running_loop().create_task(job()))

    def _cancel(self) -> bool:
        """Cancels the present command; returns whether there was one."""
        self._tasks = [task for task in self._tasks if not task.done()]
        for task in self._tasks:
            if not task.cancelling():  # once: what it does in order to end is not to be cut short
                task.cancel()
        return bool(self._tasks)

    async def _wait_for_others(self) -> None:
        me = asyncio.current_task()
        if others := [task for task in self._tasks if task is not me and not task.done()]:
            await asyncio.wait(others)

    async def _halt(self, condition: StopConditionEnum) -> None:
        try:
            await self.robot.stop(condition)
        except CellwrightError as error:
            LOG.warning("%s could not be stopped: %s", self.robot.name, error)

    async def _run(self, plan: CommandPlan, watch: GuardWatch | None, units: CrclUnits, *, halt: bool) -> None:
        try:
            if halt:
                await self.robot.stop(self._stop_with)
            note = plan.note
            if watch is not None:
                note = await self._guarded.run(plan.action, watch) or note
            elif plan.action is not None:
                await plan.action()
            if plan.action is not None:
                self.settings = plan.settings
            self._end(_DONE, note)
        except Exception as error:
            self._end(_ERROR, _text(error, units))
        self._stop_with = StopConditionEnum.NORMAL  # not when it is cancelled: then the stop is still to be made

    def _end(self, state: CommandStateEnum, text: str) -> None:
        if asyncio.current_task() is self._tasks[-1] and self.state is _WORKING:
            self._current = CurrentCommand(self._current.instance, state, text)
            self.on_end()


def _text(error: Exception, units: CrclUnits) -> str:
    """Returns the text of an error; a defect must reach the client, too, and not vanish in a task."""
    if isinstance(error, BeyondLimit):
        return error.text(units)
    if isinstance(error, OutOfReach):
        return str(error) + other_unit(error.away_m, error.reach_m, units)
    if isinstance(error, CellwrightError):
        return str(error)
    LOG.error("a command failed", exc_info=error)
    return f"internal error: {type(error).__name__}: {error}"
