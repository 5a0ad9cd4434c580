"""Files measured in a real cell: calibrations and frames of vision, and whose they are."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.files import read_text
from cellwright.interfaces import VisionGroup, decode_line

__all__ = ["MeasuredFile", "SteadyObject", "read_frames", "steady_objects"]

HEADER = ["name", "rotation", "x", "y", "score", "type"]
SAME_M = 0.012  # within which detections of a class in different frames are one object: less than half a small gear
LEAST_SHARE = 0.5  # of the frames in which an object must be to count
MM_PER_M = 1000.0


@dataclass(frozen=True)
class MeasuredFile:
    """A file and the robots in whose coordinates it was measured.

    Attributes:
        path: The file.
        robots: Their names, in the order of the file's columns.
    """

    path: Path
    robots: tuple[str, ...]

    @classmethod
    def of(cls, text: str, robots: Collection[str], count: int) -> MeasuredFile:
        """Returns what `FILE`, `ROBOT=FILE` or `ROBOT,OTHER=FILE` says; without robots, those that the file's name has.

        Raises:
            BadInput: Robots that the cell has not, or not as many as are needed.
        """
        named, _, file = text.rpartition("=")
        path = Path(file)
        if named:
            names = [name.strip() for name in named.split(",")]
            for name in names:
                if name not in robots:
                    raise UnknownName("robot", name, robots, f"'{text}'")
        else:
            stem = path.stem.lower()
            names = sorted((name for name in robots if name in stem), key=stem.index)
        if len(names) != count:
            form = "ROBOT=FILE" if count == 1 else "ROBOT,OTHER=FILE, first the robot whose coordinates come first"
            raise BadInput(f"{text}: whose coordinates are these? Give {form} (robots: {', '.join(robots)})")
        return cls(path, tuple(names))


@dataclass(frozen=True)
class SteadyObject:
    """An object that most frames have at the same place.

    Attributes:
        sku: Its class.
        xy_m: The median of its places.
        rotation_rad: The median of its rotations, a half turn aside counting as none.
        count: In how many frames it is.
    """

    sku: str
    xy_m: tuple[float, float]
    rotation_rad: float
    count: int


def read_frames(path: Path) -> list[list[VisionGroup]]:
    """Returns the frames of a file: a line of the vision socket each, or one object per line below a header.

    Raises:
        BadInput: It holds no object, or coordinates that look like metres.
    """
    text = read_text(path)
    first, _, rest = text.partition("\n")
    if [word.strip() for word in first.split(",")][: len(HEADER)] == HEADER:
        rows = [row[: len(HEADER)] for row in csv.reader(io.StringIO(rest), skipinitialspace=True) if any(row)]
        frames = [[group for row in rows for group in decode_line(",".join([*row, ""]))]]
    else:
        frames = [decode_line(line) for line in text.splitlines() if line.strip()]
    groups = [group for frame in frames for group in frame]
    if not groups:
        raise BadInput(f"{path}: no frame of vision: a line has groups of name,rotation,x,y,score,type in millimetres")
    if max(max(abs(group.x_mm), abs(group.y_mm)) for group in groups) < 10.0:
        raise BadInput(f"{path}: units mixed up? no coordinate is above 10 mm: looks like metres")
    return frames


def steady_objects(frames: Sequence[Sequence[VisionGroup]]) -> list[SteadyObject]:
    """Returns what most frames agree on; groups carry no identity, so objects are told by class and place."""
    clusters: list[list[VisionGroup]] = []
    for frame in frames:
        for group in frame:
            near = [one for one in clusters if one[0].name == group.name and _away_m(one[0], group) < SAME_M]
            if near:
                min(near, key=lambda one: _away_m(one[0], group)).append(group)
            else:
                clusters.append([group])
    return [_steady(one) for one in clusters if len(one) >= LEAST_SHARE * len(frames)]


def _away_m(one: VisionGroup, other: VisionGroup) -> float:
    return float(np.hypot(one.x_mm - other.x_mm, one.y_mm - other.y_mm)) / MM_PER_M


def _steady(cluster: list[VisionGroup]) -> SteadyObject:
    x, y = np.median([(group.x_mm, group.y_mm) for group in cluster], axis=0) / MM_PER_M
    first = cluster[0].rotation_rad
    halves = [(group.rotation_rad - first + np.pi / 2) % np.pi - np.pi / 2 for group in cluster]
    return SteadyObject(cluster[0].name, (float(x), float(y)), first + float(np.median(halves)), len(cluster))
