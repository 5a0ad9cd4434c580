"""Pictures of a cell's cameras as perception reads them, from the messages of one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cellwright.perception.calibration import Calibration, calibrated_camera_messages
from cellwright.perception.picture import Picture, read_picture
from cellwright.sensors.cameras import ColorCamera, StereoCamera

__all__ = ["picture_topics", "read_pictures", "take_pictures"]

ENDS = ("image_raw", "camera_info", "camera_pose")


def picture_topics(camera: ColorCamera | StereoCamera) -> list[str]:
    """Returns the topics of all messages that a camera's pictures are read from."""
    return [topic for topics in _sides(camera).values() for topic in topics]


def take_pictures(camera: ColorCamera | StereoCamera) -> tuple[Picture, ...]:
    """Takes a picture, or a pair, left first, that nobody else hears of."""
    first, beside = camera.taken()
    return read_pictures(camera, {camera.topic: first, **dict(beside)})


def read_pictures(
    camera: ColorCamera | StereoCamera, heard: Mapping[str, Any], calibration: Calibration | None = None
) -> tuple[Picture, ...]:
    """Returns the pictures of one moment, of a pair the left first; none where a message is missing.

    Args:
        camera: Which took them.
        heard: Topic -> message.
        calibration: What was measured of the cell's cameras, in place of what is drawn.
    """
    if not heard.keys() >= set(picture_topics(camera)):
        return ()
    pictures = []
    for side, topics in _sides(camera).items():
        image, info, pose = (heard[topic] for topic in topics)
        if calibration is not None:
            lens = getattr(camera.cfg, side or "camera") or camera.source
            info, pose = calibrated_camera_messages(calibration, lens, info, pose)
        picture = read_picture(image, info, pose)
        pictures.append(replace(picture, source=f"{picture.source} {side}".strip()))
    return tuple(pictures)


def _sides(camera: ColorCamera | StereoCamera) -> dict[str, list[str]]:
    """Returns side -> topics of its picture, intrinsics and pose; of one camera, the side has no name."""
    sides = ("left", "right") if isinstance(camera, StereoCamera) else ("",)
    return {side: [camera.topic_of(f"{side}/{end}".lstrip("/")) for end in ENDS] for side in sides}
