"""The pose of an object by a stereo camera of the cell, with its projector on; looked again, off, and for longer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cellwright.catalogue import PARTS
from cellwright.core.errors import BadInput
from cellwright.core.extras import need_extra
from cellwright.drawings import Drawings
from cellwright.drawings.planning_scene import table_area
from cellwright.execution.async_clock import AsyncClock
from cellwright.orders.pick_order import PickOrder
from cellwright.perception.picture import Picture
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement
from cellwright.trials.controller_ports import ControllerPorts, LightSwitch, PictureSource

if TYPE_CHECKING:
    from cellwright.perception.stereo import DenseStereo

__all__ = ["StereoMethod", "StereoSource", "dense_method", "dense_stereo_source", "mean_picture"]

LIGHT_S = 0.05  # until a projector has its full light
MEASURING_S = 0.15  # from a pair of pictures to a pose; estimated
FRAME_S = 1 / 30  # between two pairs, as fast as the cameras of the ROVI workcell
MORE_FRAMES = 8  # of which the mean is taken when it is looked again: noise is a third


class StereoMethod(Protocol):
    """A method that finds one kind of object in a pair of pictures."""

    def locate(self, left: Picture | None, right: Picture | None) -> PoseMeasurement:
        """Returns its pose, or the reason why there is none; never raises for pictures that are bad."""


@dataclass
class StereoSource:
    """Measures an object in pairs of pictures.

    When it is looked again the mean of several pairs is taken, which have less noise together; every second look is
    without the projector, which does not light all.

    Attributes:
        clock: Time that looking takes.
        camera: Takes a pair.
        method: Finds the object.
        light: Switches the projector; None without one.
        looks: How often it was looked.
    """

    clock: AsyncClock
    camera: PictureSource
    method: StereoMethod
    light: LightSwitch | None = None
    looks: int = field(default=0, init=False)

    async def measure(self) -> PoseMeasurement:
        """Measures it now; the projector is on for as long as the pictures take, at most."""
        light = self.light if self.looks % 2 == 0 else None
        frames = 1 if self.looks == 0 else MORE_FRAMES
        self.looks += 1
        if light is not None:
            light(True)
            await self.clock.sleep(LIGHT_S)
        try:
            taken = [self.camera()]
            while len(taken) < frames and len(taken[0]) == 2:
                await self.clock.sleep(FRAME_S)
                taken.append(self.camera())
        finally:
            if light is not None:
                light(False)
        await self.clock.sleep(MEASURING_S)
        pairs = [pair for pair in taken if len(pair) == 2]
        if not pairs:
            reason = f"the stereo camera gave {len(taken[0])} pictures, not two"
            return PoseMeasurement(status=MeasurementStatus.BAD_PAIR, reason=reason)
        left, right = (mean_picture(views) for views in zip(*pairs, strict=True))
        return self.method.locate(left, right)


def mean_picture(pictures: Sequence[Picture]) -> Picture:
    """Returns the mean of pictures of one camera, with the time of the last; of other sizes, the last alone."""
    last = pictures[-1]
    if len({picture.pixels.shape for picture in pictures}) > 1 or len(pictures) == 1:
        return last
    total = np.sum([picture.pixels for picture in pictures], axis=0, dtype=np.uint16)
    return replace(last, pixels=np.rint(total / len(pictures)).astype(np.uint8))


def dense_stereo_source(ports: ControllerPorts, order: PickOrder) -> StereoSource:
    """Returns dense stereo by the cell's own pair, for the object of an order on its area.

    Where other things stand by the drawings, it is not looked for.

    Raises:
        BadInput: The cell has no stereo camera.
        MissingExtra: without the optional packages.
    """
    cell = ports.drawings.cell
    pairs = [line for _, line in cell.sensor_lines() if line.get("type") == "stereo_camera"]
    if not pairs:
        raise BadInput(f"{cell.where}: the cell has no stereo camera, by which {order.name} finds what it picks")
    lens = ports.drawings.layout.cameras[str(pairs[0]["left"])]
    method = dense_method(ports.drawings, order)
    return StereoSource(ports.clock, ports.cameras[str(pairs[0]["name"])], method, ports.projectors.get(lens.fixture))


def dense_method(drawings: Drawings, order: PickOrder) -> DenseStereo:
    """Returns the dense stereo that finds the object of an order on its area; not where other things are drawn.

    Raises:
        BadInput: The cell has no such area.
        MissingExtra: without the optional packages.
    """
    need_extra("dense stereo", "vision", "cv2", "scipy")
    from cellwright.perception.stereo import DENSE_METHODS, Workspace, model_of

    area = table_area(drawings.fixtures, order.pick_area)
    corners = area.corners_in_world
    (low_x, low_y, _), (high_x, high_y, _) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    others = tuple(
        (float(part.pose_in_world.position[0]), float(part.pose_in_world.position[1]), PARTS.get(part.model).radius_m)
        for part in drawings.layout.parts
        if part.model != order.model
    )
    space = Workspace((low_x, low_y), (high_x, high_y), float(area.pose_in_world.position[2]), others=others)
    return DENSE_METHODS.get("fast")(model_of(order.part), space)
