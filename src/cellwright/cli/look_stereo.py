"""`cellwright look --detect` through a stereo camera: objects that orders to pick are about, found by dense stereo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from cellwright.core.errors import BadInput
from cellwright.drawings import Drawings
from cellwright.lab.pictures import take_pictures
from cellwright.orders.pick_order import PICK_ORDERS, PickOrder
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement
from cellwright.perception.recognition.annotate import with_outlines
from cellwright.perception.stereo.silhouette import outline_px
from cellwright.rendering import save_png
from cellwright.sensors import make_sensor, sensor_label
from cellwright.sensors.cameras import StereoCamera
from cellwright.sim import World
from cellwright.trials.pick_run import is_drawn_there
from cellwright.trials.stereo_source import dense_method

__all__ = ["look_by_stereo"]


def look_by_stereo(world: World, line: dict[str, Any], out: Path, drawings: Drawings) -> dict[str, Any]:
    """Takes a pair with the projector on, writes the left picture with what is found, and returns what is told of it.

    Raises:
        BadInput: No order to pick is about an object of the cell.
    """
    orders = _orders(drawings)
    sensor = make_sensor({**line, "rate_hz": 0.0}, world, f"camera {sensor_label(line)}")
    assert isinstance(sensor, StereoCamera)
    world.projectors.on |= dict.fromkeys(set(world.projectors.on) & {world.layout.cameras[line["left"]].fixture}, True)
    left, right = take_pictures(sensor)
    told, outlines = [], []
    for order in orders:
        method = dense_method(drawings, order)
        found = method.locate(left, right)
        told.append(_row(order, found))
        if found.pose_in_world is not None:
            known = told[-1]["yaw_deg"] is not None
            outline = outline_px(method.model, found.pose_in_world, left, with_turn=known)
            outlines.append((order.part.sku, outline, found.quality))
    save_png(with_outlines(left, outlines), out)
    pose = left.pose_camera_in_world
    return {
        "kind": "colours",
        "width": sensor.viewfinder.size_px[0],
        "height": sensor.viewfinder.size_px[1],
        "renderer": sensor.renderer.name,
        "matrix": left.matrix,
        "frame": "world",
        "position_m": pose.position,
        "quaternion": pose.quaternion,
        "detections": [row for row in told if row["status"] == MeasurementStatus.FOUND],
        "reasons": [f"{row['sku']}: {row['status']}: {row['reason']}" for row in told if row["reason"]],
    }


def _orders(drawings: Drawings) -> list[PickOrder]:
    """Returns the orders whose objects may stand in the cell, one for each kind of object and area."""
    found: dict[tuple[str, str], PickOrder] = {}
    orders = [PICK_ORDERS.get(name) for name in PICK_ORDERS.names()]
    for order in orders:
        try:
            if drawings.expected_parts.get(order.part.sku) and is_drawn_there(drawings, order):
                found.setdefault((order.model, order.pick_area), order)
        except BadInput:  # the cell has no such area
            continue
    if not found:
        kinds = ", ".join(sorted({order.model for order in orders}))
        raise BadInput(
            f"{drawings.cell.where}: --detect through a stereo camera looks for what orders to pick are about "
            f"({kinds}), and none of it is drawn on its area"
        )
    return list(found.values())


def _row(order: PickOrder, found: PoseMeasurement) -> dict[str, Any]:
    pose, variances = found.pose_in_world, found.variances
    known = variances is not None and bool(np.isfinite(variances[5]))
    return {
        "sku": order.part.sku,
        "status": found.status,
        "reason": found.reason,
        "xy_m": None if pose is None else pose.position[:2].tolist(),
        "yaw_deg": float(np.degrees(pose.rpy[2])) if pose is not None and known else None,
        "sd_m": None if variances is None else float(np.sqrt(variances[:2].max())),
        "score": found.quality,
    }
