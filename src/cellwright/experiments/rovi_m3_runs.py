"""The trials of sparse stereo: scenes that are rendered once, noise that is drawn for each trial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from cellwright.core.rng import RandomStreams
from cellwright.experiments.sparse_scenes import CubeScene, draw_scene, noisy, pick_plate
from cellwright.perception.pose_measurement import PoseMeasurement
from cellwright.perception.stereo import sparse_stereo

__all__ = ["TABLE_7", "PaperJob", "RandomJob", "SparseTrial", "TableJob", "combined_places", "do_job"]

Place = tuple[float, float, float]
TABLE_7: tuple[Place, ...] = (
    (0.10, 1.00, 0.1),
    (0.20, 1.03, 0.2),
    (0.30, 1.05, 0.3),
    (0.40, 1.03, 0.4),
    (0.50, 0.98, 0.5),
    (0.60, 1.01, 0.6),
)
PAPER_EXPOSURE = 0.82  # the top of the white cube is above 220 then, and the plate's blue below


@dataclass(frozen=True)
class SparseTrial:
    """One measurement against the truth.

    Attributes:
        group: The metrics to which it counts.
        sigma: Noise in grey levels.
        colour: The cube's.
        x_m: True place.
        y_m: True place.
        yaw_rad: True turn.
        status: Of the measurement.
        off_m: Distance in the plane; not a number without a pose.
        yaw_off_deg: Modulo 90 degrees; not a number without a pose.
        quality: Of the measurement.
        sds: Distance in its own standard deviations.
    """

    group: str
    sigma: float
    colour: str
    x_m: float
    y_m: float
    yaw_rad: float
    status: str
    off_m: float
    yaw_off_deg: float
    quality: float
    sds: float


@dataclass(frozen=True)
class TableJob:
    """One cube at one place, with the arm at home.

    Attributes:
        colour: A key of `CUBES`.
        place: x, y and yaw.
        seed: Of the cell and of the noise.
        trials: (sigma, how many).
        edge_known: Whether the method knows the cube's size.
    """

    colour: str
    place: Place
    seed: int
    trials: tuple[tuple[float, int], ...]
    edge_known: bool = True


@dataclass(frozen=True)
class PaperJob:
    """The paper's method on a white cube at one place.

    Attributes:
        place: x, y and yaw.
        seed: Of the cell and of the noise.
        trials: (sigma, how many).
        own_noise: Whether the noise is that of the paper's code.
        shadows: Whether there are some.
    """

    place: Place
    seed: int
    trials: tuple[tuple[float, int], ...]
    own_noise: bool = False
    shadows: bool = False


@dataclass(frozen=True)
class RandomJob:
    """One random scene, the arm moved between reference and picture.

    Attributes:
        seed: Of everything.
        sigmas: One trial of each.
        held_out: Whether of the other generator.
    """

    seed: int
    sigmas: tuple[float, ...]
    held_out: bool


def combined_places() -> list[Place]:
    """Returns all 36 combinations of the table's places and turns."""
    return [(x, y, yaw) for (x, y, _), (_, _, yaw) in product(TABLE_7, TABLE_7)]


def do_job(job: TableJob | PaperJob | RandomJob) -> list[SparseTrial]:
    """Returns the trials of one job."""
    if isinstance(job, TableJob):
        return list(_table_trials(job))
    return list(_paper_trials(job) if isinstance(job, PaperJob) else _random_trials(job))


def _table_trials(job: TableJob) -> Iterator[SparseTrial]:
    scene = CubeScene(job.colour, job.seed)
    empty, full = scene.pictures(None), scene.pictures(job.place)
    task = pick_plate() if job.edge_known else pick_plate(None)
    for sigma, count in job.trials:
        rng = RandomStreams(job.seed).stream(f"rovi-m3.{sigma}")
        method = sparse_stereo("fast", task, noisy(empty, sigma, rng))
        for _ in range(count):
            found = method.measure(*noisy(full, sigma, rng))
            yield _judged("m3" if job.edge_known else "m3.unknown_size", sigma, job.colour, job.place, found)


def _paper_trials(job: PaperJob) -> Iterator[SparseTrial]:
    scene = CubeScene("white", job.seed, exposure=PAPER_EXPOSURE, shadows=job.shadows)
    full, method = scene.pictures(job.place), sparse_stereo("paper", pick_plate())
    group = "paper.m3.own_noise" if job.own_noise else "paper.m3.shadows" if job.shadows else "paper.m3"
    for sigma, count in job.trials:
        rng = RandomStreams(job.seed).stream(f"rovi-m3.paper.{sigma}")
        for _ in range(count):
            found = method.measure(*noisy(full, sigma, rng, as_paper=job.own_noise))
            yield _judged(group, sigma, "white", job.place, found)


def _random_trials(job: RandomJob) -> Iterator[SparseTrial]:
    streams = RandomStreams(job.seed)
    drawn = draw_scene(streams.stream("rovi-m3.scene"), held_out=job.held_out)
    scene = CubeScene(drawn.colour, job.seed, exposure=drawn.exposure)
    scene.light(drawn.key_light, drawn.light_factor)
    empty, full = scene.pictures(None, drawn.reference_rad), scene.pictures(drawn.place, drawn.joints_rad)
    for sigma in job.sigmas:
        rng = streams.stream(f"rovi-m3.{sigma}")
        method = sparse_stereo("fast", pick_plate(), noisy(empty, sigma, rng))
        found = method.measure(*noisy(full, sigma, rng))
        yield _judged("m3.held_out" if job.held_out else "m3.random", sigma, drawn.colour, drawn.place, found)


def _judged(group: str, sigma: float, colour: str, place: Place, found: PoseMeasurement) -> SparseTrial:
    off_m = yaw_off = sds = float("nan")
    if found.pose_in_world is not None and found.variances is not None:
        off = found.pose_in_world.position[:2] - place[:2]
        off_m = float(np.hypot(*off))
        sds = float(np.sqrt((off**2 / found.variances[:2]).sum()))
        turned = float(found.pose_in_world.rpy[2]) - place[2]
        yaw_off = float(np.degrees(abs((turned + np.pi / 4) % (np.pi / 2) - np.pi / 4)))
    return SparseTrial(group, sigma, colour, *place, found.status.value, off_m, yaw_off, found.quality, sds)
