"""The optional grasp lock: a weld between gripper and part while both pads press. Off unless a cell asks for it.

Friction alone holds a gear, with some tenths of a millimetre of creep on a fast arm. Where a task cannot bear
that, the lock removes it; every use is counted, and the report says so.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.models.contact_settings import PAD
from cellwright.sim.index import GripperIndex, RobotIndex
from cellwright.sim.lock_constraint import close_lock, open_lock
from cellwright.sim.stepper import Stepper, TickOrder
from cellwright.sim.world import World

__all__ = ["GraspLock"]

RATE_HZ = 125.0


class GraspLock:
    """Watches the grippers: locks when both pads press on one part, unlocks when commanded to open or overloaded.

    The break-off compares the load with what friction could carry, 2 mu N; not the weld's own force, which also
    carries the pads' pressure. A lock that broke stays open until the gripper opens.

    Attributes:
        uses: The number of times that a lock was closed.
        breaks: The number of times that one broke under its load.
    """

    def __init__(self, world: World, stepper: Stepper) -> None:
        self._world = world
        self.uses = self.breaks = 0
        self._held: dict[str, tuple[str, Pose]] = {}  # robot -> part and its pose in the tool
        self._broken: set[str] = set()
        world.add_component("grasp lock", self)
        stepper.every(world.clock.period_ticks(RATE_HZ), self._tick, order=TickOrder.WORLD, name="grasp lock")

    def save(self) -> Any:
        """Returns the held parts and the counts."""
        return dict(self._held), set(self._broken), self.uses, self.breaks

    def load(self, state: Any) -> None:
        """Restores what `save` returned."""
        held, broken, self.uses, self.breaks = state
        self._held = dict(held)
        self._broken = set(broken)
        for robot in self._world.robots.values():
            if robot.gripper is None:
                continue
            if robot.name in self._held:
                self._close(robot.name, robot.gripper)
            else:
                open_lock(self._world.model, self._world.data, robot.name)

    def let_go(self, part: str) -> None:
        """Unlocks the part."""
        for robot in [robot for robot, (held, _) in self._held.items() if held == part]:
            self._unlock(robot)

    def _tick(self) -> None:
        data = self._world.data
        for robot in self._world.robots.values():
            tool = robot.gripper
            if tool is None:
                continue
            if data.ctrl[tool.ctrl] >= (tool.figures.closed_m + tool.figures.open_m) / 2:
                self._broken.discard(robot.name)
                if robot.name in self._held:
                    self._unlock(robot.name)
            elif robot.name in self._held:
                if self._overloaded(self._held[robot.name][0], tool):
                    self._unlock(robot.name)
                    self._broken.add(robot.name)
                    self.breaks += 1
            elif robot.name not in self._broken:
                part = self._pressed_part(tool)
                if part is not None:
                    self._lock(robot, tool, part)

    def _pressed_part(self, tool: GripperIndex) -> str | None:
        """Returns the object on which both pads press with at least half their force."""
        model, data = self._world.model, self._world.data
        forces: dict[int, list[float]] = {}
        buffer = np.zeros(6)
        for i in range(data.ncon):
            geoms = data.contact[i].geom
            for pad, side in tool.pads.items():
                if pad in geoms:
                    other = int(geoms[1] if geoms[0] == pad else geoms[0])
                    mujoco.mj_contactForce(model, data, i, buffer)
                    forces.setdefault(int(model.geom_bodyid[other]), [0.0, 0.0])[side] += float(buffer[0])
        for body, pair in forces.items():
            name = str(model.body(body).name)
            if name in self._world.objects and min(pair) > 0.5 * tool.figures.grip_force_n:
                return name
        return None

    def _overloaded(self, part: str, tool: GripperIndex) -> bool:
        """Returns whether the grip would need more than friction gives: m (a - g) less all forces but the gripper's."""
        model, data, item = self._world.model, self._world.data, self._world.objects[part]
        needed_n = model.body_mass[item.body] * (data.qacc[item.dof : item.dof + 3] - model.opt.gravity)
        needed_n = needed_n - data.xfrc_applied[item.body, :3] - data.qfrc_applied[item.dof : item.dof + 3]
        gripper = {tool.body, *(int(model.geom_bodyid[pad]) for pad in tool.pads)}
        for i in range(data.ncon):
            first, second = (int(model.geom_bodyid[geom]) for geom in data.contact[i].geom)
            if item.body in (first, second) and not {first, second} & gripper:
                needed_n = needed_n - self._contact_force(i) * (1.0 if second == item.body else -1.0)
        return float(np.linalg.norm(needed_n)) > 2 * PAD.friction[0] * tool.figures.grip_force_n

    def _contact_force(self, contact: int) -> npt.NDArray[np.float64]:
        """Returns the force of a contact on its second body, in the world."""
        force = np.zeros(6)
        mujoco.mj_contactForce(self._world.model, self._world.data, contact, force)
        return np.asarray(self._world.data.contact[contact].frame.reshape(3, 3).T @ force[:3])

    def _lock(self, robot: RobotIndex, tool: GripperIndex, part: str) -> None:
        model, data, body = self._world.model, self._world.data, self._world.objects[part].body
        mujoco.mj_kinematics(model, data)
        pose_tool_in_world = Pose(data.xpos[tool.body], data.xquat[tool.body])
        pose_part_in_tool = pose_tool_in_world.inverse() @ Pose(data.xpos[body], data.xquat[body])
        self._held[robot.name] = (part, pose_part_in_tool)
        self._close(robot.name, tool)
        self.uses += 1

    def _close(self, robot: str, tool: GripperIndex) -> None:
        part, pose_part_in_tool = self._held[robot]
        body = self._world.objects[part].body
        close_lock(self._world.model, self._world.data, robot, body, pose_part_in_tool, tool.figures.tcp_xyz_m)

    def _unlock(self, robot: str) -> None:
        """Opens the lock. The part has been at rest in the hand for long: unless woken, it would sleep in mid air."""
        model, data = self._world.model, self._world.data
        open_lock(model, data, robot)
        part, _ = self._held.pop(robot)
        data.tree_asleep[model.body_treeid[self._world.objects[part].body]] = -(1 + mujoco.mjMINAWAKE)
