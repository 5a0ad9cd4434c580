"""The projectors of a cell: those that its furniture carries, and the section `projectors`, which adds to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from cellwright.catalogue import FURNITURE, ProjectorFigures
from cellwright.catalogue.furniture_kinds import CameraRigFigures
from cellwright.cells.fields import PoseCfg
from cellwright.core.camera import Camera
from cellwright.core.config import Cfg
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import ConfigError
from cellwright.core.pose import Pose
from cellwright.core.projector import Projector

if TYPE_CHECKING:
    from cellwright.cells.schema import Cell

__all__ = ["ProjectorCfg", "place_projectors"]

Pixels = Annotated[int, Field(ge=16, le=4096)]
Share = Annotated[float, Field(ge=0, le=1)]


class ProjectorCfg(Cfg):
    """A projector: of a fixture of the same name, whose figures give what is left out here, or one of its own.

    Attributes:
        pose: Its centre of projection: x is the way it throws, y the left of its pattern, z the top. Needed where
            nothing carries it.
        fov_deg: Angle of its cone across the columns. Needed where nothing carries it.
        resolution_px: Columns and rows of its pattern; 800 x 800 where nothing carries it.
        dot_px: Side of a dot of its random pattern; 3 where nothing carries it.
        color: Red, green and blue of its light, from 0 to 1; red where nothing carries it.
        strength: Light that a dot adds to what it falls on, white being 1; 0.4 where nothing carries it.
        on: Whether it is on when the cell starts.
    """

    pose: PoseCfg | None = None
    fov_deg: Annotated[float, Field(ge=1, le=170)] | None = None
    resolution_px: tuple[Pixels, Pixels] | None = None
    dot_px: Annotated[int, Field(ge=1, le=256)] | None = None
    color: tuple[Share, Share, Share] | None = None
    strength: Annotated[float, Field(gt=0, le=100)] | None = None
    on: bool = False


def place_projectors(cell: Cell, cameras: Mapping[str, Camera], errors: ErrorCollector) -> dict[str, Projector]:
    """Returns name -> projector. A fixture's projector has the fixture's name, and shares the error of its cameras.

    Args:
        cell: The cell.
        cameras: Its cameras, as they are.
        errors: Takes what is wrong with the section `projectors`.
    """
    projectors: dict[str, Projector] = {}
    for fixture, cfg in cell.fixtures.items():
        figures = FURNITURE.get(cfg.model) if cfg.model in FURNITURE else None
        if isinstance(figures, CameraRigFigures) and figures.projector is not None:
            first, own = figures.cameras[0], cell.projectors.get(fixture, ProjectorCfg())
            beside = _pose(first).inverse() @ _pose(figures.projector)
            camera = next((one for one in cameras.values() if (one.fixture, one.lens) == (fixture, first.name)), None)
            if camera is not None:  # else its own error is told
                drawn = _carried(fixture, camera.pose_in_world @ beside, figures.projector)
                projectors[fixture] = _configured(drawn, own)
    for name, own in cell.projectors.items():
        if name not in projectors:
            with errors.collecting():
                projectors[name] = _free(cell, name, own, projectors)
    return projectors


def _pose(figures: Any) -> Pose:
    return Pose.from_xyz_rpy(figures.xyz_m, figures.rpy_rad)


def _carried(name: str, pose: Pose, figures: ProjectorFigures) -> Projector:
    return Projector(
        name=name,
        pose_in_world=pose,
        fov_rad=figures.fov_rad,
        resolution_px=figures.resolution_px,
        dot_px=figures.dot_px,
        colour=figures.colour,
        strength=figures.strength,
        range_m=figures.range_m,
    )


def _configured(projector: Projector, cfg: ProjectorCfg) -> Projector:
    """Returns a projector with what the cell says of it."""
    given = {"resolution_px": cfg.resolution_px, "dot_px": cfg.dot_px, "colour": cfg.color, "strength": cfg.strength}
    changes: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if cfg.pose is not None:
        changes["pose_in_world"] = cfg.pose.pose
    if cfg.fov_deg is not None:
        changes["fov_rad"] = float(np.radians(cfg.fov_deg))
    return replace(projector, **changes, is_on=cfg.on)


def _free(cell: Cell, name: str, cfg: ProjectorCfg, carried: Mapping[str, Projector]) -> Projector:
    key, known = f"projectors.{name}", ", ".join(carried) or "none"
    if name in cell.fixtures:
        problem = f"the fixture '{name}' carries no projector (projectors of fixtures: {known})"
        raise ConfigError(cell.where, key, problem)
    missing = [field for field in ("pose", "fov_deg") if getattr(cfg, field) is None]
    if missing:
        problem = f"no fixture carries it, so it needs {' and '.join(missing)} (projectors of fixtures: {known})"
        raise ConfigError(cell.where, key, problem)
    return _configured(Projector(name, Pose.identity(), 1.0), cfg)
