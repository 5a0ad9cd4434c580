"""The robot as a CRCL server needs it: facts, readings and commands, in SI units and in the robot's base frame.

Anything that has these methods can be served: a simulated arm, a real one, the example arm of this package. A command
that cannot be done raises an error of `core.errors`; its text becomes the status' description.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.crcl.messages import StopConditionEnum
from cellwright.crcl.screw import Screw
from cellwright.crcl.units import CrclUnits, Quantity

__all__ = [
    "BeyondLimit",
    "CrclRobot",
    "GripperKind",
    "GripperReading",
    "JointFacts",
    "JointTarget",
    "NotAvailable",
    "Pace",
    "RobotClock",
    "RobotReading",
    "SensorReading",
    "SensorValue",
    "Tolerance",
    "Vector3",
    "Vector6",
    "Waypoint",
]

Vector3: TypeAlias = "tuple[float, float, float]"
Vector6: TypeAlias = "tuple[float, float, float, float, float, float]"
SensorValue: TypeAlias = "bool | int | float | Vector6"
"""A switch, a counter, a number, or forces and torques of a force-torque sensor in newton and newton metre."""


class NotAvailable(JobFailed):
    """A command for something that the robot has not."""

    def __init__(self, robot: str, what: str) -> None:
        super().__init__(f"{robot} has no {what}")


class BeyondLimit(JobFailed):
    """A target outside the limits; nothing is moved, and nothing is clamped."""

    def __init__(self, what: str, value: float, limit: float, quantity: Quantity, *, linear: bool = False) -> None:
        self.what = what
        self.value = value
        self.limit = limit
        self.quantity = quantity
        self.linear = linear
        super().__init__(self.text(CrclUnits()))

    def text(self, units: CrclUnits) -> str:
        """Returns the error text in the units of a client, phrased as the schema's own example."""
        factor = units.factor(self.quantity, linear=self.linear)
        value, limit = (round(number / factor, 6) for number in (self.value, self.limit))
        side = "less" if self.value < self.limit else "greater"
        return f"{self.what} at {value} {side} than limit {limit} {units.name(self.quantity, linear=self.linear)}"


@dataclass(frozen=True, slots=True)
class JointFacts:
    """One joint: radians, or metres if it slides."""

    name: str
    min_position: float
    max_position: float
    max_velocity: float
    max_effort: float | None = None
    is_linear: bool = False


@dataclass(frozen=True, slots=True)
class JointTarget:
    """The target of one joint; what is None is the robot's choice. Effort is a force where the joint slides."""

    number: int
    position: float
    speed: float | None = None
    acceleration: float | None = None
    effort: float | None = None
    effort_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Pace:
    """Limits of speed and acceleration of the controlled point, in translation and rotation."""

    speed_mps: float
    acceleration_mps2: float
    turn_radps: float
    turn_acceleration_radps2: float
    coordinated: bool = True


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The tolerance of a pose along the axes of the base frame; None means the robot's own precision."""

    x_m: float | None = None
    y_m: float | None = None
    z_m: float | None = None
    x_axis_rad: float | None = None
    z_axis_rad: float | None = None


@dataclass(frozen=True, slots=True)
class Waypoint:
    """A pose on the way, how fast to get to it, and how near."""

    pose_tool_in_base: Pose
    pace: Pace
    tolerance: Tolerance = Tolerance()


class GripperKind(StrEnum):
    """The grippers that a status can describe."""

    PARALLEL = "parallel"
    VACUUM = "vacuum"
    THREE_FINGER = "three_finger"


@dataclass(frozen=True, slots=True)
class GripperReading:
    """The mounted gripper; which fields count is a matter of its kind. Finger positions are 0 closed to 1 open.

    Its name is one word. Whether it holds anything is always reported: NIST's client cannot do without.
    """

    name: str
    kind: GripperKind
    holding: bool = False
    separation_m: float = 0.0
    is_powered: bool = False
    finger_positions: Vector3 | None = None
    finger_forces_n: Vector3 | None = None


