"""One random transfer of a bottle in the ROVI cell: taken as the grasps are ranked, carried about, set down."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellwright.bench.grasp_monitor import GraspMonitor, GraspOutcome
from cellwright.bench.grasp_plan import BottlePlan, BottlePlanner
from cellwright.cells import load_cell
from cellwright.core.errors import CellwrightError, JobFailed
from cellwright.core.pose import Pose
from cellwright.execution import Hold, PickPlace, RobotHand
from cellwright.lab import DirectArm, Lab
from cellwright.perception import look, nearest_track

__all__ = ["PLACE_M", "TILT_RAD", "bottle_trials", "try_bottle"]

CELL, ROBOT, BOTTLE, DETECTOR = "rovi", "ur5", "bottle", "detector_pick"
PLACE_M = 0.011  # from where it should stand: the room on either side of it in the open gripper that comes for it next
TILT_RAD = np.radians(2.0)
HEIGHT_M = 0.750  # of both areas
PICK_AREA_M = ((0.05, 0.95), (0.75, 1.15))  # the areas of the table, less the bottle's radius
PLACE_AREA_M = ((0.65, 0.05), (0.75, 0.15))
APART_M = 0.2  # start and target: the hand must fit between a bottle and the place it was taken from
DRAWS = 20
REST_S = 0.5


def bottle_trials(seed: int, numbers: list[int]) -> list[dict[str, Any]]:
    """Runs several trials, for a process of its own."""
    return [try_bottle(seed, number).as_dict() for number in numbers]


def try_bottle(seed: int, number: int) -> GraspOutcome:
    """Runs one trial: places, cell errors, noise, grasp and path all follow from seed and number."""
    random = np.random.default_rng([seed, number, 1])
    with Lab(load_cell(CELL), int(random.integers(2**31))) as lab:
        planner = BottlePlanner(lab.cell, lab.nominal, ROBOT, BOTTLE)
        for draws in range(1, DRAWS + 1):
            start, target = _places(random)
            lab.world.place(BOTTLE, start)
            lab.advance(REST_S)
            plan = planner.plan(lab.perform(_detect(lab)), target, random)
            if plan is not None:
                return _try(lab, plan, target, draws)
        raise JobFailed(f"in {DRAWS} draws no place was found from which and to which the arm can carry the bottle")


def _places(random: np.random.Generator) -> tuple[Pose, Pose]:
    """Returns a place on the pick area, and one on either area."""
    while True:
        start, target = random.uniform(*PICK_AREA_M), random.uniform(*(PICK_AREA_M, PLACE_AREA_M)[random.integers(2)])
        if np.hypot(*(target - start)) >= APART_M:
            return Pose.from_xyz_rpy([*start, HEIGHT_M]), Pose.from_xyz_rpy([*target, HEIGHT_M])


async def _detect(lab: Lab) -> Pose:
    """Returns the bottle's place by the detector; its height and that it is upright are known."""
    seen = nearest_track(await look(lab.bus, lab.clock, DETECTOR), lab.world.object(BOTTLE).sku, (0.0, 0.0, 0.0))
    if seen is None:
        raise JobFailed("the bottle is not in view")
    x, y, _ = seen.position
    return Pose.from_xyz_rpy([x, y, HEIGHT_M])


def _try(lab: Lab, plan: BottlePlan, target: Pose, draws: int) -> GraspOutcome:
    arm, watch = DirectArm(lab.robot(ROBOT), lab.clock), GraspMonitor(lab, ROBOT, BOTTLE)
    job = PickPlace(RobotHand(arm, lab.clock), watch.on_phase)
    hold = Hold(BOTTLE, plan.grasp.width_m, arm.recipe.grip_tolerance_m)

    async def work() -> str:
        try:
            await job.pick(plan.pick_way(arm), hold)
            await job.place(plan.place_way(arm), hold)
        except CellwrightError as error:
            return str(error)
        finally:
            await lab.clock.sleep(REST_S)
        return ""

    failure = lab.perform(work())
    now = lab.world.pose_of(BOTTLE)
    error_m = float(np.hypot(*(now.position - target.position)[:2]))
    tilt_rad = float(np.arccos(np.clip(now.rotation_matrix[2, 2], -1, 1)))
    problem = watch.problem() or failure
    if not problem and tilt_rad > TILT_RAD:
        problem = f"it leans by {np.degrees(tilt_rad):.1f} deg"
    if not problem and error_m > PLACE_M:
        problem = f"it stands {error_m * 1000:.1f} mm from its place"
    x_m, y_m, _ = target.position
    grasp = f"from the {plan.grasp.kind} at {np.degrees(plan.grasp.turn_rad):.0f} deg"
    trial = f"{grasp}, to ({x_m:.3f}, {y_m:.3f}), after {draws} draws"
    return GraspOutcome(trial, problem, watch.slip_m, watch.turn_rad, error_m, seated=bool(tilt_rad <= TILT_RAD))
