"""Pictures on disk."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from cellwright.core.errors import OutputError
from cellwright.core.files import write_whole

__all__ = ["save_png"]


def save_png(picture: npt.NDArray[np.uint8] | npt.NDArray[np.uint16], path: str | Path) -> Path:
    """Writes colours (height, width, 3) or 16 bits (height, width); the same pixels give the same bytes.

    Makes missing folders.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        written = BytesIO()
        Image.fromarray(picture).save(written, format="PNG", compress_level=6)
        write_whole(path, written.getvalue())
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None
    return path
