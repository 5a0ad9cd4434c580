"""Times of the inverse kinematics for a pose, through the calls that users make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time

import numpy as np
import numpy.typing as npt

from cellwright.bench.result import MeasurementFailed
from cellwright.catalogue import ROBOTS
from cellwright.core.pose import Pose
from cellwright.motion import ArmKinematics
from cellwright.motion.closed_form import WORTH_COMPILING

__all__ = ["measure"]

Array = npt.NDArray[np.float64]

ARMS = {"ur5": "ur5", "lrmate": "lr_mate_200id", "sia20": "sia20f"}
POSES = 100
TOLERANCE = 2e-6  # metres and radians


def measure(repeats: int = 25, seed: int = 0, say: Callable[[str], None] = lambda _text: None) -> dict[str, float]:
    """Measures microseconds of processor time per pose: the fastest of a few passes over random poses within reach.

    `_us` is a call of `inverse`: every configuration within the limits, full turns included, nearest first.
    `_uncompiled_us` is the same before compiled code is loaded, or without numba. `_many_us` is `inverse_of_many`,
    and `_nearest_us` is a call of `nearest`.

    Args:
        repeats: Number of passes.
        seed: Of the poses.
        say: Told what is going on.

    Raises:
        MeasurementFailed: when a configuration does not take its pose.
    """
    metrics: dict[str, float] = {}
    for short, name in ARMS.items():
        say(f"inverse kinematics of {name}")
        arm = ArmKinematics(ROBOTS.get(name))
        random = np.random.default_rng([seed, 3])
        starts = random.uniform(arm.lower_rad, arm.upper_rad, (POSES, len(arm.lower_rad)))
        poses, home = [arm.forward(joints) for joints in starts], np.array(arm.arm.home_rad)

        def inverse(arm: ArmKinematics = arm, poses: list[Pose] = poses, home: Array = home) -> list[list[Array]]:
            return [arm.inverse(pose, home) for pose in poses]

        def nearest(arm: ArmKinematics = arm, poses: list[Pose] = poses, starts: Array = starts) -> list[Array]:
            return [arm.nearest(pose, start) for pose, start in zip(poses, starts, strict=True)]

        def many(arm: ArmKinematics = arm, poses: list[Pose] = poses, home: Array = home) -> list[Array]:
            return arm.inverse_of_many(poses, home)

        metrics[f"ik.{short}_uncompiled_us"] = _fastest_us(inverse, min(repeats, WORTH_COMPILING // POSES))
        for _ in range(WORTH_COMPILING // POSES + 1):  # `nearest` never loads compiled code: it must not take a second
            inverse()
        _verify(arm, poses, inverse())
        metrics |= {
            f"ik.{short}_us": _fastest_us(inverse, repeats),
            f"ik.{short}_many_us": _fastest_us(many, repeats),
            f"ik.{short}_nearest_us": _fastest_us(nearest, repeats),
            f"ik.{short}_solutions": float(np.mean([len(found) for found in inverse()])),
        }
    return metrics


def _fastest_us(work: Callable[[], object], repeats: int) -> float:
    """Returns the time per pose, of the fastest pass."""
    best = np.inf
    for _ in range(repeats):
        start_s = process_time()
        work()
        best = min(best, process_time() - start_s)
    return 1e6 * best / POSES


def _verify(arm: ArmKinematics, poses: Sequence[Pose], answers: list[list[Array]]) -> None:
    for pose, found in zip(poses, answers, strict=True):
        for joints in found[:8] or [np.zeros(len(arm.lower_rad))]:
            if not arm.forward(joints).is_close(pose, tolerance_m=TOLERANCE, tolerance_rad=TOLERANCE):
                what = f"the inverse kinematics of {arm.arm.name}"
                raise MeasurementFailed(what, f"{np.degrees(joints).round(3).tolist()} deg does not take {pose}")
