"""The fast method of sparse stereo: evidence against the bare plate, corners, and the cube's silhouette."""

from __future__ import annotations

import numpy as np

from cellwright.core.pose import Pose
from cellwright.perception.picture import Picture
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement
from cellwright.perception.stereo.sparse_corners import fit_corners
from cellwright.perception.stereo.sparse_evidence import PlateEvidence, PlateModel, learn_plate, plate_evidence
from cellwright.perception.stereo.sparse_method import CubeOnPlate
from cellwright.perception.stereo.sparse_silhouette import Silhouette, fit_silhouette
from cellwright.perception.stereo.stereo_pair import pair_fault

__all__ = ["FastSparseStereo"]

LEAST_QUALITY, LEAST_SEEN = 0.2, 0.1  # below the second, nothing is there
LEAST_IN_VIEW = 0.75
MOST_SIZE = 0.2  # by which the cube may seem larger or smaller than it is
WITHOUT_REFERENCE = 0.5  # factor of the quality
MOST_MISFIT = 4.0


class FastSparseStereo:
    """Measures a cube on a plate, whatever its colour, in light and in shadow.

    A reference, the two pictures of the empty plate, tells how the plate looks in light and in shadow, and what is
    beside it. Arms may have moved since, and their shadows. Without one the plate is learnt from the pictures
    themselves: what stands beside it stays unknown, and qualities are half of what they would be.

    Where the edge is known, x, y and yaw are fitted; else the edge, too, from the corners of the cube's outline.
    Height, roll and pitch follow from the plate on which it lies: their variances are infinite.

    Args:
        task: The cube and the plate.
        reference: Left and right picture of the empty plate, from the same cameras.
    """

    def __init__(self, task: CubeOnPlate, reference: tuple[Picture | None, Picture | None] | None = None) -> None:
        self.task = task
        self._fault: PoseMeasurement | None = None
        self._plates: list[PlateModel] = []
        if reference is not None:
            self._learn(*reference)

    def _learn(self, left: Picture | None, right: Picture | None) -> None:
        fault = pair_fault(left, right)
        if fault is not None:
            self._fault = PoseMeasurement(status=fault.status, reason=f"the reference: {fault.reason}")
            return
        assert left is not None
        assert right is not None
        plates = [learn_plate(picture, self.task, is_empty=True) for picture in (left, right)]
        self._plates = [plate for plate in plates if plate is not None]
        if len(self._plates) < len(plates):
            self._fault = _not_seen("the reference: the plate is not in view")

    def measure(self, left: Picture | None, right: Picture | None) -> PoseMeasurement:
        """Returns the pose of the cube's centre; its yaw is one of four that are alike, from -45 to 45 degrees."""
        fault = pair_fault(left, right) or self._fault
        if fault is not None:
            return fault
        assert left is not None
        assert right is not None
        evidences = self._evidence(left, right)
        if evidences is None:
            return _not_seen("the plate is not in view, or not where it was in the reference")
        pictures = left, right
        guess = None
        if self.task.edge_m is None:
            corners = fit_corners(pictures, evidences, self.task)
            if corners is not None and corners.misfit < MOST_MISFIT:
                guess = np.array([*corners.centre_m[:2], corners.yaw_rad, corners.edge_m])
        return self._measured(fit_silhouette(pictures, evidences, self.task, guess))

    def _evidence(self, left: Picture, right: Picture) -> list[PlateEvidence] | None:
        found = []
        for number, picture in enumerate((left, right)):
            plate = self._plates[number] if self._plates else learn_plate(picture, self.task, is_empty=False)
            evidence = None if plate is None else plate_evidence(picture, self.task, plate)
            if evidence is None:
                return None
            found.append(evidence)
        return found

    def _measured(self, fit: Silhouette) -> PoseMeasurement:
        x, y, yaw, seems_m = fit.cube.tolist()
        if fit.quality < LEAST_SEEN:
            return _not_seen("nothing like the cube stands on the plate")
        edge_m = self.task.edge_m or seems_m
        pose = Pose.from_xyz_rpy((x, y, self.task.plate_z_m + edge_m / 2), (0, 0, _alike(yaw)))
        variances = np.array([*np.diag(fit.covariance)[:2], np.inf, np.inf, np.inf, fit.covariance[2, 2]])
        quality = fit.quality * (1.0 if self._plates else WITHOUT_REFERENCE)
        reason = ""
        if fit.in_view < LEAST_IN_VIEW:
            reason = f"{100 * fit.in_view:.0f} % of the cube is in view, the rest is beyond the edge of a picture"
        elif self.task.edge_m is not None and abs(seems_m / self.task.edge_m - 1) > MOST_SIZE:
            reason = f"what is there seems {1000 * seems_m:.0f} mm large, the cube has {1000 * self.task.edge_m:.0f} mm"
        elif fit.quality < LEAST_QUALITY:
            reason = f"the silhouette fits poorly, {fit.quality:.2f}; needed: {LEAST_QUALITY}"
        status = MeasurementStatus.POOR if reason else MeasurementStatus.FOUND
        return PoseMeasurement(
            status=status, reason=reason, pose_in_world=pose, variances=variances, quality=round(quality, 6)
        )


def _alike(yaw_rad: float) -> float:
    """Returns the turn from -45 to 45 degrees that leaves a cube looking the same."""
    return (yaw_rad + np.pi / 4) % (np.pi / 2) - np.pi / 4


def _not_seen(reason: str) -> PoseMeasurement:
    return PoseMeasurement(status=MeasurementStatus.NOT_SEEN, reason=reason)
