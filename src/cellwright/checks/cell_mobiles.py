"""Conformance of mobile robots: they stand on their wheels and turn as these say."""

from __future__ import annotations

import numpy as np

from cellwright.checks.finding import Finding
from cellwright.sim import World

__all__ = ["check_drives"]

TILT_LIMIT_RAD = 0.1
TURN_S = 1.0
YAW_LIMIT = 0.01  # one step of a wheel is 0.1 % of the turn


def check_drives(world: World) -> Finding:
    """Checks that every mobile robot stands upright, and turns half round on the spot as its wheels say."""
    start = world.snapshot()
    tilted = [n for n in world.mobiles if np.abs(world.pose_of(n).rpy[:2]).max() > TILT_LIMIT_RAD]
    if tilted:
        return Finding("drives", False, f"not on its wheels: {', '.join(tilted)}", remedy="put it down upright")
    worst, most = "", 0.0
    yaws = {name: world.pose_of(name).rpy[2] for name in world.mobiles}
    counts = world.wheels.counts()
    for name, robot in world.mobiles.items():
        speed_radps = robot.figures.max_speed_radps / 4
        world.wheels.command(world.wheels.rows[name], -speed_radps, speed_radps)
    world.engine.step(round(TURN_S / world.cell.timestep_s))
    steps = world.wheels.counts() - counts
    for (name, row), robot in zip(world.wheels.rows.items(), world.mobiles.values(), strict=True):
        placed = world.layout.mobiles[name]
        left, right = steps[row] * robot.figures.step_rad * placed.wheel_radii_m
        expected = (right - left) / placed.wheel_base_m
        turned = world.pose_of(name).rpy[2] - yaws[name]
        error = abs((turned - expected + np.pi) % (2 * np.pi) - np.pi) / max(abs(expected), 1e-3)
        worst, most = max((worst, most), (name, error), key=lambda entry: entry[1])
    world.restore(start)
    detail = f"turned on the spot for {TURN_S:g} s; yaw is {most:.2%} from what the wheels say, most for '{worst}'"
    remedy = "give it room to turn, an even floor, and wheels of about one size"
    return Finding("drives", most <= YAW_LIMIT, detail, {"yaw_error": most}, remedy)
