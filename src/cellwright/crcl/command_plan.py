"""Translates commands in SI units into actions of the robot: everything is checked before anything moves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from cellwright.core.errors import OutOfRange, UnknownName
from cellwright.crcl import messages as m
from cellwright.crcl.moves import Moves
from cellwright.crcl.reports import STATUS_WHEN_DONE
from cellwright.crcl.robot import CrclRobot
from cellwright.crcl.settings import Settings

__all__ = ["Action", "CommandPlan", "CommandTranslator"]

Action: TypeAlias = "Callable[[], Awaitable[None]]"
LONGEST_DWELL_S = 86_400.0


@dataclass(frozen=True, slots=True)
class CommandPlan:
    """A checked command, ready to be executed.

    Attributes:
        settings: The settings after it.
        action: The action of the robot; None for commands that are done as soon as they are understood.
        stops: Whether the action stops the robot itself, in its own way.
        note: The text of the status when it is done.
    """

    settings: Settings
    action: Action | None = None
    stops: bool = False
    note: str = ""


class CommandTranslator:
    """Turns commands into plans for one robot."""

    def __init__(self, robot: CrclRobot, moves: Moves) -> None:
        self._robot = robot
        self._moves = moves

    def plan(self, command: m.CRCLCommand, now: Settings) -> CommandPlan:
        """Returns the plan of a command under the present settings; nothing is done yet.

        Raises:
            CellwrightError: What is wrong with it.
        """
        robot = self._robot
        match command:
            case m.InitCanon():
                held = Settings(
                    end_effector=now.end_effector, end_effector_parameters=now.end_effector_parameters
                )  # the setting of a gripper still holds
                return CommandPlan(held, robot.prepare)
            case m.EndCanon():
                return CommandPlan(now, robot.rest)
            case m.StopMotion():
                return CommandPlan(now, lambda: robot.stop(command.stop_condition), stops=True)
            case m.MoveTo():
                return CommandPlan(now, self._moves.to(command, now))
            case m.MoveThroughTo():
                return CommandPlan(now, self._moves.through(command, now))
            case m.MoveScrew():
                return CommandPlan(now, self._moves.screw(command, now))
            case m.ActuateJoints():
                return CommandPlan(now, self._moves.joints(command, now))
            case m.Dwell():
                if not 0.0 <= command.dwell_time <= LONGEST_DWELL_S:
                    raise OutOfRange("DwellTime", command.dwell_time, 0.0, LONGEST_DWELL_S, "s")
                return CommandPlan(now, lambda: robot.clock.sleep(command.dwell_time))
            case m.Message():
                robot.show_message(command.message)
                return CommandPlan(now)
            case m.RunProgram():
                return CommandPlan(now, lambda: robot.run_program(command.program_text))
            case m.LoopBlockStart() | m.LoopBlockEnd():
                return CommandPlan(now, note=f"loop {command.loop_name}: repeating is up to whoever sends the commands")
        return self._tool_plan(command, now) or CommandPlan(now.after(command, robot.joints))

    def _tool_plan(self, command: m.CRCLCommand, now: Settings) -> CommandPlan | None:
        robot = self._robot
        match command:
            case m.SetEndEffector():
                after = replace(now, end_effector=command.setting)
                return CommandPlan(after, lambda: robot.set_end_effector(command.setting))
            case m.SetEndEffectorParameters():
                given = _parameters(command.parameter_setting)
                after = replace(now, end_effector_parameters={**now.end_effector_parameters, **given})
                return CommandPlan(after, lambda: robot.set_end_effector_parameters(given))
            case m.SetRobotParameters():
                values = _parameters(command.parameter_setting)
                values.pop(STATUS_WHEN_DONE, None)  # its connection has taken it
                return CommandPlan(now, (lambda: robot.set_parameters(values)) if values else None)
            case m.OpenToolChanger():
                return CommandPlan(now, robot.open_tool_changer)
            case m.CloseToolChanger():
                return CommandPlan(now, robot.close_tool_changer)
            case m.EnableGripper() | m.DisableGripper():
                return CommandPlan(self._gripper_shown(command, now))
            case m.EnableSensor():
                self._known_sensor(command.sensor_id)
                options = _parameters(command.sensor_option)
                after = replace(now, sensors={**now.sensors, command.sensor_id: command.sensor_option})
                return CommandPlan(after, lambda: robot.enable_sensor(command.sensor_id, options))
            case m.DisableSensor():
                self._known_sensor(command.sensor_id)
                left = {name: options for name, options in now.sensors.items() if name != command.sensor_id}
                return CommandPlan(replace(now, sensors=left), lambda: robot.disable_sensor(command.sensor_id))
            case m.EnableRobotParameterStatus() | m.DisableRobotParameterStatus():
                name = command.robot_parameter_name
                if name not in robot.parameters:
                    raise UnknownName("robot parameter", name, robot.parameters)
                others = tuple(shown for shown in now.parameters if shown != name)
                enable = isinstance(command, m.EnableRobotParameterStatus)
                return CommandPlan(replace(now, parameters=(*others, name) if enable else others))
        return None

    def _known_sensor(self, sensor_id: str) -> None:
        sensors = self._robot.read().sensors
        if sensor_id not in sensors:
            raise UnknownName("sensor", sensor_id, sensors)

    def _gripper_shown(self, command: m.EnableGripper | m.DisableGripper, now: Settings) -> Settings:
        gripper = self._robot.read().gripper
        if gripper is None or gripper.name != command.gripper_name:
            raise UnknownName("gripper", command.gripper_name, [gripper.name] if gripper else [])
        if isinstance(command, m.DisableGripper):
            return replace(now, hidden_grippers=now.hidden_grippers | {gripper.name})
        options = {**now.gripper_options, gripper.name: command.gripper_option}
        return replace(now, hidden_grippers=now.hidden_grippers - {gripper.name}, gripper_options=options)


def _parameters(settings: tuple[m.ParameterSetting, ...]) -> dict[str, str]:
    return {setting.parameter_name: setting.parameter_value for setting in settings}
