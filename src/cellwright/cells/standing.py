"""Furniture as it really is, and all that stands on it and moves with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cellwright.catalogue import FURNITURE, TRAYS, BoxFigures, ToolHolderFigures, TrayFigures
from cellwright.catalogue.furniture_kinds import FurnitureFigures, TableFigures
from cellwright.cells.actual import PoseErrorCfg, about
from cellwright.cells.placement import Placement
from cellwright.cells.straight_slots import tray_figures
from cellwright.core.pose import Pose

if TYPE_CHECKING:
    from cellwright.cells.schema import Cell

__all__ = ["Standing", "drawn_trays", "pivot_m", "place_fixtures", "place_trays"]

STANDS_M = 0.02  # what is drawn no lower than this below a top stands on it; furniture no higher above it either
WALL_GAP_M = 0.0005  # between a tray and the walls of its box

SHARES = 201  # of an error that are tried until it keeps within walls

DrawError = Callable[[PoseErrorCfg, str], Pose]
"""Returns one draw of the errors of something of that name."""


@dataclass(frozen=True)
class _Top:
    """A piece on which things stand, where it is drawn and where it is."""

    figures: TableFigures | BoxFigures
    drawn: Pose
    actual: Pose

    @cached_property
    def is_still(self) -> bool:
        same = np.array_equal(self.drawn.position, self.actual.position)
        return same and np.array_equal(self.drawn.quaternion, self.actual.quaternion)


class Standing:
    """The tables and boxes of a cell, by the drawings and as they are, and what moves with them.

    Args:
        cell: The cell.
        fixtures: Fixture -> where it is; on those that are left out nothing stands.
    """

    def __init__(self, cell: Cell, fixtures: Mapping[str, Pose]) -> None:
        models = {name: FURNITURE.get(cell.fixtures[name].model) for name in fixtures}
        self._tops = [
            _Top(figures, cell.fixtures[name].pose.pose, fixtures[name])
            for name, figures in models.items()
            if isinstance(figures, TableFigures | BoxFigures)
        ]

    def moved(self, pose_drawn: Pose, *, near: bool = False) -> Pose:
        """Returns where something that is drawn at a pose is, when it has moved with what it stands on.

        Args:
            pose_drawn: Where it is drawn.
            near: Whether it stands on what is just below it alone; otherwise it falls down to the next top.
        """
        top = self._below(pose_drawn, near=near)
        return pose_drawn if top is None or top.is_still else top.actual @ (top.drawn.inverse() @ pose_drawn)

    def within_walls(self, pose_drawn: Pose, tray: TrayFigures, error: Pose) -> Pose:
        """Returns the error of a tray, less of it if the walls of the box that it is drawn in leave less room."""
        top = self._below(pose_drawn, near=False)
        if top is None or not isinstance(top.figures, BoxFigures):
            return error
        pose_in_box, corners = top.drawn.inverse() @ pose_drawn, np.array(_corners(tray))
        place = min(top.figures.places_xyz_m, key=lambda spot: abs(spot[0] - pose_in_box.position[0]))
        room = np.array(top.figures.inner_size_m) / 2 - WALL_GAP_M

        def fits(some: Pose) -> bool:
            return bool((np.abs((pose_in_box @ some).apply(corners) - place)[:, :2] <= room).all())

        if fits(error) or not fits(Pose.identity()):
            return error
        shares = np.linspace(1.0, 0.0, SHARES)
        return next(some for share in shares if fits(some := Pose.identity().interpolate(error, float(share))))

    def _below(self, pose_drawn: Pose, *, near: bool) -> _Top | None:
        found = [
            (float(top.drawn.position[2]) + top_m, number)
            for number, top in enumerate(self._tops)
            if (top_m := _top_below(top.figures, top.drawn.inverse().apply(pose_drawn.position), near=near)) is not None
        ]
        return self._tops[max(found)[1]] if found else None


def _top_below(figures: TableFigures | BoxFigures, xyz_m: np.ndarray, *, near: bool) -> float | None:
    """Returns the height of the top that carries something at a point, all in the piece's frame; None if none does."""
    if isinstance(figures, TableFigures):
        size_m, top_m = figures.size_m, figures.top_m
    else:
        size_m, top_m = figures.outer_size_m, figures.bottom_m
    above_m = float(xyz_m[2]) - top_m
    is_over = bool((np.abs(xyz_m[:2]) <= np.array(size_m) / 2).all())
    return top_m if is_over and above_m >= -STANDS_M and not (near and above_m > STANDS_M) else None


def pivot_m(figures: FurnitureFigures) -> tuple[float, float, float]:
    """Returns the point of a piece of furniture about which its error turns it, in its own frame."""
    if isinstance(figures, TableFigures):
        return (0.0, 0.0, figures.top_m)
    return (0.0, 0.0, figures.rail_top_m if isinstance(figures, ToolHolderFigures) else 0.0)


