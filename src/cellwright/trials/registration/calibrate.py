"""The registration of a simulated cell: marks are put down, and the procedure gets the ports of a controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cellwright.cells import Cell
from cellwright.core.errors import BadInput
from cellwright.drawings.prior import Drawings
from cellwright.interfaces.crcl import CrclInterface
from cellwright.lab.lab import Lab
from cellwright.trials.lab_ports import lab_ports
from cellwright.trials.registration.fitting import FittedCalibration, fit_marks
from cellwright.trials.registration.places import CORNERS, MarkPlace, MarkPlaces
from cellwright.trials.registration.placing import cell_with_marks
from cellwright.trials.registration.procedure import MarkMeasurements, measure_marks

__all__ = ["CalibrationRun", "calibrate_cell", "mark_places"]


@dataclass(frozen=True)
class CalibrationRun:
    """A registration that was done.

    Attributes:
        fitted: The calibration, and how good it is.
        measured: What it was made of.
    """

    fitted: FittedCalibration
    measured: MarkMeasurements


def mark_places(
    drawings: Drawings, robots: Sequence[str], given: Sequence[tuple[float, float]] = ()
) -> list[MarkPlace]:
    """Returns where marks are to stand: as given, else those that the cell has, else free places of its tables.

    Raises:
        BadInput: Too few, or places that cannot be used.
    """
    drawings.named_robots(robots)
    if drawings.cell.fidelity != "physics":
        raise BadInput(f"{drawings.cell.where}: nothing is felt in a cell whose fidelity is {drawings.cell.fidelity}")
    for robot in robots:
        if drawings.cell.robots[robot].tool is None:
            raise BadInput(f"{drawings.cell.where}: {robot} has no gripper fixed to its flange that could touch a mark")
    places = MarkPlaces(drawings)
    chosen = places.named(given) if given else places.drawn() or places.choose(robots)
    if len(chosen) < CORNERS:
        raise BadInput(f"too few marks: {len(chosen)}, and a registration needs {CORNERS} near the corners of the work")
    return chosen


def calibrate_cell(
    cell: Cell,
    robots: Sequence[str],
    seed: int = 0,
    given: Sequence[tuple[float, float]] = (),
    say: Callable[[str], None] = lambda _text: None,
) -> CalibrationRun:
    """Calibrates some robots of a cell and their detectors; two of them against each other as well.

    Args:
        cell: The cell, without marks or with marks of its own.
        robots: Those to calibrate; the first pins the world.
        seed: Decides the actual layout, and by how much marks are beside their places.
        given: Places for marks in the world, x and y.
        say: Told what is going on.

    Raises:
        BadInput: What cannot be done at all; nothing has moved.
        JobFailed: A mark that is not seen, not felt or was moved, or marks that contradict each other.
    """
    drawings = Drawings.of(cell)
    places = mark_places(drawings, robots, given)
    with Lab.from_cell(cell_with_marks(cell, places, seed), seed) as lab:
        ports = lab_ports(lab, CrclInterface(lab), drawings=drawings)
        measured = lab.perform(measure_marks(ports, robots, places, say))
    made = f"cellwright calibrate {cell.name} --seed {seed}: {', '.join(robots)}"
    return CalibrationRun(fit_marks(drawings, measured, made), measured)
