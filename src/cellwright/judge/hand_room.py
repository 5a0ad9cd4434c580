"""The room that a tool needs to take a thing as it lies: the ways that there are, and what is in the way of each.

Only the tool and what is about it are looked at, by their true shapes; whether an arm gets the tool there is another
question. Arms are not in the way: they can be moved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from copy import copy

import mujoco
import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GripperFigures, PartFigures, TrayFigures, VacuumFigures, part_grasp, tray_grasp
from cellwright.catalogue.tools import ToolFigures
from cellwright.core.pose import Pose
from cellwright.judge.support import TOUCH_M, geoms_of, loose_bodies
from cellwright.sim import GripperIndex, World
from cellwright.sim.index import index_loose_grippers
from cellwright.sim.tool_index import VacuumIndex

__all__ = ["APPROACH_M", "FIXED", "SWINGS_DEG", "HandRoom"]

Array = npt.NDArray[np.float64]

APPROACH_M = 0.10
"""The last piece of a way, straight along the tool's axis."""

FIXED = ""
"""Stands for furniture among what is in the way."""

STEP_M = 0.010  # at which the tool is looked at on its way
ROOM_M = 0.003  # that open fingers keep from a part on each side, when they are not opened farther
TURNS = 12  # of the tool about the axis of a part that can be held at any turn
SWINGS_DEG = (0, 15, -15, 30, -30, 45, -45, 60, -60, 75, -75, 90, -90)
"""Of the tool about the line on which the fingers close: flat pads hold at any of them."""


