"""A fit of few measured pairs that finds wrong ones: by leaving pairs out and asking the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.core.registration_points import check_points
from cellwright.perception.calibration.absolute_orientation import Similarity, absolute_orientation, fitted

__all__ = ["PairFit", "fit_pairs"]

Array = npt.NDArray[np.float64]

TOLERANCE_M = 0.006  # that a pair may be off: twice what the lab's own registration of its robots leaves
FLOOR_M = 0.002  # below it a pair of a set that agrees is never rejected, however well the others fit
USUAL_M = 0.0003  # standard deviation of a good measurement: three pairs that fit better do so by chance
TIMES = 6.0  # standard deviations of where the others predict a pair, from which on it is rejected
CLEARLY = 3.0  # times better than any other set is one that is right beyond doubt
MOST_REJECTED = 3


@dataclass(frozen=True)
class PairFit:
    """A transform fitted to pairs of points, and how well it fits each.

    Attributes:
        transform: From the one frame to the other.
        names: Of the pairs.
        residuals_m: Distance between each mapped point and its partner, rejected ones included.
        rejected: Name of a pair that was left out -> why.
    """

    transform: Similarity
    names: tuple[str, ...]
    residuals_m: tuple[float, ...]
    rejected: dict[str, str] = field(default_factory=dict)

    @property
    def pose(self) -> Pose:
        """The frame of the first points in that of the second."""
        return self.transform.pose

    @property
    def kept(self) -> tuple[bool, ...]:
        """Whether each pair was used."""
        return tuple(name not in self.rejected for name in self.names)

    @property
    def rms_m(self) -> float:
        """The root mean square of the residuals of the pairs that were used."""
        return float(np.sqrt(np.mean(np.square(np.array(self.residuals_m)[list(self.kept)]))))


def fit_pairs(
    points_from: npt.ArrayLike,
    points_to: npt.ArrayLike,
    names: Sequence[str] = (),
    *,
    scaled: bool = False,
    tolerance_m: float = TOLERANCE_M,
) -> PairFit:
    """Fits a transform to pairs of points, leaving out those that contradict all others.

    Pairs that all agree within the tolerance lose one only if it is off where the others predict it by more than two
    millimetres and six standard deviations of that prediction. Where they do not agree, the smallest set is left out
    whose pairs are all beyond the tolerance of the rest, while the rest agrees; when several could be, the one whose
    rest agrees three times better than any other. Less than half of the pairs, three at most.

    Args:
        points_from: Coordinates in the one frame, (n, 3).
        points_to: Those of the same points in the other.
        names: Of the pairs, for the report; numbers from 1 without them.
        scaled: Whether lengths may differ by a factor.
        tolerance_m: How far a pair may be off that is used.

    Raises:
        BadInput: Too few points, a line of points, a point twice; pairs that contradict each other in such a way that
            it cannot be told which is wrong.
    """
    labels = tuple(str(name) for name in names) or tuple(str(k + 1) for k in range(len(np.asarray(points_from))))
    whole = absolute_orientation(points_from, points_to, scaled=scaled)  # which checks all that is given
    start, end = np.array(points_from, float), np.array(points_to, float)
    if len(labels) != len(start) or len(set(labels)) != len(labels):
        raise BadInput(f"pairs: {len(start)} pairs need as many names, no name twice; got {', '.join(labels)}")
    agrees = float(_residuals(whole, start, end).max()) <= tolerance_m
    for count in range(1, min(MOST_REJECTED, (len(start) - 2) // 2) + 1):
        found = sorted(
            (
                rest
                for left_out in combinations(range(len(start)), count)
                if (rest := _without(left_out, start, end, scaled, tolerance_m, strict=agrees)) is not None
            ),
            key=lambda rest: rest.rms_m,
        )
        if len(found) == 1 or (len(found) > 1 and found[0].rms_m * CLEARLY < found[1].rms_m):
            return _fit(found[0].fit, start, end, labels, found[0].left_out)
        if found and not agrees:
            each = "; ".join(" and ".join(labels[k] for k in out) for out in sorted(rest.left_out for rest in found))
            raise BadInput(
                f"ambiguous pairs: without any of these the others agree: {each}; measure them again, or a place more"
            )
    if not agrees:
        raise BadInput(_contradiction(labels, _residuals(whole, start, end), tolerance_m))
    return _fit(whole, start, end, labels, ())


def _contradiction(labels: tuple[str, ...], residuals: Array, tolerance_m: float) -> str:
    each = ", ".join(f"{label} {residual * 1e3:.1f} mm" for label, residual in zip(labels, residuals, strict=True))
    few = "three pairs cannot tell which of them is wrong: measure a fourth" if len(labels) == 3 else "measure again"
    return f"contradicting pairs: no transform fits them within {tolerance_m * 1e3:g} mm (off by: {each}); {few}"


def _residuals(fit: Similarity, start: Array, end: Array) -> Array:
    return np.asarray(np.linalg.norm(fit.apply(start) - end, axis=1))


@dataclass(frozen=True)
class _Rest:
    """The fit of the pairs without some."""

    left_out: tuple[int, ...]
    fit: Similarity
    rms_m: float


def _without(
    left_out: tuple[int, ...], start: Array, end: Array, scaled: bool, tolerance_m: float, *, strict: bool
) -> _Rest | None:
    """Returns the fit of all other pairs, if they agree and those that are left out contradict them."""
    rest = [k for k in range(len(start)) if k not in left_out]
    try:
        check_points(start[rest])
        check_points(end[rest])
    except BadInput:
        return None
    fit = fitted(start[rest], end[rest], scaled=scaled)
    own = _residuals(fit, start[rest], end[rest])
    far = _residuals(fit, start[list(left_out)], end[list(left_out)])
    needed_m = np.full(len(far), tolerance_m)
    if strict:
        needed_m = np.maximum(FLOOR_M, TIMES * _prediction_sd_m(start[rest], start[list(left_out)], own, scaled))
    agree = own.max() <= tolerance_m and bool((far > needed_m).all())
    return _Rest(left_out, fit, float(np.sqrt(np.mean(own**2)))) if agree else None


def _prediction_sd_m(rest: Array, points: Array, own: Array, scaled: bool) -> Array:
    """Returns how well a fit of the rest predicts other points: worse far from their middle, across their length."""
    sd_m = max(USUAL_M, float(np.sqrt((own**2).sum() / (3 * len(rest) - 6 - scaled))))
    middle = rest.mean(axis=0)
    across_m = float(np.linalg.svd(rest - middle, compute_uv=False)[1])
    levers = np.linalg.norm(points - middle, axis=1) / across_m
    return np.asarray(sd_m * np.sqrt(1 + 1 / len(rest) + levers**2))


def _fit(fit: Similarity, start: Array, end: Array, labels: tuple[str, ...], left_out: tuple[int, ...]) -> PairFit:
    residuals = _residuals(fit, start, end)
    kept = [k for k in range(len(labels)) if k not in left_out]
    rms_m = float(np.sqrt(np.mean(residuals[kept] ** 2)))
    rejected = {
        labels[k]: f"{residuals[k] * 1e3:.1f} mm off where the other {len(kept)} have it, "
        f"which agree within {rms_m * 1e3:.2f} mm"
        for k in left_out
    }
    return PairFit(fit, labels, tuple(residuals.tolist()), rejected)
