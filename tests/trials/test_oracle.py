"""The oracle with the cell's own arms and cameras: what they reach, and what they see."""

import numpy as np
import pytest

from cellwright.cells import Cell, load_cell
from cellwright.core.pose import Pose
from cellwright.judge import judge_recoverable
from cellwright.lab import Lab
from cellwright.orders import DESIGNS
from cellwright.sim.sight_points import surface_points
from cellwright.trials.oracle_reach import PointReach
from cellwright.trials.oracle_view import OracleView

WANTED = {"fanuc_kit_m2l1": DESIGNS.get("kit_m2l1")}
LARGE = [f"large_gear_{number}" for number in (1, 2, 3, 4)]


@pytest.fixture(scope="module")
def made():
    with Lab(load_cell("aprs"), seed=1) as lab:
        yield lab, lab.snapshot(), PointReach(lab), OracleView(lab)


@pytest.fixture
def lab(made):
    made[0].restore(made[1])
    return made[0]


def answer(made):
    lab, _, reach, view = made
    return judge_recoverable(lab.world, WANTED, reach, sees=view)


def leave_one(lab, pose, settle_s=1.0):
    """Takes all large gears away but one, which is let go somewhere."""
    for number, name in enumerate(LARGE[1:]):
        lab.world.place(name, Pose.from_xyz_rpy([1.0 + 0.12 * number, 1.5, 0.001]))
    lab.world.place(LARGE[0], pose)
    lab.advance(settle_s)


def test_everything_in_its_place_is_seen_and_reached(lab, made):
    assert answer(made).recoverable
    assert all(made[3](name) for name in lab.world.objects)


@pytest.mark.parametrize(
    ("xyz_m", "reason"),
    [
        ((-0.38, -1.25, 0.917), "no camera sees it"),  # behind the Fanuc, on its cart, beyond the picture
        ((0.9, 1.2, 0.001), "lies on the floor"),
    ],
)
def test_what_is_out_of_the_picture_or_of_reach_is_lost(lab, made, xyz_m, reason):
    leave_one(lab, Pose.from_xyz_rpy(xyz_m), 0.3)
    verdict = answer(made)
    assert not verdict.recoverable
    assert f"large_gear_1: {reason}" in verdict.reason
    blind = judge_recoverable(lab.world, WANTED, made[2])
    assert blind.recoverable is (reason == "no camera sees it"), "without cameras only reach counts"


def test_a_gear_under_an_arm_is_seen_for_arms_can_be_moved_and_one_under_a_tray_is_not(lab, made):
    view, world = made[3], lab.world
    tip = world.tcp_pose("fanuc").position
    world.place(LARGE[0], Pose.from_xyz_rpy([tip[0] - 0.1, tip[1], 1.1]))
    item = world.objects[LARGE[0]]
    points = world.pose_of(LARGE[0]).apply(surface_points(item.figures, 0))
    shares = [lab.sensor(name).sight.share(points, [item.body]) for name in ("detector_fanuc", "detector_motoman")]
    assert max(shares) < 0.3, "the arm is above it"
    assert view(LARGE[0])
    over = world.pose_of("fanuc_large_tray") @ Pose.from_xyz_rpy([0, 0, 0.06])
    world.place("fanuc_kit_s2l2", over)
    under = [name for name in LARGE if world.pose_of(name).distance_m(world.pose_of("fanuc_large_tray")) < 0.1]
    hidden = [name for name in under if not view(name)]
    assert hidden
    assert all(view(name, ["fanuc_kit_s2l2"]) for name in hidden)


def test_where_there_is_no_detector_everything_can_be_seen():
    floor = {"model": "floor", "pose": {"xyz_m": [0.0, 0.0, 0.0]}}
    tray = {"model": "kit_m2l1_tray", "pose": {"xyz_m": [0.0, 0.0, 0.0]}}
    cell = {"name": "mine", "title": "Blind", "settle_s": 0.0, "fixtures": {"floor": floor}, "trays": {"kit": tray}}
    with Lab(Cell.model_validate(cell)) as blind:
        assert OracleView(blind)("kit")


@pytest.mark.parametrize("lean_deg", [0, 35, 60])
def test_a_gear_that_leans_is_taken_when_the_arm_gets_its_hand_there_and_the_table_leaves_room(lab, made, lean_deg):
    """It is held up here, with its rim just above the cart, by nothing: only geometry is asked."""
    rise_m = 0.05 * np.sin(np.radians(lean_deg)) + 0.002
    pose = Pose.from_xyz_rpy([0.26, -1.12, 0.917 + rise_m], [0, np.radians(lean_deg), 0])
    leave_one(lab, pose, 0.0)
    assert answer(made).recoverable


@pytest.mark.parametrize(
    ("xyz_m", "tool", "reached"),
    [
        ((0.30, -1.14, 0.95), "", True),
        ((0.30, -1.14, 0.95), "no_tool", False),
        ((-0.05, -1.14, 0.95), "", False),  # too near to its base, as is the place above
        ((-0.15, -1.14, 1.20), "", True),
        ((-0.15, -1.14, 1.10), "", False),  # it gets to the approach, and not down
        ((0.65, -1.14, 0.95), "", False),
    ],
)
def test_a_point_is_reached_from_above_with_a_tool_that_there_is(made, xyz_m, tool, reached):
    assert made[2]("fanuc", np.array(xyz_m), tool) is reached


def test_an_inclined_tool_is_not_within_reach_where_the_wrist_would_be_in_the_table(made):
    reach, point = made[2], np.array([0.3, -1.12, 0.93])
    flat = Pose.from_xyz_rpy(point, [np.pi, 0.0, np.pi / 2]) @ Pose.from_xyz_rpy([0, 0, 0], [0, -np.pi / 2, 0])
    up = [Pose(flat.position + [0.0, 0.0, z], flat.quaternion) for z in (0.0, 0.2)]
    assert reach("fanuc", point)
    assert [reach("fanuc", pose.position, pose_tool_in_world=pose) for pose in up] == [False, True]
