"""Whole kits under faults: the value of recovery, fault by fault, and a check that no controller claims too much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import quantile_of, rate_of
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.kitting_runs import KittingJob, KittingRow, run_kitting, table_of
from cellwright.experiments.plots import BarPlot
from cellwright.experiments.pool import run_jobs

__all__ = ["FAULT_SPECS", "RECOVERIES", "kitting_faults"]

Figures = Mapping[tuple[str, str], Mapping[str, float]]

RUNS, QUICK_RUNS = 30, 10
ORDER = "kit_m2l1"
RECOVERIES = ("none", "retry", "full")
FAULT_SPECS = {
    "drop": "drop:during=transfer:2,way_mm=20..120",
    "push": "push:before=grasp:2,by_mm=15..40",
    "remove": "remove:before=grasp:2",
    "swap": "swap:before=grasp:2",
    "weak_gripper": "weak_gripper:after=grasp:1,factor=0.03,for_s=12",
    "blackout": "blackout:at=6,for_s=5",
    "offset": "offset:at=6,by_mm=4,for_s=12",
}


def kitting_faults(conditions: MeasurementConditions, workers: int | None = None) -> ExperimentFindings:
    """Measures every fault with every kind of recovery, in the same layouts."""
    runs = QUICK_RUNS if conditions.quick else RUNS
    seeds = RandomStreams(conditions.seed).stream("kitting-faults").integers(2**31, size=runs).tolist()
    jobs = [
        KittingJob(ORDER, seed, recovery, fault, spec)
        for fault, spec in FAULT_SPECS.items()
        for recovery in reversed(RECOVERIES)
        for seed in seeds
    ]
    conditions.say(f"{len(FAULT_SPECS)} faults, {len(RECOVERIES)} kinds of recovery, {runs} runs each")
    rows = run_jobs("kitting", run_kitting, jobs, workers, conditions.progress)
    figures = {
        (fault, recovery): _figures([row for row in rows if (row.fault, row.recovery) == (fault, recovery)])
        for recovery in reversed(RECOVERIES)
        for fault in FAULT_SPECS
    }
    return ExperimentFindings(
        _metrics(rows, figures),
        {"all.false_done": {"max": 0.0}},
        tables={"summary": _summary(figures), "runs": table_of(rows)},
        plots=[
            BarPlot(
                "recovered",
                "Share of the kits that were completed although something went wrong, of those that an oracle which "
                "knows the truth could have completed.",
                list(FAULT_SPECS),
                {recovery: [figures[fault, recovery]["recovered"] for fault in FAULT_SPECS] for recovery in RECOVERIES},
                "share of runs",
            )
        ],
        notes=_notes(rows, runs),
    )


def _figures(rows: Sequence[KittingRow]) -> dict[str, float]:
    """Returns the figures of runs in which the fault happened and everything could still be done."""
    counted = [row for row in rows if row.applied and row.recoverable]
    done = sum(row.done for row in counted)
    late = [row.detect_s for row in rows if row.applied and not np.isnan(row.detect_s)]
    return {
        **rate_of("recovered", done, len(counted)),
        "n": len(counted),
        "applied": sum(row.applied for row in rows),
        "false_done": sum(row.status == "false_done" for row in rows),
        **quantile_of("detect_s_median", late),
        **quantile_of("sim_s_median", [row.sim_s for row in rows]),
    }


def _metrics(rows: Sequence[KittingRow], figures: Figures) -> dict[str, float]:
    """Returns metrics by name: of full recovery, the default, `drop.recovered`; of others `none.drop.recovered`."""
    metrics: dict[str, float] = {"all.false_done": sum(row.status == "false_done" for row in rows), "all.n": len(rows)}
    for (fault, recovery), own in figures.items():
        prefix = fault if recovery == "full" else f"{recovery}.{fault}"
        metrics |= {f"{prefix}.{name}": value for name, value in own.items()}
    return metrics


def _summary(figures: Figures) -> DataTable:
    names = ("recovered", "recovered_low", "n", "applied", "false_done", "detect_s_median", "sim_s_median")
    rows = [
        [fault, recovery, *(figures[fault, recovery][name] for name in names)]
        for fault in FAULT_SPECS
        for recovery in RECOVERIES
    ]
    return DataTable(["fault", "recovery", *names], rows)


def _notes(rows: Sequence[KittingRow], runs: int) -> list[str]:
    notes = [
        f"Each fault happens once in each of {runs} layouts, with the same seeds for every kind of recovery: "
        + ", ".join(f"`{spec}`" for spec in FAULT_SPECS.values())
        + f". The order is one `{ORDER}`.",
        "`none` ends at the first predicate that is not true, as the kitting paper does; `retry` looks again and "
        "repeats the action with another grasp; `full` then makes a new plan from what is believed, and leaves out "
        "what cannot be had.",
        "`recovered` counts runs in which the kit is complete by the truth and the controller says so, of those in "
        "which the fault happened and the oracle had a plan after it (`n`). `false_done` counts all in which the "
        "controller says done and it is not. `detect_s` is the time from the fault to the first predicate that was not "
        "true; faults that disturb nothing are never noticed.",
    ]
    lies = [row for row in rows if row.status == "false_done"]
    notes += [f"False done: `{row.fault}`, `{row.recovery}`, seed {row.seed}: {row.reason}" for row in lies[:20]]
    lost = [r for r in rows if r.recovery == "full" and r.applied and r.recoverable and not r.done]
    notes += [f"Not recovered: `{row.fault}`, seed {row.seed}: {row.status}: {row.reason}" for row in lost[:20]]
    return notes


EXPERIMENTS.add(
    "kitting-faults", Experiment("Kitting: what recovery is worth when something goes wrong", kitting_faults)
)
