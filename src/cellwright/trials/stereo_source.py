"""The pose of an object by a stereo camera of the cell, with its projector on and, when looked again, off."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from cellwright.core.errors import BadInput
from cellwright.core.extras import need_extra
from cellwright.drawings.planning_scene import table_area
from cellwright.execution.async_clock import AsyncClock
from cellwright.orders.pick_order import PickOrder
from cellwright.perception.picture import Picture
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement
from cellwright.trials.controller_ports import ControllerPorts, LightSwitch, PictureSource

__all__ = ["StereoMethod", "StereoSource", "dense_stereo_source"]

LIGHT_S = 0.05  # until a projector has its full light
MEASURING_S = 0.15  # from a pair of pictures to a pose; estimated


class StereoMethod(Protocol):
    """A method that finds one kind of object in a pair of pictures."""

    def locate(self, left: Picture | None, right: Picture | None) -> PoseMeasurement:
        """Returns its pose, or the reason why there is none; never raises for pictures that are bad."""


@dataclass
class StereoSource:
    """Measures an object in pairs of pictures; every second look is without the projector, which does not light all.

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
        self.looks += 1
        if light is not None:
            light(True)
            await self.clock.sleep(LIGHT_S)
        try:
            pictures = self.camera()
        finally:
            if light is not None:
                light(False)
        await self.clock.sleep(MEASURING_S)
        if len(pictures) != 2:
            reason = f"the stereo camera gave {len(pictures)} pictures, not two"
            return PoseMeasurement(status=MeasurementStatus.BAD_PAIR, reason=reason)
        return self.method.locate(*pictures)


def dense_stereo_source(ports: ControllerPorts, order: PickOrder) -> StereoSource:
    """Returns dense stereo by the cell's own pair, for the object of an order on its area.

    Raises:
        BadInput: The cell has no stereo camera.
        MissingExtra: without the optional packages.
    """
    need_extra("dense stereo", "vision", "cv2", "scipy")
    from cellwright.perception.stereo import DENSE_METHODS, Workspace, model_of

    cell, area = ports.drawings.cell, table_area(ports.drawings.fixtures, order.pick_area)
    pairs = [line for _, line in cell.sensor_lines() if line.get("type") == "stereo_camera"]
    if not pairs:
        raise BadInput(f"{cell.where}: the cell has no stereo camera, by which {order.name} finds what it picks")
    corners = area.corners_in_world
    (low_x, low_y, _), (high_x, high_y, _) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    space = Workspace((low_x, low_y), (high_x, high_y), float(area.pose_in_world.position[2]))
    method = DENSE_METHODS.get("fast")(model_of(order.part), space)
    lens = ports.drawings.layout.cameras[str(pairs[0]["left"])]
    return StereoSource(ports.clock, ports.cameras[str(pairs[0]["name"])], method, ports.projectors.get(lens.fixture))
