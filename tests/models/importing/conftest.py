from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cellwright.catalogue.model_settings import ModelSettings
from cellwright.models.importing import Imported, import_figures

DATA = Path(__file__).parent / "data"


@pytest.fixture
def data() -> Path:
    return DATA


@pytest.fixture
def load() -> Callable[..., Imported]:
    def load(file: str | Path, kind: str | None = None, **settings: object) -> Imported:
        return import_figures("mine", ModelSettings(file=str(file), **settings), DATA, kind)  # type: ignore[arg-type]

    return load
