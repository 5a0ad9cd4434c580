"""Whole kits without faults, over random layouts: the share of runs in which everything is right, by the truth."""

from __future__ import annotations

from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import quantile_of, rate_of
from cellwright.experiments.experiment import EXPERIMENTS, Experiment, ExperimentFindings
from cellwright.experiments.kitting_runs import KittingJob, KittingRow, run_kitting, table_of
from cellwright.experiments.plots import BoxPlot
from cellwright.experiments.pool import run_jobs

__all__ = ["kitting_clean", "s_per_part"]

LAYOUTS, QUICK_LAYOUTS = 100, 5
ORDERS = ("kit_m2l1", "kit_s2l2")
ROBOT, OTHER_ROBOT = "fanuc", "motoman"
OTHER_ORDER = ORDERS[0]  # of the other kit it does not always reach enough parts
CALIBRATED = "calibrated"
EVERY = 4  # the other robot works in one layout of so many


def kitting_clean(conditions: MeasurementConditions, workers: int | None = None) -> ExperimentFindings:
    """Measures both kits, each alone and by one robot, in every layout; one of them by the other robot in some."""
    layouts = QUICK_LAYOUTS if conditions.quick else LAYOUTS
    seeds = RandomStreams(conditions.seed).stream("kitting-clean").integers(2**31, size=layouts).tolist()
    jobs = [job for size in ("", CALIBRATED) for job in _jobs(seeds, size)]
    conditions.say(f"{layouts} layouts, {len(ORDERS)} kits in each, and the same with errors of the size {CALIBRATED}")
    rows = run_jobs("kitting", run_kitting, jobs, workers, conditions.progress)
    every, rows = rows, [row for row in rows if not row.size]
    metrics = _metrics(rows) | _calibrated_metrics([row for row in every if row.size == CALIBRATED])
    return ExperimentFindings(
        metrics,
        {
            "success": {"min": 0.99},
            "calibrated.success": {"min": 0.99},
            "false_done": {"max": 0.0},
            "placed_mm_p95": {"max": 1.0},
            "s_per_part": {"max": 8.0},
        },
        tables={"runs": table_of(every)},
        plots=[
            BoxPlot(
                "placed",
                "Distance of seated parts from the middle of their slots; 1 mm counts as seated.",
                {
                    order: [mm for row in rows if row.order == order for mm in row.placed_mm] or [0.0]
                    for order in ORDERS
                },
                "distance [mm]",
            ),
            BoxPlot(
                "time",
                "Simulated time of a kit, thinking included.",
                {
                    f"{order}, {robot}": [row.sim_s for row in rows if (row.order, row.robots) == (order, robot)]
                    for order, robot in ((ORDERS[0], ROBOT), (ORDERS[1], ROBOT), (OTHER_ORDER, OTHER_ROBOT))
                },
                "time [s]",
            ),
        ],
        notes=_notes(every),
    )


def _jobs(seeds: list[int], size: str) -> list[KittingJob]:
    """Returns the runs in all layouts with errors of one size."""
    jobs = [KittingJob(order, seed, robots=(ROBOT,), size=size) for seed in seeds for order in ORDERS]
    return jobs + [KittingJob(OTHER_ORDER, seed, robots=(OTHER_ROBOT,), size=size) for seed in seeds[::EVERY]]


def _calibrated_metrics(rows: list[KittingRow]) -> dict[str, float]:
    """Returns what is told of the runs in calibrated cells."""
    done, count = sum(row.done for row in rows), len(rows)
    return {
        **rate_of(f"{CALIBRATED}.success", done, count),
        f"{CALIBRATED}.n": count,
        f"{CALIBRATED}.false_done": sum(row.status == "false_done" for row in rows),
        f"{CALIBRATED}.s_per_part": s_per_part([row for row in rows if row.robots == ROBOT]),
    }


def _metrics(rows: list[KittingRow]) -> dict[str, float]:
    done, count = sum(row.done for row in rows), len(rows)
    placed = [mm for row in rows for mm in row.placed_mm]
    metrics = {
        **rate_of("success", done, count),
        "n": count,
        "false_done": sum(row.status == "false_done" for row in rows),
        **quantile_of("placed_mm_p95", placed, 0.95),
        **quantile_of("sim_s_median", [row.sim_s for row in rows]),
        "retries": sum(row.retries for row in rows),
    }
    for order in ORDERS:
        own = [row.done for row in rows if row.order == order]
        metrics |= {**rate_of(f"{order}.success", sum(own), len(own)), f"{order}.n": len(own)}
    for prefix, robot in (("", ROBOT), (f"{OTHER_ROBOT}.", OTHER_ROBOT)):
        metrics[f"{prefix}s_per_part"] = s_per_part([row for row in rows if row.robots == robot])
    return metrics


def s_per_part(rows: list[KittingRow]) -> float:
    """Returns simulated seconds per part of the kits that were done: looks, tool changes and thinking included."""
    done = [row for row in rows if row.done]
    return sum(row.sim_s for row in done) / sum(len(row.placed_mm) for row in done) if done else float("nan")


def _notes(rows: list[KittingRow]) -> list[str]:
    notes = [
        f"Both kits are built, each alone and by one robot, by {ROBOT} in every layout, `{OTHER_ORDER}` "
        f"by {OTHER_ROBOT}, too, in one of {EVERY}; `s_per_part` is {ROBOT}'s.",
        "A layout is another reality: trays stand up to some millimetres and degrees beside their drawings, the "
        "robots' bases, tools and zeros and the cameras are off by what the cell's `actual` section says, a "
        "quarter of the parts is missing, and which slots are empty is drawn. "
        "The detectors have the lab's own noise, 0.28 and 0.33 mm, and a delay of 50 ms.",
        "The controller sees what they report and what the robots' CRCL status says, nothing else. A run counts when "
        "every slot holds the right part, seated within 1 mm, nothing else is on the tray, the tool is away, and the "
        "controller says that it is done.",
    ]
    notes.append(
        "`calibrated` is the same with all errors that a good calibration leaves: bases, tables, tools, joint zeros, "
        "cameras and lenses in six degrees of freedom; trays are still put down by hand."
    )
    failed = [row for row in rows if not row.done]
    notes += [
        f"`{row.order}`, {row.robots}, {row.size or 'own errors'}, seed {row.seed}: {row.status}: {row.reason}"
        for row in failed[:20]
    ]
    return notes


EXPERIMENTS.add("kitting-clean", Experiment("Kitting: whole kits over random layouts, without faults", kitting_clean))
