"""CRCL for ROS programs: as the messages of NIST's package `nistcrcl`, and as CRCL's own XML in strings.

Both reach the executor that the robot's CRCL server has, so limits, errors and statuses are the same. Messages are in
metres and radians, whatever units others use; XML has the units and reports of a connection of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.messages import Message
from cellwright.core.messages.base import Array
from cellwright.core.pose import Pose
from cellwright.crcl import CrclServer
from cellwright.crcl import messages as m
from cellwright.crcl.current_command import ConnectionAnswer
from cellwright.crcl.messages import CommandStateEnum, CRCLCommandInstance, StopConditionEnum
from cellwright.crcl.poses import message_of_pose
from cellwright.crcl.reports import Reports
from cellwright.crcl.robot import GripperKind, RobotReading
from cellwright.crcl.session import Session
from cellwright.crcl.units import CrclUnits
from cellwright.crcl.writer import encode
from cellwright.interfaces.crcl import CrclInterface
from cellwright.interfaces.ros.checked import finite, pose_of, refusing
from cellwright.interfaces.ros.graph import RosGraph, SubscribedTopic, joint_frame
from cellwright.lab.lab import Lab
from cellwright.sim import TickOrder

__all__ = ["CrclMessages", "CrclStatusReport", "CrclText", "add_crcl"]

COMMAND, STATUS, PROFILE = "nistcrcl/msg/CrclCommandMsg", "nistcrcl/msg/CrclStatusMsg", "nistcrcl/msg/CrclMaxProfileMsg"
TEXT = "std_msgs/msg/String"
NAMES = (
    "initCanon",
    "endCanon",
    "actuatejoints",
    "moveto",
    "dwell",
    "message",
    "moveThroughTo",
    "setCoordinatedMotion",
    "stopMotion",
    "setEndEffector",
    "openToolChange",
    "closeToolChanger",
    "drawObject",
    "eraseObject",
    "setGripperPose",
    "pick",
    "place",
)
"""The commands, by their numbers from 1 on; the last five are extensions of one controller."""
FIELDS = (
    "uint64 crclcommandnum",
    "geometry_msgs/Pose finalpose",
    "geometry_msgs/Pose[] waypoints",
    "sensor_msgs/JointState joints",
    "uint64[] jointnum",
    "float64[] hint",
    "bool bStraight",
    "float64 dwell_seconds",
    "string opmessage",
    "string partname",
    "string partfeature",
    "std_msgs/ColorRGBA partcolor",
    "bool bCoordinated",
    "float64 eepercent",
    "CrclMaxProfileMsg[] profile",
)
DEFINITIONS = {
    PROFILE: "float64 maxvel\nfloat64 maxacc\nfloat64 maxjerk\n",
    COMMAND: "\n".join(
        [
            "std_msgs/Header header",
            "uint8 crclcommand",
            *(f"uint8 {name}={number}" for number, name in enumerate(NAMES, 1)),
            *FIELDS,
            "",
        ]
    ),
}
STATUS_TEXT = """std_msgs/Header header
uint8 crclcommandnum
uint8 crclstatusnum
uint8 crclcommandstatus
uint8 done=0
uint8 error=1
uint8 working=2
geometry_msgs/Pose statuspose
sensor_msgs/JointState statusjoints
float64 eepercent
"""
STATES = {CommandStateEnum.CRCL_ERROR: 1, CommandStateEnum.CRCL_WORKING: 2}  # ready and done: 0
STATUS_HZ = 20.0  # as NIST's controllers push theirs, each 0.05 s
NUMBERS = 256  # of commands and statuses, which a status counts in one byte
LARGEST_ID = 2**63 - 1
MOST_WAYPOINTS = 10_000


@dataclass(slots=True, kw_only=True)
class CrclStatusReport(Message):
    """The state of a CRCL command, and the pose and joints of its robot as measured, in SI units.

    Attributes:
        crclcommandnum: The command's number, of which one byte is told.
        crclstatusnum: The status' own.
        crclcommandstatus: 0 done, 1 error, 2 working.
        position: Of the controlled point in the frame of the robot's commands.
        orientation: There, in the order of ROS: x, y, z, w.
        names: The joints.
        joint_position: Where they are.
        joint_velocity: Their speeds.
        joint_effort: Their torques.
        eepercent: How far the fingers are open, 0 to 1.
    """

    ROS_TYPE: ClassVar[str | None] = STATUS
    ROS_TEXT: ClassVar[str | None] = STATUS_TEXT
    ROS_FIELDS: ClassVar[dict[str, Any]] = {
        "crclcommandnum": np.uint8,
        "crclstatusnum": np.uint8,
        "crclcommandstatus": np.uint8,
        "position": Array,
        "orientation": Array,
        "names": tuple[str, ...],
        "joint_position": Array,
        "joint_velocity": Array,
        "joint_effort": Array,
        "eepercent": float,
    }

    ROS_RENAMED: ClassVar[dict[str, str]] = {
        "statuspose.position": "position",
        "statuspose.orientation": "orientation",
        "statusjoints.name": "names",
        "statusjoints.position": "joint_position",
        "statusjoints.velocity": "joint_velocity",
        "statusjoints.effort": "joint_effort",
    }

    frame: str
    crclcommandnum: int
    crclstatusnum: int
    crclcommandstatus: int
    position: Array
    orientation: Array
    names: tuple[str, ...]
    joint_position: Array
    joint_velocity: Array
    joint_effort: Array
    eepercent: float


@dataclass(slots=True, kw_only=True)
class CrclText(Message):
    """A CRCL document as a ROS string."""

    ROS_TYPE: ClassVar[str | None] = TEXT

    data: str


class CrclMessages:
    """A ROS program as a client of a robot's CRCL server.

    Attributes:
        units: Those of its messages, metres and radians, which no command changes.
        reports: The parts of a status; it gets what its message has.
        connection_answer: An answer for it alone.

    Args:
        lab: The laboratory.
        interface: Its CRCL servers.
        robot: The robot.
    """

    def __init__(self, lab: Lab, interface: CrclInterface, robot: str) -> None:
        self._lab, self._interface, self._robot = lab, interface, robot
        self._server: CrclServer = interface.servers[robot]
        self._executor = self._server.executor
        self._joints = [joint.name for joint in self._executor.robot.joints]
        self._session: Session | None = None
        self._sequence = 0
        self._problem = ""
        self.units = CrclUnits()
        self.reports = Reports.initial(len(self._joints))
        self.connection_answer: ConnectionAnswer | None = None
        self._status_topic, self._text_topic = f"/{robot}/crcl_status_msg", f"/{robot}/crcl_status_xml"
        self._frame = "world" if interface.frame == "world" else f"{robot}/crcl"
        lab.bus.declare(self._status_topic, CrclStatusReport)
        lab.bus.declare(self._text_topic, CrclText)
        period_ticks = lab.world.clock.period_ticks(STATUS_HZ)
        lab.stepper.every(period_ticks, self._tick, order=TickOrder.RECORD, name=f"{robot} CRCL statuses for ROS")

    def configure(self, command: m.CRCLCommand) -> None:
        """Takes nothing: units and parts of its statuses are those of its message."""

    def take_command(self, message: Any, _sender: str) -> None:
        """Executes a command; what is wrong with what it asks for is told by the status, as CRCL does."""
        number = int(message.crclcommandnum)
        if number > LARGEST_ID:
            raise OutOfRange("crclcommandnum", number, 0, LARGEST_ID, "")
        with refusing():
            instance = CRCLCommandInstance(self._command(message, number))
            text = encode(instance).decode()
        self._interface.tell(self._robot, "command", text)
        self._executor.accept(instance, self)

    def take_text(self, message: Any, _sender: str) -> None:
        """Executes a command in CRCL's own XML; the answers come as strings, too."""
        if self._session is None:
            self._session = self._server.open_session(self._answer, self._hang_up)
        self._session.receive(message.data.encode())
        if self._session is not None and self._session.pending:
            self._session.end()
            self._session, self._problem = None, "a string is one whole document"
        if self._problem:
            problem, self._problem = self._problem, ""
            raise BadInput(f"no CRCL command: {problem}")

    def _command(self, message: Any, number: int) -> m.CRCLCommand:
        """Returns the CRCL command of a message.

        Raises:
            BadInput: It has no such command, or its content is none.
        """
        kind = int(message.crclcommand)
        name = NAMES[kind - 1] if 1 <= kind <= len(NAMES) else ""
        straight = bool(message.bStraight)
        match name:
            case "initCanon":
                return m.InitCanon(number)
            case "endCanon":
                return m.EndCanon(number)
            case "actuatejoints":
                return m.ActuateJoints(number, self._actuated(message))
            case "moveto":
                return m.MoveTo(number, straight, _paced(pose_of(message.finalpose), message))
            case "moveThroughTo":
                return self._through(message, number, straight)
            case "dwell":
                return m.Dwell(number, float(finite("dwell_seconds", [message.dwell_seconds])[0]))
            case "message":
                return m.Message(number, message.opmessage)
            case "setCoordinatedMotion":
                return m.SetMotionCoordination(number, bool(message.bCoordinated))
            case "stopMotion":
                return m.StopMotion(number, StopConditionEnum.FAST)
            case "setEndEffector":
                share = float(finite("eepercent", [message.eepercent])[0])
                if not 0.0 <= share <= 1.0:
                    raise OutOfRange("eepercent", share, 0.0, 1.0, "")
                return m.SetEndEffector(number, share)
            case "openToolChange":
                return m.OpenToolChanger(number)
            case "closeToolChanger":
                return m.CloseToolChanger(number)
        known = [f"{own}={at}" for at, own in enumerate(NAMES[:12], 1)]
        raise BadInput(f"crclcommand {kind}{f' ({name})' if name else ''} is not known here; known: {', '.join(known)}")

    def _through(self, message: Any, number: int, straight: bool) -> m.MoveThroughTo:
        """Returns the command of a message whose last pose may stand in both fields, or in either."""
        if len(message.waypoints) > MOST_WAYPOINTS:
            raise BadInput(f"moveThroughTo has at most {MOST_WAYPOINTS} waypoints, not {len(message.waypoints)}")
        poses = [pose_of(pose) for pose in message.waypoints]
        turn = message.finalpose.orientation
        if any((turn.x, turn.y, turn.z, turn.w)):  # it was not left out
            last = pose_of(message.finalpose)
            if not (poses and last.is_close(poses[-1])):
                poses.append(last)
        if len(poses) < 2:
            raise BadInput("moveThroughTo needs two poses, in waypoints and finalpose")
        return m.MoveThroughTo(number, straight, tuple(_paced(pose, message) for pose in poses), len(poses))

    def _actuated(self, message: Any) -> tuple[m.ActuateJoint, ...]:
        """Returns the targets of a message: of the joints that it names or numbers from 1 on, or else of all."""
        state = message.joints
        position, velocity = finite("joints.position", state.position), finite("joints.velocity", state.velocity)
        numbers = [int(number) for number in message.jointnum]
        if state.name and not numbers:
            for name in state.name:
                if name not in self._joints:
                    raise UnknownName(f"joint of {self._robot}", name, self._joints)
            numbers = [self._joints.index(name) + 1 for name in state.name]
        numbers = numbers or list(range(1, len(self._joints) + 1))
        if len(position) not in (len(numbers), len(self._joints)):
            raise BadInput(f"actuatejoints has {len(position)} positions for {len(numbers)} joints")
        if len(velocity) not in (0, len(position)):
            raise BadInput(f"actuatejoints has {len(velocity)} velocities for {len(position)} positions")
        for number in numbers:
            if not 1 <= number <= len(self._joints):
                raise OutOfRange("jointnum", number, 1, len(self._joints), "")
        at = [number - 1 for number in numbers] if len(position) == len(self._joints) else range(len(numbers))
        return tuple(
            m.ActuateJoint(
                number,
                float(position[row]),
                m.JointSpeedAccel(joint_speed=float(velocity[row]) if len(velocity) and velocity[row] > 0 else None),
            )
            for number, row in zip(numbers, at, strict=True)
        )

    def _tick(self) -> None:
        bus = self._lab.bus
        if bus.is_waited_for(self._status_topic):
            bus.publish(self._status_topic, self._report())
        if bus.is_waited_for(self._text_topic):
            session = self._session = self._session or self._server.open_session(self._answer, self._hang_up)
            session.push()

    def _report(self) -> CrclStatusReport:
        executor = self._executor
        status, reading = executor.command_status(self), executor.robot.read()
        pose: Pose = executor.pose_base @ reading.pose_tool_in_base
        return CrclStatusReport(
            *self._header(),
            frame=self._frame,
            crclcommandnum=status.command_id % NUMBERS,
            crclstatusnum=status.status_id % NUMBERS,
            crclcommandstatus=STATES.get(status.command_state, 0),
            position=np.array(pose.position),
            orientation=np.array(pose.quaternion)[[1, 2, 3, 0]],
            names=tuple(self._joints),
            joint_position=np.array(reading.positions),
            joint_velocity=np.array(reading.velocities),
            joint_effort=np.array(reading.efforts or ()),
            eepercent=self._opening(reading),
        )

    def _opening(self, reading: RobotReading) -> float:
        """Returns how far the fingers are open, as measured; of other tools what was set, 0 at first."""
        robot = self._lab.robot(self._robot)
        if reading.gripper is None or reading.gripper.kind is not GripperKind.PARALLEL or not robot.has_gripper:
            return self._executor.settings.end_effector or 0.0
        low_m, high_m = robot.gripper.width_limits_m
        return min(max((reading.gripper.separation_m - low_m) / (high_m - low_m), 0.0), 1.0)

    def _header(self) -> tuple[int, int, str]:
        self._sequence += 1
        return self._lab.world.clock.time_ns, self._sequence - 1, self._robot

    def _answer(self, text: bytes) -> None:
        self._lab.bus.publish(self._text_topic, CrclText(*self._header(), data=text.decode()))

    def _hang_up(self) -> None:
        """Begins anew after what could not be read, as a client would that connects again."""
        self._session = None
        self._problem = "its XML cannot be read; the robot is in the error state until InitCanon"