def place_fixtures(cell: Cell, draw: DrawError) -> dict[str, Pose]:
    """Returns fixture -> where it really is: tables with their errors, what stands on them moved along.

    Floor, fences, camera posts, and what is no table and stands on none are where they are drawn.
    """
    actual, placed = cell.actual, dict[str, Pose]()
    models = {name: FURNITURE.get(fixture.model) for name, fixture in cell.fixtures.items()}

    def off(pose: Pose, errors: PoseErrorCfg, name: str) -> Pose:
        return pose if errors == PoseErrorCfg() else pose @ about(pivot_m(models[name]), draw(errors, name))

    for name, figures in models.items():
        if isinstance(figures, TableFigures):
            placed[name] = off(cell.fixtures[name].pose.pose, actual.table, name)
    tables = Standing(cell, placed)
    for name, figures in models.items():
        pose = cell.fixtures[name].pose.pose
        if isinstance(figures, BoxFigures):
            stands = tables.moved(pose, near=True)
            placed[name] = _lifted(stands, off(stands, actual.box, name), figures)
        elif isinstance(figures, ToolHolderFigures):
            placed[name] = off(tables.moved(pose, near=True), actual.holder, name)
        elif not isinstance(figures, TableFigures):
            placed[name] = pose if figures.cameras else tables.moved(pose, near=True)
    return {name: placed[name] for name in cell.fixtures}


def _lifted(pose_stands: Pose, pose: Pose, box: BoxFigures) -> Pose:
    """Returns the pose of a box, lifted until no corner is below what it stands on."""
    x_m, y_m = (side_m / 2 for side_m in box.outer_size_m[:2])
    corners = pose.apply([(x, y, 0.0) for x in (-x_m, x_m) for y in (-y_m, y_m)])
    below_m = -float(pose_stands.inverse().apply(corners)[:, 2].min())
    up = pose_stands @ Pose.from_xyz_rpy((0.0, 0.0, max(below_m, 0.0))) @ pose_stands.inverse()
    return up @ pose if below_m > 0.0 else pose


def drawn_trays(cell: Cell) -> list[Placement]:
    """Returns the trays where they are drawn."""
    return [
        Placement(name, tray_figures(cell, name).name, tray.pose.pose, f"trays.{name}.pose", is_clamped=tray.clamped)
        for name, tray in cell.trays.items()
    ]


def place_trays(cell: Cell, standing: Standing, draw: DrawError) -> list[Placement]:
    """Returns the trays, in the order of the file, moved with what they stand on and by errors of their own.

    One that is tilted is lifted until no corner is below the drawn height, and what is stacked on it with it: it falls
    flat when the world settles. One that is clamped lies flat from the start.
    """
    placed = {tray.name: tray for tray in drawn_trays(cell)}
    lifted: list[tuple[TrayFigures, Pose, float]] = []  # with the height by which each reaches above its drawing
    for tray in sorted(placed.values(), key=lambda tray: float(tray.pose_in_world.position[2])):
        name, drawn, figures = tray.name, tray.pose_in_world, TRAYS.get(tray.model)
        error = standing.within_walls(drawn, figures, draw(cell.actual.tray, name))
        if tray.is_clamped:  # down onto what it stands on, where a loose one falls
            error = Pose.from_xyz_rpy([*error.position[:2], 0.0], [0.0, 0.0, error.rpy[2]])
        heights_m = error.apply(_corners(figures))[:, 2]
        below_m = [up_m for other, pose, up_m in lifted if _is_over(other, pose, drawn)]
        lift_m = max(0.0, -float(heights_m.min())) + max(below_m, default=0.0)
        lifted.append((figures, drawn, lift_m + float(heights_m.max())))
        if lift_m:
            error = Pose(error.position + np.array([0.0, 0.0, lift_m]), error.quaternion)
        placed[name] = replace(tray, pose_in_world=standing.moved(drawn) @ error)
    return list(placed.values())


def _corners(tray: TrayFigures) -> list[tuple[float, float, float]]:
    x_m, y_m = (side_m / 2 for side_m in tray.size_m)
    return [(x_m, y_m, 0.0), (x_m, -y_m, 0.0), (-x_m, y_m, 0.0), (-x_m, -y_m, 0.0)]


def _is_over(tray: TrayFigures, pose_tray: Pose, pose: Pose) -> bool:
    x, y, z = pose_tray.inverse().apply(pose.position)
    return bool(abs(x) <= tray.size_m[0] / 2 and abs(y) <= tray.size_m[1] / 2 and z > 0)
