"""Sensors of a robot: joint encoders, the state of its tool, the wrench at its wrist."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from cellwright.core.messages import JointState, Message, ToolStatus, Wrench
from cellwright.sensors.base import SENSORS, Sensor, SensorCfg, SensorContext
from cellwright.sensors.noise import NoiseCfg

__all__ = ["JointStateCfg", "JointStateSensor", "ToolStatusCfg", "ToolStatusSensor", "WrenchCfg", "WrenchSensor"]


class JointStateCfg(SensorCfg):
    """Encoders of an arm; velocities and efforts are as the drive estimates them, without errors.

    Attributes:
        robot: The robot.
        position: The errors of each joint's angle, in rad.
    """

    robot: str
    position: NoiseCfg = NoiseCfg()


@SENSORS.register("joint_state")
class JointStateSensor(Sensor[JointStateCfg]):
    """Position, velocity and effort of every joint, on `/<robot>/joint_states`.

    An encoder measures from its own zero, which is off by the robot's joint-zero error, and on the motor's side of
    the gears, whose play it does not see.
    """

    Cfg: ClassVar[type[SensorCfg]] = JointStateCfg
    message_type: ClassVar[type[Message]] = JointState
    topic_name: ClassVar[str] = "joint_states"

    def __init__(self, cfg: JointStateCfg, context: SensorContext) -> None:
        super().__init__(cfg, context)
        self._names = tuple(joint.name for joint in self.world.robot(cfg.robot).figures.joints)
        self._zeros = self.world.layout.joint_zeros_rad[cfg.robot]
        self._backlash = self.world.backlash.get(cfg.robot)
        self._noise = self.noises["position"]
        self.world.bind(self._look_up)

    def _look_up(self) -> None:
        data, index, count = self.world.data, self.world.robot(self.cfg.robot), len(self._names)
        self._qpos = data.qpos[index.qpos[0] : index.qpos[0] + count]
        self._qvel = data.qvel[index.dof[0] : index.dof[0] + count]
        self._force = data.qfrc_actuator[index.dof[0] : index.dof[0] + count]

    def noise_size(self, key: str) -> int:
        """Returns the number of joints."""
        return len(self.world.robot(self.cfg.robot).figures.joints)

    @property
    def is_skippable(self) -> bool:
        """Whether it is exact."""
        return self._noise.is_none

    def sample(self) -> JointState:
        """Returns one reading of all joints."""
        angles, speeds = self._qpos - self._zeros, self._qvel.copy()
        if self._backlash is not None:
            angles, speeds = angles - self._backlash.lag_rad, speeds + self._backlash.slip_radps
        return JointState(
            *self.header(),
            names=self._names,
            position=self._noise.apply(angles),
            velocity=speeds,
            effort=self._force.copy(),
        )


class ToolStatusCfg(SensorCfg):
    """A tool's own report.

    Attributes:
        robot: The robot that has the tool.
        width_sd_m: Noise of a gripper's width.
    """

    robot: str
    width_sd_m: Annotated[float, Field(ge=0, le=0.01)] = 0.00005


@SENSORS.register("tool_status")
class ToolStatusSensor(Sensor[ToolStatusCfg]):
    """The report of a robot's tool, on `/<robot>/tool_status`: a gripper's width, a cup's vacuum, whether it is locked.

    Holding is what such a gripper can measure: its fingers stand still, and farther apart than they have been commanded
    to since the report before. It does not know what it holds.
    """

    Cfg: ClassVar[type[SensorCfg]] = ToolStatusCfg
    message_type: ClassVar[type[Message]] = ToolStatus

    HOLDING_MARGIN_M = 0.0008
    STILL_MPS = 0.005
    VACUUM_SWITCH = 0.6

    def __init__(self, cfg: ToolStatusCfg, context: SensorContext) -> None:
        super().__init__(cfg, context)
        self.world.bind(self._look_up)

    def _look_up(self) -> None:
        self._robot = self.world.robot(self.cfg.robot)
        self._tool = self._robot.gripper
        data = self.world.data
        if self._tool is not None:
            # As whole arrays and plain numbers: cutting two numbers out of MuJoCo's arrays costs more than the rest.
            self._left, self._right = (int(at) for at in self._tool.qpos)
            self._dof = int(self._tool.dof[0])
            self._ctrl = self._tool.ctrl
            self._qpos = data.qpos.item
            self._qvel = data.qvel.item
            self._commands = data.ctrl.item

    def sample(self) -> ToolStatus:
        """Returns one report; a robot without a tool reports kind `none`."""
        tool = self._tool
        if tool is None:
            return self._without_fingers()
        width_m = self._qpos(self._left) + self._qpos(self._right)
        if self.cfg.width_sd_m:
            width_m += self.cfg.width_sd_m * self.context.rng.standard_normal()
        still, commanded_m = abs(self._qvel(self._dof)) < self.STILL_MPS, 2 * self._commands(self._ctrl)
        is_old = self.state.get("commanded_m") == commanded_m  # else they may not have begun to move
        self.state["commanded_m"] = commanded_m
        holding = is_old and still and width_m > commanded_m + self.HOLDING_MARGIN_M
        return ToolStatus(
            *self.header(),
            tool=self._robot.tool_name,
            kind="gripper",
            width_m=width_m,
            power=0.0,
            holding=holding,
            locked=True,
        )

    def _without_fingers(self) -> ToolStatus:
        """Returns the report of a vacuum tool, with the measured vacuum as power, a bare flange or an open changer."""
        robot, cup, data = self._robot, self._robot.vacuum, self.world.data
        if cup is None:
            return ToolStatus(
                *self.header(),
                tool="",
                kind="none",
                width_m=0.0,
                power=0.0,
                holding=False,
                locked=robot.changer is None,
            )
        level, power = cup.level(data), data.ctrl.item(cup.power)
        holding = power > 0.0 and level > self.VACUUM_SWITCH * power
        return ToolStatus(
            *self.header(), tool=robot.tool_name, kind="vacuum", width_m=0.0, power=level, holding=holding, locked=True
        )


class WrenchCfg(SensorCfg):
    """A force-torque sensor between flange and tool.

    Attributes:
        robot: The robot.
        force_sd_n: Noise of the force along each axis.
        torque_sd_nm: Noise of the torque about each axis.
    """

    robot: str
    force_sd_n: Annotated[float, Field(ge=0)] = 0.0
    torque_sd_nm: Annotated[float, Field(ge=0)] = 0.0


@SENSORS.register("wrench")
class WrenchSensor(Sensor[WrenchCfg]):
    """The wrench of tool and load on the flange, in the flange frame, on `/<robot>/wrench`; not tared."""

    Cfg: ClassVar[type[SensorCfg]] = WrenchCfg
    message_type: ClassVar[type[Message]] = Wrench

    def __init__(self, cfg: WrenchCfg, context: SensorContext) -> None:
        super().__init__(cfg, context)
        self._sd = np.array([cfg.force_sd_n] * 3 + [cfg.torque_sd_nm] * 3)
        self._frame = f"{cfg.robot}/{self.world.robot(cfg.robot).figures.flange_body}"
        self.world.bind(self._look_up)

    def _look_up(self) -> None:
        index, readings = self.world.robot(self.cfg.robot), self.world.data.sensordata
        self._force = readings[index.force_sensor : index.force_sensor + 3]
        self._torque = readings[index.torque_sensor : index.torque_sensor + 3]

    def sample(self) -> Wrench:
        """Returns one reading. MuJoCo gives the flange's force on the tool, the opposite of that on the flange."""
        noise = self.context.rng.standard_normal(6) * self._sd
        return Wrench(*self.header(), frame=self._frame, force=noise[:3] - self._force, torque=noise[3:] - self._torque)
