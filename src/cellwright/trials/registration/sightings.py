"""Marks as detectors see them: the mean of some frames, each mark known by where it was put."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.catalogue.marks import CALIBRATION_MARK
from cellwright.core.errors import JobFailed
from cellwright.core.messages import Detections
from cellwright.trials.controller_ports import ControllerPorts
from cellwright.trials.registration.places import MarkPlace

__all__ = ["Sighting", "see_marks"]

Array = npt.NDArray[np.float64]

FRAMES = 20  # of each detector: at 0.3 mm of noise the mean is good to 0.07 mm
LEAST_SHARE = 0.5  # of the frames in which a mark must be seen
NEAR_M = 0.045  # from where a mark was put it may be seen: less than half the distance of two marks
LIMIT_S = 30.0
POLL_S = 0.05


@dataclass(frozen=True)
class Sighting:
    """A mark as one detector sees it.

    Attributes:
        foot_m: The mean of what the detector reports: its foot in the world, by the drawings of the camera.
        spread_m: Standard deviation of one report, along x and y.
        frames: How many reports it is the mean of.
    """

    foot_m: Array
    spread_m: Array
    frames: int


async def see_marks(
    ports: ControllerPorts, detectors: Sequence[str], places: Sequence[MarkPlace]
) -> dict[str, dict[str, Sighting]]:
    """Returns detector -> mark -> how it sees it, from frames that are taken from now on.

    Raises:
        JobFailed: A detector gives no frames.
    """
    start_s, taken = ports.clock.time_s, {detector: list[Detections]() for detector in detectors}

    def keep(detector: str, frame: Detections) -> None:
        if frame.time_s >= start_s and len(taken[detector]) < FRAMES:
            taken[detector].append(frame)

    stops = [ports.watch(one, lambda frame, one=one: keep(one, frame)) for one in detectors]  # type: ignore[misc]
    try:
        while any(len(frames) < FRAMES for frames in taken.values()):
            if ports.clock.time_s - start_s > LIMIT_S:
                late = next(one for one, frames in taken.items() if len(frames) < FRAMES)
                raise JobFailed(
                    f"{late} gave {len(taken[late])} of {FRAMES} frames in {LIMIT_S:g} s: see to its camera"
                )
            await ports.clock.sleep(POLL_S)
    finally:
        for stop in stops:
            stop()
    return {detector: _sightings(frames, places) for detector, frames in taken.items()}


def _sightings(frames: Sequence[Detections], places: Sequence[MarkPlace]) -> dict[str, Sighting]:
    reports: Mapping[str, list[Array]] = {place.name: [] for place in places}
    for frame in frames:
        rows = [row for row, sku in enumerate(frame.skus) if sku == CALIBRATION_MARK.sku]
        for place in places:
            away_m = {row: float(np.hypot(*(frame.positions[row] - place.xyz_m)[:2])) for row in rows}
            nearest = min(away_m, key=away_m.__getitem__, default=None)
            if nearest is not None and away_m[nearest] <= NEAR_M:
                reports[place.name].append(frame.positions[nearest])
    return {
        name: Sighting(np.mean(seen, axis=0), np.std(seen, axis=0)[:2], len(seen))
        for name, seen in reports.items()
        if len(seen) >= LEAST_SHARE * len(frames)
    }
