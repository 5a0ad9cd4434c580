"""Registration points: places at which offsets were measured, in metres and degrees, as files have them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Self

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field, model_validator

from cellwright.core.config import Cfg
from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.core.pose_offsets import PoseOffsets

__all__ = ["Metres", "Offset", "OffsetsCfg", "Registered", "RegistrationPoint", "Turn", "check_points", "within"]

NEAREST_M = 0.001  # points that are nearer to each other count as one that was measured twice
FLATTEST = 0.02  # width of a set of points across its longest direction, as a share of its length: less is a line
NEEDED = 3  # points that fix a transform
FARTHEST_M = 20.0  # that anything in a cell is from its origin; the lab's coordinates in millimetres are above it
LARGEST_OFFSET_M = 0.2
LARGEST_TURN_DEG = 20.0


def within(limit: float, unit: str, hint: str) -> Callable[[float], float]:
    """Returns a check that a number is finite and within a limit to both sides, beyond which it is of another unit."""

    def check(value: float) -> float:
        if not math.isfinite(value):
            raise ValueError(f"not a finite number ({value}): the measurement failed; calibrate again")
        if abs(value) > limit:
            raise ValueError(f"units mixed up? {value:g} {unit} is beyond {limit:g} {unit}: {hint}")
        return value

    return check


_LIKE_MM = "looks like millimetres; write metres"
_Open = Field(allow_inf_nan=True)
Metres = Annotated[float, _Open, AfterValidator(within(FARTHEST_M, "m", _LIKE_MM))]
Offset = Annotated[float, _Open, AfterValidator(within(LARGEST_OFFSET_M, "m", _LIKE_MM))]
Turn = Annotated[float, _Open, AfterValidator(within(LARGEST_TURN_DEG, "degrees", "a correction is a small turn"))]


class RegistrationPoint(Cfg):
    """An offset that was measured at one place.

    Attributes:
        at_m: The place in the plane, as it was reported, after the rigid correction if there is one.
        offset_m: To be added there.
        turn_deg: A rotation vector, by which what is there is turned besides.
    """

    at_m: tuple[Metres, Metres]
    offset_m: tuple[Offset, Offset, Offset]
    turn_deg: tuple[Turn, Turn, Turn] = (0.0, 0.0, 0.0)


class Registered(Cfg):
    """A robot or a detector with registration points.

    Attributes:
        points: Offsets, between which Eqn 1 interpolates.
    """

    points: tuple[RegistrationPoint, ...] = ()

    @model_validator(mode="after")
    def _fixes_something(self) -> Self:
        if self.points:
            try:
                check_points([(*point.at_m, 0.0) for point in self.points], "registration points")
            except BadInput as error:
                raise ValueError(str(error)) from None
        return self

    @cached_property
    def offsets(self) -> PoseOffsets | None:
        """The offsets, interpolated by Eqn 1 over distances in the plane; None without points."""
        if not self.points:
            return None
        turns = np.radians([point.turn_deg for point in self.points])
        return PoseOffsets([p.at_m for p in self.points], [p.offset_m for p in self.points], turns)


class OffsetsCfg(Registered):
    """Errors of a real detector or robot, as the offsets that correct them: the simulated one errs by their inverse.

    A client that adds to what is reported what Eqn 1 makes of these points gets what is true.

    Attributes:
        robot: Of a detector: the robot in whose base, as drawn, the points are; the cell's frame without it.
        points: What corrects what is reported, at places as they are reported.
    """

    robot: str | None = None
    points: Annotated[tuple[RegistrationPoint, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _can_be_inverted(self) -> Self:
        try:
            for point in self.points:
                self.table.reported(Pose.from_xyz_rpy((*point.at_m, 0.0)))
        except BadInput as error:
            raise ValueError(f"{error}; registration points of one frame differ by millimetres") from None
        return self

    @property
    def table(self) -> PoseOffsets:
        """The offsets."""
        assert self.offsets is not None
        return self.offsets


def check_points(points_m: npt.ArrayLike, what: str = "points") -> None:
    """Refuses points that fix no transform, (n, 3).

    Raises:
        BadInput: Fewer than three, one of them twice, or all of them on a line; says what to do.
    """
    points = np.array(points_m, float)
    if len(points) < NEEDED:
        raise BadInput(f"too few {what}: {len(points)}, and a registration needs {NEEDED} or more; measure others too")
    apart = np.linalg.norm(points[:, None] - points[None], axis=2) + np.where(np.eye(len(points)), np.inf, 0.0)
    if apart.min() < NEAREST_M:
        i, j = sorted(int(k) for k in np.unravel_index(int(apart.argmin()), apart.shape))
        raise BadInput(
            f"repeated {what}: {i + 1} and {j + 1} are {apart.min() * 1e3:.3g} mm apart; take places at least "
            f"{NEAREST_M * 1e3:g} mm apart, best near the corners of the work volume"
        )
    extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if extents[1] < FLATTEST * extents[0]:
        raise BadInput(
            f"collinear {what}: they lie on a line within {extents[1] / extents[0]:.1%} of its length, about which "
            "all may turn; take one aside of it"
        )
