"""The cameras of a cell: those that its furniture carries, and the section `cameras`, which adds to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from cellwright.catalogue import FURNITURE
from cellwright.catalogue.cameras import CameraFigures
from cellwright.cells.actual import about
from cellwright.cells.fields import PoseCfg
from cellwright.core.camera import Camera, LensError
from cellwright.core.config import Cfg
from cellwright.core.error_collector import ErrorCollector
from cellwright.core.errors import ConfigError
from cellwright.core.pose import Pose

if TYPE_CHECKING:
    from cellwright.cells.schema import Cell

__all__ = ["CameraCfg", "nominal_cameras", "place_cameras"]

Pixels = Annotated[int, Field(ge=16, le=20000)]


class CameraCfg(Cfg):
    """A camera: of a fixture of the same name, whose figures give what is left out here, or one that nothing carries.

    Attributes:
        pose: Its centre of projection, as calibrated: x is the way it looks, y the left of its picture, z the top;
            `rpy_deg: [0, 90, 90]` looks straight down with y of the cell upwards. Needed where nothing carries it.
        fov_deg: Angle of view across the columns. Needed where nothing carries it.
        resolution_px: Columns and rows of its picture; 2048 x 2048 where nothing carries it.
        rate_hz: Pictures per second, which no detector can exceed; 30 where nothing carries it.
    """

    pose: PoseCfg | None = None
    fov_deg: Annotated[float, Field(ge=1, le=170)] | None = None
    resolution_px: tuple[Pixels, Pixels] | None = None
    rate_hz: Annotated[float, Field(gt=0, le=5000)] | None = None


def nominal_cameras(cell: Cell) -> dict[str, Camera]:
    """Returns the cameras of a cell as calibrated, by the drawings; entries that make no sense are left out."""
    return place_cameras(cell, lambda _name: Pose.identity(), lambda _name: None, ErrorCollector())


def place_cameras(
    cell: Cell,
    error_of: Callable[[str], Pose],
    lens_of: Callable[[str], LensError | None],
    errors: ErrorCollector,
) -> dict[str, Camera]:
    """Returns name -> camera. A fixture's camera has the fixture's name; of several, `<fixture>_<camera>` each.

    Args:
        cell: The cell.
        error_of: Fixture, or camera that nothing carries -> how far it is mounted off its drawing, in its own frame,
            turned about its first camera's centre of projection.
        lens_of: Camera -> the error of its lens.
        errors: Takes what is wrong with the section `cameras`.
    """
    cameras: dict[str, Camera] = {}
    for fixture, cfg in cell.fixtures.items():
        if carried := _carried(cfg.model):
            place, error = cfg.pose.pose, error_of(fixture)
            names = [fixture if len(carried) == 1 else f"{fixture}_{figures.name}" for figures in carried]
            made = [_camera(name, fixture, place, figures) for name, figures in zip(names, carried, strict=True)]
            first = cell.cameras.get(names[0], CameraCfg()).pose
            centre = place.inverse().apply(first.xyz_m if first else made[0].pose_in_world.position)
            for camera in made:
                with errors.collecting():
                    own, lens = cell.cameras.get(camera.name), lens_of(camera.name)
                    cameras[camera.name] = _configured(camera, own, place, about(centre, error), lens)
    for name, own in cell.cameras.items():
        if name not in cameras:
            with errors.collecting():
                cameras[name] = _free(cell, name, own, cameras, error_of, lens_of)
    return cameras


def _carried(model: str) -> tuple[CameraFigures, ...]:
    return FURNITURE.get(model).cameras if model in FURNITURE else ()


def _camera(name: str, fixture: str, place: Pose, figures: CameraFigures) -> Camera:
    return Camera(
        name=name,
        pose_in_world=place @ Pose.from_xyz_rpy(figures.xyz_m, figures.rpy_rad),
        fov_rad=figures.fov_rad,
        resolution_px=figures.resolution_px,
        rate_hz=figures.rate_hz,
        range_m=figures.range_m,
        noise_sd=figures.noise_sd,
        fixture=fixture,
        lens=figures.name,
    )


def _configured(
    camera: Camera, cfg: CameraCfg | None, place: Pose, error: Pose, lens_error: LensError | None
) -> Camera:
    """Returns a camera with what the cell says of it, mounted off its place by an error in the frame of that."""
    cfg = cfg or CameraCfg()
    pose = cfg.pose.pose if cfg.pose is not None else camera.pose_in_world
    return replace(
        camera,
        pose_in_world=place @ error @ place.inverse() @ pose,
        fov_rad=camera.fov_rad if cfg.fov_deg is None else float(np.radians(cfg.fov_deg)),
        resolution_px=cfg.resolution_px or camera.resolution_px,
        rate_hz=cfg.rate_hz or camera.rate_hz,
        lens_error=lens_error,
    )


def _free(
    cell: Cell,
    name: str,
    cfg: CameraCfg,
    carried: Mapping[str, Camera],
    error_of: Callable[[str], Pose],
    lens_of: Callable[[str], LensError | None],
) -> Camera:
    key, known = f"cameras.{name}", ", ".join(camera for camera in carried if carried[camera].fixture) or "none"
    if name in cell.fixtures:
        problem = f"the fixture '{name}' carries no single camera of this name (cameras of fixtures: {known})"
        raise ConfigError(cell.where, key, problem)
    missing = [field for field in ("pose", "fov_deg") if getattr(cfg, field) is None]
    if cfg.pose is None or cfg.fov_deg is None:
        problem = f"no fixture carries it, so it needs {' and '.join(missing)} (cameras of fixtures: {known})"
        raise ConfigError(cell.where, key, problem)
    upright = Pose.from_xyz_rpy(cfg.pose.xyz_m)  # errors are along the cell's axes, as there is no piece to be turned
    camera = Camera(name, cfg.pose.pose, float(np.radians(cfg.fov_deg)))
    return _configured(camera, cfg, upright, error_of(name), lens_of(name))
