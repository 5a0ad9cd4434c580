"""Settings that hold for later commands, in SI units; shared by all connections of a robot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cellwright.core.errors import BadInput
from cellwright.crcl import messages as m
from cellwright.crcl.poses import tolerance_of
from cellwright.crcl.robot import JointFacts, Pace, Tolerance

__all__ = ["Settings", "checked_joint"]

LEAST = 1e-6  # of speeds and accelerations, in metres and radians


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force; None is the robot's own choice.

    Attributes:
        sensors: The enabled sensors with the options that they were given.
        gripper_options: Of the gripper, by its name, if it was enabled.
        hidden_grippers: Those that were disabled.
        parameters: The names of the robot's parameters that are reported.
    """

    trans_speed: m.TransSpeed | None = None
    trans_accel: m.TransAccel | None = None
    rot_speed: m.RotSpeed | None = None
    rot_accel: m.RotAccel | None = None
    end_tolerance: m.PoseTolerance | None = None
    intermediate_tolerance: m.PoseTolerance | None = None
    joint_tolerances: Mapping[int, float] = field(default_factory=dict)
    coordinated: bool | None = None
    end_effector: float | None = None
    end_effector_parameters: Mapping[str, str] = field(default_factory=dict)
    sensors: Mapping[str, tuple[m.ParameterSetting, ...]] = field(default_factory=dict)
    gripper_options: Mapping[str, tuple[m.ParameterSetting, ...]] = field(default_factory=dict)
    hidden_grippers: frozenset[str] = frozenset()
    parameters: tuple[str, ...] = ()

    def after(self, command: m.CRCLCommand, joints: Sequence[JointFacts]) -> Settings:
        """Returns the settings after a command in SI units; the same object for commands that set nothing here.

        Raises:
            BadInput: A speed or an acceleration that is not above 0, a negative tolerance, an unknown joint.
        """
        match command:
            case m.SetTransSpeed():
                return self._with("trans_speed", command.trans_speed)
            case m.SetTransAccel():
                return self._with("trans_accel", command.trans_accel)
            case m.SetRotSpeed():
                return self._with("rot_speed", command.rot_speed)
            case m.SetRotAccel():
                return self._with("rot_accel", command.rot_accel)
            case m.SetEndPoseTolerance():
                tolerance_of(command.tolerance)
                return replace(self, end_tolerance=command.tolerance)
            case m.SetIntermediatePoseTolerance():
                tolerance_of(command.tolerance)
                return replace(self, intermediate_tolerance=command.tolerance)
            case m.SetDefaultJointPositonsTolerances():
                return replace(self, joint_tolerances=self.joint_limits(command.joint_tolerances, joints))
            case m.SetMotionCoordination():
                return replace(self, coordinated=command.coordinated)
        return self

    def joint_limits(
        self, tolerances: m.JointPositionsTolerances | None, joints: Sequence[JointFacts]
    ) -> Mapping[int, float]:
        """Returns the tolerances of joints by number: those given, and else those set before."""
        if tolerances is None:
            return self.joint_tolerances
        given = {}
        for setting in tolerances.setting:
            checked_joint(setting.joint_number, joints)
            if not setting.joint_position_tolerance >= 0.0:
                value = setting.joint_position_tolerance
                raise BadInput(
                    f"JointPositionTolerance of joint {setting.joint_number} is {value} (allowed: 0 or more)"
                )
            given[setting.joint_number] = setting.joint_position_tolerance
        return {**self.joint_tolerances, **given}

    def pace(self, most: Pace, usual: Pace, pose: m.Pose | None = None) -> Pace:
        """Returns the speeds to a pose: by its own settings, else by those in force; never beyond the robot's most.

        Raises:
            BadInput: A speed or an acceleration of the pose is not above 0.
        """
        own = pose if isinstance(pose, m.PoseAndSet) else None
        coordinated = usual.coordinated if self.coordinated is None else self.coordinated

        def choose(name: str, top: float, usual_value: float) -> float:
            chosen = (getattr(own, name) if own else None) or getattr(self, name)
            return (
                usual_value if chosen is None else min(_least(name, _checked(name, chosen) * _scale(chosen, top)), top)
            )

        return Pace(
            choose("trans_speed", most.speed_mps, usual.speed_mps),
            choose("trans_accel", most.acceleration_mps2, usual.acceleration_mps2),
            choose("rot_speed", most.turn_radps, usual.turn_radps),
            choose("rot_accel", most.turn_acceleration_radps2, usual.turn_acceleration_radps2),
            own.coordinated if own else coordinated,
        )

    def tolerance(self, pose: m.Pose | None, *, last: bool) -> Tolerance:
        """Returns the tolerance of a pose: its own, else the one set for ends or for the way."""
        own = pose.tolerance if isinstance(pose, m.PoseAndSet) else None
        return tolerance_of(own or (self.end_tolerance if last else self.intermediate_tolerance))

    def _with(self, name: str, value: m.DataThing) -> Settings:
        _checked(name, value)
        changes: dict[str, Any] = {name: value}
        return replace(self, **changes)


def checked_joint(number: int, joints: Sequence[JointFacts]) -> JointFacts:
    """Returns the joint with a number.

    Raises:
        BadInput: There is none.
    """
    if not 1 <= number <= len(joints):
        raise BadInput(f"there is no joint {number} (allowed: 1 to {len(joints)})")
    return joints[number - 1]


def _number(value: m.DataThing) -> float:
    number = getattr(value, "setting", None)
    return float(getattr(value, "fraction") if number is None else number)  # noqa: B009


def _scale(value: m.DataThing, top: float) -> float:
    return 1.0 if hasattr(value, "setting") else top


def _checked(name: str, value: m.DataThing) -> float:
    number = _number(value)
    if not 0.0 < number < math.inf:
        raise BadInput(f"{_title(name)} is {number} (allowed: above 0)")
    return number


def _least(name: str, value: float) -> float:
    """Returns a speed or acceleration after checking that motions with it end in finite time."""
    if value < LEAST:
        unit = ("m" if name.startswith("trans") else "rad") + ("/s" if name.endswith("speed") else "/s2")
        raise BadInput(f"{_title(name)} is {value:g} {unit} (allowed: {LEAST:g} {unit} or more)")
    return value


def _title(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
