"""Pictures of cameras as rows: small, few, with what was detected in them."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping

import numpy as np
from PIL import Image as Pictures

from cellwright.core.messages import CameraInfo, CameraPose, Detections, Image
from cellwright.core.pose import Pose
from cellwright.viewing.rows import Row, Rows

__all__ = ["PictureRows"]

PERIOD_S = 1.0
MOST_COLUMNS, QUALITY = 480, 60
BOX_M = 0.03  # half the side of what is marked


class PictureRows:
    """Rows of pictures, at most one per camera and second.

    Args:
        rows: Takes the rows.
        cameras: Topic of a sensor's pictures -> the cell's camera that took them.
    """

    def __init__(self, rows: Rows, cameras: Mapping[str, str]) -> None:
        self._rows, self._cameras = rows, cameras
        self._taken_s: dict[str, float] = {}
        self._infos: dict[str, CameraInfo] = {}
        self._poses: dict[str, CameraPose] = {}

    def take_facts(self, message: CameraInfo | CameraPose) -> None:
        """Notes where the camera of a frame is, and how it maps."""
        if isinstance(message, CameraInfo):
            self._infos[message.frame] = message
        else:
            self._poses[message.camera_frame] = message

    def take_picture(self, time_s: float, topic: str, image: Image, detected: Iterable[Detections]) -> None:
        """Adds a picture, with boxes round what was detected, if it is time for it."""
        camera = self._cameras.get(topic) or topic.strip("/").removesuffix("/image_raw")
        if time_s - self._taken_s.get(camera, -np.inf) < PERIOD_S - 1e-9:
            return
        self._taken_s[camera] = time_s
        pixels = np.asarray(image.pixels)
        scale = min(1.0, MOST_COLUMNS / pixels.shape[1])
        size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
        file = io.BytesIO()
        Pictures.fromarray(pixels).resize(size).save(file, "JPEG", quality=QUALITY)
        src = "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode("ascii")
        boxes = self._boxes(image.frame, size, detected)
        self._rows.add("pictures", {"time_s": time_s, "camera": camera, "src": src, "boxes": boxes})

    def _boxes(self, frame: str, size: tuple[int, int], detected: Iterable[Detections]) -> list[Row]:
        info, place = self._infos.get(frame), self._poses.get(frame)
        if info is None or place is None or place.frame != "world":
            return []
        world_in_camera = Pose(place.position, place.quaternion).inverse()
        columns = info.region_px[2] / info.binning
        matrix = np.array(info.matrix) * (size[0] / columns)
        boxes: list[Row] = []
        for found in detected:
            for sku, position in zip(found.skus, found.positions, strict=True):
                x, y, z = (float(value) for value in world_in_camera.apply(np.asarray(position, float)))
                if z <= 0:
                    continue
                half = matrix[0, 0] * BOX_M / z
                across, down = matrix[0, 0] * x / z + matrix[0, 2], matrix[1, 1] * y / z + matrix[1, 2]
                if 0 <= across < size[0] and 0 <= down < size[1]:
                    text = sku.removeprefix("sku_").removeprefix("part_")
                    box = {"x": across - half, "y": down - half, "w": 2 * half, "h": 2 * half}
                    boxes.append({key: round(float(value), 1) for key, value in box.items()} | {"text": text})
        return boxes
