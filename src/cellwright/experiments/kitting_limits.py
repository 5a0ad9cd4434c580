"""The limits of kitting: one disturbance after the other is raised until fewer than half of the kits are done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import wilson_low
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.limit_runs import LimitJob, LimitRow, controllers, run_limit
from cellwright.experiments.plots import LinePlot
from cellwright.experiments.pool import run_jobs

__all__ = ["LADDERS", "kitting_limits"]

RUNS = 6
HALF = 0.5
LADDERS: Mapping[str, tuple[float, ...]] = {
    "noise_mm": (1, 2, 4, 8, 16),
    "bias_mm": (1, 2, 4, 8, 16),
    "delay_s": (0.2, 0.5, 1, 2, 4),
    "miss": (0.2, 0.4, 0.6, 0.8, 0.95),
    "needed_share": (0.6, 0.8, 0.9, 0.95, 1.0),
    "friction": (0.3, 0.1, 0.03, 0.01, 0.003),
    "mass": (4, 16, 64, 250, 1000),
}
"""Disturbance -> its steps, each worse than the one before."""

MEANINGS = {
    "noise_mm": "standard deviation of each detection along x, y (and z, where it is measured); rotations err by 1 "
    "degree per millimetre",
    "bias_mm": "standard deviation of an error of each object that lasts the whole run",
    "delay_s": "age of a frame when it arrives",
    "miss": "probability that an object is not recognised in a frame",
    "needed_share": "share of an object that must be visible past arms, tools and parts for it to be recognised",
    "friction": "fraction of the friction of the gripper's pads that is left",
    "mass": "how many times their own mass all parts have",
}

FACTORS = ("friction", "mass")  # nothing is disturbed at 1, of the others at 0

Outcome = dict[tuple[str, str, float], list[LimitRow]]


def kitting_limits(conditions: MeasurementConditions, workers: int | None = None) -> ExperimentFindings:
    """Climbs every ladder with every controller until it breaks; a quick run takes one step in the middle of each."""
    runs = 1 if conditions.quick else RUNS
    seeds = RandomStreams(conditions.seed).stream("kitting-limits").integers(2**31, size=runs).tolist()
    names = list(controllers())
    ladders = {name: steps[2:3] if conditions.quick else steps for name, steps in LADDERS.items()}
    rows: Outcome = {}

    def work(steps: Sequence[tuple[str, str, float]]) -> None:
        jobs = [LimitJob(*step, seed) for step in steps for seed in seeds]
        conditions.say(f"{len(steps)} steps, {runs} runs each")
        for row in run_jobs("kitting", run_limit, jobs, workers, conditions.progress):
            rows.setdefault((row.controller, row.disturbance, row.level), []).append(row)

    work([(name, "none", 0.0) for name in names])
    # A quick run tries the examples undisturbed alone: they work in real time, which is slow.
    climbing = [(name, what) for name in (names[:1] if conditions.quick else names) for what in ladders]
    for number in range(max(map(len, ladders.values()))):
        steps = [(name, what, ladders[what][number]) for name, what in climbing if number < len(ladders[what])]
        work(steps)
        climbing = [step[:2] for step in steps if success(rows[step]) >= HALF]
    return ExperimentFindings(
        metrics_of(rows),
        {"all.false_done": {"max": 0.0}, f"{names[0]}.none.success": {"min": 1.0}},
        tables={"limits": _limits(rows), "summary": _summary(rows), "runs": _runs(rows)},
        plots=_plots(rows),
        notes=_notes(rows, runs),
    )


def success(rows: Sequence[LimitRow]) -> float:
    """Returns the share of runs in which the kit was done, and the controller said so."""
    return sum(row.done for row in rows) / len(rows)


def metrics_of(rows: Outcome) -> dict[str, float]:
    """Returns what each controller withstands: `ours.noise_mm.held` and `ours.noise_mm.breaks_at`.

    The first is the last step at which at least half of the kits are done, the second the first at which fewer are;
    not a number where there was none.
    """
    every = [row for own in rows.values() for row in own]
    metrics: dict[str, float] = {
        "all.false_done": sum(row.status == "false_done" for row in every),
        "all.n": len(every),
    }
    for (name, what, level), own in rows.items():
        if what == "none":
            metrics |= {f"{name}.none.success": success(own), f"{name}.none.n": len(own)}
            continue
        held = success(own) >= HALF
        metrics.setdefault(f"{name}.{what}.held", float("nan"))
        metrics.setdefault(f"{name}.{what}.breaks_at", float("nan"))
        metrics[f"{name}.{what}.{'held' if held else 'breaks_at'}"] = level
    return metrics


def _steps(rows: Outcome, name: str, what: str) -> list[tuple[float, float]]:
    return [(level, success(own)) for (who, which, level), own in rows.items() if (who, which) == (name, what)]


def _limits(rows: Outcome) -> DataTable:
    metrics = metrics_of(rows)
    names = list(dict.fromkeys(name for name, *_ in rows))
    columns = [f"{name} {word}" for name in names for word in ("holds", "breaks at")]
    cells = [
        [what, *(metrics.get(f"{name}.{what}.{key}", float("nan")) for name in names for key in ("held", "breaks_at"))]
        for what in LADDERS
    ]
    return DataTable(["disturbance", *columns], cells)


def _summary(rows: Outcome) -> DataTable:
    columns = ["controller", "disturbance", "level", "success", "success_low", "n", "false_done", "sim_s_median"]
    return DataTable(
        columns,
        [
            [
                *key,
                success(own),
                wilson_low(sum(row.done for row in own), len(own)),
                len(own),
                sum(row.status == "false_done" for row in own),
                float(np.median([row.sim_s for row in own])),
            ]
            for key, own in rows.items()
        ],
    )


def _runs(rows: Outcome) -> DataTable:
    every = [row for own in rows.values() for row in own]
    columns = ["controller", "disturbance", "level", "seed", "status", "sim_s", "cpu_s", "reason"]
    return DataTable(columns, [[getattr(row, column) for column in columns] for row in every])


def _plots(rows: Outcome) -> list[LinePlot]:
    names, plots = list(dict.fromkeys(name for name, *_ in rows)), []
    for what in LADDERS:
        curves = {}
        for name in names:
            if steps := _steps(rows, name, what):
                start = (1.0 if what in FACTORS else 0.0, success(rows[name, "none", 0.0]))
                points = np.array([start, *steps], float)
                curves[name] = (points[:, 0], points[:, 1])
        if curves:
            plots.append(
                LinePlot(what, f"Share of kits that are done. {what}: {MEANINGS[what]}.", curves, what, "done")
            )
    return plots


def _notes(rows: Outcome, runs: int) -> list[str]:
    notes = [
        f"Every disturbance is raised alone, step by step, with {runs} runs of one `kit_m2l1` each, in the layouts of "
        "`kitting-clean`, until fewer than half of the kits are done: complete by the truth, and submitted.",
        "; ".join(f"`{what}`: {meaning}" for what, meaning in MEANINGS.items()) + ".",
        "`ours` is Cellwright's own controller, in simulation time. The others are the examples, programs outside at "
        "the interfaces, paced to real time: their runs are not the same twice. They are left out where the examples "
        "are not installed.",
    ]
    lies = [row for own in rows.values() for row in own if row.status == "false_done"]
    return notes + [
        f"False done: {r.controller}, {r.disturbance} {r.level:g}, seed {r.seed}: {r.reason}" for r in lies[:20]
    ]


EXPERIMENTS.add(
    "kitting-limits", Experiment("Kitting: where the cell breaks, disturbance by disturbance", kitting_limits)
)
