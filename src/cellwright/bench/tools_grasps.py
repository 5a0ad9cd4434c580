"""One random transfer with a Robotiq gripper or a suction cup: taken with an error, swung about, set down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cellwright.catalogue import PARTS, GearFigures, PartFigures, VacuumFigures
from cellwright.cells import Cell
from cellwright.core.errors import CellwrightError
from cellwright.core.pose import Pose
from cellwright.execution import Hold, PickPlace, PickPlacePhase, Recipe, RobotHand, StraightWay
from cellwright.lab import DirectArm, Lab

__all__ = ["GraspCase", "robotiq_trials", "try_case", "vacuum_trials"]

ROBOT, PART = "arm", "part"
HOME_DEG = (0.0, -90.0, 90.0, -90.0, -90.0, 0.0)
RADIUS_M, HEIGHT_M, OFF_M = 0.55, 0.15, 0.004
SLIP_M = 0.006  # in the hand: farther is lost
PLACE_M, TILT_RAD = 0.006, np.radians(2.0)
RECIPE = Recipe(approach_m=HEIGHT_M, fast_mps=0.25, slow_mps=0.05, acceleration_mps2=1.5)
SWING = 1.0  # of the arm's joint speed, some 1.8 m/s at the tool
PRESS_M = 0.0015
RELEASE_M = 0.001
REST_S = 0.4
ERRORS = {"distribution": "normal", "sd": 0.0005}


@dataclass(frozen=True)
class GraspCase:
    """An object, a tool, and the speed of the swing, as a share of the arm's speed."""

    tool: str
    part: str
    swing: float


ROBOTIQ_CASES = tuple(
    GraspCase("robotiq_2f_85", part, SWING) for part in ("small_gear", "medium_gear", "large_gear", "bottle")
)
VACUUM_CASES = (GraspCase("small_vacuum", "thin_gear", SWING), GraspCase("big_vacuum", "flat_tray", 0.15))


def robotiq_trials(seed: int, numbers: list[int]) -> list[str]:
    """Runs several trials with gears, by their pegs, and a bottle, by its cap; for a process of its own."""
    return [try_case(seed, number, ROBOTIQ_CASES[number % len(ROBOTIQ_CASES)]) for number in numbers]


def vacuum_trials(seed: int, numbers: list[int]) -> list[str]:
    """Runs several trials with thin gears and trays; for a process of its own."""
    return [try_case(seed, number, VACUUM_CASES[number % len(VACUUM_CASES)]) for number in numbers]


def try_case(seed: int, number: int, case: GraspCase) -> str:
    """Runs one trial; returns why it failed, or an empty text."""
    random = np.random.default_rng([seed, number, 7])
    start, target, swing = (_place(random.uniform(*span)) for span in ((-0.4, 0.4), (0.8, 1.6), (-1.6, -0.8)))
    figures = PARTS.get(case.part)
    off_m = random.uniform(-OFF_M, OFF_M, 2)
    lies = Pose.from_xyz_rpy([*(start[:2] + off_m), -figures.bottom_m], [0, 0, random.uniform(-np.pi, np.pi)])
    with Lab(_cell(case, lies), int(random.integers(2**31))) as lab:
        return _try(lab, case, figures, start, target, swing)


def _place(angle_rad: float) -> np.ndarray:
    return np.array([RADIUS_M * np.cos(angle_rad), RADIUS_M * np.sin(angle_rad), 0.0])


def _cell(case: GraspCase, lies: Pose) -> Cell:
    pose = {"xyz_m": lies.position.tolist(), "rpy_deg": np.degrees(lies.rpy).tolist()}
    return Cell.model_validate(
        {
            "name": "tool_bench",
            "title": "One arm with a tool",
            "robots": {ROBOT: {"model": "ur5", "base": {"xyz_m": [0, 0, 0]}, "tool": case.tool, "home_deg": HOME_DEG}},
            "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
            "parts": {PART: {"model": case.part, "pose": pose}},
            "actual": {"robot_base": {"x_m": ERRORS, "y_m": ERRORS}, "tool": {"z_m": {**ERRORS, "sd": 0.0002}}},
        }
    )


def _try(lab: Lab, case: GraspCase, part: PartFigures, start: np.ndarray, target: np.ndarray, swing: np.ndarray) -> str:
    arm = DirectArm(lab.robot(ROBOT), lab.clock, RECIPE, joint_speed=case.swing)
    height_m, hold = _grasp_height_m(lab, part), Hold(case.part)
    slips: list[float] = []
    taken: list[Pose] = []

    def on_phase(phase: PickPlacePhase, _part: str) -> None:
        if phase is PickPlacePhase.LIFT:
            taken.append(_in_hand(lab))
        elif phase in (PickPlacePhase.CARRY, PickPlacePhase.LOWER, PickPlacePhase.RELEASE):
            slips.append(taken[0].distance_m(_in_hand(lab)))

    job = PickPlace(RobotHand(arm, lab.clock), on_phase)

    async def work() -> None:
        await job.pick(StraightWay.from_above(arm, _down(start, height_m)), hold)
        await arm.move(_down(swing, HEIGHT_M + height_m), RECIPE.fast_mps, straight=False)
        release = _down(target, height_m + _press_m(lab) + RELEASE_M)
        await job.place(StraightWay.from_above(arm, release), hold)
        await lab.clock.sleep(REST_S)

    try:
        lab.perform(work())
    except CellwrightError as error:
        return str(error)
    if max(slips) > SLIP_M:
        return f"{case.part} moved by {max(slips) * 1000:.1f} mm in the hand"
    now = lab.world.pose_of(PART)
    expected = _down(target, height_m) @ taken[0]  # a cup centres nothing: an error of the grasp is one of the place
    off_m = float(np.hypot(*(now.position - expected.position)[:2]))
    tilt_rad = float(np.arccos(np.clip(now.rotation_matrix[2, 2], -1, 1)))
    if off_m > PLACE_M or tilt_rad > TILT_RAD:
        return f"{case.part} ended {off_m * 1000:.1f} mm from its place, leaning by {np.degrees(tilt_rad):.1f} deg"
    return ""


def _down(place: np.ndarray, height_m: float) -> Pose:
    return Pose.from_xyz_rpy([*place[:2], height_m], (np.pi, 0.0, float(np.arctan2(place[1], place[0]))))


def _in_hand(lab: Lab) -> Pose:
    return lab.world.tcp_pose(ROBOT).inverse() @ lab.world.pose_of(PART)


def _press_m(lab: Lab) -> float:
    """Returns the pressing depth of a cup."""
    return PRESS_M if lab.world.robot(ROBOT).vacuum else 0.0


def _grasp_height_m(lab: Lab, part: PartFigures) -> float:
    """Returns the height of the tool's centre point: a cup presses on the upper face, pads close on peg or cap."""
    index, top_m = lab.world.robot(ROBOT), part.height_m
    if isinstance(index.hand.figures if index.hand else None, VacuumFigures):
        return top_m - PRESS_M
    assert index.gripper is not None
    figures = index.gripper.figures
    if isinstance(part, GearFigures):  # by its peg: the tips of the pads just above the disc
        return part.disc_top_m + 0.001 + figures.pad_size_m[2] / 2
    return top_m - 0.008 + figures.pad_size_m[2] / 2 - 0.008  # the lower halves of the pads on the cap
