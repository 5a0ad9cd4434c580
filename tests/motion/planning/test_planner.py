"""Planning as a whole: every status with its reason, verified paths, repeatability."""

from dataclasses import replace

import numpy as np
import pytest

from cellwright.catalogue import PARTS, ROBOTS, TOOLS
from cellwright.core.pose import Pose
from cellwright.motion.planning import (
    MOTION_PLANNERS,
    AttachedObject,
    Box,
    CatalogueModel,
    ExactChecker,
    JointBounds,
    MotionPlanner,
    MotionPlanRequest,
    MotionPlanStatus,
    Obstacle,
    Scene,
    SceneRobot,
    grasps_about,
)
from cellwright.motion.planning.checker import between

pytest.importorskip("numba", reason="not installed: pip install 'cellwright[motion]'")


def check_path(planner: MotionPlanner, result, start, goal) -> None:
    assert result.status is MotionPlanStatus.SUCCESS, result.reason
    assert result.path_rad[0] == pytest.approx(start)
    assert result.path_rad[-1] == pytest.approx(goal)
    states = between(result.path_rad, 0.01)
    fresh = ExactChecker(planner.scene)
    assert all(fresh.is_free(joints) for joints in states)
    assert (states >= planner.kinematics.lower_rad - 1e-9).all()
    assert (states <= planner.kinematics.upper_rad + 1e-9).all()
    assert result.verified >= len(result.path_rad)


def test_the_way_leads_over_the_wall(wall, sides):
    start, goal = sides
    assert not wall.exact.is_motion_free(start, goal, 0.02)
    result = wall.plan(MotionPlanRequest(start, [goal]))
    check_path(wall, result, start, goal)
    assert result.iterations >= 1
    assert result.checks > 10
    assert np.linalg.norm(goal - start) < length_rad(result) < 15


def test_a_free_line_is_taken_at_once(wall, sides):
    near = sides[0] + [0.1, -0.1, 0, 0, 0, 0]
    result = wall.plan(MotionPlanRequest(sides[0], [near]))
    check_path(wall, result, sides[0], near)
    assert result.iterations == 1
    assert length_rad(result) == pytest.approx(np.linalg.norm(near - sides[0]))


def test_where_it_stands_it_need_not_move(wall, sides):
    result = wall.plan(MotionPlanRequest(sides[0], [sides[0]]))
    assert result.is_success
    assert length_rad(result) == 0


def test_any_of_several_goals_will_do(wall, sides):
    inside_the_wall = wall.kinematics.nearest(
        wall.ring.flange_for_tool(Pose.from_xyz_rpy([0.45, 0, 0.2], [np.pi, 0, 0])), sides[0]
    )
    near = sides[0] + [0.2, 0, 0, 0, 0, 0]
    result = wall.plan(MotionPlanRequest(sides[0], [inside_the_wall, sides[1], near]))
    check_path(wall, result, sides[0], near)


def test_the_same_seed_gives_the_same_path_and_another_another(wall, sides):
    requests = [MotionPlanRequest(sides[0], [sides[1]], seed=seed) for seed in (3, 3, 4)]
    first, second, third = (wall.plan(request) for request in requests)
    assert np.array_equal(first.path_rad, second.path_rad)
    assert (first.iterations, first.checks, first.verified) == (second.iterations, second.checks, second.verified)
    assert not np.array_equal(first.path_rad, third.path_rad)
    again = MotionPlanner(wall.scene).plan(requests[0])
    assert np.array_equal(first.path_rad, again.path_rad)


def test_shortcuts_make_it_shorter(wall, sides):
    rough = wall.plan(MotionPlanRequest(sides[0], [sides[1]], shortcuts=0))
    smooth = wall.plan(MotionPlanRequest(sides[0], [sides[1]], shortcuts=200))
    assert length_rad(smooth) < length_rad(rough)


def test_a_start_in_collision_names_the_pair(wall, sides):
    low = wall.kinematics.nearest(
        wall.ring.flange_for_tool(Pose.from_xyz_rpy([0.45, 0.3, -0.01], [np.pi, 0, 0])), sides[0]
    )
    result = wall.plan(MotionPlanRequest(low, [sides[1]]))
    assert result.status is MotionPlanStatus.START_IN_COLLISION
    assert result.reason == "at the start tool touches table"
    assert result.path_rad.size == 0
    assert not result.is_success


def test_a_goal_in_collision_names_the_pair(wall, sides):
    pose = Pose.from_xyz_rpy([0.45, 0.0, 0.2], [np.pi, 0, 0])
    goal = wall.kinematics.nearest(wall.ring.flange_for_tool(pose), sides[0])
    result = wall.plan(MotionPlanRequest(sides[0], [goal]))
    assert result.status is MotionPlanStatus.GOAL_IN_COLLISION
    assert result.reason.startswith("at the goal ")
    assert result.reason.endswith(" touches wall")
    result = wall.plan(MotionPlanRequest(sides[0], goal_poses=[pose]))
    assert result.status is MotionPlanStatus.GOAL_IN_COLLISION
    assert ", nor will any of the other" in result.reason