def _paced(pose: Pose, message: Any) -> m.Pose:
    """Returns a pose, with the speeds and accelerations of the message: first along the way, then of turns."""
    own = message_of_pose(pose)
    if not message.profile:
        return own
    pairs = [finite("profile", [profile.maxvel, profile.maxacc]).tolist() for profile in message.profile[:2]]
    (speed, accel), (turn, turn_accel) = [*pairs, [0.0, 0.0]][:2]
    if min(speed, accel, turn, turn_accel) < 0.0:
        raise BadInput(f"profile has {pairs}: a speed and an acceleration are 0, for what holds already, or more")
    return m.PoseAndSet(
        own.point,
        own.x_axis,
        own.z_axis,
        bool(message.bCoordinated),
        trans_speed=m.TransSpeedAbsolute(speed) if speed else None,
        trans_accel=m.TransAccelAbsolute(accel) if accel else None,
        rot_speed=m.RotSpeedAbsolute(turn) if turn else None,
        rot_accel=m.RotAccelAbsolute(turn_accel) if turn_accel else None,
    )


def add_crcl(graph: RosGraph, lab: Lab, interface: CrclInterface, robot: str) -> None:
    """Adds CRCL as messages and as XML, both ways, below the robot's name."""
    client = CrclMessages(lab, interface, robot)
    graph.definitions.update(DEFINITIONS)
    graph.frames.append(
        joint_frame("world", f"{robot}/crcl", interface.servers[robot].executor.robot.pose_base_in_world)
    )
    graph.subscribe(
        SubscribedTopic(topic=f"/{robot}/crcl_command", ros_type=COMMAND, take=client.take_command),
        SubscribedTopic(topic=f"/{robot}/crcl_command_xml", ros_type=TEXT, take=client.take_text),
    )
    graph.publish_bus(lab.bus, f"/{robot}/crcl_status_msg", f"/{robot}/crcl_status")
    graph.publish_bus(lab.bus, f"/{robot}/crcl_status_xml")
