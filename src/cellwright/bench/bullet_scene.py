"""A world replicated in PyBullet: the same bodies, shapes, masses, joints and time step.

Not the same, because the engines differ: Bullet drives joints by velocity constraints of limited force instead of a
PID law; it has no gravity compensation, no torsional friction of this kind, its own contact stiffness and solver (50
iterations); its fingers are coupled only by being given the same command.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pybullet

from cellwright.bench.bullet_urdf import link_name, write_urdf
from cellwright.core.gravity import GRAVITY_MPS2
from cellwright.sim import World

__all__ = ["BulletScene"]


@dataclass(frozen=True)
class _Drive:
    """An arm's motors: the joints, the indices of their commands in a row of control, their zeros and their limits."""

    unit: int
    joints: list[int]
    positions: Any
    velocities: Any
    zeros: Any
    forces: list[float]


class BulletScene:
    """The scene in a PyBullet server of its own.

    Args:
        world: The world to convert, in its present state.
        folder: The folder for URDF files and hulls.
        sleep: Whether bodies at rest may sleep.
    """

    def __init__(self, world: World, folder: Path, *, sleep: bool) -> None:
        self._model = world.model
        self._data = world.data
        self._folder = folder
        mujoco.mj_kinematics(world.model, world.data)
        self._sleep_flag = pybullet.URDF_ENABLE_SLEEPING if sleep else 0
        self.client = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(0, 0, -GRAVITY_MPS2, physicsClientId=self.client)
        pybullet.setTimeStep(world.cell.timestep_s, physicsClientId=self.client)
        bases = {robot.base_body for robot in world.robots.values()}
        self._links: dict[int, tuple[int, int]] = {}
        for body in range(self._model.nbody):
            if self._model.body_parentid[body] == 0 and body not in bases:
                self._load([body], movable=bool(self._model.body_jntnum[body]), flags=self._sleep_flag)
        self._drives = [self._add_arm(base) for base in bases]
        self.objects = {name: self._links[item.body][0] for name, item in world.objects.items()}
        self._filter_pairs()

    def close(self) -> None:
        """Frees the server."""
        pybullet.disconnect(self.client)

    def step(self, ctrl: Any, count: int) -> None:
        """Commands every joint by the row of control, and takes a number of steps."""
        row = np.append(ctrl, 0.0)  # the last is for drives without a commanded velocity
        for drive in self._drives:
            pybullet.setJointMotorControlArray(
                drive.unit,
                drive.joints,
                pybullet.POSITION_CONTROL,
                targetPositions=(row[drive.positions] - drive.zeros).tolist(),
                targetVelocities=row[drive.velocities].tolist(),
                forces=drive.forces,
                physicsClientId=self.client,
            )
        for _ in range(count):
            pybullet.stepSimulation(physicsClientId=self.client)

    def _load(self, bodies: list[int], *, movable: bool, flags: int) -> int:
        """Loads a root body with its descendants, in its current place."""
        model, data, root = self._model, self._data, bodies[0]
        w, x, y, z = (float(value) for value in data.xquat[root])
        unit: int = pybullet.loadURDF(
            str(write_urdf(model, bodies, self._folder)),
            data.xpos[root].tolist(),
            [x, y, z, w],
            useFixedBase=not movable,
            flags=pybullet.URDF_USE_INERTIA_FROM_FILE | flags,
            physicsClientId=self.client,
        )
        count = pybullet.getNumJoints(unit, physicsClientId=self.client)
        infos = [pybullet.getJointInfo(unit, joint, physicsClientId=self.client) for joint in range(count)]
        link_of = {info[12].decode(): info[0] for info in infos}
        for body in bodies:
            self._links[body] = (unit, link_of.get(link_name(body), -1))
            geoms = np.flatnonzero((model.geom_bodyid == body) & (model.geom_contype != 0))
            friction = float(model.geom_friction[geoms, 0].max()) if len(geoms) else 0.0
            pybullet.changeDynamics(
                *self._links[body],
                lateralFriction=friction,
                linearDamping=0.0,
                angularDamping=0.0,
                physicsClientId=self.client,
            )
        return unit

    def _add_arm(self, base: int) -> _Drive:
        model = self._model
        bodies = [b for b in range(model.nbody) if self._descends(b, base)]
        unit = self._load(bodies, movable=False, flags=pybullet.URDF_USE_SELF_COLLISION)
        driver = {int(model.actuator_trnid[a, 0]): a for a in range(len(model.actuator_trnid))}
        joints, positions, velocities, zeros, forces = [], [], [], [], []
        actuator = -1
        for body in bodies:
            joint = int(model.body_jntadr[body])
            if joint < 0:
                continue
            actuator = driver.get(joint, actuator)  # the second finger has no drive of its own
            address, inputs = int(model.actuator_ctrladr[actuator]), int(model.actuator_ctrlnum[actuator])
            joints.append(self._links[body][1])
            positions.append(address)
            velocities.append(address + 1 if inputs > 1 else -1)
            zeros.append(float(model.qpos0[model.jnt_qposadr[joint]]))
            forces.append(float(model.actuator_forcerange[actuator, 1]))
            start = float(self._data.qpos[model.jnt_qposadr[joint]]) - zeros[-1]
            pybullet.resetJointState(unit, joints[-1], start, physicsClientId=self.client)
        return _Drive(unit, joints, np.array(positions), np.array(velocities), np.array(zeros), forces)

    def _descends(self, body: int, ancestor: int) -> bool:
        while body and body != ancestor:
            body = int(self._model.body_parentid[body])
        return body == ancestor

    def _filter_pairs(self) -> None:
        """Disables collisions of pairs of bodies that MuJoCo never tests."""
        model, weld = self._model, self._model.body_weldid
        excluded = {(int(signature) >> 16, int(signature) & 0xFFFF) for signature in model.exclude_signature}
        for first in self._links:
            for second in self._links:
                parent = int(weld[model.body_parentid[weld[second]]])
                related = weld[first] == weld[second] or (weld[first] != 0 and weld[first] == parent)
                if related or (first, second) in excluded:
                    (unit, link), (other, other_link) = self._links[first], self._links[second]
                    pybullet.setCollisionFilterPair(unit, other, link, other_link, 0, physicsClientId=self.client)
