"""The calibration files of the APRS laboratory: CSV in millimetres, in two forms.

`Time,PartName,Robot_X..Z,Db_X..Z,Offset_X..Z` pairs what the vision's database has with where the robot was, and states
database minus robot. `Xin..Zin,Xout..Zout,Offset_X..Z` pairs coordinates of two robots, and states out minus in.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, OutputError
from cellwright.core.files import read_text

__all__ = ["LabPairs", "lab_csv", "read_lab_csv", "write_lab_csv"]

Array = npt.NDArray[np.float64]
Kind = Literal["vision", "robots"]

MM_PER_M = 1000.0
AXES = "XYZ"
COLUMNS: dict[Kind, tuple[str, str]] = {"vision": ("Db_{}", "Robot_{}"), "robots": ("{}in", "{}out")}
STATED_WITHIN_MM = 0.2  # an offset from the coordinates: the lab rounds those to a tenth
SMALLEST_MM = 5.0  # of which some coordinate must be larger, or they are metres


@dataclass(frozen=True, eq=False)
class LabPairs:
    """Pairs of a file of the laboratory.

    Attributes:
        kind: `vision`: from the vision's coordinates to the robot's; `robots`: from one robot's to another's.
        names: Of the parts that were touched, or numbers.
        from_m: (n, 3).
        to_m: (n, 3).
    """

    kind: Kind
    names: tuple[str, ...]
    from_m: Array
    to_m: Array


def read_lab_csv(path: Path) -> LabPairs:
    """Returns the pairs of a file, whichever of the two forms it has.

    Raises:
        BadInput: It has neither, is cut off, holds words or infinities, offsets that are not its coordinates'
            difference, or looks like metres; says where.
    """
    rows = list(csv.reader(io.StringIO(read_text(path)), skipinitialspace=True))
    header = [word.strip() for word in rows[0]] if rows else []
    kind = next((kind for kind in COLUMNS if set(_columns(kind)) <= set(header)), None)
    if kind is None:
        forms = " or ".join(f"{_columns(kind)[0]}..{_columns(kind)[-1]}" for kind in COLUMNS)
        raise BadInput(f"{path}: not a calibration of the laboratory: its first line has no columns {forms}")
    numbers, names = list[list[float]](), list[str]()
    for line, row in enumerate(rows[1:], start=2):
        if any(field.strip() for field in row):
            numbers.append(_numbers(row, header, kind, f"{path}, line {line}"))
            named = row[header.index("PartName")].strip() if "PartName" in header else ""
            names.append(named or str(line - 1))
    table = np.array(numbers, float).reshape(-1, 6)
    if len(table) and np.abs(table).max() < SMALLEST_MM:
        raise BadInput(f"{path}: units mixed up? no coordinate is above {SMALLEST_MM:g} mm: looks like metres")
    return LabPairs(kind, _distinct(names), table[:, :3] / MM_PER_M, table[:, 3:] / MM_PER_M)


def lab_csv(pairs: LabPairs, times_ms: Sequence[int] = ()) -> str:
    """Returns pairs as the text of a file of the laboratory.

    Args:
        pairs: The pairs.
        times_ms: When each was taken, since 1970; 0 without them.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    vision = pairs.kind == "vision"
    offsets = [f"Offset_{axis}" for axis in AXES]
    to_columns, from_columns = ([form.format(axis) for axis in AXES] for form in reversed(COLUMNS[pairs.kind]))
    writer.writerow(
        ["Time", "PartName", *to_columns, *from_columns, *offsets] if vision else [*from_columns, *to_columns, *offsets]
    )
    times = list(times_ms) or [0] * len(pairs.names)
    for time_ms, name, start, end in zip(times, pairs.names, pairs.from_m, pairs.to_m, strict=True):
        a, b = ([round(float(x), 6) + 0.0 for x in point * MM_PER_M] for point in (start, end))
        difference = [round(x - y, 6) + 0.0 for x, y in (zip(a, b, strict=True) if vision else zip(b, a, strict=True))]
        writer.writerow([time_ms, name, *b, *a, *difference] if vision else [*a, *b, *difference])
    return out.getvalue()


def write_lab_csv(pairs: LabPairs, path: Path, times_ms: Sequence[int] = ()) -> None:
    """Writes pairs as a file of the laboratory.

    Raises:
        OutputError: It cannot be written.
    """
    try:
        path.write_text(lab_csv(pairs, times_ms), encoding="utf-8")
    except OSError as error:
        raise OutputError(path, error.strerror or str(error)) from None


def _columns(kind: Kind) -> list[str]:
    return [form.format(axis) for form in COLUMNS[kind] for axis in AXES]


def _numbers(row: list[str], header: list[str], kind: Kind, where: str) -> list[float]:
    """Returns the coordinates of a line, first those of the one frame; checks its offsets if it states them."""
    wanted = _columns(kind)
    stated = [f"Offset_{axis}" for axis in AXES if f"Offset_{axis}" in header]
    values = {}
    for column in (*wanted, *stated):
        at = header.index(column)
        if at >= len(row):
            raise BadInput(f"{where}: cut off: {column} is missing; copy the file again")
        try:
            values[column] = float(row[at])
        except ValueError:
            raise BadInput(f"{where}: {column} should be a number of millimetres, not '{row[at][:40]}'") from None
        if not np.isfinite(values[column]):
            raise BadInput(f"{where}: {column} is not a finite number; measure the point again")
    for axis in AXES if len(stated) == 3 else "":
        start, end = (values[form.format(axis)] for form in COLUMNS[kind])
        difference = start - end if kind == "vision" else end - start
        if abs(values[f"Offset_{axis}"] - difference) > STATED_WITHIN_MM:
            raise BadInput(
                f"{where}: Offset_{axis} is {values[f'Offset_{axis}']:g} mm, but its coordinates differ by "
                f"{difference:g} mm: units mixed up, or a line that was edited; correct it"
            )
    return [values[column] for column in wanted]


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Returns names of which none occurs twice: a part that was touched at several places gets numbers."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(result)
