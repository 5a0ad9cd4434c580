"""Follow the leader: one to twenty e-pucks in a row behind one on a random way, by range sensors and by transforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from math import pi, radians, remainder
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.cells import Cell, load_cell
from cellwright.cells.actual import ActualCfg
from cellwright.core.results import MeasurementConditions
from cellwright.core.rng import RandomStreams
from cellwright.core.statistics import mean_of, quantile_of, wilson_high, wilson_low
from cellwright.experiments.experiment import EXPERIMENTS, DataTable, Experiment, ExperimentFindings
from cellwright.experiments.plots import LinePlot
from cellwright.experiments.pool import run_jobs
from cellwright.lab import Lab
from cellwright.mobile import BusRobot, FollowByRange, FollowByTransform, RobotReadings

__all__ = ["FollowJob", "FollowRun", "RandomWay", "epuck_follow", "follow_leader"]

Array = npt.NDArray[np.float64]

COUNTS = (1, 2, 5, 10, 20)
RUNS, QUICK_RUNS = 10, 2
DURATION_S, WATCH_S = 60.0, 0.2
BODY_M = 0.074  # two bodies that touch: middle to middle
RANGE_GAP_M, TRANSFORM_GAP_M = 0.015, 0.15  # before the sensors; from middle to middle
LOST_M = 0.05
LEG_S = (1.5, 4.0)
LEG_MPS = (0.02, 0.05)
LEG_DEG = 60.0
METHODS = {"range": BODY_M + RANGE_GAP_M, "tf": TRANSFORM_GAP_M, "tf_exact": TRANSFORM_GAP_M}


class RandomWay:
    """The leader's program: legs of random speed and direction, never back the way it came; it minds nobody.

    Args:
        rng: Draws the legs.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._until_s = 0.0
        self._leg = 0.0, 0.0

    def update(self, robot: RobotReadings) -> tuple[float, float]:
        """Returns the speeds of the leg of this moment; a new direction is turned to on the way."""
        if robot.time_s >= self._until_s:
            self._until_s = robot.time_s + self._rng.uniform(*LEG_S)
            self._leg = float(self._rng.uniform(*LEG_MPS)), radians(self._rng.uniform(-LEG_DEG, LEG_DEG))
        speed_mps, heading_rad = self._leg
        turn = 1.5 * remainder(heading_rad - robot.yaw_rad, 2 * pi)
        return speed_mps, min(max(turn, -0.6), 0.6)


@dataclass(frozen=True)
class FollowJob:
    """A row of followers behind a leader: a key of `METHODS`, how many, and the seed of all that is random."""

    method: str
    followers: int
    seed: int
    duration_s: float = DURATION_S


@dataclass(frozen=True, kw_only=True)
class FollowRun:
    """The distances that a row kept.

    Attributes:
        job: The row.
        errors_m: Time and follower -> distance from the one ahead less the wanted distance, by the truth.
        paths_m: Robot -> its way, leader first: (n, 2).
    """

    job: FollowJob
    errors_m: Array
    paths_m: Sequence[Array] = field(repr=False)

    @property
    def lost(self) -> npt.NDArray[np.bool_]:
        """For each follower, whether it is farther than `LOST_M` from its place in the end."""
        return np.asarray(np.abs(self.errors_m[-1]) > LOST_M)

    @property
    def kept_errors_m(self) -> Array:
        """The errors of the followers that were not lost in the end, after the first ten seconds."""
        return self.errors_m[round(10 / WATCH_S) :, ~self.lost].ravel()


@lru_cache(maxsize=4)
def _cell(method: str, followers: int) -> Cell:
    """Returns a plain without walls with a row of robots along -x, the leader first, at the wanted distance."""
    cell = load_cell("epucks")
    keep = ("encoders", "proximity") if method == "range" else ("encoders",)
    sensors = [line for line in cell.mobiles["ePuck"].sensors if line["type"] in keep]
    changes: dict[str, Any] = {
        "mobiles": {
            "ePuck": {
                "count": followers + 1,
                "arrange": {"shape": "grid", "spacing_m": METHODS[method], "columns": followers + 1, "yaw_deg": 180.0},
                "pose": {"xyz_m": [0.0, 0.0, 0.0], "rpy_deg": [0.0, 0.0, 180.0]},
                "sensors": sensors,
            }
        }
    }
    exact = {"actual": ActualCfg()} if method == "tf_exact" else {}
    return cell.changed(changes).model_copy(update={"arena": None, **exact})


def follow_leader(job: FollowJob) -> FollowRun:
    """Lets a row follow its leader for a while; programs see sensors and odometry, the truth is for the errors."""
    with Lab(_cell(job.method, job.followers), job.seed) as lab:
        names = list(lab.mobiles)
        streams = RandomStreams(job.seed)
        BusRobot(lab.bus, names[0], RandomWay(streams.stream("leader")), lab.mobile(names[0]).move)
        for ahead, name in pairwise(names):
            move = lab.mobile(name).move
            if job.method == "range":
                BusRobot(lab.bus, name, FollowByRange(RANGE_GAP_M), move)
            else:
                BusRobot(lab.bus, name, FollowByTransform(ahead, TRANSFORM_GAP_M), move, others=[ahead])
        places = []
        for _ in range(round(job.duration_s / WATCH_S)):
            lab.advance(WATCH_S)
            places.append([lab.world.pose_of(name).position[:2].copy() for name in names])
    ways = np.array(places)
    distances = np.linalg.norm(ways[:, 1:] - ways[:, :-1], axis=2)
    return FollowRun(job=job, errors_m=distances - METHODS[job.method], paths_m=list(ways.transpose(1, 0, 2)))


