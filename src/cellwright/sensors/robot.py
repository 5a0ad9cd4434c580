"""What a robot knows of itself: joint encoders, the state of its tool, the wrench at its wrist."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from cellwright.core.messages import JointState, Message, ToolStatus, Wrench
from cellwright.sensors.base import SENSORS, Sensor, SensorCfg, SensorSite
from cellwright.sensors.noise import Noise, NoiseCfg

__all__ = ["JointStateCfg", "JointStateSensor", "ToolStatusCfg", "ToolStatusSensor", "WrenchCfg", "WrenchSensor"]


class JointStateCfg(SensorCfg):
    """Encoders: their errors in rad; velocities and efforts as the drive estimates them, without errors."""

    robot: str
    position: NoiseCfg = NoiseCfg()


@SENSORS.register("joint_state")
class JointStateSensor(Sensor[JointStateCfg]):
    """Position, velocity and effort of every joint, on `/<robot>/joint_states`.

    An encoder measures from its own zero, which is off by the robot's joint-zero error.
    """

    Cfg: ClassVar[type[SensorCfg]] = JointStateCfg
    message_type: ClassVar[type[Message]] = JointState

    def __init__(self, cfg: JointStateCfg, site: SensorSite) -> None:
        super().__init__(cfg, site)
        self._index = self.world.robot(cfg.robot)
        self._names = tuple(joint.name for joint in self._index.figures.joints)
        self._zeros = self.world.layout.joint_zeros_rad[cfg.robot]
        self._noise = Noise(cfg.position, len(self._names), 1 / cfg.rate_hz, site.rng)
        self.world.bind(self._look_up)

    def _look_up(self) -> None:
        self._index = self.world.robot(self.cfg.robot)
        data, index = self.world.data, self._index
        count = len(self._names)
        self._qpos = data.qpos[index.qpos[0] : index.qpos[0] + count]
        self._qvel = data.qvel[index.dof[0] : index.dof[0] + count]
        self._force = data.qfrc_actuator[index.dof[0] : index.dof[0] + count]

    @property
    def source(self) -> str:
        """The robot."""
        return self.cfg.name or self.cfg.robot

    @property
    def topic(self) -> str:
        """As ROS names it."""
        return f"/{self.source}/joint_states"

    def sample(self) -> JointState:
        """One reading of all joints."""
        position = self._noise.apply(self._qpos - self._zeros)
        return JointState(*self.header(), self._names, position, self._qvel.copy(), self._force.copy())


class ToolStatusCfg(SensorCfg):
    """The tool's own report; `width_sd_m` is the noise of its width."""

    robot: str
    width_sd_m: Annotated[float, Field(ge=0, le=0.01)] = 0.00005


@SENSORS.register("tool_status")
class ToolStatusSensor(Sensor[ToolStatusCfg]):
    """Width and holding of a parallel gripper, on `/<robot>/tool_status`.

    Holding is what such a gripper can tell: it is commanded closed, its fingers stand still, and they are farther
    apart than its closed stop. It does not know what it holds.
    """

    Cfg: ClassVar[type[SensorCfg]] = ToolStatusCfg
    message_type: ClassVar[type[Message]] = ToolStatus

    HOLDING_MARGIN_M = 0.0008
    STILL_MPS = 0.005

    def __init__(self, cfg: ToolStatusCfg, site: SensorSite) -> None:
        super().__init__(cfg, site)
        self.world.bind(self._look_up)

    def _look_up(self) -> None:
        self._tool = self.world.robot(self.cfg.robot).tool

    @property
    def source(self) -> str:
        """The robot."""
        return self.cfg.name or self.cfg.robot

    @property
    def topic(self) -> str:
        """Beside the robot's other topics."""
        return f"/{self.source}/tool_status"

    def sample(self) -> ToolStatus:
        """One report; a robot without a tool reports kind `none`."""
        tool, data = self._tool, self.world.data
        if tool is None:
            return ToolStatus(*self.header(), "", "none", 0.0, 0.0, False, True)
        left, right = tool.qpos
        width_m = float(data.qpos[left] + data.qpos[right])
        if self.cfg.width_sd_m:
            width_m += float(self.site.rng.normal(0.0, self.cfg.width_sd_m))
        still = abs(data.qvel[tool.dof[0]]) < self.STILL_MPS
        closed_m, open_m = tool.figures.closed_m, tool.figures.open_m
        closing = data.ctrl[tool.ctrl] < (closed_m + open_m) / 2
        apart = width_m > 2 * closed_m + self.HOLDING_MARGIN_M
        name = tool.figures.name
        return ToolStatus(*self.header(), name, "gripper", width_m, 0.0, bool(closing and still and apart), True)


class WrenchCfg(SensorCfg):
    """A force-torque sensor between flange and tool; noise per axis."""

    robot: str
    force_sd_n: Annotated[float, Field(ge=0)] = 0.0
    torque_sd_nm: Annotated[float, Field(ge=0)] = 0.0


@SENSORS.register("wrench")
class WrenchSensor(Sensor[WrenchCfg]):
    """What tool and load exert on the flange, in the flange frame, on `/<robot>/wrench`; not tared."""

    Cfg: ClassVar[type[SensorCfg]] = WrenchCfg
    message_type: ClassVar[type[Message]] = Wrench

    def __init__(self, cfg: WrenchCfg, site: SensorSite) -> None:
        super().__init__(cfg, site)
        self._sd = np.array([cfg.force_sd_n] * 3 + [cfg.torque_sd_nm] * 3)
        self.world.bind(self._look_up)

    def _look_up(self) -> None:
        index, readings = self.world.robot(self.cfg.robot), self.world.data.sensordata
        self._force = readings[index.force_sensor : index.force_sensor + 3]
        self._torque = readings[index.torque_sensor : index.torque_sensor + 3]

    @property
    def source(self) -> str:
        """The robot."""
        return self.cfg.name or self.cfg.robot

    @property
    def topic(self) -> str:
        """Beside the robot's other topics."""
        return f"/{self.source}/wrench"

    def sample(self) -> Wrench:
        """One reading. MuJoCo gives the flange's force on the tool; the load's force on the flange is its opposite."""
        noise = self.site.rng.normal(0.0, 1.0, 6) * self._sd
        return Wrench(*self.header(), f"{self.cfg.robot}/flange", noise[:3] - self._force, noise[3:] - self._torque)
