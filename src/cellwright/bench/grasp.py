"""`cellwright bench grasp`: random pick, carry and place trials on the simulated arms, judged by the true state."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np

from cellwright.bench.grasp_monitor import GraspOutcome
from cellwright.bench.processes import call_in_process
from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions
from cellwright.core.extras import has_extra
from cellwright.core.statistics import wilson_low

__all__ = ["grasp"]

TRIALS, QUICK_TRIALS = 100, 2
SHARE = 10  # trials per process, which spreads the time that it takes to start one
PLANNING = ("numba", "toppra")  # what the way of a bottle needs


@BENCHES.register("grasp")
def grasp(conditions: MeasurementConditions) -> Measurement:
    """Measures gears in the agility laboratory by friction and with the grasp lock, a bottle in the ROVI cell."""
    count = QUICK_TRIALS if conditions.quick else TRIALS
    if not has_extra(*PLANNING):
        conditions.say("collision-free planning is not installed (pip install 'cellwright[motion]'): no bottles")
    gear = _run("gears, held by friction", "grasp_gear", "gear_trials", conditions, count, False)
    locked = _run("the same gears with the grasp lock", "grasp_gear", "gear_trials", conditions, count, True)
    metrics: dict[str, float] = {}
    for name, outcomes in (("gear", gear), ("gear_lock", locked)):
        metrics |= _metrics(name, outcomes)
        metrics[f"{name}.seated"] = float(np.mean([outcome.seated for outcome in outcomes]))
    if has_extra(*PLANNING):
        metrics |= _metrics("bottle", _run("bottles", "grasp_bottle", "bottle_trials", conditions, count))
    targets: Mapping[str, Mapping[str, float]] = {"gear.success": {"min": 0.99}, "bottle.success": {"min": 0.99}}
    return Measurement(metrics, targets)


def _run(
    what: str, module: str, function: str, conditions: MeasurementConditions, count: int, *options: bool
) -> list[GraspOutcome]:
    """Runs all trials of a kind, on all cores; returns them in the order of their numbers."""
    conditions.say(f"{count} trials: {what}")
    workers = os.cpu_count() or 1
    size = max(1, min(SHARE, -(-count // workers)))
    shares = [list(range(start, min(start + size, count))) for start in range(0, count, size)]
    outcomes: dict[int, GraspOutcome] = {}

    def work(numbers: Sequence[int]) -> list[tuple[int, GraspOutcome]]:
        rows = call_in_process(f"cellwright.bench.{module}", function, conditions.seed, list(numbers), *options)
        return [(number, GraspOutcome(**row)) for number, row in zip(numbers, rows, strict=True)]

    with ThreadPoolExecutor(workers) as pool:
        for future in as_completed([pool.submit(work, share) for share in shares]):
            outcomes.update(future.result())
            _report_failures(future.result(), outcomes, count, conditions.say)
    return [outcomes[number] for number in range(count)]


def _report_failures(
    new: Sequence[tuple[int, GraspOutcome]], all_: Mapping[int, GraspOutcome], count: int, say: Callable[[str], None]
) -> None:
    for number, outcome in new:
        if not outcome.success:
            say(f"  trial {number} failed ({outcome.trial}): {outcome.problem}")
    say(f"  {sum(outcome.success for outcome in all_.values())} of {len(all_)} good, {count - len(all_)} to go")


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
