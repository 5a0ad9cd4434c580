"""Kits in a cell that is partly real: each arm external in turn, both, and switched back while it works."""

from __future__ import annotations

from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import quantile_of, rate_of
from cellwright.experiments.experiment import EXPERIMENTS, Experiment, ExperimentFindings
from cellwright.experiments.hybrid_runs import (
    ACTIONS_OF_A_KIT,
    HybridJob,
    HybridRow,
    run_hybrid,
    table_of_hybrid,
)
from cellwright.experiments.plots import BoxPlot
from cellwright.experiments.pool import run_jobs

__all__ = ["hybrid", "shadow"]

KITS, QUICK_KITS = 20, 2
SHADOW_KITS, QUICK_SHADOW_KITS = 5, 1
EXTERNAL = {
    "fanuc_external": ("fanuc",),
    "motoman_external": ("motoman",),
    "both_external": ("fanuc", "motoman"),
}
NOTE = (
    "The real cell is a second process with a seed of its own and the errors that a calibration leaves "
    "(`aprs@calibrated`), both at twice real time; commands, status and detections go over sockets. A kit of an "
    "external robot is judged by the truth of that process, one of a simulated robot by that of the laboratory."
)


def hybrid(conditions: MeasurementConditions) -> ExperimentFindings:
    """Measures how many kits are complete, with one robot external, the other, both, and switched at random."""
    count = QUICK_KITS if conditions.quick else KITS
    random = RandomStreams(conditions.seed).stream("hybrid")
    seeds = random.integers(2**31, size=count).tolist()
    jobs = [
        HybridJob(name, seed, robots, quantity=2) for name, robots in EXTERNAL.items() for seed in seeds[: count // 2]
    ]
    jobs += [
        HybridJob("switched", seed, ("fanuc",), switch_after=int(random.integers(1, ACTIONS_OF_A_KIT)))
        for seed in seeds
    ]
    conditions.say(f"{count} kits of each kind, at twice real time, one run after the other: {len(jobs)} runs")
    rows = run_jobs("hybrid", run_hybrid, jobs, 1, conditions.progress)  # each run has two processes already
    metrics: dict[str, float] = {}
    for name in (*EXTERNAL, "switched"):
        own = [row for row in rows if row.name == name]
        kits = sum(row.kits for row in own)
        metrics |= {
            **rate_of(f"{name}.success", sum(row.done for row in own), kits),
            f"{name}.n": kits,
            **quantile_of(f"{name}.sim_s_median", [row.sim_s for row in own]),
        }
    metrics["switched.made"] = sum(row.switched for row in rows)
    metrics["false_done"] = sum(row.false_done for row in rows)
    metrics |= quantile_of("follow.lag_s_p95", [row.lag_s_p95 for row in rows], 0.95)
    metrics |= quantile_of("pace.slip_median", [row.slip for row in rows])
    return ExperimentFindings(
        metrics,
        {"false_done": {"max": 0.0}},
        tables={"runs": table_of_hybrid(rows)},
        plots=[
            BoxPlot(
                "time",
                "Simulated time of an order.",
                {name: [row.sim_s for row in rows if row.name == name] for name in (*EXTERNAL, "switched")},
                "time [s]",
            )
        ],
        notes=[NOTE, *_notes(rows)],
    )


def shadow(conditions: MeasurementConditions) -> ExperimentFindings:
    """Measures how far a simulated robot is from the external one that does the same beside it."""
    count = QUICK_SHADOW_KITS if conditions.quick else SHADOW_KITS
    seeds = RandomStreams(conditions.seed).stream("shadow").integers(2**31, size=count).tolist()
    jobs = [HybridJob("shadow", seed, ("fanuc",), shadow=True) for seed in seeds]
    conditions.say(f"{count} kits at twice real time, with both robots")
    rows = run_jobs("shadow", run_hybrid, jobs, 1, conditions.progress)
    metrics = {
        **quantile_of("joint_rad_p95", [row.joint_rad_p95 for row in rows]),
        **quantile_of("time_ratio", [row.time_ratio for row in rows]),
        **quantile_of("outcome_agreement", [row.outcome_agreement for row in rows]),
        "commands": sum(row.commands for row in rows),
        **rate_of("success", sum(row.done for row in rows), sum(row.kits for row in rows)),
        "false_done": sum(row.false_done for row in rows),
    }
    return ExperimentFindings(
        metrics, {"false_done": {"max": 0.0}}, tables={"runs": table_of_hybrid(rows)}, notes=[NOTE, *_notes(rows)]
    )


def _notes(rows: list[HybridRow]) -> list[str]:
    return [f"{row.name}, seed {row.seed}: {row.reason}" for row in rows if row.reason][:20]


EXPERIMENTS.add("hybrid", Experiment("Real and virtual: kits by external, simulated and switched robots", hybrid))
EXPERIMENTS.add("shadow", Experiment("Shadow mode: a simulated robot beside the external one", shadow))
