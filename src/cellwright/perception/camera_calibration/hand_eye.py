"""Hand-eye calibration: a camera and a board, of which a robot moves one and reports where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cellwright.core import rotation
from cellwright.core.errors import JobFailed
from cellwright.core.pose import Pose
from cellwright.perception.camera_calibration.camera_pose import deviations, refined
from cellwright.perception.camera_calibration.intrinsics import Intrinsics, board_pose, pose_of
from cellwright.perception.camera_calibration.views import PatternView

__all__ = ["HandEyeFit", "fit_hand_eye", "solve_hand_eye"]

Array = npt.NDArray[np.float64]
LEAST_VIEWS = 5
LEAST_TURN_DEG = 8.0  # about a second axis, root mean square of the turns between views
WORSE = 3.5  # times the median: a view that is left out
LARGEST_RMS_M = 0.005  # of corners beside where the robot's report puts them


@dataclass(frozen=True, eq=False)
class HandEyeFit:
    """The places of a camera and a board that were fitted together.

    Attributes:
        pose_camera: The frame of the picture (x right, y down, z ahead): in the robot's base where the robot holds the
            board, in the reported frame of the hand where it holds the camera.
        pose_board: The board: in the hand where the robot holds it, else in the robot's base.
        rms_px: Root mean square of the distances between seen and computed corners.
        rms_m: The same at the board.
        sd: (6,): deviations of the camera's position in m and turn in rad, by the scatter of the views.
        used: (n,): whether a view was used.
        notes: What a person should know.
    """

    pose_camera: Pose
    pose_board: Pose
    rms_px: float
    rms_m: float
    sd: Array
    used: npt.NDArray[np.bool_]
    notes: tuple[str, ...] = field(default_factory=tuple)


def solve_hand_eye(poses_hand: Sequence[Pose], poses_board_in_camera: Sequence[Pose]) -> tuple[Pose, Pose]:
    """Returns X and Y with ``X T_i = B_i Y`` for hands B_i and boards T_i, in closed form (Park and Martin 1994).

    The turns between views are the same about axes that X turns into each other; translations then are linear.

    Raises:
        JobFailed: The hand turned about one axis alone, or hardly at all.
    """
    count = len(poses_hand)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    hands = [poses_hand[j] @ poses_hand[i].inverse() for i, j in pairs]
    boards = [poses_board_in_camera[j] @ poses_board_in_camera[i].inverse() for i, j in pairs]
    turns_hand = np.array([rotation.vector_from_quaternion(pose.quaternion) for pose in hands]).reshape(-1, 3)
    turns_board = np.array([rotation.vector_from_quaternion(pose.quaternion) for pose in boards]).reshape(-1, 3)
    about = np.linalg.svd(turns_hand, compute_uv=False) if len(pairs) else np.zeros(3)
    second_deg = float(np.degrees(about[1] / np.sqrt(max(len(pairs), 1))))
    if second_deg < LEAST_TURN_DEG:
        raise JobFailed(
            f"the views are too much alike: the hand turned by {second_deg:.1f} degrees about a second axis, needed "
            f"{LEAST_TURN_DEG:g}; turn it by 15 degrees or more about two axes"
        )
    u, _, vt = np.linalg.svd(turns_hand.T @ turns_board)
    turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
    rows = np.concatenate([pose.rotation_matrix - np.eye(3) for pose in hands])
    right = np.concatenate([turn @ t.position - b.position for b, t in zip(hands, boards, strict=True)])
    shift = np.linalg.lstsq(rows, right, rcond=None)[0]
    x = Pose.from_matrix(np.column_stack([turn, shift]))
    candidates = [b.inverse() @ x @ t for b, t in zip(poses_hand, poses_board_in_camera, strict=True)]
    position = np.mean([pose.position for pose in candidates], axis=0)
    u, _, vt = np.linalg.svd(np.sum([pose.rotation_matrix for pose in candidates], axis=0))
    y = Pose.from_matrix(np.column_stack([u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt, position]))
    return x, y


def fit_hand_eye(
    views: Sequence[PatternView], poses_hand_in_base: Sequence[Pose], intrinsics: Intrinsics, *, camera_moves: bool
) -> HandEyeFit:
    """Returns where camera and board are, from views and from what the robot reported when they were taken.

    The closed form begins; the least squares of all corners in all pictures end.

    Args:
        views: Of the board.
        poses_hand_in_base: As the robot reported them, one for each view.
        intrinsics: Of the camera.
        camera_moves: Whether the hand carries the camera; else it carries the board.

    Raises:
        JobFailed: Too few views, all alike, or a robot and a camera that contradict each other.
    """
    used = np.array([view.is_found for view in views], bool)
    source = views[0].source if views else "a camera"
    if used.sum() < LEAST_VIEWS:
        why = next((view.reason for view in views if view.reason), "")
        raise JobFailed(
            f"{source}: too few views of the board: {int(used.sum())} of {len(views)}, and {LEAST_VIEWS} are needed"
            f"{f' ({why})' if why else ''}; bring it into view"
        )
    hands = [pose.inverse() if camera_moves else pose for pose in poses_hand_in_base]
    notes: list[str] = []
    for _ in range(3):
        kept = np.flatnonzero(used)
        some = [views[int(k)] for k in kept]
        fit = _refine(some, [hands[int(k)] for k in kept], intrinsics)
        x, y, misses, rms_px = fit
        off_px = _per_view(some, misses)
        bad = off_px > WORSE * np.median(off_px)
        if not bad.any() or len(kept) - bad.sum() < LEAST_VIEWS:
            break
        used[kept[bad]] = False
        notes += [
            f"{source}: view {k + 1} was left out: its corners are {o:.1f} px off"
            for k, o in zip(kept[bad], off_px[bad], strict=True)
        ]
    kept_views, kept_hands = (
        [views[int(k)] for k in np.flatnonzero(used)],
        [hands[int(k)] for k in np.flatnonzero(used)],
    )
    from_x = x.inverse()
    depths = [
        float(np.mean((from_x @ hand @ y).apply(view.points_m)[:, 2]))
        for view, hand in zip(kept_views, kept_hands, strict=True)
    ]
    rms_m = rms_px * float(np.mean(depths)) / float(np.mean(intrinsics.focal_px))
    if rms_m > LARGEST_RMS_M:
        raise JobFailed(
            f"{source}: what the robot reports and what is seen contradict each other by {1000 * rms_m:.1f} mm, "
            f"allowed {1000 * LARGEST_RMS_M:g}: was the board loose, or moved?"
        )

    def moved(step: Array) -> Array:
        return _misses(*_stepped(x, y, step), kept_views, kept_hands, intrinsics)

    # the corners of a view are off together, by the robot's error: each view counts as one point
    per_view = float(np.sqrt(np.mean([len(view.numbers) for view in kept_views])))
    sd = deviations(moved, rms_px * per_view, 12)[:6]
    return HandEyeFit(x, y, rms_px, rms_m, sd, used, tuple(notes))


def _refine(
    views: Sequence[PatternView], hands: Sequence[Pose], intrinsics: Intrinsics
) -> tuple[Pose, Pose, Array, float]:
    x, y = solve_hand_eye(hands, [board_pose(view, intrinsics) for view in views])

    def misses(step: Array) -> Array:
        return _misses(*_stepped(x, y, step), views, hands, intrinsics)

    step, rms_px, left = refined(misses, np.zeros(12))
    return *_stepped(x, y, step), left, rms_px


def _stepped(x: Pose, y: Pose, step: Array) -> tuple[Pose, Pose]:
    return x @ pose_of(step[3:6], step[:3]), y @ pose_of(step[9:], step[6:9])


def _misses(x: Pose, y: Pose, views: Sequence[PatternView], hands: Sequence[Pose], intrinsics: Intrinsics) -> Array:
    from_x = x.inverse()
    return np.concatenate(
        [
            (intrinsics.project((from_x @ hand @ y).apply(view.points_m)) - view.pixels).ravel()
            for view, hand in zip(views, hands, strict=True)
        ]
    )


def _per_view(views: Sequence[PatternView], misses: Array) -> Array:
    ends = np.cumsum([len(view.numbers) for view in views])[:-1]
    parts = np.split(misses.reshape(-1, 2), ends)
    return np.array([np.sqrt(np.mean((part**2).sum(axis=1))) for part in parts])
