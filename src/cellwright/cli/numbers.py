"""Numbers as people write them on a command line: `0.4,0,0.3`."""

from __future__ import annotations

import math

from cellwright.core.errors import BadInput

__all__ = ["numbers"]


def numbers(option: str, text: str, counts: tuple[int, ...]) -> list[float]:
    """Returns finite numbers separated by commas; as many as are allowed."""
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        raise BadInput(f"{option} takes numbers separated by commas, not '{text}'") from None
    if len(values) not in counts:
        raise BadInput(f"{option} takes {' or '.join(map(str, counts))} numbers, got {len(values)}: '{text}'")
    if not all(math.isfinite(value) and abs(value) < 1e6 for value in values):
        raise BadInput(f"{option} takes finite numbers, got '{text}'")
    return values
