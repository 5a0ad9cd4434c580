"""One random transfer of a tray with the tray tool: an empty one from a stack in its box, or a kit into its box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cellwright.catalogue import FURNITURE, TRAYS, BoxFigures
from cellwright.cells import Cell, load_cell
from cellwright.cells.schema import PopulationCfg, PoseCfg, TrayCfg
from cellwright.core.errors import CellwrightError
from cellwright.core.pose import Pose
from cellwright.execution import Hold, PickPlace, PickPlacePhase, Recipe, RobotHand, StraightWay
from cellwright.execution.trays import hold_of
from cellwright.lab import DirectArm, Lab

__all__ = ["CASES", "TrayCase", "tray_trials", "try_tray"]

CELL, ROBOT, TOOL = "kitting", "motoman", "tray_vacuum"
OFF_M, OFF_RAD = 0.0005, np.radians(0.5)
PRESS_M = 0.0015
GAP_M = 0.001  # above where the tray lies, when it is let go
RECIPE = Recipe(approach_m=0.12, fast_mps=0.4, slow_mps=0.05, acceleration_mps2=1.5)
REST_S = 0.4
SLIP_M, PLACE_M, TILT_RAD = 0.001, 0.003, np.radians(1.0)
STAY_M = 0.001  # what lies below a tray, and what lies in it, moves by no more


@dataclass(frozen=True)
class TrayCase:
    """A kind of kit tray, taken from its box or, full, put into the box of kits."""

    tray: str
    box: str
    full: bool


CASES = (
    TrayCase("kit_m2l1_tray", "m2l1_tray_box", full=False),
    TrayCase("kit_s2l2_tray", "s2l2_tray_box", full=False),
    TrayCase("kit_m2l1_tray", "kit_box", full=True),
    TrayCase("kit_s2l2_tray", "kit_box", full=True),
)


def tray_trials(seed: int, numbers: list[int]) -> list[str]:
    """Runs several trials, for a process of its own."""
    return [try_tray(seed, number) for number in numbers]


def try_tray(seed: int, number: int, fidelity: Literal["physics", "kinematic"] = "physics") -> str:
    """Runs one trial; returns why it failed, or an empty text."""
    case, random = CASES[number % len(CASES)], np.random.default_rng([seed, number, 9])
    table = load_cell(CELL).fixtures["work_table"].pose.pose
    on_table = table @ Pose.from_xyz_rpy([*random.uniform(-0.04, 0.04, 2), 0.890], [0, 0, random.uniform(-0.1, 0.1)])
    cell = _cell(case, on_table).model_copy(update={"fidelity": fidelity})
    with Lab(cell, int(random.integers(2**31))) as lab:
        name, goal = next(reversed(cell.trays)), on_table
        if case.full:
            places = _places(cell, case.box)
            beside = Pose.from_xyz_rpy([*random.uniform(-0.003, 0.003, 2), 0.0])
            goal = places[int(random.integers(len(places)))] @ beside
        off = Pose.from_xyz_rpy([*random.normal(0, OFF_M, 2), 0.0], [0, 0, random.normal(0, OFF_RAD)])
        return _carry(lab, name, goal, off)


def _cell(case: TrayCase, on_table: Pose) -> Cell:
    """Returns the kitting workstation with the tray tool on its robot; a full kit stands on the work table."""
    cell = load_cell(CELL)
    tools = {TOOL: cell.tools[TOOL].model_copy(update={"holder": None, "robot": ROBOT})}
    if not case.full:
        trays = {name: tray for name, tray in cell.trays.items() if tray.model == case.tray}
        return cell.model_copy(update={"tools": tools, "trays": trays, "populations": ()})
    pose = PoseCfg(xyz_m=tuple(on_table.position.tolist()), rpy_deg=tuple(np.degrees(on_table.rpy).tolist()))
    wanted = [slot.accepts for slot in TRAYS.get(case.tray).slots]
    models = {population.model for population in cell.populations}
    gears = tuple(
        PopulationCfg(model=model, count=count, trays=("kit",))
        for model in sorted(models)
        if (count := wanted.count(f"sku_part_{model}"))
    )
    trays = {"kit": TrayCfg(model=case.tray, pose=pose)}
    return cell.model_copy(update={"tools": tools, "trays": trays, "populations": gears})


def _places(cell: Cell, name: str) -> list[Pose]:
    """Returns the places of trays in a box, by the drawings."""
    fixture = cell.fixtures[name]
    box = FURNITURE.get(fixture.model)
    assert isinstance(box, BoxFigures)
    return [fixture.pose.pose @ Pose.from_xyz_rpy(place) for place in box.places_xyz_m]


def _carry(lab: Lab, name: str, goal: Pose, off: Pose) -> str:
    """Takes a tray with an error, carries it over in straight lines, sets it down; returns why that failed."""
    world, arm = lab.world, DirectArm(lab.robot(ROBOT), lab.clock, RECIPE, joint_speed=0.5)
    before = {other: world.pose_of(other) for other in world.objects}
    grasp = hold_of(TRAYS.get(lab.cell.trays[name].model).sku, TOOL)
    assert grasp is not None
    held: list[Pose] = []
    slips: list[float] = []

    def on_phase(phase: PickPlacePhase, _tray: str) -> None:
        in_hand = world.tcp_pose(ROBOT).inverse() @ world.pose_of(name)
        if phase is PickPlacePhase.CARRY:
            held.append(in_hand)
        elif phase in (PickPlacePhase.LOWER, PickPlacePhase.RELEASE):
            slips.append(held[0].distance_m(in_hand))

    def pose_tool(tray: Pose, down_m: float) -> Pose:
        return grasp.pose_tool(tray, float(tray.rpy[2]) + grasp.grip.yaw_rad, down_m)

    async def work() -> None:
        job = PickPlace(RobotHand(arm, lab.clock), on_phase)
        taken, put = pose_tool(before[name] @ off, PRESS_M), pose_tool(goal @ off, -GAP_M)
        await job.pick(StraightWay.from_above(arm, taken), Hold(name))
        await job.place(StraightWay.from_above(arm, put, is_level=True), Hold(name))
        await lab.clock.sleep(REST_S)

    try:
        lab.perform(work())
    except CellwrightError as error:
        return str(error)
    return _verdict(lab, name, before, goal, max(slips))


def _verdict(lab: Lab, name: str, before: dict[str, Pose], goal: Pose, slip_m: float) -> str:
    world, now = lab.world, lab.world.pose_of(name)
    if slip_m > SLIP_M:
        return f"{name} moved by {slip_m * 1000:.1f} mm in the hand"
    off_m, tilt_rad = now.distance_m(goal), float(np.arccos(np.clip(now.rotation_matrix[2, 2], -1, 1)))
    if off_m > PLACE_M or tilt_rad > TILT_RAD:
        return f"{name} ended {off_m * 1000:.1f} mm from its place, leaning by {np.degrees(tilt_rad):.1f} deg"
    for other, pose in before.items():
        carried = other not in lab.cell.trays
        expected = now @ before[name].inverse() @ pose if carried else pose
        moved_m = world.pose_of(other).distance_m(expected) if other != name else 0.0
        if moved_m > STAY_M:
            return f"{other} was shifted by {moved_m * 1000:.1f} mm {'in' if carried else 'below'} {name}"
    return ""
