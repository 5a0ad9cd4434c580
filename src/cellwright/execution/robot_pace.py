"""The pace of robots, from the figures of their arms: how much longer one takes for the same work than another."""

from __future__ import annotations

from collections.abc import Mapping

from cellwright.catalogue import ArmFigures
from cellwright.execution.settings import Recipe

__all__ = ["robot_paces"]

WAY_M = 0.2  # from one tray to the next, about as far as trays are wide; it counts for all robots alike


def robot_paces(arms: Mapping[str, ArmFigures], recipe: Recipe) -> dict[str, float]:
    """Returns robot -> how many times as long as the quickest of them it takes to move its tool from tray to tray.

    A motion from rest to rest of length s, at speed v, acceleration a and jerk j, takes ``s / v + v / a + a / j``. The
    recipe limits v and a; the arm limits all three, by its slowest joint at its full reach.
    """
    times_s = {name: _way_s(arm, recipe) for name, arm in arms.items()}
    least_s = min(times_s.values(), default=1.0)
    return {name: time_s / least_s for name, time_s in times_s.items()}


def _way_s(arm: ArmFigures, recipe: Recipe) -> float:
    reach_m, joints = arm.reach_m, arm.joints
    speed_mps = min(recipe.fast_mps, reach_m * min(joint.velocity_limit_radps for joint in joints))
    acceleration_mps2 = reach_m * min(joint.acceleration_limit_radps2 for joint in joints)
    acceleration_mps2 = min(recipe.acceleration_mps2, acceleration_mps2)
    jerk_mps3 = reach_m * min(joint.jerk_limit_radps3 for joint in joints)
    return WAY_M / speed_mps + speed_mps / acceleration_mps2 + acceleration_mps2 / jerk_mps3
