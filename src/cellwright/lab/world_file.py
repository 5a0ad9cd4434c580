"""The world on disk: a real cell does not vanish when the program that runs it dies, so the simulated one must not.

What is stored is canonical: everything at rest and awake, arms held where they are with their grippers pressing as
before, as after an emergency stop; mobile robots stand, sure of where they believe to be. The same file always gives
the same world.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from cellwright.core.errors import BadInput, OutputError
from cellwright.core.pose import Pose
from cellwright.lab.lab import Lab
from cellwright.lab.versions import model_hash
from cellwright.sim import TickOrder, World
from cellwright.sim.tool_index import VacuumIndex

__all__ = ["WorldFile", "WorldState"]

FORMAT = "cellwright-world-2"
PERIOD_S = 0.5
LOOSEN_M = 0.0005  # kinematic fingers take what they hold by closing on it


@dataclass(frozen=True, kw_only=True)
class WorldState:
    """A world at rest.

    Attributes:
        header: What else is needed to go on: the cell, the seed, the order; whatever was given for it.
        model: Fingerprint of the model that the cell and the seed give before anything was added or removed.
        tick: The clock.
        objects: Loose object -> its model of the catalogue, position and quaternion.
        robots: Robot -> angles of its joints, of its fingers, and the command of its fingers.
        streams: The random streams.
        tools: Tool that robots change -> position and quaternion, the robot that has it locked.
        cups: Vacuum tool -> the power of its pump, the vacuum under its cups, and how they are pressed and tilted.
        mobiles: Mobile robot -> its pose, the angles of its wheels, its lamps, and x, y, yaw of its odometry.
    """

    header: Mapping[str, Any]
    model: str
    tick: int
    objects: Mapping[str, tuple[str, list[float]]]
    robots: Mapping[str, Mapping[str, Any]]
    streams: Mapping[str, Any] = field(repr=False)
    tools: Mapping[str, tuple[list[float], str | None]] = field(default_factory=dict)
    cups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mobiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, lab: Lab, model: str, header: Mapping[str, Any]) -> WorldState:
        """Returns the world of a laboratory as it is now, without its speeds."""
        world = lab.world
        qpos = world.data.qpos
        objects = {
            name: (item.figures.name, qpos[item.qpos : item.qpos + 7].tolist()) for name, item in world.objects.items()
        }
        robots = {}
        for name, robot in world.robots.items():
            robots[name] = {"joints": qpos[robot.qpos].tolist()}
            if robot.gripper is not None:
                robots[name] |= {
                    "fingers": qpos[robot.gripper.qpos].tolist(),
                    "finger_command": float(world.data.ctrl[robot.gripper.ctrl]),
                }
        robot_of = {tool: robot for robot, tool in world.mounts.on.items()}
        tools = {
            name: (qpos[item.qpos : item.qpos + 7].tolist(), robot_of.get(name))
            for name, item in world.loose_tools.items()
        }
        cups = {name: _stored_cups(world, tool) for name, tool in world.vacuums.items()}
        mobiles = {name: _stored_mobile(lab, name) for name in world.mobiles}
        return cls(
            header=dict(header),
            model=model,
            tick=world.clock.tick,
            objects=objects,
            robots=robots,
            streams=world.streams.snapshot(),
            tools=tools,
            cups=cups,
            mobiles=mobiles,
        )

    @classmethod
    def read(cls, path: Path) -> WorldState:
        """Reads a world from its file.

        Raises:
            BadInput: There is none, or it is something else.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data.pop("format") != FORMAT:
                raise ValueError("of another version")
            return cls(**data)
        except OSError as error:
            raise BadInput(f"cannot read the world from {path}: {error.strerror or error}") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{path} is not a stored world: {error}") from None

    def write(self, path: Path) -> None:
        """Writes the file atomically: readers get the last finished state, also when this process is killed."""
        text = json.dumps({"format": FORMAT, **vars(self)})
        partial = path.with_name(path.name + ".part")
        try:
            partial.write_text(text, encoding="utf-8")
            partial.replace(path)
        except OSError as error:
            raise OutputError(path, error.strerror or str(error)) from None

    def restore(self, lab: Lab) -> None:
        """Puts a fresh laboratory of the same cell and seed into this state.

        Raises:
            BadInput: The cell is not the one that was stored.
        """
        world = lab.world
        names = set(self.robots) == set(world.robots) and set(self.mobiles) == set(world.mobiles)
        if model_hash(world.model) != self.model or not names:
            raise BadInput(f"the stored world is not that of {lab.cell.where} with seed {lab.seed}")
        for name in [name for name in world.objects if name not in self.objects]:
            world.remove(name)
        for name, (model, numbers) in self.objects.items():
            if name not in world.objects:
                world.add(name, model, Pose(np.array(numbers[:3]), np.array(numbers[3:])))
        data = world.data
        for name, (_, numbers) in self.objects.items():
            item = world.objects[name]
            data.qpos[item.qpos : item.qpos + 7] = numbers
        for name, (numbers, _) in self.tools.items():
            tool = world.loose_tools[name]
            data.qpos[tool.qpos : tool.qpos + 7] = numbers
        if self.tools:
            world.mounts.load({robot: name for name, (_, robot) in self.tools.items() if robot is not None})
        for name, stored in self.cups.items():
            _put_cups(world, world.vacuums[name], stored)
        data.qvel[:] = -0.0  # no speed, but other bits than zero: MuJoCo wakes what sleeps
        for name in world.robots:
            self._hold(world, name, self.robots[name])
        world.clock.tick, data.time = self.tick, self.tick * world.clock.tick_s
        lab.stepper.load(tuple((self.tick + due, *rest) for due, *rest in lab.stepper.save()))  # type: ignore[misc]
        world.streams.restore(dict(self.streams))
        for name, stored in self.mobiles.items():
            _put_mobile(lab, name, stored)
        mujoco.mj_forward(world.model, data)

    @staticmethod
    def _hold(world: World, name: str, stored: Mapping[str, Any]) -> None:
        robot, data = world.robots[name], world.data
        data.qpos[robot.qpos] = data.ctrl[robot.ctrl_position] = stored["joints"]
        data.ctrl[robot.ctrl_velocity] = data.ctrl[robot.ctrl_effort] = 0.0
        if name in world.backlash:
            world.backlash[name].rest(np.array(stored["joints"]) - world.layout.joint_zeros_rad[name])
        if robot.gripper is not None:
            loosen_m = LOOSEN_M if world.cell.fidelity == "kinematic" else 0.0
            robot.gripper.place_fingers(data, float(np.mean(stored["fingers"])))  # and the mechanism behind them
            data.qpos[robot.gripper.qpos] = np.array(stored["fingers"]) + loosen_m
            data.ctrl[robot.gripper.ctrl] = stored["finger_command"]