class HandRoom:
    """The tools of a cell, at any pose among what really lies there.

    Args:
        world: What is really there; it is left as it is.
        data: How it all would lie; as it does by default.
    """

    def __init__(self, world: World, data: mujoco.MjData | None = None) -> None:
        self._world = world
        self._data = copy(world.data if data is None else data)
        self._hands: dict[str, GripperIndex | VacuumIndex] = {
            f"{name}_gripper": robot.hand for name, robot in world.robots.items() if robot.hand and not robot.changer
        }
        grippers = {index.body: index for index in index_loose_grippers(world.model, world.cell)}
        for name, tool in world.loose_tools.items():
            own = [index for body, index in grippers.items() if body in tool.bodies]
            self._hands[name] = own[0] if own else world.vacuums[name]
        self._bodies = {name: hand.bodies for name, hand in self._hands.items()}
        self._bodies |= {name: tool.bodies for name, tool in world.loose_tools.items()}
        self._names = {geom: name for name, bodies in loose_bodies(world).items() for geom in geoms_of(world, bodies)}
        self._grasps: dict[tuple[str, str, int], tuple[Pose, ...]] = {}
        self._shapes: dict[tuple[str, float], tuple[Array, Array]] = {}
        self._around = self._all_around()

    def ways(
        self, tool: str, thing: str, swing_deg: int = 0, reaches: Callable[[Pose], bool] = lambda _pose: True
    ) -> Iterator[frozenset[str]]:
        """Yields the loose things in the way of a tool to a thing, for each way that has less in it than those before.

        What furniture blocks is no way.

        Args:
            tool: The tool.
            thing: What it shall take.
            swing_deg: Of the tool, one of `SWINGS_DEG`; at none the tool points along the thing's own axis.
            reaches: Tests whether the tool gets to a pose at all; asked first.
        """
        body, hand = self._world.objects[thing].body, self._hands[tool].figures
        pose = Pose(self._data.xpos[body], self._data.xquat[body])
        widths_m = [0.0]
        if isinstance(hand, GripperFigures):
            widths_m = sorted({min(hand.open_m, self.half_width_m(tool, thing) + ROOM_M), hand.open_m})
        blocked = [frozenset({FIXED}), frozenset({thing})]
        for in_thing in self.grasps(tool, thing, swing_deg):
            pose_tool = pose @ in_thing
            if not reaches(pose_tool):
                continue
            found = frozenset({thing})
            for half_width_m in widths_m:  # the less they are open, the less room they need beside the part
                if thing in found:
                    found = self.obstacles(tool, pose_tool, half_width_m, thing, blocked)
            if not any(known <= found for known in blocked):
                yield found
                blocked.append(found)

    def grasps(self, tool: str, thing: str, swing_deg: int) -> tuple[Pose, ...]:
        """Returns poses of a tool's centre point in the frame of a thing that it takes."""
        key = tool, self._world.objects[thing].sku, swing_deg
        if key not in self._grasps:
            self._grasps[key] = _grasps(self._world.objects[thing].figures, self._hands[tool].figures, swing_deg)
        return self._grasps[key]

    def obstacles(
        self, tool: str, pose_tool: Pose, half_width_m: float, thing: str, blocked: Collection[frozenset[str]] = ()
    ) -> frozenset[str]:
        """Returns what is in a tool's way: loose things, `FIXED` for furniture, or the thing itself.

        Args:
            tool: The tool.
            pose_tool: Where its centre point ends.
            half_width_m: Of its fingers; of no meaning for cups.
            thing: What it takes, which its cups may touch, and nothing else of it.
            blocked: Sets of things of which one in the way is enough to know.
        """
        places, turns = self._shape(tool, half_width_m)
        mine = geoms_of(self._world, self._bodies[tool])
        touches_thing = isinstance(self._hands[tool], VacuumIndex)
        own = {*mine, *(geoms_of(self._world, [self._world.objects[thing].body]) if touches_thing else ())}
        others = np.array([geom for geom in self._around if geom not in own], np.intp)
        back = pose_tool.rotation_matrix[:, 2]
        found: set[str] = set()
        self._data.geom_xmat[mine] = (pose_tool.rotation_matrix @ turns).reshape(-1, 9)
        for number in range(round(APPROACH_M / STEP_M) + 1):
            self._data.geom_xpos[mine] = pose_tool.apply(places) - number * STEP_M * back
            for geom in self._hits(mine, others, found):
                found.add(self._names.get(geom, FIXED))
                if any(known <= found for known in blocked):
                    return frozenset(found)
        return frozenset(found)

    def half_width_m(self, tool: str, thing: str) -> float:
        """Returns half the distance of the fingers when they hold a part."""
        figures, hand = self._world.objects[thing].figures, self._hands[tool].figures
        return part_grasp(figures, hand).width_m / 2 if isinstance(figures, PartFigures) else 0.0

    def _hits(self, mine: list[int], others: npt.NDArray[np.intp], known: Collection[str]) -> Iterator[int]:
        """Yields geoms that the tool, as it is placed now, is inside of; those of what is known are left out."""
        model, data, radii = self._world.model, self._data, self._world.model.geom_rbound
        apart_m = np.linalg.norm(data.geom_xpos[mine][:, None] - data.geom_xpos[others], axis=2)
        near = (apart_m < radii[mine][:, None] + radii[others]) | (radii[others] == 0)
        for row, column in np.argwhere(near):
            geom = int(others[column])
            if self._names.get(geom, FIXED) in known:
                continue
            if mujoco.mj_geomDistance(model, data, mine[row], geom, 0.0, None) < -TOUCH_M:
                yield geom

    def _shape(self, tool: str, half_width_m: float) -> tuple[Array, Array]:
        """Returns places and turns of a tool's geoms in the frame of its centre point."""
        key = tool, round(half_width_m, 4)
        if key not in self._shapes:
            model, hand, data = self._world.model, self._hands[tool], copy(self._world.data)
            if isinstance(hand, GripperIndex):
                hand.place_fingers(data, half_width_m)
            flags = model.opt.enableflags
            model.opt.enableflags = 0  # those that sleep stay where they are otherwise
            try:
                mujoco.mj_kinematics(model, data)
            finally:
                model.opt.enableflags = flags
            turn, middle = data.site_xmat[hand.tcp_site].reshape(3, 3), data.site_xpos[hand.tcp_site]
            mine = geoms_of(self._world, self._bodies[tool])
            places = (data.geom_xpos[mine] - middle) @ turn
            self._shapes[key] = places, turn.T @ data.geom_xmat[mine].reshape(-1, 3, 3)
        return self._shapes[key]

    def _all_around(self) -> list[int]:
        """Returns all geoms but those of robots and of the tools on them."""
        world, model = self._world, self._world.model
        roots = {int(model.body_rootid[robot.base_body]) for robot in world.robots.values()}
        theirs = {body for name in world.mounts.on.values() for body in world.loose_tools[name].bodies}
        bodies = model.geom_bodyid
        is_free = [int(model.body_rootid[body]) not in roots and int(body) not in theirs for body in bodies]
        return np.flatnonzero(is_free).tolist()


def _grasps(thing: PartFigures | TrayFigures, tool: ToolFigures, swing_deg: int) -> tuple[Pose, ...]:
    if isinstance(thing, TrayFigures):
        grip = tray_grasp(thing, tool) if isinstance(tool, VacuumFigures) and not swing_deg else None
        return () if grip is None else (Pose.from_xyz_rpy(grip.xyz_m, (np.pi, 0.0, grip.yaw_rad)),)
    if swing_deg and not isinstance(tool, GripperFigures):
        return ()
    grasp = part_grasp(thing, tool)
    turns = [2 * np.pi * number / TURNS for number in range(TURNS)]
    if grasp.yaw_rad is not None:
        turns = [grasp.yaw_rad, grasp.yaw_rad + np.pi]
    swing = Pose.from_xyz_rpy((0, 0, 0), (np.radians(swing_deg), 0, 0))
    return tuple(Pose.from_xyz_rpy(grasp.xyz_m, (np.pi, 0.0, turn)) @ swing for turn in turns)