def test_a_goal_out_of_reach_has_no_ik(wall, sides):
    result = wall.plan(MotionPlanRequest(sides[0], goal_poses=[Pose.from_xyz_rpy([2.0, 0, 0.5])]))
    assert result.status is MotionPlanStatus.NO_IK
    assert "ur5 cannot reach" in result.reason
    assert "out of reach" in result.reason


def test_a_room_without_a_door_spends_the_budget(wall, sides):
    high = Obstacle("high", Box((0.6, 0.04, 2.4)), Pose.from_xyz_rpy([0.5, 0.0, 0.5]))
    planner = MotionPlanner(wall.scene.without("wall").with_obstacles([high]))
    low, top = np.minimum(*sides) - 0.5, np.maximum(*sides) + 0.5
    request = MotionPlanRequest(sides[0], [sides[1]], iterations=300, limits=JointBounds(tuple(low), tuple(top)))
    result = planner.plan(request)
    assert result.status is MotionPlanStatus.BUDGET_SPENT
    assert result.iterations == 300
    assert result.reason == f"no path within 300 iterations and {result.checks} checks"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"goals_rad": ()}, "needs goals"),
        ({"start_rad": [0.0] * 5}, "ur5 has 6 joints and needs 6 finite angles"),
        ({"goals_rad": [[np.nan] * 6]}, "needs 6 finite angles"),
        ({"planner": "rrt_conect"}, "unknown motion planner 'rrt_conect'; did you mean 'rrt_connect'?"),
        ({"checker": "quick"}, "unknown checker 'quick'"),
        ({"checker": "exact"}, "planner 'rrt_connect' works with the compiled checker only"),
        ({"iterations": 0}, "iterations is 0, allowed 1 to"),
        ({"margin_m": -0.1}, "margin is -0.1"),
        ({"seed": -1}, "seed is -1"),
        ({"limits": JointBounds((-1.0,) * 6, (-2.0,) * 6)}, "the limits leave no angle for joint_1"),
        ({"start_rad": [0.0, -1.57, 1.57, -1.57, -1.57, 7.0]}, "the start is not allowed: joint_6 is at 401.07 deg"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(wall, sides, change, reason):
    result = wall.plan(replace(MotionPlanRequest(sides[0], [sides[1]]), **change))
    assert result.status is MotionPlanStatus.INVALID_REQUEST
    assert reason in result.reason
    assert "\n" not in result.reason


def test_joint_limits_of_a_request_are_kept(wall, sides):
    start, goal = sides
    low, high = np.minimum(start, goal) - 0.9, np.maximum(start, goal) + 0.9
    result = wall.plan(MotionPlanRequest(start, [goal], limits=JointBounds(tuple(low), tuple(high))))
    check_path(wall, result, start, goal)
    assert (result.path_rad >= low - 1e-9).all()
    assert (result.path_rad <= high + 1e-9).all()
    shut = JointBounds((goal[0] + 0.1, *low[1:]), tuple(high))
    refused = wall.plan(MotionPlanRequest(start, [goal], limits=shut))
    assert refused.status is MotionPlanStatus.INVALID_REQUEST
    assert f"the goal is not allowed: joint_1 is at {np.degrees(goal[0]):.2f} deg" in refused.reason


def test_a_margin_is_kept_on_the_way_but_not_by_the_shoulder(post, post_ends):
    """The shoulder is always that near to the table."""
    ends = post_ends(0.2)
    wide = ExactChecker(post.scene, margin_m=0.05)
    shoulder = {(touch.first, touch.second) for joints in ends for touch in wide.touches(joints)}
    assert shoulder == {("link_1", "table"), ("link_2", "table")}
    beyond = []
    for margin_m in (0.05, 0.0):
        result = post.plan(MotionPlanRequest(ends[0], [ends[1]], margin_m=margin_m))
        check_path(post, result, *ends)
        states = between(result.path_rad, 0.02)
        near = {(touch.first, touch.second) for joints in states for touch in wide.touches(joints)}
        beyond.append(near - shoulder)
    assert beyond[0] == set()
    assert beyond[1] != set()


def test_spheres_do_not_keep_it_from_tight_places(post, post_ends):
    """Two millimetres above the table spheres touch it; the exact checker leads out, and in again."""
    above_m = -0.01 + (0.1696 - 0.1507) + 0.002  # table, from the tool's centre point to its tips, gap
    low = post_ends(above_m)
    for joints in low:
        assert post.exact.is_free(joints), post.exact.touch(joints)
        assert not post.compiled.is_free(joints)
    check_path(post, post.plan(MotionPlanRequest(low[0], [low[1]])), *low)


def test_a_held_thing_is_carried_over_with_room_for_it(wall, sides):
    held = AttachedObject("bar", Box((0.03, 0.03, 0.15)), Pose.from_xyz_rpy([0, 0, 0.05]))
    laden = MotionPlanner(wall.scene.holding(held))
    check_path(laden, laden.plan(MotionPlanRequest(sides[0], [sides[1]])), *sides)
    longer = AttachedObject("bar", Box((0.03, 0.03, 0.40)), Pose.from_xyz_rpy([0, 0, 0.05]))
    refused = MotionPlanner(wall.scene.holding(longer)).plan(MotionPlanRequest(sides[0], [sides[1]]))
    assert (refused.status, refused.reason) == (MotionPlanStatus.START_IN_COLLISION, "at the start bar touches table")


def test_a_bottle_is_reached_by_a_turned_grasp_and_left_again():
    """ROVI's scene: a locked grasp of the third bottle is blocked by the crate, a turned one is not."""
    robot = SceneRobot(ROBOTS.get("ur5"), Pose.from_xyz_rpy([0.4, 0.55, 0.74]), TOOLS.get("wsg_50"))
    pose_bottle = Pose.from_xyz_rpy([0.65, 1.05, 0.75])
    scene = Scene(
        robot,
        (
            Obstacle("table", Box((0.8, 1.2, 0.02)), Pose.from_xyz_rpy([0.4, 0.6, 0.73])),
            Obstacle("pick area", Box((0.8, 0.2982, 0.01)), Pose.from_xyz_rpy([0.4, 1.0509, 0.745])),
            Obstacle(
                "crate", CatalogueModel(PARTS.get("crate")), Pose.from_xyz_rpy([0.642, 0.6763, 0.7399], [0, 0, 0.03])
            ),
            Obstacle("bottle", CatalogueModel(PARTS.get("bottle")), pose_bottle),
        ),
    )
    planner = MotionPlanner(scene)
    grasp = Pose.from_matrix([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0.1], [0, 0, 0, 1]])
    home = robot.arm.home_rad
    locked = planner.plan(MotionPlanRequest(home, goal_poses=[pose_bottle @ grasp]))
    assert locked.status is MotionPlanStatus.GOAL_IN_COLLISION
    turned = planner.plan(MotionPlanRequest(home, goal_poses=grasps_about(pose_bottle, grasp, 16)))
    check_path(planner, turned, home, turned.path_rad[-1])
    back = planner.plan(MotionPlanRequest(turned.path_rad[-1], [home]))
    check_path(planner, back, turned.path_rad[-1], home)


