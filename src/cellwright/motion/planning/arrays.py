"""A scene as the plain arrays that compiled code works on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.motion.planning.collision_bodies import CollisionBodies, CollisionBody
from cellwright.motion.planning.pieces import ConvexPiece
from cellwright.motion.planning.sphere_tree import bounding_ball, build_sphere_tree, face_planes

__all__ = ["KINDS", "SceneArrays", "scene_arrays"]

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

KINDS = ("box", "cylinder", "sphere", "plane", "mesh")
JOINT_OFFSET, JOINT_AXIS = 27, 30  # columns of `joints`
SOLID_SIZE, SOLID_BALL = 12, 15  # columns of `solids`
KIND, FRAME, PLANES, PLANES_END, TRIANGLES, TRIANGLES_END = range(6)  # columns of `solid_rows`
MOVER_FRAME, MOVER_BALL, MOVER_END = range(3)  # columns of `movers`
PAIR_MOVER, PAIR_SOLID, PAIR_ALIEN = range(3)  # columns of `pairs`


class SceneArrays(NamedTuple):
    """Kinematics, spheres and solids; frame 0 is the world, frame k the link that joint k moves.

    Few arrays with many columns: every array costs some nanoseconds wherever it is handed on. Transforms are the
    twelve numbers of a 3 x 4 matrix, row by row.

    Attributes:
        base: (12,) the robot's base in the world.
        joints: (joints, 33) matrices A, B, C of each joint, whose rotation is A + sin(q) B + cos(q) C; then its
            origin in the link before, and its axis in its own frame.
        balls: (balls, 4) the spheres of all moving bodies, tree by tree, in their frames.
        skip: (balls,) the next sphere that is not below this one.
        movers: (movers, 3) of each moving body its frame, its first sphere and the one after its last.
        solids: (solids, 19) pose in its frame; half sizes, or radius and half length; a sphere around it in its
            frame, of infinite radius for a plane.
        solid_rows: (solids, 6) index into `KINDS`, frame, first and last + 1 of a mesh's planes, and of its triangles.
        planes: (planes, 4) outward normal and offset.
        triangles: (triangles, 9) corners.
        pairs: (pairs, 3) moving body and solid that must not touch, and 1 if it is an obstacle, else 0.
    """

    base: Array
    joints: Array
    balls: Array
    skip: Indices
    movers: Indices
    solids: Array
    solid_rows: Indices
    planes: Array
    triangles: Array
    pairs: Indices


def scene_arrays(bodies: CollisionBodies, bulge_m: float) -> tuple[SceneArrays, list[tuple[str, str]]]:
    """Returns the arrays, and for each of their pairs the names of its two bodies."""
    movers = [body for body in bodies.bodies if body.frame and body.pieces]
    solids = [(body, piece) for body in bodies.bodies for piece in body.pieces]
    trees = [_body_tree(body, bulge_m) for body in movers]
    starts = np.cumsum([0] + [len(balls) for balls, _ in trees])
    frames = np.array([body.frame for body in movers])
    pairs = [
        (movers.index(first), number, int(second.chain is None))
        for first, second in bodies.pairs
        for number, (body, _) in enumerate(solids)
        if body is second and first.pieces
    ]
    names = [(movers[mover].name, solids[solid][0].name) for mover, solid, _ in pairs]
    solid_rows, planes, triangles = _mesh_rows(solids)
    arrays = SceneArrays(
        base=_numbers(bodies.scene.robot.pose_base_in_world),
        joints=_joints(bodies),
        balls=_stack([balls for balls, _ in trees], (0, 4)),
        skip=np.concatenate(
            [np.empty(0, np.int64), *(tree[1] + s for tree, s in zip(trees, starts[:-1], strict=True))]
        ),
        movers=np.column_stack([frames, starts[:-1], starts[1:]]).astype(np.int64).reshape(-1, 3),
        solids=_stack([_solid(piece)[None] for _, piece in solids], (0, 19)),
        solid_rows=solid_rows,
        planes=planes,
        triangles=triangles,
        pairs=np.array(pairs, np.int64).reshape(-1, 3),
    )
    return arrays, names


def _joints(bodies: CollisionBodies) -> Array:
    """Returns `joints`: with K the cross-product matrix of the axis, R(q) = R0 (1 + sin q K + (1 - cos q) K^2)."""
    rows = []
    for joint in bodies.scene.robot.arm.joints:
        origin = Pose.from_xyz_rpy(joint.origin_xyz_m, joint.origin_rpy_rad)
        x, y, z = axis = np.asarray(joint.axis, float) / np.linalg.norm(joint.axis)
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        square = cross @ cross
        turn = origin.rotation_matrix @ np.array([np.eye(3) + square, cross, -square])
        rows.append(np.concatenate([turn.reshape(-1), origin.position, axis]))
    return np.array(rows)


def _body_tree(body: CollisionBody, bulge_m: float) -> tuple[Array, Indices]:
    """Returns one tree for all pieces of a body, in the body's frame; its root spans them all."""
    balls, skips = [np.zeros((1, 4))], [np.zeros(1, np.int64)]
    count = 1
    for piece in body.pieces:
        tree = build_sphere_tree(piece, bulge_m)
        balls.append(np.column_stack([piece.pose.apply(tree.balls[:, :3]), tree.balls[:, 3]]))
        skips.append(tree.skip + count)
        count += len(tree.balls)
    corners = np.concatenate([_extreme_points(piece) for piece in body.pieces])
    balls[0] = bounding_ball(corners)[None]
    skips[0][0] = count
    return np.concatenate(balls), np.concatenate(skips)


def _solid(piece: ConvexPiece) -> Array:
    """Returns one row of `solids`."""
    ball = np.array([*piece.pose.position, np.inf])
    if piece.kind != "plane":
        ball = bounding_ball(_extreme_points(piece))
    return np.concatenate([_numbers(piece.pose), [*piece.size_m, 0.0, 0.0, 0.0][:3], ball])


def _extreme_points(piece: ConvexPiece) -> Array:
    """Returns corners of a solid around the piece, in the frame of its body."""
    points = piece.vertices_m
    if piece.kind != "mesh":
        size = piece.size_m
        half = {"box": size, "cylinder": (size[0], *size), "sphere": size * 3}[piece.kind]
        points = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.asarray(half)
    return piece.pose.apply(points)


def _mesh_rows(solids: list[tuple[CollisionBody, ConvexPiece]]) -> tuple[Indices, Array, Array]:
    """Returns `solid_rows`, and the planes and triangles that they refer to."""
    rows, planes, triangles = [], [np.empty((0, 4))], [np.empty((0, 9))]
    for body, piece in solids:
        if piece.kind == "mesh":
            planes.append(face_planes(piece.vertices_m, piece.triangles))
            triangles.append(piece.vertices_m[piece.triangles].reshape(-1, 9))
        else:
            planes.append(np.empty((0, 4)))
            triangles.append(np.empty((0, 9)))
        ends = [(sum(map(len, found[:-1])), sum(map(len, found))) for found in (planes, triangles)]
        rows.append((KINDS.index(piece.kind), body.frame, *ends[0], *ends[1]))
    return np.array(rows, np.int64).reshape(-1, 6), np.concatenate(planes), np.concatenate(triangles)


def _numbers(pose: Pose) -> Array:
    return pose.matrix[:3].reshape(-1)


def _stack(rows: list[Array], empty: tuple[int, ...]) -> Array:
    return np.ascontiguousarray(np.concatenate([np.empty(empty), *rows]))