@dataclass(frozen=True, slots=True)
class SensorReading:
    """The last value of a sensor, how often it was read, and when by the robot's clock."""

    value: SensorValue
    read_count: int
    time_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotReading:
    """The state of a robot at one moment; efforts, twist and wrench are None where nothing measures them.

    The share of the path that lies behind, 0 to 1, is None when the robot stands or does not know it.
    The activity before it moves, such as planning, is reported while a command is under way.
    """

    positions: tuple[float, ...]
    velocities: tuple[float, ...]
    pose_tool_in_base: Pose
    efforts: tuple[float, ...] | None = None
    twist: Vector6 | None = None
    wrench: Vector6 | None = None
    configuration: str | None = None
    gripper: GripperReading | None = None
    sensors: Mapping[str, SensorReading] = field(default_factory=dict)
    override_percent: int = 100
    path_share: float | None = None
    activity: str = ""


class RobotClock(Protocol):
    """The robot's time; `core.loop.WaitClock` is one."""

    @property
    def time_s(self) -> float:
        """Seconds since its start."""

    async def sleep(self, duration_s: float) -> None:
        """Waits for at least the duration, and at least one tick."""


class CrclRobot(Protocol):
    """A robot that can be served.

    Moves return when the robot stands at the target. When the task that awaits a move is cancelled, the robot begins
    to stop. Before a move is asked for, the server has checked joint and Cartesian limits, numbers and settings.
    """

    @property
    def name(self) -> str:
        """Its name, for errors."""

    @property
    def clock(self) -> RobotClock:
        """Its time."""

    @property
    def joints(self) -> Sequence[JointFacts]:
        """Its joints, from number 1 on."""

    @property
    def max_pace(self) -> Pace:
        """The most that its controlled point can do: what relative settings are fractions of."""

    @property
    def default_pace(self) -> Pace:
        """The speeds and accelerations until a client sets others."""

    @property
    def cartesian_limits(self) -> tuple[Vector3, Vector3] | None:
        """The least and the greatest coordinates of the controlled point, if such limits are set."""

    @property
    def pose_base_in_world(self) -> Pose:
        """The pose of its base, for servers that speak in world coordinates."""

    @property
    def parameters(self) -> Mapping[str, str]:
        """Its parameters by name, as far as they can be reported."""

    def read(self) -> RobotReading:
        """Returns its state now; the same object as long as nothing changed, so that its text can be used again."""

    async def prepare(self) -> None:
        """Gets ready to move, as InitCanon asks."""

    async def rest(self) -> None:
        """Ends a session, as EndCanon asks; the robot stands still already."""

    async def move_joints(self, targets: Sequence[JointTarget]) -> None:
        """Moves joints to positions; the others stay."""

    async def move_through(self, waypoints: Sequence[Waypoint], *, straight: bool) -> None:
        """Moves the controlled point past all waypoints within their tolerances, to rest at the last."""

    async def move_screw(self, screw: Screw, pace: Pace) -> None:
        """Moves the controlled point along a helix, at a constant rate."""

    async def stop(self, condition: StopConditionEnum) -> None:
        """Stops any motion and returns when the robot stands; harmless when it does."""

    async def set_end_effector(self, fraction: float) -> None:
        """Opens, powers or drives the end effector to a fraction of the most; 0 is closed or off."""

    async def set_end_effector_parameters(self, parameters: Mapping[str, str]) -> None:
        """Sets parameters of the end effector."""

    async def set_parameters(self, parameters: Mapping[str, str]) -> None:
        """Sets parameters of the robot."""

    async def open_tool_changer(self) -> None:
        """Lets the end effector go."""

    async def close_tool_changer(self) -> None:
        """Takes an end effector."""

    async def run_program(self, text: str) -> None:
        """Runs a program in the robot's own language."""

    async def enable_sensor(self, sensor_id: str, options: Mapping[str, str]) -> None:
        """Begins to read a sensor; the server has checked that `read` knows it."""

    async def disable_sensor(self, sensor_id: str) -> None:
        """Ceases to read a sensor."""

    def show_message(self, text: str) -> None:
        """Shows a text to the operator, if there is one."""
