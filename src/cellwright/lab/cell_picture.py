"""Pictures of a laboratory to look at: of the whole cell, or through one of its cameras."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image as PillowImage

from cellwright.core.config import validate
from cellwright.core.errors import BadInput, OutOfRange, UnknownName
from cellwright.core.rng import RandomStreams
from cellwright.rendering import choose_renderer, save_png
from cellwright.sensors import ImageCamera, Sensor
from cellwright.sensors.base import SensorContext
from cellwright.sensors.cameras import ColorCamera
from cellwright.sensors.image_camera import ImageCameraCfg
from cellwright.sim import World
from cellwright.sim.picture import cell_view

__all__ = ["CellPicture", "camera_picture", "whole_picture"]

SIZE_PX = (960, 540)
LEAST_PX, MOST_PX = 16, 8192


@dataclass(frozen=True, eq=False)
class CellPicture:
    """A picture of a cell at one moment; a notebook shows it.

    Attributes:
        array: Its pixels, (height, width, 3) of 0 to 255.
        title: What it is of.
        time_s: Simulation time at which it was taken.
    """

    array: npt.NDArray[np.uint8]
    title: str
    time_s: float

    def save(self, path: str | Path) -> Path:
        """Writes it to a PNG file, and returns its path."""
        if Path(path).suffix.lower() != ".png":
            raise BadInput(f"a picture is saved as a PNG file: {path} should end in .png")
        return save_png(self.array, path)

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        PillowImage.fromarray(self.array).save(file, format="PNG")
        return file.getvalue()

    def __repr__(self) -> str:
        height, width, _ = self.array.shape
        return f"<picture of {self.title} at {self.time_s:.2f} s, {width} x {height}; .save(FILE.png), .array>"


def whole_picture(world: World, size: tuple[int, int] | None = None) -> CellPicture:
    """Returns a picture of a world, from the view of its cell."""
    width, height = _checked(size) or SIZE_PX
    pixels = choose_renderer().render(*world.appearance.now(), cell_view(world, width / height), (width, height))
    return CellPicture(pixels, world.cell.name, world.clock.time_s)


def camera_picture(
    world: World, camera: str, sensors: Iterable[Sensor[Any]], size: tuple[int, int] | None = None
) -> CellPicture:
    """Returns a picture that a camera would take now; nobody else hears of it, and no sensor's noise goes on by it.

    Args:
        world: The world.
        camera: A camera of the cell, or a sensor that takes pictures.
        sensors: Sensors, among them those that take pictures.
        size: Columns and rows; the camera's own, at most 960 along a side, when not given.
    """
    taking = {sensor.source: sensor for sensor in sensors if isinstance(sensor, ImageCamera)}
    line: dict[str, Any] = {"camera": camera}
    if camera in taking:
        sensor = taking[camera]
        line = sensor.cfg.model_dump(include=set(ImageCameraCfg.model_fields), exclude_unset=True)
        line = {key: value for key, value in line.items() if key != "noise" or not sensor.of_depth}
        own = sensor.mount.actual.resolution_px
    elif camera in world.layout.cameras:
        own = world.layout.cameras[camera].resolution_px
    else:
        raise UnknownName("camera", camera, [*world.layout.cameras, *taking], world.cell.where)
    line |= {"type": "color_camera", "rate_hz": 0.0}
    if "region_px" not in line:
        line["resolution_px"] = _checked(size) or _small(own)
    elif size is not None:
        raise BadInput(f"the sensor {camera} takes a part of its camera's picture: leave the size to it")
    where = f"camera {camera}"
    rng = RandomStreams(world.streams.seed).stream(f"pictures/{camera}")  # not one of the world's, which it saves
    taken = ColorCamera(validate(line, ImageCameraCfg, where), SensorContext(world, rng, where)).sample()
    return CellPicture(np.asarray(taken.pixels), f"{world.cell.name} through {camera}", world.clock.time_s)


def _small(size: tuple[int, int]) -> tuple[int, int]:
    """Returns a size of the same shape that fits a notebook: few pixels are drawn sooner."""
    share = min(1.0, SIZE_PX[0] / max(size))
    return max(LEAST_PX, round(share * size[0])), max(LEAST_PX, round(share * size[1]))


def _checked(size: tuple[int, int] | None) -> tuple[int, int] | None:
    """Returns a size that a picture can have."""
    if size is None:
        return None
    if not isinstance(size, tuple | list) or len(size) != 2 or not all(isinstance(side, int) for side in size):
        raise BadInput(f"the size of a picture is columns and rows, such as (960, 540), not {size!r}")
    for side in size:
        if not LEAST_PX <= side <= MOST_PX:
            raise OutOfRange("a side of the picture", side, LEAST_PX, MOST_PX, "px")
    return size[0], size[1]
