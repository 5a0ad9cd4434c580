"""What one observation changes in the tree, and what it does not."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.knowledge import TransformTree, TreeNode

NUMBERS = st.floats(-2.0, 2.0)
POSES = st.builds(Pose.from_xyz_rpy, st.tuples(NUMBERS, NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS, NUMBERS))
CELL = {"cell": None, "table": "cell", "tray": "table", "gear_1": "tray", "gear_2": "tray", "robot": "cell"}


def make_tree(poses):
    return TransformTree({n: TreeNode(r, p) for (n, r), p in zip(CELL.items(), poses, strict=True)})


def observe(tree, poses_in_world, time_s):
    rows = tree.indices(list(poses_in_world))
    changed = tree.observe(rows, np.array([p.matrix for p in poses_in_world.values()]).reshape(-1, 4, 4), time_s)
    return {tree.names[i] for i in changed}


def still_consistent(tree):
    again = TransformTree(tree.links())
    return np.allclose(again.in_world, tree.in_world, rtol=0, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.lists(POSES, min_size=6, max_size=6), st.lists(POSES, min_size=3, max_size=3))
def test_relative_pose_is_the_old_one_times_the_change(poses, seen):
    tree = make_tree(poses)
    local, world = Pose.from_matrix(tree.in_reference[tree.index["gear_1"]]), tree.pose_in("gear_1", "cell")
    before_cell = tree.pose_in("cell", "cell")
    observe(tree, {"gear_1": poses[0] @ seen[0]}, 1.0)
    expected = local @ (poses[0] @ world).inverse() @ (poses[0] @ seen[0])  # L G^-1 G'
    assert Pose.from_matrix(tree.in_reference[tree.index["gear_1"]]).is_close(
        expected, tolerance_m=1e-8, tolerance_rad=1e-7
    )
    assert before_cell.is_close(Pose.identity())


@settings(max_examples=20, deadline=None)
@given(st.lists(POSES, min_size=6, max_size=6), POSES)
def test_shifted_tray_gives_the_same_tree_in_any_order(poses, shift):
    start = make_tree(poses)
    names = ["table", "tray", "gear_1"]  # gear_2 is not seen: it rides along
    seen = {n: Pose.from_matrix(shift.matrix @ start.in_world[start.index[n]]) for n in names}
    whole = start.copy()
    observe(whole, seen, 1.0)
    for order in itertools.permutations(names):
        tree = start.copy()
        for name in order:
            observe(tree, {name: seen[name]}, 1.0)
        assert np.allclose(tree.in_reference, whole.in_reference, rtol=0, atol=1e-9), order
        assert np.allclose(tree.in_world, whole.in_world, rtol=0, atol=1e-9), order
        assert still_consistent(tree)
    for name in ("gear_1", "gear_2"):  # shifted as a whole, they lie in the tray as before
        row = start.index[name]
        assert np.allclose(whole.in_reference[row], start.in_reference[row], rtol=0, atol=1e-9)


def test_what_was_not_seen_rides_along_and_is_not_written():
    tree = make_tree([Pose.identity()] * 6)
    assert observe(tree, {"tray": Pose.from_xyz_rpy((1.0, 0.0, 0.0))}, 1.0) == {"tray"}
    assert tree.pose_in("gear_2", "cell").position.tolist() == [1.0, 0.0, 0.0]
    assert tree.pose_in("gear_2", "tray").is_close(Pose.identity())


def test_what_was_seen_before_the_tray_moved_rides_along():
    tree = make_tree([Pose.identity()] * 6)
    observe(tree, {"gear_1": Pose.from_xyz_rpy((0.1, 0.0, 0.0))}, 1.0)
    observe(tree, {"tray": Pose.from_xyz_rpy((1.0, 0.0, 0.0))}, 2.0)
    assert np.allclose(tree.pose_in("gear_1", "cell").position, [1.1, 0.0, 0.0])


def test_late_observations_are_left_out():
    tree = make_tree([Pose.identity()] * 6)
    observe(tree, {"tray": Pose.from_xyz_rpy((1.0, 0.0, 0.0))}, 2.0)
    before = tree.in_reference.copy()
    for name in ("tray", "gear_1"):  # the object itself, or what it lies in, is known from a later time
        assert observe(tree, {name: Pose.from_xyz_rpy((5.0, 0.0, 0.0))}, 1.0) == set()
    assert np.array_equal(tree.in_reference, before)


def test_circle_is_refused():
    links = {
        "a": TreeNode("b", Pose.identity()),
        "b": TreeNode("c", Pose.identity()),
        "c": TreeNode("a", Pose.identity()),
    }
    with pytest.raises(BadInput, match="in a circle: a in b in c in a"):
        TransformTree(links)


def test_unknown_names_are_refused():
    with pytest.raises(UnknownName, match=r"reference of 'a'.*unknown object 'b'"):
        TransformTree({"a": TreeNode("b", Pose.identity())})
    with pytest.raises(UnknownName, match="did you mean 'tray'"):
        make_tree([Pose.identity()] * 6).pose_in("trai", "cell")


@pytest.mark.parametrize(
    ("shape", "number", "time_s"), [((1, 3, 4), 0.0, 1.0), ((1, 4, 4), np.nan, 1.0), ((1, 4, 4), 0.0, np.nan)]
)
def test_observation_that_is_no_pose_is_refused(shape, number, time_s):
    tree = make_tree([Pose.identity()] * 6)
    with pytest.raises(BadInput, match="1 x 4 x 4 finite numbers"):
        tree.observe(tree.indices(["tray"]), np.full(shape, number), time_s)
    assert np.array_equal(tree.in_world, make_tree([Pose.identity()] * 6).in_world)
