"""The optional grasp lock: a weld between gripper and part while both pads press. Off unless a cell asks for it.

Friction alone holds a gear, with some tenths of a millimetre of creep on a fast arm. Where a task cannot bear
that, the lock removes it; every use is counted, and the report says so.
"""

from __future__ import annotations

import mujoco
import numpy as np

from cellwright.core.pose import Pose
from cellwright.models.surfaces import PAD
from cellwright.sim.index import RobotIndex, ToolIndex
from cellwright.sim.lock_constraint import lock_name
from cellwright.sim.stepper import Order, Stepper
from cellwright.sim.world import World

__all__ = ["GraspLock"]

RATE_HZ = 125.0
GRAVITY = np.array([0.0, 0.0, -9.81])


class GraspLock:
    """Watches the grippers: locks when both pads press on one part, unlocks when told to open or overloaded.

    The break-off compares the load with what friction could carry, 2 mu N; not the weld's own force, which also
    carries the pads' pressure.

    Attributes:
        uses: How often a lock was closed.
    """

    def __init__(self, world: World, stepper: Stepper) -> None:
        self._world = world
        self.uses = 0
        self._held: dict[str, str] = {}
        stepper.every(world.clock.period_ticks(RATE_HZ), self._tick, order=Order.WORLD, name="grasp lock")

    def _tick(self) -> None:
        for robot in self._world.robots.values():
            if robot.tool is None:
                continue
            closing = self._world.data.ctrl[robot.tool.ctrl] < robot.tool.figures.open_m / 2
            if robot.name in self._held:
                if not closing or self._overloaded(robot, robot.tool):
                    self._set(robot, None)
            elif closing:
                part = self._pressed_part(robot.tool)
                if part is not None:
                    self._set(robot, part)

    def _pad_forces(self, tool: ToolIndex) -> dict[int, list[float]]:
        """Body -> normal force at the left and the right pad."""
        model, data = self._world.model, self._world.data
        forces: dict[int, list[float]] = {}
        buffer = np.zeros(6)
        for i in range(data.ncon):
            geoms = data.contact[i].geom
            for side, pad in enumerate(tool.pad_geoms):
                if pad in geoms:
                    other = int(geoms[1] if geoms[0] == pad else geoms[0])
                    mujoco.mj_contactForce(model, data, i, buffer)
                    pair = forces.setdefault(int(model.geom_bodyid[other]), [0.0, 0.0])
                    pair[side] += float(buffer[0])
        return forces

    def _pressed_part(self, tool: ToolIndex) -> str | None:
        limit_n = 0.5 * tool.figures.grip_force_n
        for body, (left_n, right_n) in self._pad_forces(tool).items():
            name = self._world.model.body(body).name
            if name in self._world.objects and min(left_n, right_n) > limit_n:
                return str(name)
        return None

    def _overloaded(self, robot: RobotIndex, tool: ToolIndex) -> bool:
        part = self._world.objects[self._held[robot.name]]
        acceleration = np.asarray(self._world.data.qacc[part.dof : part.dof + 3])
        load_n = float(self._world.model.body_mass[part.body] * np.linalg.norm(acceleration - GRAVITY))
        return load_n > 2 * PAD.friction[0] * tool.figures.grip_force_n

    def _set(self, robot: RobotIndex, part: str | None) -> None:
        model, data = self._world.model, self._world.data
        weld = model.equality(lock_name(robot.name)).id
        data.eq_active[weld] = part is not None
        if part is None:
            del self._held[robot.name]
            return
        assert robot.tool is not None
        tool_body, part_body = robot.tool.body, self._world.objects[part].body
        mujoco.mj_kinematics(model, data)
        pose_tool = Pose(data.xpos[tool_body], data.xquat[tool_body])
        relative = pose_tool.inverse() @ Pose(data.xpos[part_body], data.xquat[part_body])
        model.eq_obj2id[weld] = part_body
        model.eq_data[weld, 0:3] = 0.0  # the anchor, in the part's frame
        model.eq_data[weld, 3:6] = relative.position
        model.eq_data[weld, 6:10] = relative.quaternion
        self._held[robot.name] = part
        self.uses += 1
