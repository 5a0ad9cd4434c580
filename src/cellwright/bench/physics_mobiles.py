"""`epucks.*` of `cellwright bench physics`: speed of robots on wheels, and accuracy of their rolling."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cellwright.bench.lab_speed import measure_pairs
from cellwright.bench.patrol import listen
from cellwright.bench.replay import capture
from cellwright.bench.result import MeasurementConditions
from cellwright.catalogue import MOBILES
from cellwright.cells import Cell, load_cell
from cellwright.cells.actual import ActualCfg
from cellwright.lab import Lab

__all__ = ["MOBILE_TARGETS", "mobile_figures", "rolling_errors", "start_driving"]

SIZES: Mapping[str, tuple[int, int]] = {"one": (1, 31), "ten": (10, 15), "fifty": (50, 7)}  # robots, seconds
NEW_SPEEDS_S = 1.0
TURNS = ((-1.0, 1.0), (3.0, -3.0), (-6.28, 6.28), (2.0, 4.0), (5.0, 1.0), (-2.0, -4.0), (0.0, 3.0))  # rad/s
LINES = (1.0, 3.0, 6.28)
LINE_M = 0.8
WATCH_S = 0.02
WHEEL_M = MOBILES.get("epuck").wheel_radius_m

MOBILE_TARGETS: Mapping[str, Mapping[str, float]] = {
    "epucks.rtf_1": {"min": 100},
    "epucks.rtf_10": {"min": 15},
    "epucks.yaw_error": {"max": 0.002},
    "epucks.distance_error_mm": {"max": 1.5},
}


def mobile_figures(conditions: MeasurementConditions) -> dict[str, float]:
    """Measures the speed with one, ten and fifty robots that drive about, none asleep; and accuracy."""
    metrics = {}
    for variant, (robots, seconds) in SIZES.items():
        conditions.say(f"{robots} e-puck{'s' if robots > 1 else ''} driving about, beside raw physics")
        # Their senses are measured by `bench epucks`: this is the speed of physics.
        cell = load_cell(f"epucks@{variant}").changed({"mobiles": {"ePuck": {"profile": None}}})
        segments = capture(cell, conditions.seed, 3 if conditions.quick else seconds, start_driving)
        pairs = measure_pairs(cell, conditions.seed, segments, start=start_driving)
        metrics[f"epucks.rtf_{robots}"] = pairs.real_time_factor
        metrics[f"epucks.lab_to_raw_{robots}"] = pairs.ratio
    conditions.say("how truly e-pucks roll")
    yaw_error, distance_error_m = rolling_errors()
    return metrics | {"epucks.yaw_error": yaw_error, "epucks.distance_error_mm": 1000 * distance_error_m}


def start_driving(lab: Lab) -> list[asyncio.Task[None]]:
    """Starts a program that gives all robots new speeds now and then, and listens to all sensors."""
    listen(lab)
    return [lab.loop.create_task(_steer(lab))]


async def _steer(lab: Lab) -> None:
    """Gives new speeds to all robots now and then, as many forwards as backwards."""
    rng = np.random.default_rng(0)
    while True:
        for robot in lab.mobiles.values():
            robot.drive(*rng.uniform(-6.0, 6.0, 2))
        await lab.clock.sleep(NEW_SPEEDS_S)


def rolling_errors() -> tuple[float, float]:
    """Returns the largest error of yaw, as a share of the wheels' angle, and of distance, in 0.8 m.

    Robots are nominal and the floor is even: on a rough one no path is as long as its wheels say.
    """
    cell = load_cell("epucks@one").model_copy(update={"actual": ActualCfg(), "arena": None, "floor_roughness": ()})
    turns = [_roll(cell, left, right, 6.0) for left, right in TURNS]
    lines = [_roll(cell, speed, speed, LINE_M / WHEEL_M / speed) for speed in LINES]
    yaw = max(abs(roll.turned_rad / roll.wheels_turn_rad - 1) for roll in turns)
    return float(yaw), float(max(abs(roll.way_m - roll.wheels_way_m) for roll in lines))


@dataclass(frozen=True)
class _RolledMotion:
    """A robot's motion, in truth and by the angles of its wheels."""

    turned_rad: float
    wheels_turn_rad: float
    way_m: float
    wheels_way_m: float


def _roll(cell: Cell, left_radps: float, right_radps: float, duration_s: float) -> _RolledMotion:
    with Lab(cell, 0) as lab:
        (name, robot), turned, way = next(iter(lab.mobiles.items())), 0.0, 0.0
        wheels, figures = lab.world.mobiles[name].wheel_qpos, robot.figures
        before, last = lab.world.data.qpos[wheels], lab.world.pose_of(name)
        robot.drive(left_radps, right_radps)
        for _ in range(round(duration_s / WATCH_S)):
            lab.advance(WATCH_S)
            pose = lab.world.pose_of(name)
            turned += (pose.rpy[2] - last.rpy[2] + np.pi) % (2 * np.pi) - np.pi
            way += float(np.hypot(*(pose.position - last.position)[:2]))
            last = pose
        left, right = (lab.world.data.qpos[wheels] - before) * figures.wheel_radius_m
        return _RolledMotion(turned, (right - left) / figures.wheel_base_m, way, (left + right) / 2)
