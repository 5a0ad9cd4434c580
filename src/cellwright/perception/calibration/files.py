"""Calibration files on disk: written as YAML, read with everything refused that does not belong to the cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import yaml

from cellwright.core.config import parse_yaml, validate
from cellwright.core.errors import BadInput, ConfigErrors, OutputError
from cellwright.core.files import read_text
from cellwright.core.pose import Pose
from cellwright.perception.calibration.camera import DrawnCamera, check_cameras
from cellwright.perception.calibration.model import FORMAT, Calibration

__all__ = ["DrawnPlaces", "calibration_yaml", "read_calibration", "write_calibration"]

FARTHEST_M, FARTHEST_DEG = 0.3, 20.0  # of what was measured from its drawing; more is another place, or another unit
AGAIN = "calibrate the cell again"
LIKE_MM, MANY = "looks like millimetres", 6  # as many mistakes of one kind are one mistake
LATER = ("cameras", "camera_pairs")  # sections that a file has only where there is something in them


@dataclass(frozen=True)
class DrawnPlaces:
    """The drawings of a cell as far as a calibration belongs to them.

    Attributes:
        cell: The name of the cell.
        digests: Entry, such as `robots.fanuc` -> a digest of what the drawings say of it.
        bases: Robot -> pose of its base in the world.
        fixtures: Fixture -> pose in the world.
        detectors: Names of the detectors.
        cameras: Its cameras, those on flanges too.
    """

    cell: str
    digests: Mapping[str, str]
    bases: Mapping[str, Pose]
    fixtures: Mapping[str, Pose]
    detectors: frozenset[str] = field(default_factory=frozenset)
    cameras: Mapping[str, DrawnCamera] = field(default_factory=dict)


def calibration_yaml(calibration: Calibration) -> str:
    """Returns a calibration as the text of its file."""
    data = calibration.model_dump(mode="json")
    data = {key: value for key, value in data.items() if value or key not in LATER}
    return yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=120, allow_unicode=True)


def write_calibration(calibration: Calibration, path: Path) -> None:
    """Writes a calibration file.

    Raises:
        OutputError: It cannot be written.
    """
    try:
        path.write_text(calibration_yaml(calibration), encoding="utf-8")
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None


def read_calibration(path: str | Path, places: DrawnPlaces | None = None) -> Calibration:
    """Returns the calibration of a file.

    Args:
        path: The file.
        places: The drawings of the cell in which it is to be used; without them only the file itself is checked.

    Raises:
        BadInput: It cannot be read, is cut off, has points that register nothing, units mixed up, numbers that are
            none; or belongs to another cell or another layout. Says what to do.
    """
    path = Path(path)
    text = read_text(path)
    try:
        data = parse_yaml(text, path)
    except BadInput as error:
        raise _cut_off(path) if not _has_end(text) else error from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise BadInput(f"{path}: not a calibration file: its first line is not 'format: {FORMAT}'; {AGAIN}")
    if data.get("end") != FORMAT:
        raise _cut_off(path)
    calibration = _validated(data, path)
    if places is not None:
        check_places(calibration, places, path)
    return calibration


def _validated(data: dict[str, object], path: Path) -> Calibration:
    """Returns the calibration of what a file says; one line where all of it is in another unit."""
    try:
        return validate(data, Calibration, path)
    except ConfigErrors as errors:
        wrong = [getattr(error, "path", "") for error in errors.errors if LIKE_MM in str(error)]
        if len(wrong) < MANY:
            raise
        raise BadInput(
            f"{path}: units mixed up: {len(wrong)} numbers look like millimetres, such as {wrong[0]}; write metres and "
            f"degrees, or {AGAIN}"
        ) from None


def _has_end(text: str) -> bool:
    return text.rstrip().endswith(f"end: {FORMAT}")


def _cut_off(path: Path) -> BadInput:
    return BadInput(f"{path}: cut off: its last line 'end: {FORMAT}' is missing; copy it again, or {AGAIN}")


def check_places(calibration: Calibration, places: DrawnPlaces, where: str | Path) -> None:
    """Refuses a calibration that does not belong to a cell as it is drawn.

    Raises:
        BadInput: It is of another cell, or of an older layout, or has something far from where it is drawn.
    """
    if calibration.cell != places.cell:
        raise BadInput(
            f"{where}: another cell: this is a calibration of '{calibration.cell}', not of '{places.cell}'; "
            "load the cell that it belongs to, or calibrate this one"
        )
    drawn, made = places.digests, calibration.drawings
    changed = [entry for entry in drawn if entry in made and made[entry] != drawn[entry]]
    differences = [
        f"{what} {', '.join(entries)}"
        for what, entries in (
            ("changed", changed),
            ("new", [entry for entry in drawn if entry not in made]),
            ("gone", [entry for entry in made if entry not in drawn]),
        )
        if entries
    ]
    if differences:
        raise BadInput(f"{where}: older layout: the drawings are others since ({'; '.join(differences)}); {AGAIN}")
    for section, own, known in (
        ("robots", calibration.robots, places.bases),
        ("detectors", calibration.detectors, places.detectors),
        ("surfaces", calibration.surfaces, places.fixtures),
        ("fixtures", calibration.fixtures, places.fixtures),
    ):
        if missing := [name for name in own if name not in known]:
            raise BadInput(f"{where}: {section}.{missing[0]}: the cell has no such thing; {AGAIN}")
    for name, robot in calibration.robots.items():
        _check_near(robot.base.pose, places.bases[name], f"{where}: robots.{name}.base")
        _check_near(robot.tool.pose, Pose.identity(), f"{where}: robots.{name}.tool")
    for name, fixture in calibration.fixtures.items():
        _check_near(fixture.pose, places.fixtures[name], f"{where}: fixtures.{name}")
    check_cameras(calibration, places.cameras, str(where))


def _check_near(fitted: Pose, drawn: Pose, what: str) -> None:
    away_m, turned_deg = fitted.distance_m(drawn), float(np.degrees(fitted.angle_rad(drawn)))
    if away_m > FARTHEST_M or turned_deg > FARTHEST_DEG:
        raise BadInput(
            f"{what}: {away_m:.3g} m and {turned_deg:.3g} degrees from its drawing (allowed {FARTHEST_M:g} m, "
            f"{FARTHEST_DEG:g} degrees): units mixed up, or something else was measured; {AGAIN}"
        )
