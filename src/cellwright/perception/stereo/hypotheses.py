"""Upright poses that a depth map supports: how well one agrees with it, and where on a table to begin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.perception.stereo.depth_map import DepthMap, Workspace
from cellwright.perception.stereo.sought_model import COARSE_STEP_M, STEP_M, SoughtModel

__all__ = ["LEAST_IN_VIEW", "Agreement", "UprightPose", "agreement", "starts", "turn_evidence", "visible"]

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
ABOVE_M = 0.010  # what is lower may be the table
CELL_M = 0.008
SECTORS = 24  # directions from which an object may be seen, for the coarse search
COARSE_POINTS = 80
COARSE_M, FINE_M = 0.014, 0.009
HIDING_M = 0.05  # what is farther in front stands before the object, and speaks neither for nor against it
SWOLLEN_COUNTS = 1.5
LEAST_IN_VIEW = 0.5
"""The share of what could be seen of an object that must be in the picture."""
BINS = 8


@dataclass(frozen=True)
class UprightPose:
    """The place of an object that stands on a surface."""

    x_m: float
    y_m: float
    yaw_rad: float

    def in_world(self, z_m: float) -> Pose:
        """Returns it as a pose, with the height of the object's origin."""
        return Pose.from_xyz_rpy([self.x_m, self.y_m, z_m], [0.0, 0.0, self.yaw_rad])


@dataclass(frozen=True)
class Agreement:
    """The agreement of a hypothesis with what was measured, over the part of its surface that should be seen.

    Attributes:
        supported: Share that was measured where it should be, the mean over slices of its height, 0 to 1.
        contradicted: Share behind which something was measured: it cannot be there.
        swollen: Share closely before which something was measured: what is there is larger.
        in_view: Share that is inside the picture; the others are shares of this.
    """

    supported: float
    contradicted: float
    swollen: float
    in_view: float

    @property
    def score(self) -> float:
        """The rank of a hypothesis: its support, less what contradicts it."""
        return self.supported - self.contradicted - SWOLLEN_COUNTS * self.swollen


def visible(surface: tuple[Array, Array], eye_in_model: Array, step_m: float) -> Flags:
    """Returns which points of a surface are seen from a point in its frame; what is before them hides them.

    Args:
        surface: Points and normals.
        eye_in_model: From where.
        step_m: The distance between two points.
    """
    points, normals = surface
    ways = eye_in_model - points
    facing: Flags = (normals * ways).sum(axis=1) > 0.1 * np.linalg.norm(ways, axis=1)
    z = eye_in_model / np.linalg.norm(eye_in_model)
    x = np.cross([0.0, 0.0, 1.0], z) if abs(z[2]) < 0.99 else np.array([1.0, 0.0, 0.0])
    x = x / np.linalg.norm(x)
    near = points @ z
    nearer = 1.0 / (1.0 - near / np.linalg.norm(eye_in_model))  # perspective: what is near is large
    cells = points @ np.column_stack([x, np.cross(z, x)]) * (nearer / (1.3 * step_m))[:, None]
    columns, rows = np.floor(cells - cells.min(axis=0)).astype(np.int64).T
    nearest = np.full((rows.max() + 1) * (columns.max() + 1), -np.inf)
    place = rows * (columns.max() + 1) + columns
    np.maximum.at(nearest, place[facing], near[facing])
    seen: Flags = facing & (near > nearest[place] - 3 * step_m)
    return seen


def agreement(model: SoughtModel, pose: UprightPose, depths: DepthMap, workspace: Workspace) -> Agreement:
    """Returns how well a pose agrees with what was measured."""
    pose_in_world = pose.in_world(workspace.surface_m - model.bottom_m)
    seen = visible(model.surface, pose_in_world.inverse().apply(depths.pose_camera_in_world.position), STEP_M)
    points = model.surface[0][seen]
    level = points[:, 2] - model.bottom_m
    points = points[level > ABOVE_M]
    inside = depths.in_view(pose_in_world.apply(points))
    in_view, points = float(inside.mean()) if len(inside) else 0.0, points[inside]
    if not len(points):
        return Agreement(0.0, 0.0, 0.0, 0.0)
    own, measured = depths.measured_at(pose_in_world.apply(points))
    off = measured - own
    supported, behind, front = np.abs(off) <= FINE_M, off > FINE_M, (off < -FINE_M) & (off > -HIDING_M)
    height = np.minimum((points[:, 2] - model.bottom_m) / model.height_m * BINS, BINS - 1).astype(int)
    counts = np.bincount(height, minlength=BINS)
    shares = np.bincount(height, supported, BINS)[counts > 0] / counts[counts > 0]
    return Agreement(float(shares.mean()), float(behind.mean()), float(front.mean()), in_view)


