"""Whole kits from pixels, over random layouts: detections are recognised in the pictures of the overhead cameras."""

from __future__ import annotations

from cellwright.core.extras import need_extra
from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import quantile_of, rate_of
from cellwright.experiments.experiment import EXPERIMENTS, Experiment, ExperimentFindings
from cellwright.experiments.kitting_clean import s_per_part
from cellwright.experiments.kitting_runs import KittingJob, KittingRow, run_kitting, table_of
from cellwright.experiments.plots import BoxPlot
from cellwright.experiments.pool import run_jobs

__all__ = ["kitting_camera"]

LAYOUTS, QUICK_LAYOUTS = 20, 2
ORDERS = ("kit_m2l1", "kit_s2l2")
ROBOT = "fanuc"
SOURCES = ("camera", "state")


def kitting_camera(conditions: MeasurementConditions, workers: int | None = None) -> ExperimentFindings:
    """Measures both kits in every layout, from pixels and, for comparison, by the detectors of state."""
    need_extra("the experiment kitting-camera", "vision", "cv2")
    layouts = QUICK_LAYOUTS if conditions.quick else LAYOUTS
    seeds = RandomStreams(conditions.seed).stream("kitting-camera").integers(2**31, size=layouts).tolist()
    jobs = [
        KittingJob(order, seed, robots=(ROBOT,), source=source)
        for source in SOURCES
        for seed in seeds
        for order in ORDERS
    ]
    conditions.say(f"{layouts} layouts, {len(ORDERS)} kits in each, from pixels and by the state")
    rows = run_jobs("kitting", run_kitting, jobs, workers, conditions.progress)
    seen, known = ([row for row in rows if row.source == source] for source in SOURCES)
    return ExperimentFindings(
        _metrics(seen) | {f"state.{name}": value for name, value in _metrics(known).items()},
        {"success": {"min": 0.95}, "false_done": {"max": 0.0}},
        tables={"runs": table_of(rows)},
        plots=[
            BoxPlot(
                "time",
                "Simulated time of a kit, thinking and recognition included.",
                {
                    f"{order}, {source}": [row.sim_s for row in rows if (row.order, row.source) == (order, source)]
                    for order in ORDERS
                    for source in SOURCES
                },
                "time [s]",
            )
        ],
        notes=_notes(rows),
    )


def _metrics(rows: list[KittingRow]) -> dict[str, float]:
    done, count = sum(row.done for row in rows), len(rows)
    placed = [mm for row in rows for mm in row.placed_mm]
    return {
        **rate_of("success", done, count),
        "n": count,
        "false_done": sum(row.status == "false_done" for row in rows),
        "s_per_part": s_per_part(rows),
        **quantile_of("placed_mm_p95", placed, 0.95),
        "retries": sum(row.retries for row in rows),
    }


def _notes(rows: list[KittingRow]) -> list[str]:
    notes = [
        f"Both kits are built in every layout, each alone, by {ROBOT}. Layouts are as in `kitting-clean`, of other "
        "seeds: a quarter of the parts is missing, and where the rest lies, how trays stand and how far robots and "
        "cameras are off their drawings is drawn.",
        "Detections are recognised in pictures of the two overhead cameras, by pixels and drawings alone; a picture is "
        "taken only while the controller waits for one, and 0.2 s later its detections are there. `state.` is the same "
        "with the detectors of state.",
    ]
    failed = [row for row in rows if not row.done]
    return notes + [f"`{row.order}`, {row.source}, seed {row.seed}: {row.status}: {row.reason}" for row in failed[:20]]


EXPERIMENTS.add("kitting-camera", Experiment("Kitting: whole kits from pixels, over random layouts", kitting_camera))
