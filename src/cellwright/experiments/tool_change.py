"""Tool changes in cells that are not where they are drawn: the share that works, before and after calibration."""

from __future__ import annotations

from dataclasses import astuple, fields

from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import quantile_of, rate_of
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.plots import BoxPlot
from cellwright.experiments.pool import run_jobs
from cellwright.experiments.tool_change_runs import PLACES, ToolChangeJob, ToolChangeRow, run_tool_change

__all__ = ["tool_change"]

CHANGES, QUICK_CHANGES = 100, 7
SIZES = ("as_built", "calibrated")


def tool_change(conditions: MeasurementConditions, workers: int | None = None) -> ExperimentFindings:
    """Measures tool changes from every holder in turn, each in a cell of its own, with errors of both sizes."""
    count = QUICK_CHANGES if conditions.quick else CHANGES
    seeds = RandomStreams(conditions.seed).stream("tool-change").integers(2**31, size=count).tolist()
    jobs = [ToolChangeJob(size, number, seed) for size in SIZES for number, seed in enumerate(seeds)]
    conditions.say(f"{count} changes with errors of each size, from {len(PLACES)} places")
    rows = run_jobs(
        "tool changes",
        run_tool_change,
        jobs,
        workers,
        conditions.progress,
    )
    return ExperimentFindings(
        {key: value for size in SIZES for key, value in _metrics(size, rows).items()},
        {"calibrated.success": {"min": 1.0}},
        tables={"changes": DataTable([each.name for each in fields(ToolChangeRow)], [astuple(row) for row in rows])},
        plots=[
            BoxPlot(
                "time",
                "Simulated time of taking a tool, from rest to rest; feeling for it included.",
                {size: [row.take_s for row in rows if row.size == size and row.done] or [0.0] for size in SIZES},
                "time [s]",
            ),
            BoxPlot(
                "offset",
                "Distance of the holder from where it is drawn, in the frame of the robot; the lock catches 3 mm.",
                {size: [row.lateral_mm for row in rows if row.size == size] for size in SIZES},
                "distance [mm]",
            ),
        ],
        notes=_notes(rows),
    )


def _metrics(size: str, rows: list[ToolChangeRow]) -> dict[str, float]:
    own = [row for row in rows if row.size == size]
    done = [row for row in own if row.done]
    return {
        **rate_of(f"{size}.success", len(done), len(own)),
        f"{size}.n": len(own),
        **rate_of(f"{size}.first_try", sum(row.is_first for row in own), len(own)),
        **quantile_of(f"{size}.take_s_median", [row.take_s for row in done]),
        f"{size}.take_s_max": max((row.take_s for row in done), default=float("nan")),
        **quantile_of(f"{size}.lateral_mm_p95", [row.lateral_mm for row in own], 0.95),
    }


def _notes(rows: list[ToolChangeRow]) -> list[str]:
    notes = [
        "A tool is taken from its holder and put back, over CRCL, as the executor does it, by the drawings alone: "
        "bases, tables, holders, tools and joint zeros are off by errors of the named size, drawn anew for each one. "
        "It counts when the tool hangs rigidly on the robot, by the truth, and then in its holder as before.",
        "The lock catches what is within 3 mm sideways and in height. The way down is guarded by the force at the "
        "wrist; where the lock finds no tool, the height of what is below is felt at 5 mm/s, and the lock is tried at "
        "places 4.5 mm apart, up to 22 mm. `first_try` is the share that needs no such search.",
    ]
    failed = [row for row in rows if not row.done]
    return notes + [f"{row.size}, {row.robot}, {row.tool}, seed {row.seed}: {row.reason}" for row in failed[:20]]


EXPERIMENTS.add("tool-change", Experiment("Tool changes in cells that are not where they are drawn", tool_change))
