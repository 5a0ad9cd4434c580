"""Guards: limits on sensors that end the command that carries them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cellwright.core.errors import BadInput, JobFailed, UnknownName
from cellwright.core.pose import Pose
from cellwright.crcl import messages as m
from cellwright.crcl.messages import GuardLimitEnum
from cellwright.crcl.robot import CrclRobot, RobotReading, SensorValue

__all__ = ["FORCE_TORQUE_FIELDS", "GuardWatch", "Trigger"]

FORCE_TORQUE_FIELDS = ("Fx", "Fy", "Fz", "Tx", "Ty", "Tz")
RECHECK_S = 0.01  # when a guard gives none; NIST's choice too


@dataclass(frozen=True, slots=True)
class Trigger:
    """A guard that found its limit passed: which, by which value, where the tool was then, and when."""

    guard: m.Guard
    value: float
    pose_tool_in_base: Pose
    time_s: float
    path_share: float | None = None

    @property
    def text(self) -> str:
        """The text for the status: the value, the limit that it passed, and how far along the path."""
        guard, field = self.guard, self.guard.sub_field
        unit = "" if field is None else " N" if field.startswith("F") else " Nm"
        value = f"{field} {self.value:.6g}" if field and guard.name else f"{self.value:.6g}"
        far = "" if self.path_share is None else f" after {100 * self.path_share:.0f} % of the path"
        what = f": contact{far}" if unit else far
        return f"{label(guard)} triggered at {value}{unit} ({guard.limit_type} {guard.limit_value:g}{unit}){what}"


class GuardWatch:
    """Looks at the sensors of one command's guards, each at its own rate but no faster than the robot's clock ticks.

    Args:
        guards: The guards.
        robot: Whose sensors.
        epoch_s: The Unix time at which the robot's clock began.

    Raises:
        BadInput: A guard that could never work: no such sensor or field, a limit that is no number.
    """

    def __init__(self, guards: Sequence[m.Guard], robot: CrclRobot, epoch_s: float) -> None:
        self._robot = robot
        self._epoch_s = epoch_s
        reading = robot.read()
        for guard in guards:
            _check(guard, reading)
        self._guards = [replace(guard, check_count=0, last_check_time=None, last_check_value=None) for guard in guards]
        self._first: list[float] = []
        self._due_s: list[float] = []
        self._told: tuple[m.Guard, ...] | None = None
        self.trigger: Trigger | None = None

    @property
    def guards(self) -> tuple[m.Guard, ...]:
        """The guards with their counts and last values; the same object as long as none was checked."""
        if self._told is None:
            self._told = tuple(self._guards)
        return self._told

    def begin(self) -> Trigger | None:
        """Takes the values that changes are measured from, and looks whether a limit is passed already."""
        reading = self._robot.read()
        self._first = [_value(guard, reading) for guard in self._guards]
        self._due_s = [-math.inf] * len(self._guards)
        return self.check(self._robot.clock.time_s)

    async def watch(self) -> Trigger:
        """Waits for the first guard that triggers."""
        clock = self._robot.clock
        while self.trigger is None:
            await clock.sleep(max(0.0, min(self._due_s) - clock.time_s))
            self.check(clock.time_s)
        return self.trigger

    def check(self, now_s: float | None = None) -> Trigger | None:
        """Looks at the guards that are due; at all of them when no time is given."""
        reading = self._robot.read()
        time_s = self._robot.clock.time_s
        for index, guard in enumerate(self._guards):
            if self.trigger is not None or (now_s is not None and self._due_s[index] > now_s + 1e-9):
                continue
            value = _value(guard, reading)
            recheck_s = (
                RECHECK_S if guard.recheck_time_micro_seconds is None else guard.recheck_time_micro_seconds * 1e-6
            )
            self._due_s[index] = time_s + max(recheck_s, 0.0)
            checked = replace(
                guard,
                check_count=(guard.check_count or 0) + 1,
                last_check_time=round((self._epoch_s + time_s) * 1000),
                last_check_value=value,
            )
            self._guards[index] = checked
            self._told = None
            if _passed(guard, value, self._first[index]):
                self.trigger = Trigger(checked, value, reading.pose_tool_in_base, time_s, reading.path_share)
        return self.trigger

    def require(self) -> None:
        """Checks that a guard triggered if one had to.

        Raises:
            JobFailed: None did.
        """
        for guard in self._guards:
            if guard.require_trigger and self.trigger is None:
                raise JobFailed(f"{label(guard)} required a trigger that was not seen")


def label(guard: m.Guard) -> str:
    """Returns the name of a guard."""
    field = f" {guard.sub_field}" if guard.sub_field else ""
    return f"guard {guard.name}" if guard.name else f"guard on {guard.sensor_id}{field}"


def _check(guard: m.Guard, reading: RobotReading) -> None:
    _value(guard, reading)
    changes = guard.limit_type in (GuardLimitEnum.INCREASE_OVER_LIMIT, GuardLimitEnum.DECREASE_BEYOND_LIMIT)
    if not math.isfinite(guard.limit_value) or (changes and guard.limit_value <= 0.0):
        allowed = "above 0" if changes else "a finite number"
        raise BadInput(f"{label(guard)}: LimitValue of {guard.limit_type} is {guard.limit_value} (allowed: {allowed})")


def _value(guard: m.Guard, reading: RobotReading) -> float:
    sensor = reading.sensors.get(guard.sensor_id)
    if sensor is None:
        raise UnknownName("sensor", guard.sensor_id, reading.sensors, label(guard))
    return _component(guard, sensor.value)


def _component(guard: m.Guard, value: SensorValue) -> float:
    if isinstance(value, tuple):
        if guard.sub_field not in FORCE_TORQUE_FIELDS:
            raise UnknownName("SubField", str(guard.sub_field), FORCE_TORQUE_FIELDS, label(guard))
        return value[FORCE_TORQUE_FIELDS.index(guard.sub_field)]
    if guard.sub_field:
        raise BadInput(f"{label(guard)}: {guard.sensor_id} has no SubField '{guard.sub_field}' (allowed: none)")
    return float(value)


def _passed(guard: m.Guard, value: float, first: float) -> bool:
    match guard.limit_type:
        case GuardLimitEnum.OVER_MAX:
            return value >= guard.limit_value
        case GuardLimitEnum.UNDER_MIN:
            return value <= guard.limit_value
        case GuardLimitEnum.INCREASE_OVER_LIMIT:
            return value - first >= guard.limit_value
    return first - value >= guard.limit_value
