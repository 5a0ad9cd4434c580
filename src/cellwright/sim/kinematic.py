"""Fidelity `kinematic`: robots are where they are commanded to be, parts stick to a closed gripper and drop straight.

A tray that a vacuum tool takes has its parts come along.

For trying out plans and interfaces quickly; nothing slips, tips or jams here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PartFigures, TrayFigures, VacuumFigures, part_grasp, tray_grasp
from cellwright.core.pose import Pose
from cellwright.sim.resting import resting_pose

if TYPE_CHECKING:
    from cellwright.sim.index import GripperIndex, RobotIndex
    from cellwright.sim.tool_index import VacuumIndex
    from cellwright.sim.world import World

__all__ = ["KinematicEngine"]

PICKUP_DISTANCE_M = 0.005  # the lab's own simulation: a pick fails when the nearest part is farther than this
PICKUP_TURN_RAD = 0.1  # farther turned, the cups of a tray tool would meet slots
HeldObjects = tuple[tuple[str, Pose], ...]
Load = tuple[int, npt.NDArray[np.intp]]


class KinematicEngine:
    """Moves the world without forces; has the same interface as physics."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._held: dict[str, HeldObjects] = {}  # robot -> part, or tray and its parts, with their poses in the tool
        self._applied = b""  # the commands that have been carried out
        self._loads: dict[str, dict[tuple[int, tuple[str, ...], str | None], Load]] = {}
        world.add_component("kinematic engine", self)

    def addresses(self) -> tuple[int, int]:
        """Returns the memory addresses of model and data."""
        return self._world.model._address, self._world.data._address

    def save(self) -> dict[str, HeldObjects]:
        """Returns the held parts."""
        return dict(self._held)

    def load(self, state: dict[str, HeldObjects]) -> None:
        """Restores what `save` returned."""
        self._held = dict(state)
        self._applied = b""

    def let_go(self, part: str) -> None:
        """Releases the part, which stays where it is."""
        self._held = {
            robot: tuple(thing for thing in held if thing[0] != part)
            for robot, held in self._held.items()
            if held[0][0] != part
        }
        self._applied = b""

    def step(self, count: int) -> None:
        """Takes so many steps at once: nothing happens between commands."""
        duration_s = count * self._world.cell.timestep_s
        for backlash in self._world.backlash.values():
            backlash.engage(duration_s)
        self._apply_commands(duration_s, rolled=self._world.wheels.roll(duration_s))
        for backlash in self._world.backlash.values():
            backlash.release()

    def _apply_commands(self, duration_s: float, *, rolled: bool) -> None:
        world, data = self._world, self._world.data
        data.time += duration_s
        commands = data.ctrl.tobytes()
        if commands == self._applied and not rolled:
            return
        moving = False
        for robot in world.robots.values():
            data.qpos[robot.qpos] = data.ctrl[robot.ctrl_position]
            data.qvel[robot.dof] = data.ctrl[robot.ctrl_velocity]
            if robot.gripper:
                moving |= self._move_fingers(robot, robot.gripper, duration_s)
            elif robot.vacuum:
                self._suck(robot.name, robot.vacuum)
        mujoco.mj_kinematics(world.model, data)
        if world.mounts.on:
            world.mounts.follow()
            mujoco.mj_kinematics(world.model, data)
        for name, held in self._held.items():
            pose_tool = self._tool_pose(world.robots[name].hand)
            for thing, pose_in_tool in held:
                self._put(thing, pose_tool @ pose_in_tool)
        if self._held:
            mujoco.mj_kinematics(world.model, data)
        for robot in world.robots.values():
            self._weigh(robot)
        self._applied = b"" if moving else commands

    def _weigh(self, robot: RobotIndex) -> None:
        """Sets what a wrist senses: the weight of tool and load, as if the arm stood still."""
        world, model, data = self._world, self._world.model, self._world.data
        things = tuple(thing for thing, _ in self._held.get(robot.name, ()))
        key = (model._address, things, world.mounts.on.get(robot.name))
        site, bodies = self._loads.get(robot.name, {}).get(key) or self._load(robot.name, key)
        masses_kg = model.body_mass[bodies]
        mass_kg = masses_kg.sum()
        if mass_kg <= 0.0:
            return  # a bare flange
        turn = data.site_xmat[site].reshape(3, 3)
        pull_n = -mass_kg * model.opt.gravity @ turn
        x, y, z = (masses_kg @ data.xipos[bodies] / mass_kg - data.site_xpos[site]) @ turn
        data.sensordata[robot.force_sensor : robot.force_sensor + 3] = pull_n
        data.sensordata[robot.torque_sensor : robot.torque_sensor + 3] = (
            y * pull_n[2] - z * pull_n[1], z * pull_n[0] - x * pull_n[2], x * pull_n[1] - y * pull_n[0]
        )  # fmt: skip

    def _load(self, robot: str, key: tuple[int, tuple[str, ...], str | None]) -> Load:
        """Returns a wrist's site and the bodies that hang on it; the last ones are kept."""
        world, model = self._world, self._world.model
        _, things, mounted = key
        site = int(model.sensor(f"{robot}/wrist_force").objid[0])
        tops = [int(model.site_bodyid[site]), *(world.objects[thing].body for thing in things)]
        if mounted is not None:
            tops.append(world.loose_tools[mounted].body)
        bodies = np.array([body for top in tops for body in _below(model, top)], np.intp)
        self._loads[robot] = {key: (site, bodies)}
        return self._loads[robot][key]

    def _move_fingers(self, robot: RobotIndex, tool: GripperIndex, duration_s: float) -> bool:
        """Moves the fingers towards their command, grasps or releases; returns whether they moved."""
        data = self._world.data
        now_m, target_m = float(data.qpos[tool.qpos[0]]), float(data.ctrl[tool.ctrl])
        travel_m = tool.figures.speed_mps * duration_s
        next_m = now_m + min(max(target_m - now_m, -travel_m), travel_m)
        if robot.name in self._held:
            held_m = self._half_width_m(self._held[robot.name][0][0], tool)
            if target_m > held_m:
                self._release(robot.name)
            else:
                next_m = held_m
        elif next_m < now_m:
            part = self._part_between(robot.name, now_m, next_m)
            if part is not None:
                next_m = self._half_width_m(part, tool)
                self._held[robot.name] = self._in_tool(tool, [part])
        tool.place_fingers(data, next_m)
        data.qvel[tool.dof] = (next_m - now_m) / duration_s
        return next_m != now_m

    def _suck(self, robot: str, cup: VacuumIndex) -> None:
        """Takes the part or tray whose top is at a cup with vacuum, and releases it without."""
        data = self._world.data
        power = float(data.ctrl[cup.power])
        if power > 0.0 and robot not in self._held:
            thing = self._thing_below(robot, cup.figures)
            if thing is not None:
                mujoco.mj_kinematics(self._world.model, data)
                self._held[robot] = self._in_tool(cup, [thing, *self._parts_on(thing)])
        elif power == 0.0 and robot in self._held:
            self._release(robot)
        for each in cup.cups:
            data.act[each.activation] = power if robot in self._held else 0.0

    def _in_tool(self, tool: GripperIndex | VacuumIndex, things: list[str]) -> HeldObjects:
        """Returns objects with their poses in a tool."""
        back = self._tool_pose(tool).inverse()
        return tuple((thing, back @ self._world.pose_of(thing)) for thing in things)

    def _thing_below(self, robot: str, tool: VacuumFigures) -> str | None:
        """Returns the part whose upper face is at the tool's centre, or the tray that has its grip there."""
        tcp, best, best_m = self._world.tcp_pose(robot), None, PICKUP_DISTANCE_M
        for name, item in self._world.objects.items():
            pose = self._world.pose_of(name)
            if isinstance(item.figures, PartFigures):
                at = pose @ Pose.from_xyz_rpy([0.0, 0.0, item.figures.bottom_m + item.figures.height_m])
            elif isinstance(item.figures, TrayFigures) and (grip := tray_grasp(item.figures, tool)) is not None:
                at = pose @ Pose.from_xyz_rpy(grip.xyz_m, (np.pi, 0.0, grip.yaw_rad))
                turn_rad, same_rad = float((at.inverse() @ tcp).rpy[2]), tool.turn_rad or 1e-9
                if abs(turn_rad - round(turn_rad / same_rad) * same_rad) > PICKUP_TURN_RAD:
                    continue
            else:
                continue
            distance_m = at.distance_m(tcp)
            if distance_m <= best_m:
                best, best_m = name, distance_m
        return best

    def _parts_on(self, thing: str) -> list[str]:
        """Returns the parts on a tray."""
        tray = self._world.objects[thing].figures
        if not isinstance(tray, TrayFigures):
            return []
        back, parts = self._world.pose_of(thing).inverse(), []
        for name, item in self._world.objects.items():
            if isinstance(item.figures, PartFigures):
                x, y, z = back.apply(self._world.pose_of(name).position)
                low_m = z + item.figures.bottom_m
                if abs(x) < tray.size_m[0] / 2 and abs(y) < tray.size_m[1] / 2 and 0.0 < low_m < 2 * tray.thickness_m:
                    parts.append(name)
        return parts

    def _tool_pose(self, tool: GripperIndex | VacuumIndex | None) -> Pose:
        assert tool is not None
        return Pose(self._world.data.xpos[tool.body], self._world.data.xquat[tool.body])

    def _half_width_m(self, part: str, tool: GripperIndex) -> float:
        figures = self._world.objects[part].figures
        assert isinstance(figures, PartFigures)
        return part_grasp(figures, tool.figures).width_m / 2

    def _part_between(self, robot_name: str, wide_m: float, narrow_m: float) -> str | None:
        """Returns the part whose grasp point is at the tool's centre and which the fingers reach in this step."""
        tcp, hand = self._world.tcp_pose(robot_name), self._world.robots[robot_name].gripper
        tool = None if hand is None else hand.figures
        best, best_m = None, PICKUP_DISTANCE_M
        for name, item in self._world.objects.items():
            if not isinstance(item.figures, PartFigures):
                continue
            grip = part_grasp(item.figures, tool)
            distance_m = float(np.linalg.norm(self._world.pose_of(name).apply(grip.xyz_m) - tcp.position))
            if distance_m <= best_m and narrow_m <= grip.width_m / 2 <= wide_m and not grip.problem:
                best, best_m = name, distance_m
        return best

    def _release(self, robot_name: str) -> None:
        (thing, _), *parts = self._held.pop(robot_name)
        before, rest = self._world.pose_of(thing), resting_pose(self._world, thing)
        poses = [(part, rest @ before.inverse() @ self._world.pose_of(part)) for part, _ in parts]
        for name, pose in [(thing, rest), *poses]:
            self._put(name, pose)
        mujoco.mj_kinematics(self._world.model, self._world.data)

    def _put(self, part: str, pose: Pose) -> None:
        at = self._world.objects[part].qpos
        qpos: Any = self._world.data.qpos
        qpos[at : at + 3] = pose.position
        qpos[at + 3 : at + 7] = pose.quaternion


def _below(model: Any, top: int) -> list[int]:
    """Returns a body and all that hang on it; MuJoCo numbers them one after the other."""
    end = top + 1
    while end < model.nbody and model.body_parentid[end] >= top:
        end += 1
    return list(range(top, end))
