"""Dense stereo: the pose of an object that stands on a table, from two pictures and its drawing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from cellwright.core.extras import need_extra
from cellwright.core.registry import Registry
from cellwright.perception.picture import Picture
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement
from cellwright.perception.stereo.depth_map import GREEN, RED, DepthMap, Workspace, match
from cellwright.perception.stereo.hypotheses import (
    ABOVE_M,
    LEAST_IN_VIEW,
    Agreement,
    UprightPose,
    agreement,
    starts,
    turn_evidence,
)
from cellwright.perception.stereo.rectified_pair import StereoPair, rectify
from cellwright.perception.stereo.solid_fit import fit_solid
from cellwright.perception.stereo.sought_model import SoughtModel
from cellwright.perception.stereo.stereo_pair import pair_fault
from cellwright.perception.stereo.turn_by_colour import colour_evidence
from cellwright.perception.stereo.turned_fit import ProfileField, fit_turned

__all__ = ["DENSE_METHODS", "DenseStereo", "FastStereo", "UprightFit"]

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
MARGIN_M = 0.02  # above the object
NEAR_M = 0.06  # beyond its radius: with less, where the search began would decide what is fitted
STARTS = 4
LEAST_SUPPORT, LEAST_SCORE, MOST_SWOLLEN = 0.40, -0.15, 0.17
SEEN_SUPPORT = 0.20
SURFACE_M = 0.012
LEAST_SURFACE = 0.3  # share of the surface that is measured where the drawings have it
UPRIGHT_SD_RAD = 0.01
TOGETHER = 60  # neighbours in a depth map whose errors are one
LEAST_SD_M = 0.0003
LEAST_SD_RAD = 0.005
TURNS = 16  # starts in a full turn
OTHER_TURN_RAD = 0.5  # of a full turn, or as large a part of its period
FINE_TURNS = 72
LEAST_EVIDENCE, CLEAR_EVIDENCE = 0.2, 0.1
SAME_SCORE = 0.02
CONTRADICTED_EVIDENCE = -0.75  # of depths: what would stick out there cannot, whatever its colours
AS_LIKELY = 0.15  # turns with evidence within this of the best
MOST_LIKELY = 0.7  # share of a turn: where more is as likely, nothing was measured
CLOSE_RAD = 0.14  # from their middle: likely turns within are one that is known so well


@dataclass(frozen=True, eq=False)
class UprightFit:
    """A fitted pose, with how it agrees and how far it scatters.

    Attributes:
        pose: The place.
        variances: Of x, y in m2 and yaw in rad2; infinite where nothing was measured.
        agreement: With the depth map.
        other_turns_rad: Turns from the pose that are about as likely as it.
    """

    pose: UprightPose
    variances: Array
    agreement: Agreement
    other_turns_rad: tuple[float, ...] = ()


class DenseStereo(ABC):
    """The interface of methods: checks the pair, measures, never raises for what pictures show.

    Args:
        model: The object that is looked for; there is one of it.
        workspace: Where it stands, by the drawings.

    Raises:
        MissingExtra: OpenCV or scipy is not installed.
    """

    def __init__(self, model: SoughtModel, workspace: Workspace) -> None:
        need_extra("dense stereo", "vision", "cv2", "scipy")
        self.model, self.workspace = model, workspace

    def locate(self, left: Picture | None, right: Picture | None) -> PoseMeasurement:
        """Returns where the object is, with variances and quality, or the reason why that is not known."""
        fault = pair_fault(left, right)
        if fault is not None:
            return fault
        assert left is not None
        assert right is not None
        return self._locate(rectify(left, right))

    @abstractmethod
    def _locate(self, pair: StereoPair) -> PoseMeasurement:
        """Returns the measurement of a pair that can be used."""


DENSE_METHODS: Registry[type[DenseStereo]] = Registry("dense stereo method", "cellwright.dense_methods")
"""Name -> class; `fast` and `paper` ship."""


@DENSE_METHODS.register("fast")
class FastStereo(DenseStereo):
    """Matches only what the workspace can be, and fits x, y and yaw of the upright object to points above the surface.

    Its quality is the share of the visible surface that was measured where it should be, the mean over slices of
    height.
    """

    def __init__(self, model: SoughtModel, workspace: Workspace) -> None:
        super().__init__(model, workspace)
        self._field = ProfileField.of(model) if model.profile_rz_m else None

    def _locate(self, pair: StereoPair) -> PoseMeasurement:
        """Returns the measurement by the red channel or, where it finds nothing good, by the green one.

        At the edges of the projector's light there is no pattern, and a thing's own colours must do.
        """
        found = self._by_channel(pair, RED)
        if found.status not in (MeasurementStatus.POOR, MeasurementStatus.NOT_SEEN):
            return found
        other = self._by_channel(pair, GREEN)
        return other if other.status is MeasurementStatus.FOUND else found

    def _by_channel(self, pair: StereoPair, channel: int) -> PoseMeasurement:
        depths = match(pair, self.workspace, self.model.height_m + MARGIN_M, channel)
        if depths is None:
            return PoseMeasurement(
                status=MeasurementStatus.NOT_SEEN, reason=f"the workspace is out of view of {pair.left.source}"
            )
        share = _surface_share(depths, self.workspace)
        if channel == RED and share < LEAST_SURFACE and self._is_swapped(pair, share):
            reason = f"{pair.left.source} and {pair.right.source} show each other's picture: the pictures are swapped"
            return PoseMeasurement(status=MeasurementStatus.BAD_PAIR, reason=reason)
        fits = self._fits(depths)
        if not fits:
            reason = f"nothing like {self.model.name} stands in the workspace"
            return PoseMeasurement(status=MeasurementStatus.NOT_SEEN, reason=reason)
        best = max(fits, key=lambda fit: (fit.agreement.swollen <= MOST_SWOLLEN, fit.agreement.score))
        if self.model.period_rad:
            best = self._turned(best, depths, pair)
        return self._measurement(best)

    def _fits(self, depths: DepthMap) -> list[UprightFit]:
        """Returns fits from several starts; each is a place of its own, or comes from a start of its own."""
        found, model = [], self.model
        yaws = max(round(TURNS * model.period_rad / (2 * np.pi)), 1)
        for start in starts(model, depths, self.workspace, yaws, STARTS):
            fit = self._refined(self._near(depths, start), start, depths)
            if fit is not None and not self.workspace.is_taken(fit.pose.x_m, fit.pose.y_m, model.radius_m):
                found.append(fit)
        return found

    def _near(self, depths: DepthMap, start: UprightPose) -> Array:
        """Returns the points (n, 3) above the surface that may belong to the object, heights above its origin."""
        model, points = self.model, depths.points_in_world
        level = points[:, 2] - self.workspace.surface_m
        aside = np.hypot(points[:, 0] - start.x_m, points[:, 1] - start.y_m)
        own = (aside < model.radius_m + NEAR_M) & (level > ABOVE_M) & (level < model.height_m + MARGIN_M)
        result: Array = points[own] - np.array([0.0, 0.0, self.workspace.surface_m - model.bottom_m])
        return result

    def _refined(self, points: Array, start: UprightPose, depths: DepthMap) -> UprightFit | None:
        if self._field is None:
            return self._refined_solid(points, start, depths)
        fit = fit_turned(self._field, points, np.array([start.x_m, start.y_m]))
        if fit is None:
            return None
        xy, normal, spread_m = fit
        pose = UprightPose(float(xy[0]), float(xy[1]), 0.0)
        variances = np.append(_variances(normal, spread_m), np.inf)
        return UprightFit(pose, variances, agreement(self.model, pose, depths, self.workspace))

    def _refined_solid(self, points: Array, start: UprightPose, depths: DepthMap) -> UprightFit | None:
        origin_m = self.workspace.surface_m - self.model.bottom_m
        eye = depths.pose_camera_in_world.position - np.array([0.0, 0.0, origin_m])
        fit = fit_solid(self.model, points, start, eye)
        if fit is None:
            return None
        pose, normal, spread_m = fit
        x, y, yaw = (np.diag(np.linalg.pinv(normal, rcond=1e-9)) * spread_m**2 * TOGETHER).tolist()
        across = (x + y) / 2 + LEAST_SD_M**2  # along the model's own axes, which are turned
        variances = np.array([across, across, yaw + LEAST_SD_RAD**2 if self.model.period_rad else np.inf])
        return UprightFit(pose, variances, agreement(self.model, pose, depths, self.workspace))

    def _turned(self, fit: UprightFit, depths: DepthMap, pair: StereoPair) -> UprightFit:
        """Returns a fit with the turn for which most speaks; of infinite variance where others are as likely.

        Depths decide where they are clear; else colours, by which a handle is told from what is behind it.
        """
        period = self.model.period_rad
        yaws = period * np.arange(FINE_TURNS) / FINE_TURNS
        evidence = turn_evidence(self.model, fit.pose, depths, self.workspace, yaws)
        top = int(evidence.argmax())
        start = replace(fit.pose, yaw_rad=float(yaws[top]))
        other = self._refined(self._near(depths, start), start, depths)
        if other is not None and other.agreement.score > fit.agreement.score - SAME_SCORE:
            fit = other
        away = np.abs(_turned_from(yaws, fit.pose.yaw_rad, period))
        rivals = evidence[away > OTHER_TURN_RAD * period / (2 * np.pi)]
        (here,) = turn_evidence(self.model, fit.pose, depths, self.workspace, np.array([fit.pose.yaw_rad]))
        if here >= LEAST_EVIDENCE and not (len(rivals) and rivals.max() > here - CLEAR_EVIDENCE):
            return fit
        told = colour_evidence(self.model, fit.pose, pair, self.workspace.surface_m, yaws)
        told = evidence if told is None else np.where(evidence > CONTRADICTED_EVIDENCE, told, -1.0)
        return self._one_of(fit, yaws, told > told.max() - AS_LIKELY, depths)

    def _one_of(self, fit: UprightFit, yaws: Array, likely: Flags, depths: DepthMap) -> UprightFit:
        """Returns a fit at the middle of likely turns where they are close together, else at one with the others."""
        period, variances = self.model.period_rad, np.array([*fit.variances[:2], np.inf])
        likely = likely | np.roll(likely, 1) | np.roll(likely, -1)
        if not likely.any() or likely.mean() > MOST_LIKELY:
            return replace(fit, variances=variances)
        middle = float(np.angle(np.exp(2j * np.pi * yaws[likely] / period).sum())) * period / (2 * np.pi)
        half_rad = float(np.abs(_turned_from(yaws[likely], middle, period)).max())
        others: tuple[float, ...] = ()
        if half_rad <= CLOSE_RAD:
            pose, variances[2] = replace(fit.pose, yaw_rad=middle), half_rad**2 / 3
        else:
            off = _turned_from(yaws[likely], fit.pose.yaw_rad, period)
            pose = replace(fit.pose, yaw_rad=fit.pose.yaw_rad + float(off[np.abs(off).argmin()]))
            turns = np.sort(_turned_from(yaws[likely], pose.yaw_rad, period))
            others = tuple(turns[np.abs(turns) > LEAST_SD_RAD].tolist())
        return UprightFit(pose, variances, agreement(self.model, pose, depths, self.workspace), others)

    def _is_swapped(self, pair: StereoPair, share: float) -> bool:
        """Returns whether the pictures match far better the other way round."""
        other = StereoPair(_with_pixels(pair.left, pair.right), _with_pixels(pair.right, pair.left), pair.baseline_m)
        depths = match(other, self.workspace, self.model.height_m + MARGIN_M)
        return depths is not None and _surface_share(depths, self.workspace) > max(LEAST_SURFACE, 2 * share)

    def _measurement(self, fit: UprightFit) -> PoseMeasurement:
        model, space, agrees = self.model, self.workspace, fit.agreement
        pose_in_world = fit.pose.in_world(space.surface_m - model.bottom_m)
        x, y, yaw = fit.variances.tolist()
        upright = UPRIGHT_SD_RAD**2
        variances = np.array([x, y, space.surface_sd_m**2, upright, upright, yaw])
        told = f"{100 * agrees.supported:.0f} % of its surface was measured where it should be"
        status, reason = MeasurementStatus.FOUND, ""
        if agrees.supported < SEEN_SUPPORT:
            reason = f"nothing like {model.name} stands in the workspace: at the best place {told}"
            return PoseMeasurement(status=MeasurementStatus.NOT_SEEN, reason=reason)
        if agrees.in_view < LEAST_IN_VIEW:
            status = MeasurementStatus.POOR
            reason = f"{model.name}: {100 * agrees.in_view:.0f} % of what could be seen of it is in the picture"
        elif agrees.supported < LEAST_SUPPORT or agrees.score < LEAST_SCORE or agrees.swollen > MOST_SWOLLEN:
            status = MeasurementStatus.POOR
            reason = (
                f"{model.name}: {told}, {100 * agrees.swollen:.0f} % closely before, {100 * agrees.contradicted:.0f} % "
                "behind: something else, or seen poorly"
            )
        elif (
            not (np.array(space.min_xy_m) <= pose_in_world.position[:2]).all()
            or not (pose_in_world.position[:2] <= np.array(space.max_xy_m)).all()
        ):
            status, reason = MeasurementStatus.POOR, f"{model.name}: the best place is outside the workspace"
        return PoseMeasurement(
            status=status,
            reason=reason,
            pose_in_world=pose_in_world,
            variances=variances,
            quality=float(np.clip(agrees.supported, 0.0, 1.0)),
            other_turns_rad=fit.other_turns_rad,
        )


def _variances(normal: Array, spread_m: float) -> Array:
    """Returns the variances of a least-squares fit whose residuals are alike among neighbours."""
    inverse = np.linalg.pinv(normal)
    result: Array = np.diag(inverse) * spread_m**2 * TOGETHER + LEAST_SD_M**2
    return result


def _turned_from(yaws: Array, yaw_rad: float, period_rad: float) -> Array:
    """Returns turns from another one, within half a period to either side."""
    result: Array = (yaws - yaw_rad + period_rad / 2) % period_rad - period_rad / 2
    return result


def _with_pixels(picture: Picture, other: Picture) -> Picture:
    return replace(picture, pixels=other.pixels)


def _surface_share(depths: DepthMap, workspace: Workspace) -> float:
    """Returns the share of a workspace's surface that was measured at its height, of what was measured at all of it."""
    xs, ys = (np.linspace(low, high, 40) for low, high in zip(workspace.min_xy_m, workspace.max_xy_m, strict=True))
    x, y = np.meshgrid(xs, ys)
    own, measured = depths.measured_at(np.stack([x, y, np.full_like(x, workspace.surface_m)], axis=-1))
    known = np.isfinite(measured)
    return float((np.abs(measured - own)[known] < SURFACE_M).mean()) if known.any() else 0.0
