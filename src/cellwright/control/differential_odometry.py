"""Dead reckoning on two wheels, for many robots of a kind at once, with its covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["WheelFigures", "WheelOdometry"]

Array = npt.NDArray[np.float64]

SPREAD_EVERY = 4  # updates


@dataclass(frozen=True)
class WheelFigures:
    """The nominal figures of the wheels and their tolerances.

    Attributes:
        radius_m: Nominal radius.
        base_m: Nominal distance.
        radius_sd_m: Standard deviation of single wheels from it.
        base_sd_m: Standard deviation of single robots from it.
        slip_m: Variance per metre of a wheel's travel.
        step_m: Travel of one step of the counters.
    """

    radius_m: float
    base_m: float
    radius_sd_m: float
    base_sd_m: float
    slip_m: float
    step_m: float


class WheelOdometry:
    """The estimated poses of several robots, from the travel of their wheels by nominal figures.

    Between two readings a robot is taken to drive an arc. Two kinds of error grow with the way. Wheels that are a
    little larger or farther apart than the drawings say are wrong by the same share for ever, so their effect adds up
    along the path: `J` is how much each coordinate of the pose changes with each of these shares. Slip is new with
    every stretch, so its variance adds up: `P`. The covariance is ``J diag(sd^2) J^T + P``, and that of the step
    that a counter has not finished. It is renewed with every fourth reading: it takes longer than all the rest.

    Args:
        poses: (n, 3) x, y, yaw at the start.
        wheels: The same for all of them.

    Attributes:
        pose: (n, 3) x, y, yaw now.
        velocity: (n, 2) ahead and turning, of the last stretch.
        covariance: (n, 3, 3) of x, y, yaw; an array of its own each time that it changes.
    """

    def __init__(self, poses: Array, wheels: WheelFigures) -> None:
        count, base = len(poses), wheels.base_m
        self.pose = np.array(poses, float).reshape(count, 3)
        self.velocity = np.zeros((count, 2))
        self._base = base
        self._mix = np.array([[0.5, -1 / base], [0.5, 1 / base]])  # from travel left, right to ahead and turn
        share = wheels.radius_sd_m / wheels.radius_m
        self._shares = np.array([share, share, wheels.base_sd_m / base]) ** 2
        self._slip = wheels.slip_m
        self._unfinished = np.diag([wheels.step_m**2 / 24, wheels.step_m**2 / 24, wheels.step_m**2 / (6 * base**2)])
        self.covariance = np.tile(self._unfinished, (count, 1, 1))
        self._errors = np.zeros((count, 3, 6))  # J and P side by side: both are carried along by the same matrix
        self._travel = np.zeros((count, 2))
        self._yaw = self.pose[:, 2].copy()
        self._updates = 0
        self._carry = np.tile(np.eye(3), (count, 1, 1))
        self._by_travel = np.tile(np.array([[0.0, 0.0], [0.0, 0.0], [-1 / base, 1 / base]]), (count, 1, 1))

    def update(self, travel_m: Array, duration_s: float) -> None:
        """Updates the poses by the travel of the wheels since the last time: (n, 2), left and right."""
        motion = travel_m @ self._mix
        self.velocity = motion / duration_s
        ahead, half = motion[:, 0], motion[:, 1] / 2 + 1e-300
        middle, chord = self.pose[:, 2] + half, ahead * np.sin(half) / half
        self.pose[:, 0] += chord * np.cos(middle)
        self.pose[:, 1] += chord * np.sin(middle)
        self.pose[:, 2] += motion[:, 1]
        self._travel += travel_m
        self._updates += 1
        if self._updates % SPREAD_EVERY == 0:
            self._spread()

    def set_at_rest(self) -> None:
        """Sets the speeds to zero when no wheel has turned since the last time."""
        self.velocity = np.zeros_like(self.velocity)

    def _spread(self) -> None:
        """Propagates the errors over the stretch since the last time."""
        travel, by, lean = self._travel, self._by_travel, 1 / (2 * self._base)
        ahead, turn = (travel @ self._mix).T
        middle = self._yaw + turn / 2
        c, s = np.cos(middle), np.sin(middle)
        dx, dy = ahead * c, ahead * s
        by[:, 0, 0], by[:, 0, 1] = c / 2 + dy * lean, c / 2 - dy * lean  # how the pose changes with each wheel's travel
        by[:, 1, 0], by[:, 1, 1] = s / 2 - dx * lean, s / 2 + dx * lean
        self._carry[:, 0, 2], self._carry[:, 1, 2] = -dy, dx
        errors = self._carry @ self._errors
        slip = (by * (self._slip * np.abs(travel))[:, None, :]) @ by.transpose(0, 2, 1)
        errors[:, :, 3:] = errors[:, :, 3:] @ self._carry.transpose(0, 2, 1) + slip
        errors[:, :, :2] += by * travel[:, None, :]
        errors[:, 0, 2] += dy * turn / 2
        errors[:, 1, 2] -= dx * turn / 2
        errors[:, 2, 2] -= turn
        self._errors = errors
        self._travel = np.zeros_like(travel)
        self._yaw = self.pose[:, 2].copy()
        shares = errors[:, :, :3]
        self.covariance = (shares * self._shares) @ shares.transpose(0, 2, 1) + errors[:, :, 3:] + self._unfinished

    def reset(self, row: int, pose: Any) -> None:
        """Restarts one robot at a known pose."""
        self.pose[row], self._yaw[row] = pose, pose[2]
        self.velocity[row], self._errors[row], self._travel[row] = 0.0, 0.0, 0.0
        self.covariance = self.covariance.copy()
        self.covariance[row] = self._unfinished

    def save(self) -> dict[str, Any]:
        """Returns the whole state."""
        kept = ("pose", "velocity", "covariance", "_errors", "_travel", "_yaw")
        return {name: getattr(self, name).copy() for name in kept} | {"_updates": self._updates}

    def load(self, state: dict[str, Any]) -> None:
        """Restores what `save` returned."""
        for name, value in state.items():
            setattr(self, name, value if name == "_updates" else value.copy())
