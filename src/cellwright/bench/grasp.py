"""`cellwright bench grasp`: random pick, carry and place trials on the simulated arms, judged by the true state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cellwright.bench.grasp_monitor import GraspOutcome
from cellwright.bench.processes import run_trials
from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions
from cellwright.core.extras import has_extra
from cellwright.core.statistics import wilson_low

__all__ = ["grasp"]

TRIALS, QUICK_TRIALS = 100, 2
PLANNING = ("numba", "toppra")  # what the way of a bottle needs


@BENCHES.register("grasp")
def grasp(conditions: MeasurementConditions) -> Measurement:
    """Measures gears in the agility laboratory and a bottle in the ROVI cell, held by friction."""
    count = QUICK_TRIALS if conditions.quick else TRIALS
    if not has_extra(*PLANNING):
        conditions.say("collision-free planning is not installed (pip install 'cellwright[motion]'): no bottles")
    gear = _run("gears", "grasp_gear", "gear_trials", conditions, count)
    metrics = {**_metrics("gear", gear), "gear.seated": float(np.mean([outcome.seated for outcome in gear]))}
    if has_extra(*PLANNING):
        metrics |= _metrics("bottle", _run("bottles", "grasp_bottle", "bottle_trials", conditions, count))
    targets: Mapping[str, Mapping[str, float]] = {"gear.success": {"min": 0.99}, "bottle.success": {"min": 0.99}}
    return Measurement(metrics, targets)


def _run(what: str, module: str, function: str, conditions: MeasurementConditions, count: int) -> list[GraspOutcome]:
    """Runs all trials of a kind."""

    def problem(row: Mapping[str, Any]) -> str:
        return f"{row['problem']} ({row['trial']})" if row["problem"] else ""

    rows = run_trials(what, module, function, conditions, count, problem=problem)
    return [GraspOutcome(**row) for row in rows]


def _metrics(name: str, outcomes: Sequence[GraspOutcome]) -> dict[str, float]:
    """Returns the rates and distances of one kind of trial; what was never grasped has no distances."""
    done = sum(outcome.success for outcome in outcomes)

    def p95(values: Sequence[float]) -> float:
        known = [value for value in values if np.isfinite(value)]
        return float(np.percentile(known, 95)) if known else float("nan")

    return {
        f"{name}.success": done / len(outcomes),
        f"{name}.success_low": wilson_low(done, len(outcomes)),
        f"{name}.n": len(outcomes),
        f"{name}.slip_mm_p95": p95([1000 * outcome.slip_m for outcome in outcomes]),
        f"{name}.turn_deg_p95": p95([np.degrees(outcome.turn_rad) for outcome in outcomes]),
        f"{name}.place_mm_p95": p95([1000 * outcome.place_error_m for outcome in outcomes]),
    }
