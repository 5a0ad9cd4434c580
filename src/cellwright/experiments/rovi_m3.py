"""The ROVI paper's sparse stereo (Table 7, Table 8): its own method made again, and ours, with noise and shadows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields

import numpy as np

from cellwright.core.extras import need_extra
from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import quantile_of, rate_of
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.plots import BarPlot, BoxPlot
from cellwright.experiments.pool import run_jobs
from cellwright.experiments.rovi_m3_runs import (
    TABLE_7,
    PaperJob,
    RandomJob,
    SparseTrial,
    TableJob,
    combined_places,
    do_job,
)
from cellwright.experiments.sparse_scenes import CUBES

__all__ = ["rovi_m3"]

SIGMAS = 3.0, 6.0, 9.0, 12.0, 15.0, 20.0, 25.0, 30.0, 60.0
PAPER_SIGMAS = 3.0, 6.0, 9.0, 12.0
UNKNOWN_SIGMAS = 9.0, 12.0, 30.0
RANDOM_SIGMAS = 0.0, 15.0, 30.0
TRIALS = 20  # of each pose
SCENES, QUICK_SCENES = 100, 2
MOST_OFF_M, MOST_YAW_DEG = 0.011, 10.0
PAPER_TABLE_8 = {
    0: (0.10, 0.10, 0.17),
    3: (0.17, 0.17, 0.17),
    6: (0.17, 0.17, 0.17),
    9: (0.34, 0.20, 0.38),
    12: (0.96, 0.88, 0.98),
}
KINDS = "l2_error", "yaw_error", "total_error"


def rovi_m3(conditions: MeasurementConditions, workers: int | None = None) -> ExperimentFindings:
    """Measures both methods on the paper's poses, and ours on random scenes with shadows that move."""
    need_extra("the experiment 'rovi-m3'", "vision", "cv2", "numba")
    jobs = _jobs(conditions)
    for what, some in jobs.items():
        conditions.say(f"{what}: {len(some)} scenes")
    done = run_jobs(
        "sparse stereo", do_job, [job for some in jobs.values() for job in some], workers, conditions.progress
    )
    rows = [row for trials in done for row in trials]
    metrics = _metrics(rows)
    paper = {
        f"{prefix}.s{sigma}.{kind}": value
        for prefix in ("m3", "paper.m3", "paper.m3.own_noise")
        for sigma, values in PAPER_TABLE_8.items()
        for kind, value in zip(KINDS, values, strict=True)
        if f"{prefix}.s{sigma}.{kind}" in metrics
    }
    goals = {f"m3.s{sigma:g}.total_error": {"max": 0.0} for sigma in (0.0, *SIGMAS) if sigma <= 30}
    goals |= {f"m3.{kind}.total_error": {"max": 0.02} for kind in ("random", "held_out")}
    return ExperimentFindings(
        metrics,
        {name: goal for name, goal in goals.items() if name in metrics},
        paper,
        {"trials": DataTable([field.name for field in fields(SparseTrial)], [astuple(row) for row in rows])},
        _plots(rows, metrics),
        _notes(conditions.quick),
    )


def _jobs(conditions: MeasurementConditions) -> Mapping[str, Sequence[TableJob | PaperJob | RandomJob]]:
    seeds = iter(RandomStreams(conditions.seed).stream("rovi-m3").integers(2**31, size=2000).tolist())
    colours, quick = list(CUBES), conditions.quick
    each = 1 if quick else TRIALS // len(colours)
    noises = tuple((sigma, each) for sigma in (SIGMAS if not quick else (9.0, 30.0)))
    unknown = tuple((sigma, each) for sigma in (UNKNOWN_SIGMAS if not quick else (9.0,)))
    by_paper = tuple((sigma, 1 if quick else TRIALS) for sigma in (PAPER_SIGMAS if not quick else (9.0,)))
    places = combined_places()[:: 7 if quick else 1]
    poses = [(colours[number % 4], place) for number, place in enumerate(TABLE_7)] if quick else [
        (colour, place) for colour in colours for place in TABLE_7
    ]  # fmt: skip
    scenes = QUICK_SCENES if quick else SCENES
    return {
        "the table's poses": [TableJob(colour, place, next(seeds), noises) for colour, place in poses],
        "all combinations without noise": [
            TableJob(colours[number % 4], place, next(seeds), ((0.0, 1),)) for number, place in enumerate(places)
        ],
        "a cube of unknown size": [
            TableJob(colour, place, next(seeds), unknown, edge_known=False) for colour, place in poses
        ],
        "the paper's method": [PaperJob(place, next(seeds), by_paper) for place in TABLE_7],
        "the paper's method without noise": [PaperJob(place, next(seeds), ((0.0, 1),)) for place in places],
        "the paper's method with its own noise": [
            PaperJob(place, next(seeds), by_paper, own_noise=True) for place in TABLE_7
        ],
        "the paper's method with shadows": [
            PaperJob(place, next(seeds), ((0.0, 1), *by_paper[:1]), shadows=True) for place in TABLE_7
        ],
        "random scenes": [RandomJob(next(seeds), RANDOM_SIGMAS, held_out=False) for _ in range(scenes)],
        "held-out scenes": [RandomJob(next(seeds), RANDOM_SIGMAS, held_out=True) for _ in range(scenes)],
    }


