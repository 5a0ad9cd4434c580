"""Spheres must cover what they stand for, and stick out no farther than they may."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.catalogue import PARTS, ROBOTS
from cellwright.core.pose import Pose
from cellwright.motion.planning.pieces import ConvexPiece, arm_pieces, shape_pieces
from cellwright.motion.planning.scene import CatalogueModel, ConvexMesh
from cellwright.motion.planning.sphere_tree import build_sphere_tree

pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")

sizes = st.floats(0.002, 0.3)
BULGE_M = 0.01
PRISM = 1 / np.cos(np.pi / 24) - 1  # by which the prism around a cylinder is wider


def points_in(piece: ConvexPiece, count: int) -> np.ndarray:
    """Random points of a piece, on its surface and inside, in its own frame."""
    random = np.random.default_rng(1)
    if piece.kind == "mesh":
        shares = random.dirichlet(np.full(len(piece.vertices_m), 0.05), count)
        return np.concatenate([shares @ piece.vertices_m, piece.vertices_m])
    if piece.kind == "sphere":
        directions = random.normal(size=(count, 3))
        return piece.size_m[0] * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    unit = np.clip(random.uniform(-1.5, 1.5, (count, 3)), -1, 1)
    if piece.kind == "box":
        return unit * piece.size_m
    turn, radius = np.pi * unit[:, 0], piece.size_m[0] * np.sqrt(np.abs(unit[:, 1]))
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn), piece.size_m[1] * unit[:, 2]])


def distance_outside(piece: ConvexPiece, points: np.ndarray) -> np.ndarray:
    """How far points lie outside a box or cylinder."""
    beyond = np.abs(points) - piece.size_m[:3] if piece.kind == "box" else None
    if piece.kind == "cylinder":
        radius, half = piece.size_m
        beyond = np.column_stack([np.hypot(points[:, 0], points[:, 1]) - radius, np.abs(points[:, 2]) - half])
    return np.linalg.norm(np.maximum(beyond, 0), axis=1)


def leaves(tree) -> np.ndarray:
    return tree.balls[tree.skip == np.arange(1, len(tree.skip) + 1)]


def check(piece: ConvexPiece, bulge_m: float = BULGE_M) -> None:
    tree = build_sphere_tree(piece, bulge_m)
    points = points_in(piece, 600)
    balls = leaves(tree)
    inside = np.linalg.norm(points[:, None] - balls[:, :3], axis=2) <= balls[:, 3]
    assert inside.any(axis=1).all()
    assert (np.linalg.norm(points - tree.balls[0, :3], axis=1) <= tree.balls[0, 3]).all()


boxes = st.builds(lambda a, b, c: ConvexPiece("box", (a, b, c), Pose.identity()), sizes, sizes, sizes)
cylinders = st.builds(lambda r, h: ConvexPiece("cylinder", (r, h), Pose.identity()), sizes, sizes)
clouds = st.lists(st.tuples(*[st.integers(-9, 9)] * 3), min_size=6, max_size=14)


@settings(max_examples=20)
@given(boxes | cylinders)
def test_boxes_and_cylinders_are_covered(piece):
    check(piece)


@settings(max_examples=15)
@given((boxes | cylinders).filter(lambda piece: max(piece.size_m) < 0.15))
def test_no_sphere_sticks_out_too_far(piece):
    directions = np.random.default_rng(2).normal(size=(300, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    slack_m = 1e-5 + (PRISM * piece.size_m[0] if piece.kind == "cylinder" else 0)
    for x, y, z, radius in leaves(build_sphere_tree(piece, BULGE_M))[:200]:
        assert distance_outside(piece, (x, y, z) + radius * directions).max() <= BULGE_M + slack_m


@settings(max_examples=15)
@given(clouds)
def test_meshes_are_covered(points):
    if np.linalg.matrix_rank(np.array(points) - points[0]) == 3:
        (piece,) = shape_pieces(ConvexMesh(tuple((0.03 * x, 0.03 * y, 0.03 * z) for x, y, z in points)))
        check(piece)


@pytest.mark.parametrize("arm", ["ur5", "lr_mate_200id", "sia20f"])
def test_every_piece_of_an_arm_is_covered(arm):
    for pieces in arm_pieces(ROBOTS.get(arm)).values():
        for piece in pieces:
            check(piece, 0.02)


@pytest.mark.parametrize("part", ["bottle", "mug", "large_gear", "milk_carton"])
def test_every_piece_of_a_part_is_covered(part):
    for piece in shape_pieces(CatalogueModel(PARTS.get(part))):
        check(piece)


def test_a_finer_cover_has_more_spheres_and_the_same_is_not_made_twice():
    piece = ConvexPiece("box", (0.1, 0.1, 0.2), Pose.identity())
    assert build_sphere_tree(piece, 0.005).leaves > build_sphere_tree(piece, 0.02).leaves > 1
    assert build_sphere_tree(piece, 0.02) is build_sphere_tree(
        ConvexPiece("box", (0.1, 0.1, 0.2), Pose.from_xyz_rpy([1, 2, 3])), 0.02
    )


def test_a_hull_holds_its_points():
    points = np.random.default_rng(3).normal(size=(40, 3))
    (piece,) = shape_pieces(ConvexMesh(tuple(map(tuple, points))))
    corners = piece.vertices_m[piece.triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    local = piece.pose.inverse().apply(points)
    heights = np.einsum("fk,pfk->pf", normals, local[:, None] - corners[None, :, 0])
    assert heights.max() < 1e-5
    assert np.isclose(heights.max(axis=0), 0, atol=1e-5).all()
