"""The turn of an object by colour: what sticks out of its body, such as a handle, has the colours of the body."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from cellwright.perception.picture import Picture
from cellwright.perception.stereo.hypotheses import UprightPose
from cellwright.perception.stereo.rectified_pair import StereoPair
from cellwright.perception.stereo.silhouette import covered, pixels_of
from cellwright.perception.stereo.sought_model import SoughtModel

__all__ = ["colour_evidence"]

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
DARK = 8.0  # grey levels that are added before ratios are taken: those of black are noise
SMOOTH_PX = 1.5
AROUND_M = 0.04  # beyond the object: what lies there is taken for the background
RIM_PX = 5  # about the body's outline, where a place that is a little off decides
LEAST_PIXELS = 150  # of the body, of the background, and of what sticks out most
LEAST_APART = 3.0  # of the two colours, in standard deviations: else they are the same


def colour_evidence(
    model: SoughtModel, pose: UprightPose, pair: StereoPair, surface_m: float, yaws_rad: Array
) -> Array | None:
    """Returns what colours say about each turn of an object whose place is known; None where they say nothing.

    Every pixel about the body speaks for the body's colours, or against them; each turn has the sum over what would
    stick out there, in both pictures, as a share of what sticks out most, -1 to 1. A turn at which nothing sticks out
    has 0: it is told by there being nothing elsewhere.

    Args:
        model: The object.
        pose: Where it stands; its turn is not used.
        pair: The pictures.
        surface_m: The height of the table.
        yaws_rad: The turns that are asked about.
    """
    sums, counts = np.zeros(len(yaws_rad)), np.zeros(len(yaws_rad))
    for picture in (pair.left, pair.right):
        window = _window(model, pose, picture, surface_m)
        told = _votes(model, window, yaws_rad) if window is not None else None
        if told is None:
            return None
        sums, counts = sums + told[0], counts + told[1]
    return sums / counts.max() if counts.max() >= LEAST_PIXELS else None


@dataclass(frozen=True, eq=False)
class _Window:
    """The part of a picture about an object: its first column and row, its pixels; the object's place and height."""

    picture: Picture
    low: npt.NDArray[np.int_]
    pixels: npt.NDArray[np.uint8]
    pose: UprightPose
    z_m: float

    def drawn(self, model: SoughtModel, faces: npt.NDArray[np.int_], yaw_rad: float) -> Flags:
        """Returns which pixels some triangles of the object cover at a turn."""
        pose_in_world = UprightPose(self.pose.x_m, self.pose.y_m, yaw_rad).in_world(self.z_m)
        at = pixels_of(self.picture, pose_in_world.apply(model.mesh.vertices)) - self.low
        return covered(at[faces], self.pixels.shape[:2])


def _window(model: SoughtModel, pose: UprightPose, picture: Picture, surface_m: float) -> _Window | None:
    """Returns the part of a picture about an object; None where it is hardly in view."""
    reach_m, z_m = model.radius_m + AROUND_M, surface_m - model.bottom_m
    heights = model.bottom_m, model.bottom_m + model.height_m
    corners = np.array(list(product((-reach_m, reach_m), (-reach_m, reach_m), heights)))
    seen = pixels_of(picture, pose.in_world(z_m).apply(corners))
    low = np.maximum(np.floor(seen.min(axis=0)).astype(int), 0)
    high = np.minimum(np.ceil(seen.max(axis=0)).astype(int), picture.pixels.shape[1::-1])
    if (high - low < 4 * RIM_PX).any():
        return None
    return _Window(picture, low, picture.pixels[low[1] : high[1], low[0] : high[0]], pose, z_m)


def _votes(model: SoughtModel, window: _Window, yaws_rad: Array) -> tuple[Array, Array] | None:
    """Returns the votes of one picture for each turn, and the pixels that stick out at each."""
    import cv2

    faces, telling = model.mesh.faces, model.telling_faces
    rim = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (RIM_PX, RIM_PX))
    body = window.drawn(model, faces[~telling], 0.0)
    near = cv2.dilate(body.astype(np.uint8), rim) > 0
    out = [window.drawn(model, faces[telling], float(yaw)) & ~near for yaw in yaws_rad]
    inside = cv2.erode(body.astype(np.uint8), rim) > 0
    around = ~near & ~(cv2.dilate(np.logical_or.reduce(out).astype(np.uint8), rim) > 0)
    if min(np.count_nonzero(inside), np.count_nonzero(around)) < LEAST_PIXELS:
        return None
    smooth = cv2.GaussianBlur(window.pixels, (0, 0), SMOOTH_PX).astype(np.float64) + DARK
    ratios = np.log(smooth[..., :2] / smooth[..., 2:])
    inner, outer = ratios[inside], ratios[around]
    scatter = (np.cov(inner.T) + np.cov(outer.T)) / 2 + 1e-4 * np.eye(2)
    between = inner.mean(axis=0) - outer.mean(axis=0)
    way = np.linalg.solve(scatter, between)
    if way @ between < LEAST_APART**2:
        return None
    own, other = np.median(inner @ way), np.median(outer @ way)
    votes = np.clip(4 * (ratios @ way - (own + other) / 2) / max(own - other, 1e-6), -1.0, 1.0)
    sums = np.array([float(votes[mask].sum()) for mask in out])
    return sums, np.array([float(np.count_nonzero(mask)) for mask in out])
