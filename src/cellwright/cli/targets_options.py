"""The options of commands whose robots and detectors may be somewhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = ["ControlPortOption", "TargetsOption"]

TargetsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        help="A file of targets: which robots and detectors are at addresses; followed when it changes. In real time."
    ),
]
ControlPortOption: TypeAlias = Annotated[
    int,
    typer.Option(min=0, max=65535, help="With targets: where `cellwright targets` finds this run; 0 is any free port."),
]
