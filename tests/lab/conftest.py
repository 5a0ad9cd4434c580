"""The APRS cell, and how to change it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cellwright.cells import Cell, load_cell


@pytest.fixture(scope="session")
def aprs() -> Cell:
    return load_cell("aprs")


@pytest.fixture(scope="session")
def changed(aprs) -> Callable[..., Cell]:
    """The APRS cell without physics and with some sections replaced, validated as a file would be."""

    def change(**sections: Any) -> Cell:
        return Cell.model_validate(aprs.model_dump() | {"fidelity": "kinematic"} | sections)

    return change