def epuck_follow(conditions: MeasurementConditions, workers: int | None = None) -> ExperimentFindings:
    """Lets rows of every length follow the same leaders both ways."""
    count = QUICK_RUNS if conditions.quick else RUNS
    seeds = RandomStreams(conditions.seed).stream("epuck-follow").integers(2**31, size=count).tolist()
    jobs = [FollowJob(method, n, seed) for method in METHODS for n in COUNTS for seed in seeds]
    runs = run_jobs("followers", follow_leader, jobs, workers, conditions.progress)
    metrics: dict[str, float] = {}
    for method in METHODS:
        for n in COUNTS:
            own = [run for run in runs if (run.job.method, run.job.followers) == (method, n)]
            metrics |= _figures(own, f"{method}.", f"_{n}")
    rows = [
        (job.method, job.followers, job.seed, number + 1, int(lost), 1e3 * float(end), 1e3 * float(rms))
        for run in runs
        for job in (run.job,)
        for number, (lost, end, rms) in enumerate(
            zip(run.lost, run.errors_m[-1], np.sqrt((run.errors_m**2).mean(axis=0)), strict=True)
        )
    ]
    columns = ("method", "followers", "seed", "place", "lost", "error_at_end_mm", "rms_error_mm")
    return ExperimentFindings(
        metrics,
        {f"{method}.loss_{n}": {"max": 0.1} for method in ("range", "tf_exact") for n in (1, 20)},
        tables={"followers": DataTable(columns, rows)},
        plots=_plots(runs, seeds[0]),
        notes=NOTES,
    )


def _figures(runs: Sequence[FollowRun], prefix: str, ending: str) -> dict[str, float]:
    """Returns loss and distance errors of rows of one length; followers of a row are no independent trials."""
    count = len(runs)
    share = float(np.mean([run.lost.mean() for run in runs]))
    loss = f"{prefix}loss{ending}"
    errors_mm = [1e3 * float(np.abs(run.kept_errors_m).mean()) for run in runs if len(run.kept_errors_m)]
    return {
        loss: share,
        f"{loss}_low": wilson_low(share * count, count),
        f"{loss}_high": wilson_high(share * count, count),
        f"{loss}_n": float(count),
        **mean_of(f"{prefix}error_mm{ending}", errors_mm),
        **quantile_of(f"{prefix}worst_mm{ending}", [1e3 * float(np.abs(run.errors_m).max()) for run in runs]),
    }


def _loss_percent(runs: Sequence[FollowRun], method: str, count: int) -> float:
    return 100 * float(np.mean([r.lost.mean() for r in runs if (r.job.method, r.job.followers) == (method, count)]))


def _plots(runs: Sequence[FollowRun], seed: int) -> list[LinePlot]:
    counts: Array = np.array(COUNTS, np.float64)
    loss: dict[str, tuple[Array, Array]] = {}
    for method in METHODS:
        loss[method] = counts, np.array([_loss_percent(runs, method, n) for n in COUNTS], np.float64)
    plots = [LinePlot("loss", "Followers that were lost in the end.", loss, "followers [-]", "lost [%]")]
    for method in METHODS:
        run = next(r for r in runs if (r.job.method, r.job.followers, r.job.seed) == (method, 5, seed))
        time_s: Array = WATCH_S * np.arange(1, len(run.errors_m) + 1, dtype=np.float64)
        curves: Mapping[str, tuple[Array, Array]] = {
            f"follower {n + 1}": (time_s, 1e3 * run.errors_m[:, n]) for n in range(5)
        }
        plots.append(
            LinePlot(
                f"errors_{method}", f"Five followers by {method}: distance errors.", curves, "time [s]", "error [mm]"
            )
        )
        ways = {("leader" if n == 0 else f"follower {n}"): (way[:, 0], way[:, 1]) for n, way in enumerate(run.paths_m)}
        plots.append(
            LinePlot(f"ways_{method}", f"Their ways by {method}, seen from above.", ways, "x [m]", "y [m]", is_map=True)
        )
    return plots


NOTES = [
    f"A leader drives for {DURATION_S:g} s on legs of {LEG_S[0]:g} to {LEG_S[1]:g} s, each with a speed of "
    f"{100 * LEG_MPS[0]:g} to {100 * LEG_MPS[1]:g} cm/s and a direction within {LEG_DEG:g} degrees of +x from the "
    "seed; it minds nobody. Behind it stands a row of followers, each of which follows the one ahead. There are no "
    "walls.",
    "`range` sees its own eight proximity sensors and nothing else: a proportional controller holds "
    f"{1000 * RANGE_GAP_M:g} mm before them, turns to where more is seen, and looks for a lost leader for three "
    "seconds. Farther than 5 cm it is blind.",
    "`tf` gets the transform from the body ahead to its own, from the odometry of the two, and holds "
    f"{1000 * TRANSFORM_GAP_M:g} mm from middle to middle, which is out of the range of its sensors. It cannot lose a "
    "leader from sight, but the odometry of both goes wrong, and nothing corrects it. `tf_exact` is the same with "
    "robots that are as drawn, wheels and start: what is left is the controller's part. The simulation of the paper's "
    "package publishes true poses as transforms, so its followers were of that kind.",
    f"Distance errors are the truth's: the distance from the one ahead less the wanted one. A follower is lost when it "
    f"is {1000 * LOST_M:g} mm off at the end. `loss` is the share of lost followers; its interval counts a row as one "
    "trial, as its followers are not independent: behind a lost one all that follow it stand, too. `error_mm` is the "
    "mean error of those that were not lost, after the first ten seconds; a proportional controller needs an error to "
    "drive at all, so it grows with the leader's speed. The paper gives no figures.",
]

EXPERIMENTS.add(
    "epuck-follow", Experiment("e-pucks: follow the leader by range sensors and by transforms", epuck_follow)
)