def starts(model: SoughtModel, depths: DepthMap, workspace: Workspace, yaws: int, most: int) -> list[UprightPose]:
    """Returns the poses that agree best, coarsely, best place first; no two places within half a radius.

    Args:
        model: The object.
        depths: What was measured.
        workspace: Where it stands.
        yaws: How many turns within its period are tried; 1 for what is round.
        most: How many places are returned, and how many turns for each.
    """
    places = _places(model, depths, workspace)
    places = places[[not workspace.is_taken(x, y, model.radius_m) for x, y in places.tolist()]]
    if not len(places):
        return []
    eye = depths.pose_camera_in_world.position
    z_m = workspace.surface_m - model.bottom_m
    sector = np.round(np.arctan2(eye[1] - places[:, 1], eye[0] - places[:, 0]) / (2 * np.pi) * SECTORS).astype(int)
    scores = np.full((len(places), yaws), -np.inf)
    turns = model.period_rad * np.arange(yaws) / yaws
    for own in np.unique(sector):
        here = np.flatnonzero(sector == own)
        middle = places[here].mean(axis=0)
        for number, yaw in enumerate(turns):
            pose = UprightPose(float(middle[0]), float(middle[1]), float(yaw)).in_world(z_m)
            seen = visible(model.coarse_surface, pose.inverse().apply(eye), COARSE_STEP_M)
            points = model.coarse_surface[0][seen]
            points = points[points[:, 2] - model.bottom_m > ABOVE_M]
            points = points[:: max(len(points) // COARSE_POINTS, 1)] @ pose.rotation_matrix.T
            offsets = np.column_stack([places[here], np.full(len(here), z_m)])
            cloud = offsets[:, None] + points[None]
            own_m, measured = depths.measured_at(cloud)
            off = measured - own_m
            against = (off > COARSE_M) | ((off < -COARSE_M) & (off > -HIDING_M))
            told = (np.abs(off) <= COARSE_M).mean(axis=1) - against.mean(axis=1)
            scores[here, number] = told / np.maximum(depths.in_view(cloud).mean(axis=1), LEAST_IN_VIEW)
    best: list[UprightPose] = []
    ranks = scores.max(axis=1)
    for _ in range(most):
        top = int(ranks.argmax())
        if ranks[top] < 0.1:
            break
        x, y = places[top]
        own_turns = np.argsort(-scores[top], kind="stable")[:most]
        best += [UprightPose(float(x), float(y), float(turns[turn])) for turn in own_turns]
        ranks[np.hypot(*(places - places[top]).T) < max(model.radius_m / 2, 2 * CELL_M)] = -np.inf
    return best


def turn_evidence(model: SoughtModel, pose: UprightPose, depths: DepthMap, workspace: Workspace, yaws: Array) -> Array:
    """Returns how much speaks for each turn of an object whose place is known, about -1 to 1.

    Counted is the surface that tells the turn: what was measured there, less what was measured behind it, as a share of
    the most that is visible at any turn. What is hidden speaks neither for nor against.
    """
    points, normals = model.telling
    if not len(points):
        return np.zeros(len(yaws))
    eye = depths.pose_camera_in_world.position
    counts, visible_most = np.zeros(len(yaws)), 1
    for number, yaw in enumerate(yaws):
        pose_in_world = UprightPose(pose.x_m, pose.y_m, float(yaw)).in_world(workspace.surface_m - model.bottom_m)
        facing = (normals * (pose_in_world.inverse().apply(eye) - points)).sum(axis=1) > 0
        own, measured = depths.measured_at(pose_in_world.apply(points[facing]))
        off = measured - own
        counts[number] = np.count_nonzero(np.abs(off) <= FINE_M) - np.count_nonzero(off > FINE_M)
        visible_most = max(visible_most, int(np.count_nonzero(facing)))
    return counts / visible_most


def _places(model: SoughtModel, depths: DepthMap, workspace: Workspace) -> Array:
    """Returns places (n, 2) on a grid, above or beside which something was measured that is not the table."""
    import cv2

    points = depths.points_in_world
    low, high = np.array(workspace.min_xy_m), np.array(workspace.max_xy_m)
    level = points[:, 2] - workspace.surface_m
    inside = (
        (level > ABOVE_M)
        & (level < model.height_m + ABOVE_M)
        & ((points[:, :2] >= low) & (points[:, :2] <= high)).all(1)
    )
    shape = np.ceil((high - low) / CELL_M).astype(int) + 1
    cells = np.round((points[inside, :2] - low) / CELL_M).astype(int)
    counts = np.zeros(shape, np.uint8)
    filled = np.bincount(cells[:, 0] * shape[1] + cells[:, 1], minlength=shape.prod()).reshape(shape)
    counts[filled >= 3] = 1
    whole, grow = (
        cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
        for side in (2 * int(min(model.radius_m, reach_m) / CELL_M) + 1 for reach_m in (0.05, 0.016))
    )
    margin = len(whole)  # what is closed must not be cut off at the border
    closed = cv2.morphologyEx(np.pad(counts, margin), cv2.MORPH_CLOSE, whole)
    grown = cv2.dilate(closed, grow)[margin:-margin, margin:-margin]
    return np.asarray(low + np.argwhere(grown > 0) * CELL_M, float)
