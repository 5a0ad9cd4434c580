"""Fidelity `kinematic`: robots are where they are told to be, parts stick to a closed gripper and drop straight.

For trying out plans and interfaces at a hundred times the speed; nothing slips, tips or jams here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from cellwright.catalogue import GearFigures, TrayFigures, seated_height_m
from cellwright.core.pose import Pose
from cellwright.models.surfaces import GeomGroup

if TYPE_CHECKING:
    from cellwright.sim.index import RobotIndex, ToolIndex
    from cellwright.sim.world import World

__all__ = ["KinematicEngine"]

PICKUP_DISTANCE_M = 0.005  # the lab's own simulation: a pick fails when the nearest part is farther than this
CAPTURE_DISTANCE_M = 0.003  # a slot centres a part that is dropped so near; contact physics captures a little more


class KinematicEngine:
    """Moves the world without forces; has the same interface as physics."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._held: dict[str, tuple[str, Pose]] = {}

    def addresses(self) -> tuple[int, int]:
        """Where model and data lie in memory."""
        return self._world.model._address, self._world.data._address

    def step(self, count: int) -> None:
        """Takes so many steps at once: nothing happens between commands."""
        world = self._world
        data = world.data
        data.time += count * world.cell.timestep_s
        for robot in world.robots.values():
            data.qpos[robot.qpos] = data.ctrl[robot.ctrl_position]
            data.qvel[robot.dof] = data.ctrl[robot.ctrl_velocity]
            if robot.tool:
                self._move_fingers(robot, robot.tool, count * world.cell.timestep_s)
        mujoco.mj_kinematics(world.model, data)
        for robot_name, (part, pose_part_in_tcp) in self._held.items():
            self._put(part, world.tcp_pose(robot_name) @ pose_part_in_tcp)
        mujoco.mj_kinematics(world.model, data)

    def _move_fingers(self, robot: RobotIndex, tool: ToolIndex, duration_s: float) -> None:
        data = self._world.data
        now_m, target_m = float(data.qpos[tool.qpos[0]]), float(data.ctrl[tool.ctrl])
        travel_m = tool.figures.speed_mps * duration_s
        next_m = now_m + float(np.clip(target_m - now_m, -travel_m, travel_m))
        if robot.name in self._held:
            held_m = self._half_width_m(self._held[robot.name][0])
            if target_m > held_m:
                self._release(robot.name)
            else:
                next_m = held_m
        elif next_m < now_m:
            part = self._part_between(robot.name, now_m, next_m)
            if part is not None:
                next_m = self._half_width_m(part)
                tcp = self._world.tcp_pose(robot.name)
                self._held[robot.name] = (part, tcp.inverse() @ self._world.pose_of(part))
        data.qpos[tool.qpos] = next_m
        data.qvel[tool.dof] = (next_m - now_m) / duration_s

    def _half_width_m(self, part: str) -> float:
        figures = self._world.objects[part].figures
        assert isinstance(figures, GearFigures)
        return figures.grasp_width_m / 2

    def _part_between(self, robot_name: str, wide_m: float, narrow_m: float) -> str | None:
        """The part whose grasp point is at the tool's centre and which the fingers reach in this step."""
        tcp = self._world.tcp_pose(robot_name)
        best, best_m = None, PICKUP_DISTANCE_M
        for name, item in self._world.objects.items():
            if not isinstance(item.figures, GearFigures):
                continue
            grasp = self._world.pose_of(name).apply([0, 0, item.figures.grasp_height_m])
            distance_m = float(np.linalg.norm(grasp - tcp.position))
            if distance_m <= best_m and narrow_m <= item.figures.grasp_width_m / 2 <= wide_m:
                best, best_m = name, distance_m
        return best

    def _release(self, robot_name: str) -> None:
        part, _ = self._held.pop(robot_name)
        self._put(part, self._resting_pose(part))
        mujoco.mj_kinematics(self._world.model, self._world.data)

    def _resting_pose(self, part: str) -> Pose:
        world = self._world
        pose, figures = world.pose_of(part), world.objects[part].figures
        assert isinstance(figures, GearFigures)
        for name, tray in world.objects.items():
            if not isinstance(tray.figures, TrayFigures):
                continue
            pose_tray = world.pose_of(name)
            for slot in tray.figures.slots:
                seat = pose_tray.apply([*slot.xy_m, seated_height_m(tray.figures, slot, figures)])
                if slot.accepts == figures.sku and np.hypot(*(seat - pose.position)[:2]) <= CAPTURE_DISTANCE_M:
                    return pose_tray @ Pose.from_xyz_rpy(pose_tray.inverse().apply(seat))
        return Pose.from_xyz_rpy([*pose.position[:2], self._ground_below_m(part, pose)], [0, 0, pose.rpy[2]])

    def _ground_below_m(self, part: str, pose: Pose) -> float:
        model, data = self._world.model, self._world.data
        groups = np.zeros(6, np.uint8)
        groups[GeomGroup.VISUAL] = groups[0] = 1
        hit = np.zeros(1, np.int32)
        start = pose.position + np.array([0.0, 0.0, 1e-3])
        distance_m = mujoco.mj_ray(
            model, data, start, np.array([0.0, 0.0, -1.0]), groups, 1, self._world.objects[part].body, hit
        )
        return float(start[2] - distance_m) if distance_m >= 0 else 0.0

    def _put(self, part: str, pose: Pose) -> None:
        at = self._world.objects[part].qpos
        qpos: Any = self._world.data.qpos
        qpos[at : at + 3] = pose.position
        qpos[at + 3 : at + 7] = pose.quaternion
