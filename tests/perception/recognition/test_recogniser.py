"""Recognition from above: what is seen, what is not invented, what bad pictures give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.drawings import Drawings
from cellwright.drawings.recognition import recognition_model
from cellwright.perception.picture import Picture

pytest.importorskip("cv2", reason="the extra vision is not installed")
from cellwright.perception.recognition import OverheadRecogniser


@pytest.fixture(scope="module")
def recogniser() -> OverheadRecogniser:
    return OverheadRecogniser(recognition_model(Drawings.of(load_cell("aprs"))))


def picture(pixels: np.ndarray, **changed: object) -> Picture:
    size = pixels.shape[1], pixels.shape[0]
    focal = 2302.29 * size[0] / 2048
    usual = Picture(
        source="camera_fanuc",
        time_s=1.5,
        pixels=pixels,
        matrix=np.array([[focal, 0, size[0] / 2], [0, focal, size[1] / 2], [0, 0, 1]]),
        distortion=np.zeros(5),
        pose_camera_in_world=Pose(np.array([0.359, -1.157, 1.963]), np.array([0.0, 1.0, 0.0, 0.0])),
        size_px=size,
    )
    return replace(usual, **changed)


@pytest.mark.parametrize(
    ("pixels", "word"),
    [
        (np.zeros((256, 256, 3), np.uint8), "black"),
        (np.full((256, 256, 3), 255, np.uint8), "saturated"),
        (np.zeros((0, 0, 3), np.uint8), "empty"),
        (np.zeros((256, 256), np.uint8), "shape"),
        (np.full((64, 64, 3), 128, np.uint8), "too small"),
    ],
)
def test_a_picture_that_cannot_be_used_gives_nothing_and_a_reason(
    recogniser: OverheadRecogniser, pixels: np.ndarray, word: str
) -> None:
    found = recogniser.recognise(picture(pixels, matrix=np.diag([70.0, 70.0, 1.0]), size_px=None))
    assert len(found) == 0
    assert word in found.faults[0]


def test_noise_alone_is_no_object(recogniser: OverheadRecogniser) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (1024, 1024, 3)).astype(np.uint8)
    found = recogniser.recognise(picture(noise))
    assert len(found) == 0
    assert found.detections(3).sequence == 3
