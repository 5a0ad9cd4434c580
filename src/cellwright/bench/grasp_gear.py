"""One random transfer of a gear in the agility laboratory: the real job, with a detour while it is in the hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellwright.bench.gear_transfer import GearTransfer
from cellwright.bench.grasp_detour import DetourArm
from cellwright.bench.grasp_monitor import GraspMonitor, GraspOutcome
from cellwright.catalogue import TrayFigures, TrayKind
from cellwright.cells import load_cell
from cellwright.execution import PickPlacePhase
from cellwright.judge import judge_slot
from cellwright.lab import Lab

__all__ = ["PLACE_M", "gear_trials", "try_gear"]

CELL = "aprs"
PLACE_M = 0.002  # from the slot's axis; the judge of `seated` is stricter, and looks at tilt and height as well


def gear_trials(seed: int, numbers: list[int]) -> list[dict[str, Any]]:
    """Runs several trials, for a process of its own."""
    return [try_gear(seed, number).as_dict() for number in numbers]


def try_gear(seed: int, number: int) -> GraspOutcome:
    """Runs one trial: robot, gear, slots, cell errors, noise and detour all follow from seed and number.

    Args:
        seed: Of the series.
        number: Of the trial.
    """
    random = np.random.default_rng([seed, number])
    with Lab(load_cell(CELL), int(random.integers(2**31))) as lab:
        return _try(lab, random)


def _draw(lab: Lab, random: np.random.Generator) -> tuple[str, str, str]:
    """Returns a robot, a slot of a parts tray and one of a kit tray for the same kind of gear, on the robot's table."""
    robot = str(random.choice(sorted(lab.robots)))
    trays = {name: item.figures for name, item in lab.world.objects.items() if name.startswith(robot)}
    slots: dict[TrayKind, list[tuple[str, str]]] = {TrayKind.PARTS: [], TrayKind.KIT: []}
    for name, tray in trays.items():
        if isinstance(tray, TrayFigures):
            slots[tray.kind] += [(f"{name}/{slot.name}", slot.accepts) for slot in tray.slots]
    wanted = str(random.choice(sorted({sku for _, sku in slots[TrayKind.KIT]})))
    source, target = (
        fitting[random.integers(len(fitting))]
        for fitting in (
            [place for place, sku in slots[kind] if sku == wanted] for kind in (TrayKind.PARTS, TrayKind.KIT)
        )
    )
    return robot, source, target


def _try(lab: Lab, random: np.random.Generator) -> GraspOutcome:
    robot, source, target = _draw(lab, random)
    part = judge_slot(lab.world, source).part
    watch = GraspMonitor(lab, robot, part)
    arm = DetourArm(lab.robot(robot), lab.clock, random)

    def on_phase(phase: PickPlacePhase, gear: str) -> None:
        watch.on_phase(phase, gear)
        arm.is_carrying = phase in (PickPlacePhase.LIFT, PickPlacePhase.CARRY)

    failure = lab.perform(GearTransfer(lab, arm, source, target, on_phase).run())
    seating = judge_slot(lab.world, target)
    problem = watch.problem() or failure
    if not problem and not (seating.part == part and seating.centre_error_m <= PLACE_M):
        problem = f"it is not in its slot: {seating.reason}"
    trial = f"{robot} {part} {source} -> {target}, {len(arm.vias)} via points"
    there = seating.part == part
    error_m = seating.centre_error_m if there else float("nan")
    return GraspOutcome(trial, problem, watch.slip_m, watch.turn_rad, error_m, seated=there and seating.seated)
