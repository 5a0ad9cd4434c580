"""The room that an arm takes up, by its joint angles: what may stand between a camera and what it looks at."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import TOOLS, ArmFigures
from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.motion.chain import SerialChain
from cellwright.motion.kinematics import ArmKinematics, Unreachable
from cellwright.motion.planning.pieces import ConvexPiece, arm_pieces, tool_pieces
from cellwright.perception import capsules_of_sku

__all__ = ["ArmCapsules", "gap_m"]

Array = npt.NDArray[np.float64]
EDGE_M = 0.005  # by which the edge of a solid may stick out of its capsule: half of what a view adds
THIN_M = 0.03  # half the width of what one capsule is enough for
LONG = 4.0  # times its radius, half the length of a cylinder whose ends hardly matter
BALL = 0.45  # of its thickness, the radius of balls along the edge of a cylinder
CRUMB_M = 0.003  # what is smaller than this hides nothing
NOTHING: Array = np.empty((0, 7))


class ArmCapsules:
    """Capsules about the links and the tool of one arm, each two ends of an axis and a radius, in the world.

    Args:
        arm: Its figures.
        pose_base_in_world: By the drawings.

    Attributes:
        kinematics: Of the arm.
    """

    def __init__(self, arm: ArmFigures, pose_base_in_world: Pose) -> None:
        self.kinematics = ArmKinematics(arm)
        self._base = pose_base_in_world
        self._chain = SerialChain(arm)
        self._links = _link_capsules(arm)

    def at(self, joints_rad: npt.ArrayLike, tool: str = "", held: Array = NOTHING) -> Array:
        """Returns the capsules of a configuration, k x 7; what it holds last.

        Args:
            joints_rad: One angle per joint.
            tool: The tool's name in the catalogue; empty for a bare flange.
            held: Capsules of what it holds, in the frame of the tool's centre point.
        """
        turns, points = self._chain.link_frames(np.asarray(joints_rad, float))
        turn_base, at_base = self._base.rotation_matrix, self._base.position
        turns, points = turn_base @ turns, points @ turn_base.T + at_base
        rows = [_moved(rows, turns[number], points[number]) for number, rows in enumerate(self._links)]
        tool_rows, pose_tool = _tool_capsules(tool)
        turn, point = turns[-1] @ self._chain.flange_rotation, points[-1] + turns[-1] @ self._chain.offsets[-1]
        rows.append(_moved(tool_rows, turn, point))
        rows.append(_moved(held, turn @ pose_tool.rotation_matrix, point + turn @ pose_tool.position))
        return np.concatenate(rows)

    def fold_gap_m(self, capsules: Array) -> float:
        """Returns about how far the tool, and what it holds, are from the arm that carries them; below 0, they touch.

        The last two links are left out: a tool is always near those.

        Args:
            capsules: Those of a configuration, as `at` returns them.
        """
        counts = [len(link) for link in self._links]
        return gap_m(capsules[sum(counts) :], capsules[: sum(counts[:-2])])

    def configuration(self, pose_tool_in_world: Pose, tool: str, near_rad: npt.ArrayLike) -> Array | None:
        """Returns the joint angles that bring the tool to a pose, nearest to others; None when it cannot get there."""
        ring = KinematicRing(self._base, _tool_capsules(tool)[1])
        try:
            return self.kinematics.nearest(ring.flange_for_tool(pose_tool_in_world), near_rad)
        except Unreachable:
            return None


def held_capsules(sku: str, pose_in_tool: Pose) -> Array:
    """Returns the capsules of a part or tray in a hand, in the frame of the tool's centre point."""
    return np.asarray(capsules_of_sku(sku, pose_in_tool), float)


def gap_m(first: Array, second: Array) -> float:
    """Returns about the distance of two sets of capsules: between points along their axes."""
    if not len(first) or not len(second):
        return np.inf
    middles, halves = zip(*((_middles(rows), _half_lengths_m(rows)) for rows in (first, second)), strict=True)
    apart = np.linalg.norm(middles[0][:, None] - middles[1], axis=2) - first[:, 6:] - second[:, 6]
    longer = halves[0][:, None] + halves[1]
    ones, others = (apart - longer <= (apart + longer).min()).nonzero()  # no others come as near as some do
    shares = np.linspace(0.0, 1.0, 4)[:, None, None]
    one, two = ((1 - shares) * rows[:, :3] + shares * rows[:, 3:6] for rows in (first[ones], second[others]))
    gaps = np.linalg.norm(one[:, None] - two, axis=3) - first[ones, 6] - second[others, 6]
    return float(gaps.min())


def _link_capsules(arm: ArmFigures) -> tuple[Array, ...]:
    """Returns the capsules of the base and of each link, about its joint, turned as in the base at zero angles."""
    pieces, pose = arm_pieces(arm), Pose.identity()
    found = [_about(pieces.get(arm.base_body, []))]
    for joint, link in zip(arm.joints, arm.links[1:], strict=True):
        pose = pose @ Pose.from_xyz_rpy(joint.origin_xyz_m, joint.origin_rpy_rad)
        found.append(_moved(_about(pieces.get(link.name, [])), pose.rotation_matrix, np.zeros(3)))
    return tuple(found)


