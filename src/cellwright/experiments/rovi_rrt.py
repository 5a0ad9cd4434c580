"""The ROVI project's collision-free planning: to the bottle past a crate, with it to its place, and done in physics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import mean_of, quantile_of, rate_of
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.plots import BarPlot, BoxPlot, FloorPlan, ImagePlot, Plot
from cellwright.experiments.pool import run_jobs
from cellwright.experiments.rovi_rrt_notes import notes
from cellwright.experiments.rovi_rrt_plans import (
    COMPARED_PLANNERS,
    HEADINGS_DEG,
    TASKS,
    GraspHeading,
    PlanJob,
    PlanRow,
    make_plan,
    try_heading,
)
from cellwright.experiments.rovi_rrt_runs import RoviRun, RoviRunJob, execute
from cellwright.experiments.rovi_rrt_scene import PICKS, cell_with_bottle_at
from cellwright.rendering import choose_renderer
from cellwright.sim import World
from cellwright.sim.picture import cell_view

__all__ = ["rovi_rrt"]

RUNS, QUICK_RUNS = 50, 3
PICTURE_PX = (960, 540)
SOLVED = {"p1": 1.0, "p2": 0.0, "p3": 0.0}  # by the project, each of its three planners
PAPER = {
    **{
        f"{task}.{pick}_success": rate
        for task in ("rrt", "rrtconnect", "rrtstar", "fixed")
        for pick, rate in SOLVED.items()
    },
    "rrt.p1_median_ms": 5050.0,
    "rrtconnect.p1_median_ms": 5044.0,
    "rrtstar.p1_median_ms": 5060.0,
    "fixed.p1_median_ms": 5044.0,
    "fixed.p1_path_m": 0.60,
}
BOXES_M = {
    "pick area": ((0.0, 0.9018, 0.74), (0.8, 1.2, 0.75)),
    "place area": ((0.6006, 0.0, 0.74), (0.8, 0.2013, 0.75)),
    "crate": ((0.507, 0.482, 0.74), (0.777, 0.870, 0.936)),
    "can": ((0.037, 0.080, 0.74), (0.190, 0.212, 0.975)),
    "mug": ((0.180, 0.172, 0.74), (0.290, 0.289, 0.842)),
    "robot": ((0.325, 0.475, 0.74), (0.475, 0.625, 0.83)),
}


def rovi_rrt(conditions: MeasurementConditions, workers: int | None = None) -> ExperimentFindings:
    """Plans and executes, several times for each of the three locations of the bottle."""
    runs = QUICK_RUNS if conditions.quick else RUNS
    seeds = {
        pick: RandomStreams(conditions.seed).stream(f"rovi-rrt/{pick}").integers(2**31, size=runs) for pick in PICKS
    }
    jobs = [(pick, int(seed)) for pick in PICKS for seed in seeds[pick]]
    headings = [try_heading((pick, heading)) for pick in PICKS for heading in HEADINGS_DEG]
    conditions.say(f"planning: {len(TASKS)} tasks, {len(PICKS)} locations, {runs} runs each")
    plan_jobs = [PlanJob(task, *job) for task in TASKS for job in jobs]
    plans = run_jobs("planning", make_plan, plan_jobs, workers, conditions.progress)
    conditions.say(f"pick and place in physics: {len(jobs)} runs")
    done = run_jobs("execution", execute, [RoviRunJob(*job) for job in jobs], workers, conditions.progress)
    metrics = {**_plan_metrics(plans), **_heading_metrics(headings), **_run_metrics(done)}
    return ExperimentFindings(
        metrics,
        _targets(),
        PAPER,
        {
            "plans": _table(plans),
            "executions": _table(done, leave_out=("way_m",)),
            "headings": _table(headings),
        },
        _plots(metrics, plans, done),
        notes(metrics, headings, runs),
    )


def _rates(name: str, outcomes: Sequence[bool]) -> dict[str, float]:
    return {**rate_of(f"{name}_success", sum(outcomes), len(outcomes)), f"{name}_n": len(outcomes)}


def _plan_metrics(rows: Sequence[PlanRow]) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for task in TASKS:
        for pick in PICKS:
            own = [row for row in rows if (row.task, row.pick) == (task, pick)]
            metrics |= _rates(f"{task}.{pick}", [row.success for row in own])
            metrics |= quantile_of(f"{task}.{pick}_median_ms", [row.ms for row in own])
            paths = [row.path_m for row in own if row.success]
            if paths:
                metrics |= mean_of(f"{task}.{pick}_path_m", paths)
    metrics["constrained.max_tilt_deg"] = max(row.tilt_deg for row in rows if row.task == "constrained" and row.success)
    return metrics


def _heading_metrics(rows: Sequence[GraspHeading]) -> dict[str, float]:
    return {f"headings.{pick}_free": sum(row.free > 0 for row in rows if row.pick == pick) for pick in PICKS}


def _run_metrics(rows: Sequence[RoviRun]) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for pick in PICKS:
        own = [row for row in rows if row.pick == pick]
        metrics |= _rates(f"executed.{pick}", [row.success for row in own])
        metrics |= quantile_of(f"executed.{pick}_place_error_mm", [1e3 * row.place_error_m for row in own])
        metrics |= quantile_of(f"executed.{pick}_slip_mm", [1e3 * row.slip_m for row in own])
        metrics |= quantile_of(f"executed.{pick}_duration_s", [row.duration_s for row in own])
    errors_mm = [1e3 * row.place_error_m for row in rows]
    return metrics | {
        "carry.max_tilt_deg": float(np.nanmax([row.carry_tilt_deg for row in rows])),
        "executed.hits": sum(row.hits for row in rows),
        "executed.hardest_hit_n": max(row.hardest_n for row in rows),
        "executed.obstacle_moved_mm": 1e3 * max(row.moved_m for row in rows),
        **quantile_of("executed.place_error_p95_mm", errors_mm, 0.95),
        "executed.place_error_max_mm": max(errors_mm),
        "executed.place_tilt_max_deg": max(row.place_tilt_deg for row in rows),
        "executed.slip_max_mm": 1e3 * float(np.nanmax([row.slip_m for row in rows])),
        **quantile_of("executed.detection_error_mm", [1e3 * row.detection_error_m for row in rows]),
        "executed.detection_error_max_mm": 1e3 * float(np.nanmax([row.detection_error_m for row in rows])),
    }


def _targets() -> dict[str, dict[str, float]]:
    always = [f"{task}.{pick}_success" for task in ("rrtconnect", "constrained", "executed") for pick in PICKS]
    return {name: {"min": 1.0} for name in always} | {"executed.hits": {"max": 0}, "carry.max_tilt_deg": {"max": 5.5}}


def _table(
    rows: Sequence[PlanRow] | Sequence[RoviRun] | Sequence[GraspHeading], leave_out: Sequence[str] = ()
) -> DataTable:
    data = [{name: value for name, value in asdict(row).items() if name not in leave_out} for row in rows]
    return DataTable(list(data[0]), [list(row.values()) for row in data])


def _plots(metrics: dict[str, float], plans: Sequence[PlanRow], runs: Sequence[RoviRun]) -> list[Plot]:
    rates = ["fixed", "rrt", "rrtconnect", "rrtstar", "executed"]
    times = (*COMPARED_PLANNERS, "constrained", "unconstrained")
    firsts = {pick: next(row for row in runs if row.pick == pick) for pick in PICKS}
    return [
        _picture(),
        BarPlot(
            "success",
            "Share of runs in which a way was found, and in which the bottle was brought to its place in physics.",
            [f"{task}\n{pick}" for task in rates for pick in PICKS],
            {
                "ours": [metrics[f"{task}.{pick}_success"] for task in rates for pick in PICKS],
                "paper (one fixed grasp; nothing executed)": [
                    0.0 if task == "executed" else SOLVED[pick] for task in rates for pick in PICKS
                ],
            },
            "share of runs",
        ),
        BoxPlot(
            "planning_time",
            "Processor time of a plan; the project's were all about 5,050 ms, its time limit.",
            {
                f"{task} {pick}": [r.ms for r in plans if (r.task, r.pick) == (task, pick)]
                for task in times
                for pick in PICKS
            },
            "time [ms]",
            logarithmic=True,
        ),
        FloorPlan(
            "ways",
            "Where the tool went in the first run of each location, from above and from the side.",
            {pick: np.array(row.way_m) for pick, row in firsts.items()},
            BOXES_M,
        ),
        BoxPlot(
            "errors",
            "Error of the detected place, slip in the hand while carrying, error of where it was set down.",
            {
                f"{what} {pick}": [1e3 * getattr(row, field) for row in runs if row.pick == pick]
                for what, field in (("detected", "detection_error_m"), ("slip", "slip_m"), ("placed", "place_error_m"))
                for pick in PICKS
            },
            "error [mm]",
        ),
    ]


def _picture() -> ImagePlot:
    world = World(cell_with_bottle_at("p2"))
    pixels = choose_renderer().render(*world.appearance.now(), cell_view(world), PICTURE_PX)
    return ImagePlot(
        "cell", "The cell with the bottle at its second location, behind it the crate, can and mug.", pixels
    )


EXPERIMENTS.add(
    "rovi-rrt",
    Experiment(
        "ROVI: collision-free pick and place of the bottle, planned and executed", rovi_rrt, ("numba", "ompl", "toppra")
    ),
)
