"""One run of the ROVI pipeline: a scene by its seed, the object found in pictures, taken, carried, set down, judged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import PARTS
from cellwright.cells import Cell, PoseCfg, load_cell
from cellwright.cells.part_entries import PartCfg, PopulationCfg, RegionCfg
from cellwright.core.errors import BadInput, SimulationError
from cellwright.core.pose import Pose
from cellwright.core.rng import RandomStreams
from cellwright.drawings.planning_scene import TableArea, table_area
from cellwright.drawings.prior import Drawings
from cellwright.lab import Lab
from cellwright.orders.pick_order import PICK_ORDERS, PickOrder
from cellwright.shapes.part_shape import part_shape
from cellwright.trials.pick_run import PickReport, run_pick

__all__ = ["LOCATIONS_M", "IntegratedJob", "IntegratedRun", "integrated_cell", "run_integrated"]

Array = npt.NDArray[np.float64]

CELL, CAMERA, OBJECT = "rovi", "stereo_camera", "object"
LOCATIONS_M = {"p1": (0.15, 1.05), "p2": (0.40, 1.05), "p3": (0.65, 1.05)}
DISTRACTORS = ("coffee_can", "mug", "milk_carton")
GAP_M = 0.06  # between the object and each distractor at least: a finger fits in between, a hand does not
EDGE_M = 0.005  # that every foot keeps from the edge of its area
MOVED_M = 0.001  # an obstacle that was moved farther was pushed
DRAWS = 1000


@dataclass(frozen=True)
class IntegratedJob:
    """One run to make.

    Attributes:
        group: Which figure it belongs to.
        order: A name of `PICK_ORDERS`.
        seed: Of the scene, the cell's errors, the noise and the paths.
        sigma: Standard deviation of the picture's noise, in grey levels of 255.
        location: A key of `LOCATIONS_M`; by default anywhere on the pick area.
        distractors: How many other objects stand on the pick area.
    """

    group: str
    order: str
    seed: int
    sigma: float
    location: str = ""
    distractors: int = 0


@dataclass(frozen=True, kw_only=True)
class IntegratedRun:
    """The outcome of one run, by the truth unless said otherwise.

    Attributes:
        planned: Whether the object was found and a way planned, by the controller's account: the project's success.
        executed: Whether the object stands on the place area, released and at rest, the controller says so, nothing
            was hit and no obstacle was pushed.
        false_done: Whether the controller says so and it is not.
        error_m: Of the last measured place, in the plane.
        sd_m: The larger standard deviation that was told with it.
        looks: How often it was looked.
        grasp: How it was taken, by the plan.
        place_error_m: From the middle of the place area.
        hits: Contacts that must not be.
        pushed_m: The farthest that an obstacle was moved.
        time_s: How long it took in the cell.
        reason: What happened.
    """

    group: str
    order: str
    seed: int
    sigma: float
    x_m: float
    y_m: float
    planned: bool
    executed: bool
    false_done: bool
    error_m: float
    sd_m: float
    looks: int
    grasp: str
    place_error_m: float
    hits: int
    pushed_m: float
    time_s: float
    reason: str


def run_integrated(job: IntegratedJob) -> IntegratedRun:
    """Builds the cell by its seed, runs the controller, judges."""
    order = PICK_ORDERS.get(job.order)
    cell, drawn = integrated_cell(job)
    with Lab(cell, job.seed) as lab:
        others = [name for name in lab.world.objects if name != OBJECT]
        stood = {name: lab.world.pose_of(name) for name in (OBJECT, *others)}
        try:
            report = run_pick(lab, order, drawings=Drawings.of(drawn))
        except (SimulationError, BadInput) as error:  # such as an object that dense stereo cannot look for
            return _row(job, stood[OBJECT], None, 0.0, str(error))
        pushed_m = max((lab.world.pose_of(name).distance_m(stood[name]) for name in others), default=0.0)
    return _row(job, stood[OBJECT], report, pushed_m, report.reason)


def _row(job: IntegratedJob, stood: Pose, report: PickReport | None, pushed_m: float, reason: str) -> IntegratedRun:
    seen = [one for one in report.account.measurements if one.pose_in_world is not None] if report else []
    nothing = float("nan")
    error_m, sd_m = nothing, nothing
    if seen and seen[-1].pose_in_world is not None and seen[-1].variances is not None:
        error_m = float(np.hypot(*(seen[-1].pose_in_world.position - stood.position)[:2]))
        sd_m = float(np.sqrt(max(seen[-1].variances[:2])))
    is_clean = report is not None and not report.hits and pushed_m <= MOVED_M
    return IntegratedRun(
        group=job.group,
        order=job.order,
        seed=job.seed,
        sigma=job.sigma,
        x_m=float(stood.position[0]),
        y_m=float(stood.position[1]),
        planned=bool(report and report.account.is_planned),
        executed=bool(report and report.done and is_clean),
        false_done=bool(report and report.account.done and not report.done),
        error_m=error_m,
        sd_m=sd_m,
        looks=len(report.account.measurements) if report else 0,
        grasp=report.account.grasp if report else "",
        place_error_m=report.verdict.error_m if report and report.verdict else nothing,
        hits=len(report.hits) if report else 0,
        pushed_m=pushed_m,
        time_s=report.time_s if report else nothing,
        reason="; ".join([reason, *map(str, report.hits if report else ())]),
    )


def integrated_cell(job: IntegratedJob) -> tuple[Cell, Cell]:
    """Returns the cell as it is, and as the controller's drawings have it: in those the object has no place.

    The obstacles of the ROVI project's scene stand where they are, but for one of the kind that is looked for; the
    distractors are drawn as well, and the room between them is by chance.
    """
    order = PICK_ORDERS.get(job.order)
    cell = _with_noise(load_cell(CELL), job.sigma)
    area = table_area(Drawings.of(cell).fixtures, order.pick_area)
    random = RandomStreams(job.seed).stream(f"rovi-integrated/{job.group}")
    kept = {name: part for name, part in cell.parts.items() if part.model not in (order.model, "bottle")}
    place, others = _places(job, order, area, random)
    drawn = kept | {f"distractor_{number}": part for number, part in enumerate(others, start=1)}
    (low_x, low_y, z_m), (high_x, high_y, _) = area.corners_in_world.min(axis=0), area.corners_in_world.max(axis=0)
    region = RegionCfg(min_xy_m=(low_x, low_y), max_xy_m=(high_x, high_y), z_m=z_m)
    somewhere = PopulationCfg(model=order.model, count=1, region=region)
    return (
        cell.model_copy(update={"parts": {OBJECT: place, **drawn}}),
        cell.model_copy(update={"parts": drawn, "populations": (somewhere,)}),
    )


def _with_noise(cell: Cell, sigma: float) -> Cell:
    """Returns the cell whose stereo camera has independent noise in every channel of every pixel."""
    noise = [{"model": "gaussian", "sd": sigma / 255}] if sigma else []
    lines = [line if line.get("type") != CAMERA else {**line, "noise": noise} for line in cell.sensors]
    return cell.model_copy(update={"sensors": tuple(lines)})


def _places(
    job: IntegratedJob, order: PickOrder, area: TableArea, random: np.random.Generator
) -> tuple[PartCfg, list[PartCfg]]:
    """Returns the object and the distractors, none nearer to another than allowed."""
    for _ in range(DRAWS):
        xy = np.array(LOCATIONS_M[job.location]) if job.location else _drawn(area, order.model, random)
        kinds = random.choice(DISTRACTORS, job.distractors)
        placed, found = [(order.model, xy)], []
        for kind in map(str, kinds):
            at = _drawn(area, kind, random)
            gaps = [np.hypot(*(at - other)) - _radius_m(kind) - _radius_m(name) for name, other in placed]
            if gaps[0] < GAP_M or min(gaps) < EDGE_M:
                break
            placed.append((kind, at))
            found.append(_part(kind, at, area, random))
        if len(found) == job.distractors:
            return _part(order.model, xy, area, random), found
    raise SimulationError(f"no room for {job.distractors} distractors on the {order.pick_area} in {DRAWS} draws")


def _drawn(area: TableArea, model: str, random: np.random.Generator) -> Array:
    """Returns a place in the world for an object whose foot is on the area."""
    half = np.array(area.size_m) / 2 - _radius_m(model) - EDGE_M
    return area.pose_in_world.apply(np.array([*random.uniform(-half, half), 0.0]))[:2]


def _part(model: str, xy: Array, area: TableArea, random: np.random.Generator) -> PartCfg:
    z_m, turn_deg = float(area.pose_in_world.position[2]), float(random.uniform(-180.0, 180.0))
    return PartCfg(model=model, pose=PoseCfg(xyz_m=(float(xy[0]), float(xy[1]), z_m), rpy_deg=(0.0, 0.0, turn_deg)))


@lru_cache
def _radius_m(model: str) -> float:
    points = part_shape(PARTS.get(model)).corners
    return float(np.hypot(points[:, 0], points[:, 1]).max())
