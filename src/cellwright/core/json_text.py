"""Results as JSON text, for files and for programs that read what a command prints."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

__all__ = ["json_text"]


def json_text(data: Any) -> str:
    """Returns data as JSON with a line for each value; numbers that JSON does not have become null."""
    return json.dumps(_plain(data), indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # a scalar or an array of NumPy, which a command's help need not load
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Path):
        return str(value)
    return value
