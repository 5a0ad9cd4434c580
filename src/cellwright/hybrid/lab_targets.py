"""The targets of a laboratory: which of its robots and detectors are somewhere else, switched while it runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

from cellwright.cells import CellTargetsCfg, DetectorTargetCfg, RobotTargetCfg
from cellwright.core.config import read_yaml
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import BadInput, CellwrightError, UnknownName
from cellwright.core.messages import ActionEvent, Detections, TargetEvent, TargetStatus
from cellwright.crcl.connection import parse_address
from cellwright.crcl.endpoints import SIMULATED
from cellwright.crcl.messages import StopConditionEnum
from cellwright.hybrid.detector_target import DetectorTarget
from cellwright.hybrid.mirror import Mirror
from cellwright.hybrid.pace_gate import PaceGate
from cellwright.hybrid.robot_target import RobotTarget
from cellwright.hybrid.targets_account import TargetsAccount
from cellwright.hybrid.targets_control import TargetsControl
from cellwright.interfaces.control import ControlInterface
from cellwright.interfaces.crcl_arm import CrclArm
from cellwright.lab import Lab
from cellwright.lab.cell_file import check_targets

__all__ = ["LabTargets", "read_targets", "require_no_faults"]

LOG = logging.getLogger(__name__)

EVENTS_TOPIC, STATUS_TOPIC, ACTIONS_TOPIC = "/targets/events", "/targets/status", "/execution/actions"
STATUS_S, FILE_S, DETECTOR_S = 1.0, 0.5, 0.2


def read_targets(lab: Lab, path: Path) -> CellTargetsCfg:
    """Returns the targets of a file, which may be of a part of the cell; what is not named is simulated.

    Raises:
        ConfigErrors: Something in it makes no sense; one line each.
    """
    return _checked(lab, read_yaml(path, CellTargetsCfg), str(path))


def require_no_faults(cfg: CellTargetsCfg, faults: Sequence[object]) -> None:
    """Refuses faults beside anything external: they would happen to its twin, and it would act on them.

    Raises:
        BadInput: There are some.
    """
    names = [name for targets in (cfg.robots, cfg.detectors) for name, one in targets.items() if one.is_external]
    if faults and names:
        raise BadInput(
            f"faults happen in the simulated cell alone, and {', '.join(names)} would act on them in the real one "
            f"(allowed: no faults, or all targets simulated)"
        )


class LabTargets:
    """All robots and detectors of a laboratory, wherever they are; use it as `async with targets`.

    Events are told on `/targets/events`, times on `/targets/status`, what external robots say below
    `/<robot>/external`.

    Attributes:
        robots: Robot -> its target.
        detectors: Detector -> its target.
        gate: Holds external robots while the laboratory does not keep pace.
        control: The socket for switches.
        wanted: The targets with which it begins.
        stopped: Why everything was stopped; empty while nothing was.

    Args:
        lab: The laboratory; its loop must be paced.
        cfg: Where they are; by default what the cell's file says.
        file: Read again whenever it changes, and followed.
        say: Told a line for each event.
        on_stop: Told why a run must stop: a robot or detector was lost, or an emergency stop was pressed.
        control_port: Where switches are taken as lines of JSON, on this machine only; 0 is any free port, None nowhere.

    Raises:
        BadInput: The laboratory runs as fast as possible, which no external robot could follow.
    """

    def __init__(
        self,
        lab: Lab,
        cfg: CellTargetsCfg | None = None,
        *,
        file: Path | None = None,
        say: Callable[[str], None] = LOG.info,
        on_stop: Callable[[str], None] = lambda _why: None,
        control_port: int | None = None,
    ) -> None:
        if lab.loop.pacing.speed is None:
            allowed = "(allowed: a number, such as `pace=1.0` of `cw.Lab`)"
            raise BadInput(f"targets need a pace, for what is external takes its time {allowed}")
        self.stopped = ""
        self.on_stop = on_stop
        self._lab, self._file, self._say = lab, file, say
        self._read_stamp = (0, 0) if file is None else _stamp(file)  # a change while it is connected is one, too
        if cfg is None:
            cfg = lab.cell.targets if file is None else read_targets(lab, file)
        self.wanted = _checked(lab, cfg, "targets")
        self.gate = PaceGate(lab)
        self.robots: dict[str, RobotTarget] = {}
        mirror = Mirror(lab)
        self.detectors = {
            name: DetectorTarget(
                lab, name, cfg.detectors.get(name, DetectorTargetCfg()), partial(self._tell, name), mirror
            )
            for name in _detectors(lab)
        }
        self._tasks: set[asyncio.Task[None]] = set()
        self._events = 0
        lab.bus.declare(EVENTS_TOPIC, TargetEvent)
        lab.bus.declare(STATUS_TOPIC, TargetStatus)
        self._hearing = lab.bus.subscribe(ACTIONS_TOPIC, self._hear_action, subscriber="targets")
        self._given_up: set[str] = set()
        self._control_port = control_port
        self._commands = TargetsControl(self, lambda line: self.control.push(line))
        self.control = ControlInterface(self._commands.answer)
        self._account = TargetsAccount()
        self._mixed: tuple[str, ...] = ()
        self._owners = {robot.vision.detector: name for name, robot in lab.cell.robots.items() if robot.vision}

    def stand_in(self, robot: str, arm: CrclArm) -> RobotTarget:
        """Returns what the server of a robot commands: for `CrclInterface(lab, stand_in=targets.stand_in)`."""
        cfg = self.wanted.robots.get(robot, RobotTargetCfg())
        target = RobotTarget(self._lab, robot, cfg, arm, self.gate, partial(self._tell, robot), self.stop)
        self.robots[robot] = target
        return target

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_exception: object) -> None:
        await self.close()

    async def start(self) -> Self:
        """Connects to all that is external; simulated robots are moved to where those stand.

        Raises:
            JobFailed: One is not there, or is something else; none is kept then.
        """
        try:
            for target in self._all:
                await target.start()
        except BaseException:
            await self.close()
            raise
        if self._control_port is not None:
            await self.control.start(port=self._control_port)
            self._say(f"targets: `cellwright targets` finds this run at {self.control.address}")
        if self._lab.loop.pacing.speed != 1.0 and self.wanted.has_external:
            self._say(f"targets: at pace {self._lab.loop.pacing.speed:g} all that is external must have that pace, too")
        self._tell_mixed()
        self._do(self._tell_status())
        self._do(self._watch_detectors())
        if self._file is not None:
            self._do(self._watch_file(self._file))
        return self

    async def close(self) -> None:
        """Stops external robots that move, and ends all sessions."""
        # Stops come first: when a run is interrupted no more than one step of each is done.
        closing = [asyncio.ensure_future(target.close()) for target in self._all]
        self._lab.bus.unsubscribe(self._hearing)
        tasks, self._tasks = self._tasks, set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*closing, *tasks, return_exceptions=True)
        await self.control.close()

    async def switch(self, name: str, to: str | RobotTargetCfg | DetectorTargetCfg, *, aligns: bool = False) -> None:
        """Switches one robot or detector at its next boundary.

        Args:
            name: Which.
            to: `simulated`, HOST:PORT, which keeps all else of the target, or a whole target.
            aligns: Whether a simulated robot is first moved to where the external one stands.

        Raises:
            SwitchRefused: It stays where it is; says why.
            BadInput: There is no such robot or detector, or that is no address.
        """
        if name in self.robots:
            robot = self.robots[name]
            cfg = _at(robot.cfg, to) if isinstance(to, str) else to
            if not isinstance(cfg, RobotTargetCfg):
                raise BadInput(f"{name} is a robot: a detector's target does not fit it")
            self._require_free(name, cfg.at, {one: target.cfg.at for one, target in self.robots.items()})
            await robot.switch(cfg, aligns=aligns)
            self._tell_mixed()
        elif name in self.detectors:
            detector = self.detectors[name]
            seen = _at(detector.cfg, to) if isinstance(to, str) else to
            if not isinstance(seen, DetectorTargetCfg):
                raise BadInput(f"{name} is a detector: a robot's target does not fit it")
            self._require_free(name, seen.at, {one: target.cfg.at for one, target in self.detectors.items()})
            await detector.switch(seen)
            self._given_up.discard(name)
            self._tell_mixed()
        else:
            raise UnknownName("robot or detector", name, [*self.robots, *self.detectors], self._lab.cell.where)

    async def take(self, cfg: CellTargetsCfg) -> None:
        """Switches all that is elsewhere in other targets; one that is refused stays where it is, the others go on.

        Robots come before detectors, which would look at another cell meanwhile; and what comes back before what goes
        out, which may get its address. The detector of a robot that is refused stays with it.
        """
        refused: set[str] = set()

        robots = [(name, cfg.robots.get(name, RobotTargetCfg())) for name in self.robots]
        detectors = [(name, cfg.detectors.get(name, DetectorTargetCfg())) for name in self.detectors]

        async def one(name: str, to: RobotTargetCfg | DetectorTargetCfg) -> None:
            target = self.robots.get(name) or self.detectors[name]
            owner = self._owners.get(name, "")
            if owner in refused and to.is_external is not target.cfg.is_external:
                self._tell(name, "refused", f"it stays where it is, as {owner} does, at whose table it looks")
                return
            try:
                await self.switch(name, to)
            except CellwrightError as error:
                refused.add(name)
                LOG.debug("%s", error)  # it was told on the bus

        for wanted in (robots, detectors):
            for is_external in (False, True):
                await asyncio.gather(*(one(name, to) for name, to in wanted if to.is_external is is_external))

    def stop(self, reason: str) -> None:
        """Stops all robots, simulated and external, and the run; they are locked until `release`."""
        if self.stopped:
            return
        self.stopped = reason
        for robot in self.robots.values():
            robot.halt(reason, StopConditionEnum.FAST)
        self.on_stop(reason)

    def release(self) -> None:
        """Unlocks the robots after a stop, when a person has seen to it."""
        self.stopped = ""
        for robot in self.robots.values():
            robot.release()

    def as_dict(self) -> dict[str, Any]:
        """Returns where everything is now, as JSON has it."""

        def one(target: RobotTarget | DetectorTarget) -> dict[str, Any]:
            status = target.status() if target.cfg.is_external else None
            known: dict[str, Any] = {
                "at": target.cfg.at,
                "lost": target.lost or self._account.trouble.get(target.name, ""),
            }
            if status is not None:
                known |= {
                    "latency_s": round(status.latency_s, 4),
                    "jitter_s": round(status.jitter_s, 4),
                    "uncertainty_s": round(status.uncertainty_s, 4),
                    "messages": status.messages,
                }
            return known

        return {
            "robots": {name: one(target) for name, target in self.robots.items()},
            "detectors": {name: one(target) for name, target in self.detectors.items()},
            "slip": round(self.gate.slip_of_all, 4),
            "stopped": self.stopped,
        }

    @property
    def notes(self) -> list[str]:
        """Lines for a report: what was external, and that it is judged by its twin."""
        lines = self._account.notes(self.robots)
        if self.gate.held:
            lines.append(f"external robots were held {self.gate.held} times, for {self.gate.held_s:.1f} s in all")
        return lines

    @property
    def _all(self) -> list[RobotTarget | DetectorTarget]:
        return [*self.robots.values(), *self.detectors.values()]

    def _require_free(self, name: str, at: str, taken: Mapping[str, str]) -> None:
        for other, address in taken.items():
            if at != SIMULATED and other != name and address == at:
                raise BadInput(f"{other} is at {at} already: give {name} its own address")

    def _tell(self, target: str, change: str, reason: str) -> None:
        one = self.robots.get(target) or self.detectors.get(target)
        at = one.cfg.at if one is not None else SIMULATED
        is_shadowed = isinstance(one, RobotTarget) and one.cfg.shadow
        self._account.hear(self._lab.clock.time_s, target, at, change, reason, is_shadowed=is_shadowed)
        self._publish(target, at, change, reason)
        self._say(f"{self._lab.clock.time_s:8.3f} s  {target}: {change}{': ' if reason else ''}{reason}")

    def _publish(self, target: str, at: str, change: str, reason: str) -> None:
        number, self._events = self._events, self._events + 1
        time_ns = round(self._lab.clock.time_s * 1e9)
        event = TargetEvent(time_ns, number, target, target=target, at=at, change=change, reason=reason)
        self._lab.bus.publish(EVENTS_TOPIC, event)

    def _hear_action(self, _topic: str, event: ActionEvent) -> None:
        robot = self.robots.get(event.robot)
        if robot is not None and event.phase != "check":
            robot.note_action(event.phase == "start")

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            LOG.error("targets", exc_info=error)

    async def _tell_status(self) -> None:
        while True:
            for target in self._all:
                status = target.status() if target.cfg.is_external else None
                if status is not None:
                    self._lab.bus.publish(STATUS_TOPIC, status)
            await self._lab.clock.sleep(STATUS_S)

    async def _watch_detectors(self) -> None:
        """Lets the run stop, or go on with the simulated one, when a detector was lost for good."""
        while True:
            for name, detector in self.detectors.items():
                if not detector.lost or name in self._given_up:
                    continue
                self._given_up.add(name)
                if detector.cfg.on_loss == "simulated":
                    await detector.switch(DetectorTargetCfg(on_loss="simulated"))
                else:
                    self.stop(detector.lost)
            await self._lab.clock.sleep(DETECTOR_S)

    async def _watch_file(self, path: Path) -> None:
        """Follows a file that is changed; one with a mistake changes nothing."""
        known = self._read_stamp
        while True:
            await self._lab.clock.sleep(FILE_S)
            stamp = _stamp(path)
            if stamp == known:
                continue
            known = stamp
            try:
                cfg = read_targets(self._lab, path)
            except (CellwrightError, OSError) as error:
                reason = "; ".join(str(error).splitlines())
                self._publish("", "", "targets refused", reason)
                self._say(f"{self._lab.clock.time_s:8.3f} s  targets stay what they were: {reason}")
                continue
            self._do(self.take(cfg))

    def _tell_mixed(self) -> None:
        """Tells of robots that are sent to where a detector sees things of another cell."""
        mixed = [
            f"{robot} is {_where(target)}, and {detector}, which looks at its table, is "
            f"{_where(self.detectors[detector])}: what one sees is not where the other works"
            for detector, robot in self._owners.items()
            if (target := self.robots.get(robot)) and target.is_external is not self.detectors[detector].is_external
        ]
        for line in mixed:
            if line not in self._mixed:
                self._say(f"{self._lab.clock.time_s:8.3f} s  careful: {line}")
        self._mixed = tuple(mixed)


def _where(target: RobotTarget | DetectorTarget) -> str:
    return f"at {target.cfg.at}" if target.is_external else SIMULATED


def _checked(lab: Lab, cfg: CellTargetsCfg, where: str) -> CellTargetsCfg:
    errors = ErrorCollector()
    check_targets(lab.cell, cfg, where, _detectors(lab), errors)
    errors.raise_errors()
    return cfg


def _detectors(lab: Lab) -> list[str]:
    return [sensor.source for sensor in lab.sensors if sensor.message_type is Detections]


def _at(cfg: Any, at: str) -> Any:
    if at != SIMULATED:
        parse_address(at)
    return cfg.model_copy(update={"at": at})


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