@pytest.mark.parametrize(("arm", "tool"), [("lr_mate_200id", "aprs_fanuc_gripper"), ("sia20f", "aprs_motoman_gripper")])
def test_every_arm_finds_its_way(arm, tool):
    robot = SceneRobot(ROBOTS.get(arm), Pose.from_xyz_rpy([0.2, 0.1, 0.3], [0, 0, 0.5]), TOOLS.get(tool))
    random = np.random.default_rng(5)
    boxes = []
    for number, turn in enumerate(np.arange(5) * 2 * np.pi / 5):
        place = [0.2 + 0.65 * np.cos(turn), 0.1 + 0.65 * np.sin(turn), random.uniform(0.3, 1.2)]
        boxes.append(Obstacle(f"box {number}", Box((0.2, 0.2, 0.4)), Pose.from_xyz_rpy(place, [0, 0, turn])))
    planner = MotionPlanner(Scene(robot, tuple(boxes)))
    low, high = planner.kinematics.lower_rad, planner.kinematics.upper_rad
    states = [q for q in random.uniform(low, high, (300, len(low))) if planner.exact.is_free(q)]
    blocked = [
        ends for ends in zip(states[::2], states[1::2], strict=False) if not planner.exact.is_motion_free(*ends, 0.05)
    ]
    assert len(blocked) > 10
    for start, goal in blocked[:10]:
        check_path(planner, planner.plan(MotionPlanRequest(start, [goal])), start, goal)


def test_every_planner_has_a_name():
    assert "rrt_connect" in MOTION_PLANNERS
    assert {"ompl:RRT", "ompl:RRTConnect", "ompl:RRTstar"} <= set(MOTION_PLANNERS)


def test_a_result_is_plain_data(wall, sides):
    data = wall.plan(MotionPlanRequest(sides[0], [sides[1]])).as_dict()
    assert data["status"] == "success"
    assert len(data["path_rad"][0]) == 6


def length_rad(result):
    return float(np.linalg.norm(np.diff(result.path_rad, axis=0), axis=1).sum())