def _stored_mobile(lab: Lab, name: str) -> dict[str, Any]:
    robot, qpos, drive = lab.world.mobiles[name], lab.world.data.qpos, lab.mobiles[name]
    believed = drive.odometry
    return {
        "pose": qpos[robot.qpos : robot.qpos + 7].tolist(),
        "wheels": qpos[robot.wheel_qpos].tolist(),
        "lamps": list(drive.leds),
        "lamp_colours": lab.world.leds.colours[name].tolist(),
        "odometry": [believed.x_m, believed.y_m, believed.yaw_rad],
    }


def _put_mobile(lab: Lab, name: str, stored: Mapping[str, Any]) -> None:
    robot, qpos, drive = lab.world.mobiles[name], lab.world.data.qpos, lab.mobiles[name]
    qpos[robot.qpos : robot.qpos + 7], qpos[robot.wheel_qpos] = stored["pose"], stored["wheels"]
    lab.world.wheels.rest(lab.world.wheels.rows[name])
    drive.set_leds(stored["lamps"])
    if "lamp_colours" in stored:  # a file of an older version has none
        lab.world.leds.colours[name][:] = stored["lamp_colours"]
    drive.reset_odometry(*stored["odometry"])


def _stored_cups(world: World, tool: VacuumIndex) -> dict[str, Any]:
    data = world.data
    return {
        "power": float(data.ctrl[tool.power]),
        "vacuum": [float(data.act[cup.activation]) for cup in tool.cups],
        "joints": data.qpos[_cup_joints(world, tool)].tolist(),
    }


def _put_cups(world: World, tool: VacuumIndex, stored: Mapping[str, Any]) -> None:
    """Restores the vacuum of cups at once: a moment without it is enough to lose what hangs from them."""
    data = world.data
    data.ctrl[tool.power] = stored["power"]
    data.qpos[_cup_joints(world, tool)] = stored["joints"]
    for cup, vacuum in zip(tool.cups, stored["vacuum"], strict=True):
        data.act[cup.activation] = data.ctrl[cup.suck] = vacuum


def _cup_joints(world: World, tool: VacuumIndex) -> list[int]:
    model = world.model
    joints = [
        joint
        for body in tool.bodies[1:]
        for joint in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
    ]
    return [int(model.jnt_qposadr[joint]) for joint in joints]


class WorldFile:
    """Keeps a file up to date with a laboratory: twice a second, and on request.

    Args:
        path: The file.
        lab: The laboratory whose world is stored; fresh, or just restored.
        header: Asked at every write for what else is to be stored.
        model: The fingerprint of a restored world's model; that of the laboratory's when it is fresh.
    """

    def __init__(self, path: Path, lab: Lab, header: Callable[[], Mapping[str, Any]], model: str | None = None) -> None:
        self.path = path
        self._lab = lab
        self._header = header
        self._model = model or model_hash(lab.world.model)
        clock = lab.world.clock
        self._ticking = lab.stepper.every(
            clock.period_ticks(1 / PERIOD_S), self.write, order=TickOrder.RECORD, name="world file"
        )
        self.write()

    def write(self) -> None:
        """Writes the file now."""
        WorldState.of(self._lab, self._model, self._header()).write(self.path)

    def close(self) -> None:
        """Writes no more."""
        self._ticking.cancel()
