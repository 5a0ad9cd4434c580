"""The world: a cell compiled, placed, settled; its true state and the ways to change it."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import mujoco
import numpy as np

from cellwright.catalogue import PARTS, TOOLS, TRAYS, VacuumFigures
from cellwright.cells import Cell, Placement, actual_layout, nominal_cameras
from cellwright.cells.schema import checked_name
from cellwright.core.clock import Clock
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.core.rng import RandomStreams
from cellwright.models.coupling import follow
from cellwright.sim.appearance import Appearance
from cellwright.sim.backlash import Backlash
from cellwright.sim.component import StatefulComponent
from cellwright.sim.compose import attach_object, clamp_data, clamp_name, compose, detach_object
from cellwright.sim.contacts import Overlap, deepest_overlap
from cellwright.sim.index import MobileIndex, ObjectIndex, RobotIndex, index_mobiles, index_objects, index_robots
from cellwright.sim.kinematic import KinematicEngine
from cellwright.sim.leds import Leds
from cellwright.sim.overlaps import OVERLAP_LIMIT_M, refuse_overlaps
from cellwright.sim.physics import PhysicsEngine
from cellwright.sim.projectors import Projectors
from cellwright.sim.proximity_rays import ProximityRays, cone
from cellwright.sim.rays import NOTHING, Geoms, Vector, cast_ray, cast_rays
from cellwright.sim.snapshot import Snapshot
from cellwright.sim.tool_index import VacuumIndex, index_loose, index_vacuum
from cellwright.sim.tool_mounts import ToolMounts
from cellwright.sim.turning_hands import TurningHands
from cellwright.sim.wheels import Wheels

__all__ = ["World"]

SETTLE_CHECK_S = 0.1
AT_REST = 1e-4  # m/s and rad/s


class World:
    """The true state of a cell. Only sensors, controllers, the judge and the laboratory have access to it.

    Args:
        cell: The cell to build.
        seed: Decides the actual layout and every random stream.

    Attributes:
        layout: The actual layout, which no controller knows; `calibrated_cameras` are the cameras by the drawings.
        model: MuJoCo's model; replaced when bodies are added or removed.
        data: MuJoCo's data; replaced with it.
        robots: Robot -> its indices in the arrays.
        objects: Loose object -> its indices.
        loose_tools: Tool that robots change -> its indices.
        vacuums: Vacuum tool -> its indices, under its own name or that of the robot to which it is fixed.
        mounts: The tools that are locked to robots.
        mobiles: Mobile robot -> its indices.
        wheels: The wheels of all mobile robots.
        leds: The LEDs of all mobile robots.
        projectors: Which projectors are on, and what they throw.
        backlash: Robot -> the backlash of its gears, for those that have any.
        engine: Moves the world: contact physics or plain kinematics.
        appearance: Its visual model; the model above has only what can be touched.
    """

    def __init__(self, cell: Cell, seed: int = 0) -> None:
        self.cell = cell
        self.seed = seed
        self.streams = RandomStreams(seed)
        self.clock = Clock(cell.timestep_s)
        self.layout = actual_layout(cell, seed)
        self.calibrated_cameras = nominal_cameras(cell)
        self._placements = dict(self.layout.objects)
        self._rebuilt: list[Callable[[], None]] = []
        self._components: dict[str, StatefulComponent] = {}
        self._proximity_rays: dict[tuple[str, float, int], ProximityRays] = {}
        self._poses: dict[str, tuple[bytes, Pose]] = {}
        self._spec = self.full_spec()
        self._spec.discard_visual()
        self.model = self._spec.compile()
        self.data = mujoco.MjData(self.model)
        self.mounts = ToolMounts(self)
        self._index()
        self._take_home_poses()
        self.mounts.start()
        self.wheels = Wheels(self)
        self.leds = Leds(self)
        self.projectors = Projectors(self)
        mujoco.mj_forward(self.model, self.data)
        refuse_overlaps(self)
        self.backlash = {name: Backlash(self, name) for name, width in self.layout.backlash_rad.items() if width.any()}
        self.engine = (
            PhysicsEngine(self.model, self.data, tuple(self.backlash.values()), TurningHands(self), self.wheels)
            if cell.fidelity == "physics"
            else KinematicEngine(self)
        )
        self.settle(cell.settle_s)
        self.appearance = Appearance(self)

    def full_spec(self) -> Any:
        """Returns the world as it was placed, seen and touched, for pictures and for other programs."""
        return compose(self.cell, self.layout, self._placements.values())

    def bind(self, callback: Callable[[], None]) -> None:
        """Calls back now and whenever model and data are replaced: the place to look up addresses."""
        self._rebuilt.append(callback)
        callback()

    def add_component(self, name: str, component: StatefulComponent) -> None:
        """Registers a component with state of its own: part of snapshots, and told when bodies come and go."""
        self._components[name] = component

    def update_tools(self) -> None:
        """Looks up the tools of each robot anew, after tools were locked or released, and notifies all callbacks."""
        self._index()
        self.mounts.apply()
        for callback in self._rebuilt:
            callback()

    def robot(self, name: str) -> RobotIndex:
        """Returns a robot by name."""
        if name not in self.robots:
            raise UnknownName("robot", name, self.robots, self.cell.where)
        return self.robots[name]

    def object(self, name: str) -> ObjectIndex:
        """Returns a loose object by name."""
        if name not in self.objects:
            raise UnknownName("object", name, self.objects, self.cell.where)
        return self.objects[name]

    def mobile(self, name: str) -> MobileIndex:
        """Returns a mobile robot by name."""
        if name not in self.mobiles:
            raise UnknownName("mobile robot", name, self.mobiles, self.cell.where)
        return self.mobiles[name]

    def pose_of(self, name: str) -> Pose:
        """Returns the true pose of a loose object or of a mobile robot."""
        at = (self.mobiles.get(name) or self.object(name)).qpos
        numbers = self.data.qpos[at : at + 7]
        key, known = numbers.tobytes(), self._poses.get(name)
        if known is None or known[0] != key:  # several sensors ask at one moment
            known = self._poses[name] = key, Pose(numbers[:3], numbers[3:])
        return known[1]

    def placement(self, name: str) -> Placement:
        """Returns where a loose object was placed when it came into the world: by the layout, or when it was added."""
        self.object(name)
        return self._placements[name]

    def place(self, name: str, pose_in_world: Pose) -> None:
        """Places a loose object or a mobile robot, at rest and awake; no gripper holds it any more."""
        item = self.mobiles.get(name) or self.object(name)
        self._let_go(name)
        self.data.qpos[item.qpos : item.qpos + 3] = pose_in_world.position
        self.data.qpos[item.qpos + 3 : item.qpos + 7] = pose_in_world.quaternion
        self.data.qvel[item.dof : item.dof + 6] = -0.0  # no speed, but other bits than zero: MuJoCo wakes it
        if name in self._placements and self._placements[name].is_clamped:
            self._spec.equality(clamp_name(name)).data = clamp_data(pose_in_world)
            self.model.equality(clamp_name(name)).data[:] = clamp_data(pose_in_world)
        mujoco.mj_forward(self.model, self.data)

    def overlap_at(self, name: str, pose_in_world: Pose) -> Overlap | None:
        """Returns the overlap that a loose object or mobile robot would have at a pose; None where it fits."""
        item, data = self.mobiles.get(name) or self.object(name), copy(self.data)
        data.qpos[item.qpos : item.qpos + 3] = pose_in_world.position
        data.qpos[item.qpos + 3 : item.qpos + 7] = pose_in_world.quaternion
        data.qvel[item.dof : item.dof + 6] = -0.0  # awake
        mujoco.mj_forward(self.model, data)
        overlap = deepest_overlap(self.model, data, item.body)
        return overlap if overlap is not None and overlap.depth_m > OVERLAP_LIMIT_M else None

    def tcp_pose(self, robot: str) -> Pose:
        """Returns the true pose of a robot's tool centre point (its flange, when it has no tool)."""
        item = self.robot(robot)
        site = item.hand.tcp_site if item.hand else item.flange_site
        mujoco.mj_kinematics(self.model, self.data)
        return self._site_pose(site)

    def flange_pose(self, robot: str) -> Pose:
        """Returns the true pose of a robot's flange, z out of it."""
        site = self.robot(robot).flange_site
        mujoco.mj_kinematics(self.model, self.data)
        return self._site_pose(site)

    def ray(
        self, origin_m: Vector, direction: Vector, max_m: float = np.inf, *, mounted_on: str | None = None
    ) -> float | None:
        """Returns the distance to the first surface along a ray; None when there is none as near as `max_m`.

        Args:
            origin_m: Where it begins, in the cell's frame.
            direction: Its direction there, of any length.
            max_m: How far it reaches.
            mounted_on: The robot on whose flange it begins: its own links do not stop it, its tool does.
        """
        return cast_ray(self.model, self.data, origin_m, direction, max_m, self._geoms_of(mounted_on))

    def rays(
        self, origin_m: Vector, directions: np.ndarray, max_m: float, *, mounted_on: str | None = None
    ) -> np.ndarray:
        """Returns the distances along rays from one point to the first surface; endless where none is so near.

        Args:
            origin_m: Where they begin, in the cell's frame.
            directions: Their directions there, n x 3, of length 1.
            max_m: How far they reach.
            mounted_on: The robot on whose flange they begin, or the mobile robot: its own bodies do not stop them.
        """
        return cast_rays(self.model, self.data, origin_m, directions, max_m, self._geoms_of(mounted_on))

    def proximity_rays(self, robot: str, fov_rad: float, rays: int) -> ProximityRays:
        """Returns the rays of a mobile robot's proximity sensors, which all robots of its model share.

        Args:
            robot: The robot.
            fov_rad: The angle of the cone in which they lie.
            rays: Rays of each sensor.
        """
        figures = self.mobile(robot).figures
        key = figures.name, fov_rad, rays
        if key not in self._proximity_rays:
            names = [name for name, other in self.mobiles.items() if other.figures.name == figures.name]
            self._proximity_rays[key] = ProximityRays(self, names, cone(fov_rad, rays))
        return self._proximity_rays[key]

    def add(self, name: str, model: str, pose_in_world: Pose, *, clamped: bool = False) -> None:
        """Adds a tray or part while the world runs; every other body keeps its state to the last bit, but wakes.

        One that is clamped is held fast there, also in the air, and wherever it is placed later.
        """
        try:
            checked_name(name)
        except ValueError as error:
            raise BadInput(f"cannot add '{name}': {error}") from None
        cell = self.cell
        if name in (*self.objects, *self.robots, *self.mobiles, *cell.fixtures, *cell.tools, "arena", "world"):
            raise BadInput(f"cannot add '{name}': the name is taken")
        if model not in TRAYS and model not in PARTS:
            raise UnknownName("tray or part model", model, [*TRAYS, *PARTS])
        self._placements[name] = Placement(name, model, pose_in_world, is_clamped=clamped)
        attach_object(self._spec, self._placements[name])
        self._spec.discard_visual()
        self._spec.dedup_assets()
        self._recompile()
        overlap = deepest_overlap(self.model, self.data, self.objects[name].body)
        if overlap is not None and overlap.depth_m > OVERLAP_LIMIT_M:
            self.remove(name)
            raise BadInput(f"cannot add '{name}' there: {overlap}")

    def remove(self, name: str) -> None:
        """Takes a tray or part out of the world; every other body keeps its state to the last bit, but wakes."""
        self.object(name)
        self._let_go(name)
        detach_object(self._spec, name)
        del self._placements[name]
        self._recompile()

    def settle(self, limit_s: float) -> bool:
        """Runs physics until every loose object sleeps and every mobile robot stands, while the clock stands still.

        Args:
            limit_s: The time limit, in simulated seconds.
        """
        if not isinstance(self.engine, PhysicsEngine):
            return True
        chunk = max(1, round(SETTLE_CHECK_S / self.cell.timestep_s))
        trees = [int(self.model.body_treeid[item.body]) for item in self.objects.values()]
        rolling = [np.arange(robot.dof, robot.dof + 6) for robot in self.mobiles.values()]
        wheels = np.concatenate(rolling) if rolling else np.empty(0, np.intp)
        calm = not trees and not rolling
        for _ in range(round(limit_s / SETTLE_CHECK_S)):
            if calm:
                break
            self.engine.step(chunk)
            calm = bool((np.asarray(self.data.tree_asleep)[trees] >= 0).all())
            calm &= bool((np.abs(self.data.qvel[wheels]) < AT_REST).all())
        self.data.time = self.clock.time_s
        return calm

    def snapshot(self) -> Snapshot:
        """Returns this moment, bit-exact. Motions in progress are not part of it: take it between motions."""
        states = {name: component.save() for name, component in self._components.items()}
        return Snapshot(self.clock.tick, self.model, copy(self.data), self.streams.snapshot(), states)

    def restore(self, snapshot: Snapshot) -> None:
        """Restores a snapshot; only possible while no body was added or removed in between."""
        if snapshot.model is not self.model:
            raise BadInput("cannot restore the snapshot: bodies were added or removed since it was taken")
        mujoco.mj_copyData(self.data, self.model, snapshot.data)
        self.clock.tick = snapshot.tick
        self.streams.restore(snapshot.streams)
        for name, state in snapshot.components.items():
            self._components[name].load(state)

    def _site_pose(self, site: int) -> Pose:
        return Pose.from_matrix(np.column_stack([self.data.site_xmat[site].reshape(3, 3), self.data.site_xpos[site]]))

    def _geoms_of(self, robot: str | None) -> Geoms:
        """Returns the geoms of an arm, from its flange to its base, or all of a mobile robot."""
        if robot is None:
            return NOTHING
        if robot not in self._own_geoms:
            model = self.model
            if robot in self.mobiles:
                own = model.body_rootid[model.geom_bodyid] == self.mobiles[robot].body
            else:
                index = self.robot(robot)
                links = [int(model.site_bodyid[index.flange_site])]
                while links[-1] not in (index.base_body, 0):
                    links.append(int(model.body_parentid[links[-1]]))
                own = np.isin(model.geom_bodyid, links)
            self._own_geoms[robot] = own.nonzero()[0]
        return self._own_geoms[robot]

    def _index(self) -> None:
        self._own_geoms: dict[str, Geoms] = {}
        self.robots = index_robots(self.model, self.cell, self.mounts.on)
        self.loose_tools = {name: index_loose(self.model, name) for name in self.cell.tools}
        self.vacuums = self._index_vacuums()
        self.mobiles = index_mobiles(self.model, {n: p.model for n, p in self.layout.mobiles.items()})
        self.objects = index_objects(self.model, {name: placed.model for name, placed in self._placements.items()})

    def _index_vacuums(self) -> dict[str, VacuumIndex]:
        fixed = {name: robot.tool for name, robot in self.cell.robots.items() if robot.tool is not None}
        named = {name: TOOLS.get(model) for name, model in fixed.items()}
        named |= {name: TOOLS.get(tool.model) for name, tool in self.cell.tools.items()}
        return {
            name: index_vacuum(self.model, f"{name}/tool", figures)
            for name, figures in named.items()
            if isinstance(figures, VacuumFigures)
        }

    def _take_home_poses(self) -> None:
        for name, cfg in self.cell.robots.items():
            robot = self.robots[name]
            joints = np.radians(cfg.home_deg) + self.layout.joint_zeros_rad[name]
            self.data.qpos[robot.qpos] = joints
            follow(self.model, self.data.qpos, set(robot.qpos.tolist()))
            self.data.ctrl[robot.ctrl_position] = joints
            if robot.gripper:
                robot.gripper.place_fingers(self.data, robot.gripper.figures.open_m)
                self.data.ctrl[robot.gripper.ctrl] = robot.gripper.figures.open_m

    def _let_go(self, name: str) -> None:
        for component in self._components.values():
            component.let_go(name)

    def _recompile(self) -> None:
        self.model, self.data = self._spec.recompile(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)
        self._index()
        if isinstance(self.engine, PhysicsEngine):
            self.engine.replace(self.model, self.data)
        for component in self._components.values():
            component.load(component.save())
        for callback in self._rebuilt:
            callback()