def _errors(rows: Sequence[SparseTrial]) -> dict[str, float]:
    """Returns error rates, with the upper end of the interval, and how far those with a pose are off."""
    found = [row.status == "found" for row in rows]
    far = [not (ok and row.off_m <= MOST_OFF_M) for ok, row in zip(found, rows, strict=True)]
    turned = [not (ok and row.yaw_off_deg <= MOST_YAW_DEG) for ok, row in zip(found, rows, strict=True)]
    wrong = sum(a or b for a, b in zip(far, turned, strict=True))
    off_mm = [1000 * row.off_m for ok, row in zip(found, rows, strict=True) if ok]
    yaw_deg = [row.yaw_off_deg for ok, row in zip(found, rows, strict=True) if ok]
    figures = {
        "n": float(len(rows)),
        **rate_of("l2_error", sum(far), len(rows)),
        **rate_of("yaw_error", sum(turned), len(rows)),
        **rate_of("total_error", wrong, len(rows)),
        **rate_of("no_estimate", found.count(False), len(rows)),
    }
    if off_mm:
        figures |= {
            **quantile_of("median_mm", off_mm),
            **quantile_of("p95_mm", off_mm, 0.95),
            **quantile_of("yaw_p95_deg", yaw_deg, 0.95),
        }
    return figures


def _metrics(rows: Sequence[SparseTrial]) -> dict[str, float]:
    groups: dict[str, list[SparseTrial]] = {}
    for row in rows:
        groups.setdefault(f"{row.group}.s{row.sigma:g}", []).append(row)
        if row.group in ("m3.random", "m3.held_out"):
            groups.setdefault(row.group, []).append(row)
        if row.group == "m3" and row.sigma <= 30:
            groups.setdefault(f"m3.{row.colour}", []).append(row)
    metrics = {f"{name}.{key}": value for name, own in groups.items() for key, value in _errors(own).items()}
    sds = [row.sds for row in rows if row.group in ("m3.random", "m3.held_out") and row.status == "found"]
    if sds:
        metrics |= quantile_of("m3.sds_median", sds)
    return metrics


def _plots(rows: Sequence[SparseTrial], metrics: Mapping[str, float]) -> list[BarPlot | BoxPlot]:
    sigmas = [
        sigma for sigma in PAPER_TABLE_8 if all(f"{p}.s{sigma}.total_error" in metrics for p in ("m3", "paper.m3"))
    ]
    series = {
        "published": [PAPER_TABLE_8[sigma][2] for sigma in sigmas],
        "the paper's method here": [metrics[f"paper.m3.s{sigma}.total_error"] for sigma in sigmas],
        "fast": [metrics[f"m3.s{sigma}.total_error"] for sigma in sigmas],
    }
    own: dict[str, list[float]] = {}
    for row in rows:
        if row.group in ("m3", "m3.random", "m3.held_out") and np.isfinite(row.off_m):
            own.setdefault(f"{row.group.removeprefix('m3.')} {row.sigma:g}", []).append(max(1000 * row.off_m, 0.01))
    return [
        BarPlot(
            "errors",
            "Share of trials beyond 11 mm or 10 degrees, by noise.",
            [f"sigma {s}" for s in sigmas],
            series,
            "share of trials",
        ),
        BoxPlot("distances", "Distance from the truth of the method `fast`.", own, "mm", logarithmic=True),
    ]


def _notes(quick: bool) -> list[str]:
    notes = [
        "Poses are those of the paper's Table 7; a trial fails beyond 11 mm or 10 degrees modulo 90, or without a "
        "pose that may be used. Without noise all 36 combinations of places and turns are measured, as in the paper; "
        "with noise each of the six poses 20 times. Pictures are the cell's, 800 x 800, with shadows of arm, crate "
        "and cube; a scene is rendered once, noise is independent, of both signs, and drawn "
        "for every trial. The reference has the same noise. Cubes are white, red, wooden and grey in turn (`m3.red.` "
        "and so on: all sigmas to 30). Cameras are where the cell's errors put them, 0.5 mm off; the truth is the "
        "cube's.",
        "`m3.` knows the cube's edge, the paper's method does not; `m3.unknown_size.` does not either.",
        "`paper.m3.` is the paper's method with the parameters of its code, on a white cube without shadows, exposed "
        "so that the top is above its threshold of 220 and the plate is not: the conditions that it needs. With the "
        "noise of its code (`own_noise`: the same in both pictures, nothing below zero), and in the cell as it is "
        "(`shadows`).",
        "`m3.random.` are random places and turns all over the plate, the arm near home, moved between reference and "
        "picture. `m3.held_out.` comes from another generator: the arm moves twice as far, the key light has any "
        "direction, lights are 0.7 to 1.15 as bright, exposures 0.55 to 0.8. Nothing was tuned on it.",
        "`m3.sds_median` is the median distance in units of the measurement's own standard deviations; 1.18 would be "
        "exact. The error of the cameras' places is not in these.",
        "The paper's log contradicts its text: at sigma 9 the text's 34 % count runs without an estimate as successes "
        "(42 % with them), and most of the recorded yaws are none of the six.",
    ]
    if quick:
        notes.append("A quick run makes one trial of each pose at sigma 9 and 30, and two random scenes of each kind.")
    return notes


EXPERIMENTS.add("rovi-m3", Experiment("ROVI: sparse stereo of a cube, with noise and shadows", rovi_m3))
