"""Boxes of kit trays and of finished kits, and the tables between them, for the description of a workstation.

A box in which kit trays are drawn is a supply of them; any other takes finished kits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import pi

import numpy as np

from cellwright.catalogue import (
    CHANGERS,
    FURNITURE,
    ROBOTS,
    TOOLS,
    TRAYS,
    BoxFigures,
    TrayKind,
    tray_grasp,
    tray_of_sku,
)
from cellwright.catalogue.vacuum import VacuumFigures
from cellwright.cells import Cell, Layout, Placement, RobotCfg
from cellwright.core.pose import Pose
from cellwright.drawings.reach import APPROACH_M, SlotReach
from cellwright.drawings.spreads import spread_of
from cellwright.knowledge.tray_layout import tray_layout
from cellwright.knowledge.workstation import BoxOfKits, Place, ReachBox, StackOfTrays, WorkTable
from cellwright.motion import ArmKinematics

__all__ = ["TrayPlaces"]

HEADROOM_M = 0.15
MIDDLE = (0.0, 0.0, 0.0)  # trays are near the middle of their boxes, and the tables of these are turned by little
SPARE_M = 0.002  # what stands in a box may seem to be higher than it is by so much


class TrayPlaces:
    """Supplies and outlets of kit trays in one cell.

    Attributes:
        stacks: Boxes of empty kit trays.
        boxes: Boxes for finished kits.
        in_boxes: The trays that lie in boxes.
    """

    def __init__(self, cell: Cell, layout: Layout) -> None:
        self._cell = cell
        self._layout = layout
        self._boxes = {
            name: figures
            for name, fixture in cell.fixtures.items()
            if isinstance(figures := FURNITURE.get(fixture.model), BoxFigures)
        }
        content = {name: list(self._inside(name, figures)) for name, figures in self._boxes.items()}
        self.in_boxes = frozenset(tray.name for trays in content.values() for tray in trays)
        self.stacks = tuple(self._stack(name, trays) for name, trays in content.items() if trays)
        self.boxes = tuple(
            BoxOfKits(name, Place(self._floor(name)), figures.capacity, _room_m(figures))
            for name, figures in self._boxes.items()
            if not content[name]
        )

    def _floor(self, box: str) -> Pose:
        """Returns the middle of the floor in a box, which is its origin for what is put in."""
        return self._layout.fixtures[box] @ Pose.from_xyz_rpy((0.0, 0.0, self._boxes[box].bottom_m))

    def _inside(self, box: str, figures: BoxFigures) -> Iterator[Placement]:
        from_world = self._layout.fixtures[box].inverse()
        for tray in self._layout.trays:
            is_kit_tray = TRAYS.get(tray.model).kind is TrayKind.KIT
            if is_kit_tray and figures.holds(from_world.apply(tray.pose_in_world.position).tolist()):
                yield tray

    def _stack(self, box: str, trays: Sequence[Placement]) -> StackOfTrays:
        pose_box, errors = self._floor(box), self._cell.actual
        upwards = sorted(trays, key=lambda tray: float(tray.pose_in_world.position[2]))
        spread = spread_of(errors.tray, (errors.box, MIDDLE), (errors.table, MIDDLE))
        placed = tuple((t.name, Place(pose_box.inverse() @ t.pose_in_world, box, spread)) for t in upwards)
        sku = TRAYS.get(trays[0].model).sku
        return StackOfTrays(box, sku, Place(pose_box), len(placed), placed, _room_m(self._boxes[box], sku))

    # ------------------------------------------------------------ who gets there

    def reached(
        self, robot: str, tools: Iterable[str], grippers: Iterable[RobotCfg], tables: Iterable[WorkTable]
    ) -> Iterator[ReachBox]:
        """Yields a box round every box and table at which a robot can take and set down kit trays, and fill them.

        Args:
            robot: Its name.
            tools: Models of the tools that it can have.
            grippers: The robot with each of its grippers.
            tables: Those that carry nothing.
        """
        cups = [figures for tool in tools if isinstance(figures := TOOLS.get(tool), VacuumFigures)]
        skus = sorted({stack.tray_sku for stack in self.stacks})
        if not cups or not skus:
            return
        for stack in self.stacks:
            poses = [stack.place.pose @ place.pose for _, place in stack.trays]
            if self._carries(robot, cups, stack.tray_sku, poses):
                yield self._around(robot, stack.name)
        for box in self.boxes:
            drawn = self._layout.fixtures[box.name]
            poses = [drawn @ Pose.from_xyz_rpy(xyz) for xyz in self._boxes[box.name].places_xyz_m]
            if all(self._carries(robot, cups, sku, poses) for sku in skus):
                yield self._around(robot, box.name)
        fillers = [SlotReach(cfg, self._layout.bases[robot]) for cfg in grippers]
        for table in tables:
            pose = pose_on_table(table)
            can_fill = all(any(one.reached([(pose, tray_layout(s).slots)])[0] for one in fillers) for s in skus)
            if can_fill and all(self._carries(robot, cups, sku, [pose]) for sku in skus):
                x, y, _ = pose.position.tolist()
                half_x, half_y, _ = (size_m / 2 for size_m in table.size_m)
                z = float(pose.position[2])
                low, high = (x - half_x, y - half_y, z - 0.01), (x + half_x, y + half_y, z + HEADROOM_M)
                yield ReachBox(f"{robot}_reaches_{table.name}", low, high)

    def _carries(self, robot: str, cups: Iterable[VacuumFigures], sku: str, poses_tray: Sequence[Pose]) -> bool:
        """Returns whether one of the tools takes such a tray at all these places, and gets above them."""
        cfg = self._cell.robots[robot]
        tray = tray_of_sku(sku)
        kinematics, base = ArmKinematics(ROBOTS.get(cfg.model)), self._layout.bases[robot].inverse()
        for tool in cups:
            grip = None if tray is None else tray_grasp(tray, tool)
            if grip is None:
                continue
            tcp = tool.tcp_xyz_m if cfg.changer is None else CHANGERS.get(cfg.changer).tcp_in_flange_m(tool.tcp_xyz_m)
            flange_in_tcp = Pose.from_xyz_rpy(tcp).inverse()
            if all(
                any(
                    _both(kinematics, base @ pose, grip.xyz_m, grip.yaw_rad + turn, flange_in_tcp, cfg)
                    for turn in (0.0, pi)
                )
                for pose in poses_tray
            ):
                return True
        return False

    def _around(self, robot: str, box: str) -> ReachBox:
        figures, pose = self._boxes[box], self._layout.fixtures[box]
        x, y = (size_m / 2 for size_m in figures.outer_size_m)
        corners = pose.apply([[sx * x, sy * y, 0.0] for sx in (-1, 1) for sy in (-1, 1)])
        low, high = corners.min(axis=0) - [0.0, 0.0, 0.01], corners.max(axis=0) + [0.0, 0.0, HEADROOM_M]
        return ReachBox(f"{robot}_reaches_{box}", tuple(low.tolist()), tuple(high.tolist()))


def pose_on_table(table: WorkTable) -> Pose:
    """Returns the pose of a kit tray on a table that is kept for it: in the middle."""
    return table.place.pose @ Pose.from_xyz_rpy((0.0, 0.0, table.size_m[2]))


def _both(
    kinematics: ArmKinematics,
    pose_tray_in_base: Pose,
    xyz_m: tuple[float, float, float],
    yaw_rad: float,
    flange_in_tcp: Pose,
    cfg: RobotCfg,
) -> bool:
    """Returns whether the tool gets to a tray and to the approach above it."""
    x, y, z = xyz_m
    poses = [
        pose_tray_in_base @ Pose.from_xyz_rpy((x, y, z + up_m), (pi, 0.0, yaw_rad)) @ flange_in_tcp
        for up_m in (0.0, APPROACH_M)
    ]
    return all(len(found) for found in kinematics.inverse_of_many(poses, np.radians(cfg.home_deg)))


def _room_m(figures: BoxFigures, tray_sku: str = "") -> tuple[float, float, float]:
    """Returns the size of the space in a box: over all compartments, as high as its walls or its stack."""
    x, y = figures.outer_size_m
    stacked_m = figures.layers * tray_layout(tray_sku).size_m[2] if tray_sku else 0.0
    walls_m = 2 * figures.wall_m
    return (x - walls_m, y - walls_m, max(figures.height_m - figures.bottom_m, stacked_m + SPARE_M))
