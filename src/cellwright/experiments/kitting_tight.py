"""Plugs into straight slots of 1, 0.5 and 0.2 mm of clearance, with and without the forces at the wrist."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import lru_cache

from cellwright.cells import Cell, load_cell
from cellwright.core.errors import SimulationError
from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import quantile_of, rate_of
from cellwright.execution import ExecutionSettings, Recipe, RecoveryMode
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.plots import BoxPlot
from cellwright.experiments.pool import run_jobs
from cellwright.lab import Lab
from cellwright.orders import find_order
from cellwright.planning import Verb
from cellwright.trials import RunCfg, run_order

__all__ = ["Insert", "TightJob", "insert_all", "kitting_tight"]

CELLS = {"c10": "aprs@tight@c10@calibrated", "c05": "aprs@tight@calibrated", "c02": "aprs@tight@c02@calibrated"}
GOALS = {"c10": 1.0, "c05": 1.0, "c02": 0.97}
ORDER, ROBOTS = "kit_m2l1_plug", ("fanuc", "motoman")
INSERTS, QUICK_INSERTS = 50, 3
IN_A_KIT = 3
MOST_RUNS = 4 * INSERTS  # a run ends with the first plug that is not seen seated


@dataclass(frozen=True)
class TightJob:
    """One kit to build, without recovery: every insert is a first try."""

    clearance: str
    guided: bool
    seed: int
    robot: str


@dataclass(frozen=True, kw_only=True)
class Insert:
    """One plug that was put into its slot.

    Attributes:
        clearance: A key of `CELLS`.
        guided: Whether by the forces at the wrist.
        seed: The layout, and everything else that is random.
        robot: The robot that held it.
        part: The plug.
        seated: Whether it was on the floor of its slot in the end, by the truth.
        time_s: From above the parts to its release, carrying included.
        reason: How it went, in one line.
    """

    clearance: str
    guided: bool
    seed: int
    robot: str
    part: str
    seated: bool
    time_s: float
    reason: str


@lru_cache(maxsize=len(CELLS))
def _cell(clearance: str) -> Cell:
    return load_cell(CELLS[clearance])


def insert_all(job: TightJob) -> list[Insert]:
    """Builds one kit in a laboratory of its own, as far as it goes; returns its inserts."""
    settings = ExecutionSettings(recovery=RecoveryMode.NONE, recipe=Recipe(inserts_by_force=job.guided))
    try:
        with Lab(_cell(job.clearance), job.seed) as lab:
            report = run_order(lab, [find_order(ORDER)], RunCfg((job.robot,), settings))
    except SimulationError as error:
        return [Insert(**asdict(job), part="", seated=False, time_s=float("nan"), reason=str(error))]
    seated = {seating.part for kit in report.kits for seating in kit.seatings if seating.seated}
    return [
        Insert(
            **asdict(job),
            part=record.part,
            seated=record.part in seated,
            time_s=record.end_s - record.start_s,
            reason=record.reason,
        )
        for record in report.order.actions
        if record.action.split()[0].strip("(") == Verb.PLACE_PART.value
    ]


def kitting_tight(conditions: MeasurementConditions, workers: int | None = None) -> ExperimentFindings:
    """Measures first tries of inserts, both robots in turn, in a layout of its own for every kit."""
    wanted = QUICK_INSERTS if conditions.quick else INSERTS
    seeds = RandomStreams(conditions.seed).stream("kitting-tight").integers(2**31, size=MOST_RUNS).tolist()
    rows: list[Insert] = []
    for clearance in CELLS:
        for guided in (True, False):
            made, runs = list[Insert](), 0
            while len(made) < wanted and runs < MOST_RUNS:
                count = min(-(-(wanted - len(made)) // IN_A_KIT), MOST_RUNS - runs)
                jobs = [
                    TightJob(clearance, guided, seeds[number], ROBOTS[number % len(ROBOTS)])
                    for number in range(runs, runs + count)
                ]
                made += [
                    insert
                    for some in run_jobs("inserts", insert_all, jobs, workers, conditions.progress)
                    for insert in some
                ]
                runs += count
            conditions.say(f"{clearance}, {_way(guided)}: {sum(row.seated for row in made)} of {len(made)} seated")
            rows += made
    return ExperimentFindings(
        _metrics(rows),
        {f"{clearance}.success": {"min": goal} for clearance, goal in GOALS.items()},
        tables={"inserts": table_of(rows)},
        plots=[
            BoxPlot(
                "time",
                "Simulated time of an insert, carrying included.",
                {
                    f"{clearance}, {_way(guided)}": _times_s(rows, clearance, guided) or [0.0]
                    for clearance in CELLS
                    for guided in (True, False)
                },
                "time [s]",
            )
        ],
        notes=_notes(rows),
    )


def table_of(rows: list[Insert]) -> DataTable:
    """Returns all inserts as a table."""
    names = [field.name for field in fields(Insert)]
    return DataTable(names, [[getattr(row, name) for name in names] for row in rows])


def _way(guided: bool) -> str:
    return "by force" if guided else "plain"


def _times_s(rows: list[Insert], clearance: str, guided: bool) -> list[float]:
    return [row.time_s for row in rows if (row.clearance, row.guided, row.seated) == (clearance, guided, True)]


def _metrics(rows: list[Insert]) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for clearance in CELLS:
        for guided, prefix in ((True, clearance), (False, f"{clearance}.plain")):
            own = [row.seated for row in rows if (row.clearance, row.guided) == (clearance, guided)]
            times_s = _times_s(rows, clearance, guided)
            metrics |= {
                **rate_of(f"{prefix}.success", sum(own), len(own)),
                f"{prefix}.n": len(own),
                **quantile_of(f"{prefix}.time_s", times_s),
            }
    return metrics


def _notes(rows: list[Insert]) -> list[str]:
    notes = [
        "Plugs of 32 and 56 mm go into clamped kit trays with straight slots; clearances are differences of diameters: "
        "`c10` 1 mm, `c05` 0.5 mm, `c02` 0.2 mm, the last with steps of 1 ms. Errors of the cell are `calibrated`. "
        "Every kit has a layout of its own; both robots work in turn.",
        "Every insert is a first try: a kit ends with the first plug that is not seen seated; nothing is recovered. "
        "An insert counts when its plug stands on the floor of its slot in the end, by the truth. `plain` lowers "
        "the plug to 2 mm above its seat, pushed by at most 20 N, and lets it go.",
    ]
    failed = [row for row in rows if row.guided and not row.seated]
    return notes + [f"`{row.clearance}`, {row.robot}, seed {row.seed}: {row.reason}" for row in failed[:20]]


EXPERIMENTS.add(
    "kitting-tight", Experiment("Kitting: plugs into straight slots, by the forces at the wrist", kitting_tight)
)
