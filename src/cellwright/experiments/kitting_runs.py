"""One order in one laboratory, as a job for another process; its outcome as one row."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import lru_cache, partial
from time import process_time

from cellwright.cells import Cell, load_cell
from cellwright.core.errors import SimulationError
from cellwright.experiments.experiment import DataTable
from cellwright.lab import Lab

__all__ = ["KittingJob", "KittingRow", "random_cell", "run_kitting", "table_of"]

PART_COUNTS = {"medium_gear": 6, "large_gear": 3, "small_gear": 6}


@dataclass(frozen=True)
class KittingJob:
    """One run to make; `size` names the errors of the cell, `source` where detections come from: its own by default."""

    order: str
    seed: int
    recovery: str = "full"
    fault: str = ""
    spec: str = ""
    robots: tuple[str, ...] | None = None
    size: str = ""
    source: str = "state"


@dataclass(frozen=True, kw_only=True)
class KittingRow:
    """The outcome of one run.

    Attributes:
        order: The kit.
        seed: The layout, and everything else that is random.
        recovery: The recovery that the controller was allowed.
        robots: The robots that were allowed to work; empty for all.
        fault: The kind of fault; empty for none.
        status: `done`, `partial`, `failed`, `false_done`, or `error` when physics broke.
        score: Points made of points possible.
        sim_s: The simulated duration.
        applied: Whether the fault's moment came.
        recoverable: Whether the oracle says that everything could still be done after it.
        detect_s: From the fault to the first predicate that was not true; not a number when there was none.
        retries: Actions that were repeated.
        plans: Plans that were made.
        placed_mm: The distance of each seated part from the middle of its slot.
        cpu_s: The processor time.
        reason: One line.
        size: The size of the cell's errors, by name; empty for its own.
        source: The source of detections.
    """

    order: str
    seed: int
    recovery: str
    robots: str
    fault: str
    status: str
    score: float = 0.0
    sim_s: float = float("nan")
    applied: bool = False
    recoverable: bool = False
    detect_s: float = float("nan")
    retries: int = 0
    plans: int = 0
    placed_mm: tuple[float, ...] = ()
    cpu_s: float = 0.0
    reason: str = ""
    size: str = ""
    source: str = "state"

    @property
    def done(self) -> bool:
        """Whether the order is done by the truth, and the controller says so."""
        return self.status == "done"


@lru_cache(maxsize=2)
def random_cell(size: str = "") -> Cell:
    """Returns the APRS cell with a quarter of the parts missing, and the seed deciding which slots are empty.

    Args:
        size: The size of its errors by name; those of its file by default.
    """
    cell = load_cell(f"aprs@{size}" if size else "aprs")
    populations = [
        population.model_copy(update={"shuffle": True, "count": PART_COUNTS[population.model]})
        for population in cell.populations
    ]
    return cell.model_copy(update={"populations": tuple(populations)})


def run_kitting(job: KittingJob) -> KittingRow:
    """Runs the job in a laboratory of its own."""
    start_s = process_time()
    robots = " ".join(job.robots or ())
    made = partial(
        KittingRow,
        order=job.order,
        seed=job.seed,
        recovery=job.recovery,
        robots=robots,
        fault=job.fault,
        size=job.size,
        source=job.source,
    )
    try:
        with Lab.from_cell(random_cell(job.size), job.seed, source=job.source) as lab:
            faults = [job.spec] if job.spec else ()
            report = lab.run(job.order, robots=job.robots, recovery=job.recovery, faults=faults)
    except SimulationError as error:
        return made(status="error", reason=str(error))
    begun = [fault for fault in report.faults if not fault.is_end]
    recoverable = all(fault.recovery is None or fault.recovery.recoverable for fault in begun)
    detect_s = report.detected_s
    placed = tuple(s.centre_error_m * 1e3 for kit in report.kits for s in kit.seatings if s.seated)
    return made(
        status=report.status.value,
        score=report.score,
        sim_s=report.time_s,
        applied=bool(begun),
        recoverable=bool(begun) and recoverable,
        detect_s=float("nan") if detect_s is None else detect_s,
        retries=report.order.retries,
        plans=report.order.plans,
        placed_mm=placed,
        cpu_s=process_time() - start_s,
        reason=report.reason,
    )


def table_of(rows: list[KittingRow]) -> DataTable:
    """Returns all rows as a table; the worst placement instead of all."""
    names = [field.name for field in fields(KittingRow)]
    data = [{**asdict(row), "placed_mm": max(row.placed_mm, default=float("nan"))} for row in rows]
    return DataTable(names, [[row[name] for name in names] for row in data])
