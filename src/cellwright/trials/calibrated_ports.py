"""Ports corrected by a calibration: a controller behind them sees and moves as if the cell were as it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path

from cellwright.core.messages import Detections
from cellwright.drawings.calibration import calibrated_drawings, drawn_places
from cellwright.drawings.prior import Drawings
from cellwright.perception.calibration import Calibration, corrected_detections, read_calibration
from cellwright.trials.controller_ports import ControllerPorts, FrameSource

__all__ = ["calibrated_ports", "calibration_of"]


def calibration_of(path: str | Path, drawings: Drawings) -> Calibration:
    """Returns the calibration of a file, which must be of these drawings.

    Raises:
        BadInput: It cannot be read, or belongs to another cell or layout.
    """
    return read_calibration(Path(path), drawn_places(drawings))


def calibrated_ports(
    ports: ControllerPorts, calibration: Calibration | None, by_pixels: Collection[str] = ()
) -> ControllerPorts:
    """Returns ports with corrected drawings and detections; the same ones without a calibration.

    Args:
        ports: As they are.
        calibration: Of the cell.
        by_pixels: Detectors that recognise with their calibrated camera: what they report is not corrected again.
    """
    if calibration is None:
        return ports
    return replace(
        ports,
        drawings=calibrated_drawings(ports.drawings, calibration),
        detectors={
            name: source if name in by_pixels else partial(_corrected, calibration, name, source)
            for name, source in ports.detectors.items()
        },
    )


def _corrected(
    calibration: Calibration, detector: str, source: FrameSource, take: Callable[[Detections], None]
) -> Callable[[], None]:
    return source(lambda frame: take(corrected_detections(calibration, detector, frame)))
