"""The tools that are locked to robots: the welds of the changers, and the weight that their drives take over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from cellwright.core.pose import Pose
from cellwright.sim.index import index_loose_grippers

if TYPE_CHECKING:
    from cellwright.sim.tool_index import ChangerIndex
    from cellwright.sim.world import World

__all__ = ["CouplingOffset", "ToolMounts"]


@dataclass(frozen=True)
class CouplingOffset:
    """The offset of a tool's coupling from the pose in which a changer would hold it."""

    lateral_m: float
    axial_m: float
    tilt_rad: float
    turn_rad: float


class ToolMounts:
    """Locks and unlocks tools. A lock holds a tool rigidly; an open one does nothing, and the tool falls.

    Attributes:
        on: Robot -> the tool that it has locked.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.on: dict[str, str] = {
            tool.robot: name for name, tool in world.cell.tools.items() if tool.robot is not None
        }

    def start(self) -> None:
        """Mounts the tools that robots begin with, and registers with the world."""
        for gripper in index_loose_grippers(self._world.model, self._world.cell):
            gripper.place_fingers(self._world.data, gripper.figures.open_m)
            self._world.data.ctrl[gripper.ctrl] = gripper.figures.open_m
        for robot, tool in self.on.items():
            self._place(robot, tool)
        self._world.add_component("tool mounts", self)
        self.load(self.on)

    def coupling_offset(self, robot: str, tool: str) -> CouplingOffset:
        """Returns the offset of a tool's coupling from a robot's changer now."""
        world = self._world
        mujoco.mj_kinematics(world.model, world.data)
        pose = self._held_pose(robot).inverse() @ self._pose(world.loose_tools[tool].body)
        turn = pose.rotation_matrix
        return CouplingOffset(
            float(np.hypot(*pose.position[:2])),
            abs(float(pose.position[2])),
            float(np.arccos(np.clip(turn[2, 2], -1, 1))),
            abs(float(np.arctan2(turn[1, 0], turn[0, 0]))),
        )

    def ready(self, robot: str) -> str | None:
        """Returns the tool whose coupling lies within a changer's tolerances, if there is one."""
        figures = self._changer(robot).figures
        for tool in self._world.loose_tools:
            if tool in self.on.values():
                continue
            off = self.coupling_offset(robot, tool)
            near = off.lateral_m <= figures.lateral_m and off.axial_m <= figures.axial_m
            if near and off.tilt_rad <= figures.tilt_rad and off.turn_rad <= figures.turn_rad:
                return tool
        return None

    def lock(self, robot: str, tool: str) -> None:
        """Draws a tool to the robot's changer and holds it there."""
        self.on[robot] = tool
        self._world.update_tools()

    def unlock(self, robot: str) -> str:
        """Releases the tool, with its pump off; returns its name."""
        tool = self.on.pop(robot)
        if tool in self._world.vacuums:
            self._world.vacuums[tool].vent(self._world.data)
        self._wake(tool)
        self._world.update_tools()
        return tool

    def save(self) -> dict[str, str]:
        """Returns the locked tools."""
        return dict(self.on)

    def load(self, state: dict[str, str]) -> None:
        """Restores what `save` returned; in the model, too, of which snapshots have no copy."""
        changed = dict(state) != self.on
        self.on = dict(state)
        if changed:
            self._world.update_tools()
        else:
            self.apply()

    def let_go(self, part: str) -> None:
        """Does nothing: it holds tools, not parts."""

    def apply(self) -> None:
        """Sets the welds and the weights in model and data."""
        model, data = self._world.model, self._world.data
        for robot, index in self._world.robots.items():
            changer = index.changer
            if changer is None:
                continue
            tool = self.on.get(robot)
            if tool is None:
                data.eq_active[changer.lock] = False
                model.body_gravcomp[changer.balance] = 0.0
                continue
            body = self._world.loose_tools[tool].body
            model.eq_obj2id[changer.lock] = body
            model.eq_data[changer.lock, :11] = [0, 0, 0, *changer.figures.coupling_in_flange_m, 1, 0, 0, 0, 1]
            data.eq_active[changer.lock] = True
            model.body_ipos[changer.balance] = self._centre_m(robot, tool)
            model.body_gravcomp[changer.balance] = index.balance * model.body_gravcomp[changer.body]
            self._wake(tool)

    def follow(self) -> None:
        """Places every locked tool at its robot's flange: for worlds without forces."""
        for robot, tool in self.on.items():
            self._place(robot, tool)

    def _centre_m(self, robot: str, tool: str) -> np.ndarray:
        """Returns a tool's centre of mass in its robot's changer."""
        world, index = self._world, self._world.loose_tools[tool]
        mujoco.mj_kinematics(world.model, world.data)
        bodies = list(index.bodies)
        mass = world.model.body_mass[bodies]
        centre = self._pose(index.body).inverse().apply(mass @ world.data.xipos[bodies] / mass.sum())
        return np.asarray(centre + np.array(self._changer(robot).figures.coupling_in_flange_m))

    def _changer(self, robot: str) -> ChangerIndex:
        changer = self._world.robot(robot).changer
        assert changer is not None
        return changer

    def _pose(self, body: int) -> Pose:
        return Pose(self._world.data.xpos[body], self._world.data.xquat[body])

    def _held_pose(self, robot: str) -> Pose:
        changer = self._changer(robot)
        return self._pose(changer.body) @ Pose.from_xyz_rpy(changer.figures.coupling_in_flange_m)

    def _place(self, robot: str, tool: str) -> None:
        world, index = self._world, self._world.loose_tools[tool]
        mujoco.mj_kinematics(world.model, world.data)
        pose = self._held_pose(robot)
        world.data.qpos[index.qpos : index.qpos + 3] = pose.position
        world.data.qpos[index.qpos + 3 : index.qpos + 7] = pose.quaternion

    def _wake(self, tool: str) -> None:
        tree = self._world.model.body_treeid[self._world.loose_tools[tool].body]
        self._world.data.tree_asleep[tree] = -(1 + mujoco.mjMINAWAKE)
