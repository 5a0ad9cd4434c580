"""Inverse kinematics by damped least squares from many starts, for geometries without a closed form."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.motion.chain import SerialChain

__all__ = ["random_starts", "solve_numerically"]

Array = npt.NDArray[np.float64]

STARTS = 40
ITERATIONS = 80
LONGEST_STEP_RAD = 0.6
LEAST_DAMPING = 1e-9
ENOUGH = 1e-9  # metres and radians together: as exact as a closed form, for every use of it


def random_starts(low: Array, high: Array) -> Array:
    """Returns configurations spread over the joints' ranges, the same in every process."""
    return np.random.default_rng(0).uniform(low, high, (STARTS, len(low)))


def solve_numerically(chain: SerialChain, target: Array, starts: Array, low: Array, high: Array) -> Array:
    """Returns the result of each start (n, joints), kept within the limits; the caller checks which ones take the pose.

    The step solves ``(J' J + d I) step = J' e`` for the error e = (position, rotation vector). The damping d is half
    the squared error: large far away, where the linear model is wrong, and gone at the goal (Sugihara 2011).
    """
    joints = np.clip(starts, low, high)
    identity = np.eye(joints.shape[1])
    for _ in range(ITERATIONS):
        rotations, positions, jacobians = chain.jacobian(joints)
        error = np.concatenate([target[:3, 3] - positions, _turn_vector(target[:3, :3], rotations)], axis=1)
        squared = (error**2).sum(axis=1)
        busy = squared > ENOUGH**2
        if not busy.any():
            break
        transposed = jacobians.swapaxes(1, 2)
        damping = (0.5 * squared + LEAST_DAMPING)[:, None, None] * identity
        step = np.linalg.solve(transposed @ jacobians + damping, transposed @ error[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        step *= np.minimum(1.0, LONGEST_STEP_RAD / np.maximum(longest, 1e-12))
        joints = np.where(busy[:, None], np.clip(joints + step, low, high), joints)
    return np.asarray(joints)


def _turn_vector(target: Array, rotations: Array) -> Array:
    """Returns rotation vectors, in the base frame, from each rotation to the target; at half turns only directions."""
    turn = target @ rotations.swapaxes(1, 2)
    sine = np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], 1)
    length = np.linalg.norm(sine, axis=1)
    angle = np.arctan2(length, np.trace(turn, axis1=1, axis2=2) - 1)
    return np.asarray(sine * np.where(length > 1e-9, angle / np.maximum(length, 1e-9), 0.5)[:, None])
