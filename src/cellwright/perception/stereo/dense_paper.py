"""The ROVI paper's method of dense stereo, with the parameters of its code: clouds matched by spin images."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.core.rng import RandomStreams
from cellwright.perception.pose_measurement import MeasurementStatus, PoseMeasurement
from cellwright.perception.stereo.dense_paper_cloud import (
    NORMAL_NEIGHBOURS,
    disparities,
    normals_towards,
    points_above_table,
    thinned_cloud,
    without_outliers,
)
from cellwright.perception.stereo.dense_paper_registration import (
    Transform,
    closest_points,
    nearest_images,
    ransac,
    spin_images,
)
from cellwright.perception.stereo.dense_stereo import DENSE_METHODS, DenseStereo
from cellwright.perception.stereo.rectified_pair import StereoPair

__all__ = ["PaperStereo"]

Array = npt.NDArray[np.float64]
LEAST_POINTS = 2 * NORMAL_NEIGHBOURS
MOST_POINTS = 20_000  # more is no cloud of a table with things on it
LEAST_QUALITY = 0.30
MOST_TILT_RAD = 0.5
UPRIGHT_SD_RAD = 0.01
NEAR_M = 0.005


@DENSE_METHODS.register("paper")
class PaperStereo(DenseStereo):
    """Finds the cloud of the object's surface in the cloud of the scene, free in all six directions, as the paper did.

    As there, the object is then taken to stand upright on the surface: of the pose found, x, y and yaw are kept. The
    draws are the same for every pair of pictures. Its quality is the share of the surface that faces the camera with
    a point of the scene within 5 mm.
    """

    def _locate(self, pair: StereoPair) -> PoseMeasurement:
        rng = RandomStreams(0).stream("dense stereo/paper")
        disparity_px = disparities(pair)
        if disparity_px is None:
            rows, columns = pair.left.pixels.shape[:2]
            return _not_seen(f"{columns} x {rows} pixels are too few for disparities up to 128 pixels")
        eye = pair.left.pose_camera_in_world.position
        scene = thinned_cloud(points_above_table(pair, disparity_px, self.workspace, rng))
        if len(scene) >= LEAST_POINTS:
            scene = without_outliers(scene)
        if not LEAST_POINTS <= len(scene) <= MOST_POINTS:
            return _not_seen(
                f"nothing like {self.model.name} stands in the workspace: {len(scene)} points above its largest plane"
            )
        model = thinned_cloud(self.model.surface[0])
        if len(model) < NORMAL_NEIGHBOURS:
            return _not_seen(f"{self.model.name}: {len(model)} points, 10 mm apart, are too few for spin images")
        features = spin_images(model, normals_towards(model, eye))  # at the world's origin, as the project had it
        matches = nearest_images(features, spin_images(scene, normals_towards(scene, eye)))
        start, _ = ransac(model, scene, matches, rng)
        fit, own, others = closest_points(model, scene, start)
        return self._measurement(pair, fit, own, others, self._share(fit, eye, scene))

    def _share(self, fit: Transform, eye: Array, scene: Array) -> float:
        """Returns the share of the surface that faces the camera with a point of the scene within 5 mm of it."""
        from scipy.spatial import cKDTree

        points, normals = self.model.coarse_surface
        turn, shift = fit
        points, normals = points @ turn.T + shift, normals @ turn.T
        facing = np.einsum("ni,ni->n", normals, eye - points) > 0
        distance, _ = cKDTree(scene).query(points[facing])
        return float((distance < NEAR_M).mean()) if facing.any() else 0.0

    def _measurement(
        self, pair: StereoPair, fit: Transform, own: Array, others: Array, quality: float
    ) -> PoseMeasurement:
        model, space = self.model, self.workspace
        turn, shift = fit
        tilt_rad = float(np.arccos(np.clip(abs(turn[2, 2]), 0.0, 1.0)))
        upside_down = turn[2, 2] < 0
        yaw = float(np.arctan2(turn[1, 0], turn[0, 0])) if not upside_down else 0.0
        pose = Pose.from_xyz_rpy((shift[0], shift[1], space.surface_m - model.bottom_m), (0.0, 0.0, yaw))
        reason = ""
        if not (np.array(space.min_xy_m) <= shift[:2]).all() or not (shift[:2] <= np.array(space.max_xy_m)).all():
            reason = f"{model.name}: the best place is outside the workspace"
        elif quality < LEAST_QUALITY:
            reason = f"{model.name}: {100 * quality:.0f} % of its surface was measured where it should be"
        elif tilt_rad > MOST_TILT_RAD:
            reason = f"{model.name}: fitted {np.degrees(tilt_rad):.0f} degrees off upright"
        elif len(own) < 6:
            reason = f"{model.name}: {len(own)} of its points are near those that were measured"
        return PoseMeasurement(
            status=MeasurementStatus.POOR if reason else MeasurementStatus.FOUND,
            reason=reason,
            pose_in_world=pose,
            variances=self._variances(pair, own, others, bool(upside_down)),
            quality=quality,
        )

    def _variances(self, pair: StereoPair, own: Array, others: Array, upside_down: bool) -> Array:
        """Returns what the residuals of the closest points tell, and the step of one pixel along the view besides.

        Neighbours, as many as tell a normal, err as one. All depths of one disparity share its rounding: a standard
        deviation of the step over the root of 12, which more points do not lessen.
        """
        upright = UPRIGHT_SD_RAD**2
        unknown = np.array([np.inf, np.inf, self.workspace.surface_sd_m**2, upright, upright, np.inf])
        if len(own) < 6:
            return unknown
        middle = own.mean(axis=0)
        x, y, z = (own - middle).T
        none, one = np.zeros_like(x), np.ones_like(x)
        slope = np.stack(
            [[one, none, none, none, z, -y], [none, one, none, -z, none, x], [none, none, one, y, -x, none]]
        )
        normal = np.einsum("rcn,rdn->cd", slope, slope)
        spread_m2 = float(((own - others) ** 2).sum() / (3 * len(own) - 6 + 1e-9))
        fitted = np.diag(np.linalg.pinv(normal)) * spread_m2 * NORMAL_NEIGHBOURS
        camera = pair.left.pose_camera_in_world
        depth_m = float((camera.inverse().apply(middle[None]))[0, 2])
        step_m = depth_m**2 / (pair.left.matrix[0, 0] * pair.baseline_m)
        rounded = camera.rotation_matrix[:, 2] ** 2 * step_m**2 / 12
        known = bool(self.model.period_rad) and not upside_down
        unknown[:2] = fitted[:2] + rounded[:2]
        unknown[5] = fitted[5] + (step_m / max(self.model.radius_m, 0.01)) ** 2 / 12 if known else np.inf
        return unknown


def _not_seen(reason: str) -> PoseMeasurement:
    return PoseMeasurement(status=MeasurementStatus.NOT_SEEN, reason=reason)