@lru_cache(maxsize=32)
def _tool_capsules(tool: str) -> tuple[Array, Pose]:
    """Returns the capsules of a tool in the flange's frame, and its centre point there."""
    if tool not in TOOLS:
        return NOTHING, Pose.identity()
    pieces, pose_tool_in_flange = tool_pieces(TOOLS.get(tool), {})
    return _about(pieces), pose_tool_in_flange


def _about(pieces: Iterable[ConvexPiece]) -> Array:
    """Returns capsules about pieces, in the frame that the pieces are in; crumbs are left to the view's margin."""
    rows = [_capsules(piece) for piece in pieces]
    return np.concatenate([NOTHING, *rows])


def _capsules(piece: ConvexPiece) -> Array:
    """Returns the capsules of a piece; they stick out of it, and it out of them, by less than the view's margin.

    One capsule about a short, thick solid would stick out by half its width, and claim to hide what is in full view.
    """
    if piece.kind == "sphere":
        rows = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, piece.size_m[0]]])
    elif piece.kind == "cylinder":
        rows = _of_cylinder(*piece.size_m)
    else:
        corners = piece.vertices_m if piece.kind == "mesh" else np.array([piece.size_m, np.negative(piece.size_m)])
        low, high = corners.min(axis=0), corners.max(axis=0)
        rows = _of_box((high - low) / 2)
        rows[:, :6] += np.tile((low + high) / 2, 2)
    return _moved(rows[rows[:, 6] > CRUMB_M], piece.pose.rotation_matrix, piece.pose.position)


def _of_cylinder(radius_m: float, half_m: float) -> Array:
    """Returns a capsule inside a cylinder along z, and balls along both of its edges."""
    if half_m > LONG * radius_m or radius_m <= THIN_M:
        along_m = max(half_m - _shorter_m(radius_m), 0.0)
        return np.array([[0.0, 0.0, -along_m, 0.0, 0.0, along_m, radius_m]])
    thick_m = min(radius_m, half_m)
    ball_m = BALL * thick_m
    ring = _ring(radius_m - 0.7 * ball_m, 0.5 * ball_m, half_m - 0.7 * ball_m)
    ends = np.concatenate([ring, ring * [1.0, 1.0, -1.0]])
    if half_m < radius_m:  # a disc: spokes fill it
        spokes = _ring(radius_m - half_m, 0.6 * half_m, 0.0)
        core = np.column_stack([np.zeros_like(spokes), spokes, np.full(len(spokes), thick_m)])
    else:
        core = np.array([[0.0, 0.0, radius_m - half_m, 0.0, 0.0, half_m - radius_m, thick_m]])
    return np.concatenate([core, np.column_stack([ends, ends, np.full(len(ends), ball_m)])])


def _ring(radius_m: float, reach_m: float, height_m: float) -> Array:
    """Returns points on a circle, no farther apart than twice a reach."""
    count = max(int(np.ceil(np.pi / np.arcsin(min(reach_m / radius_m, 1.0)))), 3) if radius_m > 0.0 else 1
    around = np.linspace(0.0, 2 * np.pi, count, endpoint=False)
    return np.column_stack([radius_m * np.cos(around), radius_m * np.sin(around), np.full(count, height_m)])


def _of_box(half_m: Array) -> Array:
    """Returns capsules along the longest side of a box, side by side."""
    along, wide, high = np.argsort(-half_m)
    counts = [max(int(np.ceil(half_m[axis] / THIN_M)), 1) for axis in (wide, high)]
    across = [half_m[axis] / count for axis, count in zip((wide, high), counts, strict=True)]
    radius_m = float(np.hypot(*across))
    length_m = max(float(half_m[along]) - _shorter_m(radius_m), 0.0)
    rows = []
    for column in range(counts[0]):
        for row in range(counts[1]):
            middle, axis = np.zeros(3), np.zeros(3)
            middle[wide] = (2 * column + 1) * across[0] - half_m[wide]
            middle[high] = (2 * row + 1) * across[1] - half_m[high]
            axis[along] = length_m
            rows.append([*(middle - axis), *(middle + axis), radius_m])
    return np.array(rows)


def _shorter_m(radius_m: float) -> float:
    """Returns by how much the axis of a capsule ends before its solid, so that the edge of that just sticks out."""
    return float(np.sqrt((radius_m + EDGE_M) ** 2 - radius_m**2))


def _moved(capsules: Array, turn: Array, point: Array) -> Array:
    """Returns capsules turned, then moved."""
    if not len(capsules):
        return NOTHING
    ends = capsules[:, :6].reshape(-1, 3) @ turn.T + point
    return np.column_stack([ends.reshape(-1, 6), capsules[:, 6]])


def _middles(capsules: Array) -> Array:
    return (capsules[:, :3] + capsules[:, 3:6]) / 2


def _half_lengths_m(capsules: Array) -> Array:
    halves: Array = np.linalg.norm(capsules[:, 3:6] - capsules[:, :3], axis=1) / 2
    return halves
