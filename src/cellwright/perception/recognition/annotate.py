"""Pictures with what was recognised in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cellwright.core.extras import need_extra
from cellwright.perception.picture import Picture
from cellwright.perception.recognition.recognised import Recognised

__all__ = ["annotated", "with_outlines"]

MAGENTA, WHITE, BLACK = (255, 0, 255), (255, 255, 255), (0, 0, 0)
SUBPIXELS = 4  # as a power of two


def annotated(picture: Picture, found: Recognised) -> npt.NDArray[np.uint8]:
    """Returns the picture with outlines, classes and scores of what was recognised, red first.

    Raises:
        MissingExtra: OpenCV is not installed.
    """
    return with_outlines(picture, list(zip(found.skus, found.outlines_px, found.scores.tolist(), strict=True)))


def with_outlines(
    picture: Picture, found: Sequence[tuple[str, npt.NDArray[np.float64], float]]
) -> npt.NDArray[np.uint8]:
    """Returns the picture with some outlines (n, 2), with SKU and score at each, red first.

    Raises:
        MissingExtra: OpenCV is not installed.
    """
    need_extra("pictures with what was recognised", "vision", "cv2")
    import cv2

    pixels = np.ascontiguousarray(picture.pixels).copy()
    width = max(1, round(pixels.shape[1] / 700))
    size = max(0.35, pixels.shape[1] / 3400)
    for sku, outline, score in found:
        corners = np.round((outline - 0.5) * 2**SUBPIXELS).astype(np.int32)
        cv2.polylines(pixels, [corners], True, MAGENTA, width, cv2.LINE_AA, SUBPIXELS)
        text = f"{sku.removeprefix('sku_').removeprefix('part_')} {score:.2f}"
        (long, high), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, 1)
        at_top = sku.endswith("_vessel")  # parts in a tray have their words at their middle
        column, row = outline.mean(axis=0)
        row = outline[:, 1].min() + 2 * high if at_top else row
        place = round(float(column) - long / 2), round(float(row))
        for colour, wide in ((BLACK, 2 * width + 1), (WHITE, width)):
            cv2.putText(pixels, text, place, cv2.FONT_HERSHEY_SIMPLEX, size, colour, wide, cv2.LINE_AA)
    return pixels
