"""Commands under guards: they end by themselves, or when a guard triggers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.crcl import messages as m
from cellwright.crcl.command_plan import Action
from cellwright.crcl.guards import GuardWatch
from cellwright.crcl.messages import StopConditionEnum
from cellwright.crcl.robot import CrclRobot

__all__ = ["GuardRecord", "GuardedRunner"]


@dataclass(frozen=True, slots=True)
class GuardRecord:
    """The state of guards for the status: those of the last command that had some, and their last trigger."""

    guards: tuple[m.Guard, ...] = ()
    count: int = 0
    stop_time_s: float = 0.0
    value: float | None = None
    pose_tool_in_base: Pose | None = None


class GuardedRunner:
    """Runs the guarded commands of a session, and keeps the state of their guards for the status."""

    def __init__(self, robot: CrclRobot) -> None:
        self._robot = robot
        self._record = GuardRecord()
        self._watch: GuardWatch | None = None

    @property
    def record(self) -> GuardRecord:
        """The record now; the same object as long as no guard was checked."""
        if self._watch is not None and self._record.guards is not self._watch.guards:
            self._record = replace(self._record, guards=self._watch.guards)
        return self._record

    async def run(self, action: Action | None, watch: GuardWatch) -> str:
        """Does an action until it ends or a guard triggers, which stops the robot.

        Returns:
            The description of the trigger, if there was one.

        Raises:
            JobFailed: A guard triggered that makes it an error, or none did although one had to.
        """
        self._watch = watch
        try:
            if watch.begin() is None and action is not None:
                await self._until_trigger(action, watch)
            if watch.trigger is not None:
                await self._robot.stop(StopConditionEnum.FAST)
        finally:
            self._watch = None
            self._update(watch)
        watch.require()
        if watch.trigger is None:
            return ""
        if watch.trigger.guard.error_on_trigger:
            raise JobFailed(watch.trigger.text)
        return watch.trigger.text

    def _update(self, watch: GuardWatch) -> None:
        self._record = replace(self._record, guards=watch.guards)
        if (trigger := watch.trigger) is not None:
            stop_time_s = self._robot.clock.time_s - trigger.time_s
            count = self._record.count + 1
            self._record = GuardRecord(watch.guards, count, stop_time_s, trigger.value, trigger.pose_tool_in_base)

    async def _until_trigger(self, action: Action, watch: GuardWatch) -> None:
        async def act() -> None:
            await action()

        loop = asyncio.get_running_loop()
        activity, watching = loop.create_task(act()), loop.create_task(watch.watch())
        try:
            await asyncio.wait([activity, watching], return_when=asyncio.FIRST_COMPLETED)
            if activity.done():
                activity.result()
                watch.check()  # what came in the last moment counts
            else:
                watching.result()
        finally:
            activity.cancel()
            watching.cancel()
            await asyncio.gather(activity, watching, return_exceptions=True)
            if not watching.cancelled() and watching.exception() is not None:
                await self._robot.stop(StopConditionEnum.FAST)  # a guard that cannot see protects nothing
