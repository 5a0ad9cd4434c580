"""Grasps against the geometry that they are made of, and against the physics' own collision check."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from cellwright.catalogue import PARTS, TOOLS, GripperFigures
from cellwright.core.errors import OutOfRange
from cellwright.core.pose import Pose
from cellwright.models import build
from cellwright.motion.grasps import GraspKind, find_grasps, tcp_in_part

FANUC, WSG = TOOLS.get("aprs_fanuc_gripper"), TOOLS.get("wsg_50")
PAIRS = [(part, tool) for part in PARTS for tool in TOOLS if isinstance(TOOLS.get(tool), GripperFigures)]


def open_hand_touches(part, tool, pose_tcp):
    """Whether the open gripper, its centre point at a pose in the part's frame, touches the part."""
    spec = mujoco.MjSpec()
    spec.worldbody.add_frame().attach_body(build(part).worldbody.first_body(), "part/", "")
    flange = pose_tcp @ Pose.from_xyz_rpy(tool.tcp_xyz_m).inverse()
    frame = spec.worldbody.add_frame(pos=flange.position, quat=flange.quaternion)
    hand = frame.attach_body(build(tool).body("tool"), "tool/", "")
    hand.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 0, 1])  # what is fixed is not checked against the fixed
    model = spec.compile()
    data = mujoco.MjData(model)
    for side in ("left", "right"):
        data.qpos[model.joint(f"tool/finger_{side}").qposadr[0]] = tool.open_m
    mujoco.mj_kinematics(model, data)
    mujoco.mj_collision(model, data)
    names = {model.body(model.geom_bodyid[g]).name for c in data.contact[: data.ncon] for g in c.geom}
    return "part/part" in names


@pytest.mark.parametrize(("part", "tool"), PAIRS)
def test_every_part_has_ranked_grasps_with_reasons(part, tool):
    grasps = find_grasps(PARTS.get(part), TOOLS.get(tool), impossible_too=True)
    assert {g.kind for g in grasps} == set(GraspKind)
    scores = [g.score for g in grasps]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= g.score <= 1 and g.reason for g in grasps)
    assert len(find_grasps(PARTS.get(part), TOOLS.get(tool))) == sum(g.possible for g in grasps)


@pytest.mark.parametrize(("part", "tool"), PAIRS)
def test_an_open_hand_touches_nothing_on_its_way_to_a_possible_grasp(part, tool):
    part, tool = PARTS.get(part), TOOLS.get(tool)
    for grasp in find_grasps(part, tool, turns=8):
        for pose in (grasp.pose_tcp, grasp.pose_approach.interpolate(grasp.pose_tcp, 0.5), grasp.pose_approach):
            assert not open_hand_touches(part, tool, pose), (grasp.kind, grasp.turn_rad, grasp.reason)


@pytest.mark.parametrize(
    ("part", "tool", "kind", "count", "width_m"),
    [
        ("medium_gear", FANUC, GraspKind.TOP, 12, 0.008),
        ("medium_gear", FANUC, GraspKind.SIDE, 0, None),  # the housing would be in the floor
        ("bottle", WSG, GraspKind.SIDE, 12, 0.080),
        ("bottle", FANUC, GraspKind.SIDE, 0, None),  # 80 mm between jaws that open 20
        ("cube", WSG, GraspKind.TOP, 4, 0.080),
        ("crate", WSG, GraspKind.TOP, 2, 0.004),  # only across its wall
        ("crate", WSG, GraspKind.SIDE, 0, None),
        ("mug", WSG, GraspKind.TOP, 10, 0.0946),  # two of twelve on the handle
    ],
)
def test_which_grasps_are_possible(part, tool, kind, count, width_m):
    found = [g for g in find_grasps(PARTS.get(part), tool) if g.kind is kind]
    assert len(found) == count
    assert all(g.width_m == pytest.approx(width_m, abs=1e-4) for g in found)


def test_the_bottle_leaves_eleven_millimetres_on_either_side():
    assert find_grasps(PARTS.get("bottle"), WSG)[0].clearance_m == pytest.approx(0.011)


def test_approach_and_retreat():
    side = next(g for g in find_grasps(PARTS.get("bottle"), WSG, approach_m=0.08, retreat_m=0.05) if g.turn_rad == 0)
    assert side.kind is GraspKind.SIDE
    np.testing.assert_allclose(side.pose_tcp.position, [0, 0, 0.1], atol=1e-12)
    np.testing.assert_allclose(side.pose_approach.position, [-0.08, 0, 0.1], atol=1e-12)  # it looks along +x
    np.testing.assert_allclose(side.pose_retreat.position, [0, 0, 0.15], atol=1e-12)


@pytest.mark.parametrize("kind", GraspKind)
def test_the_tool_turns_about_the_part_without_changing_height(kind):
    start, turned = (tcp_in_part(kind, turn, (0.0, 0.0, 0.1)) for turn in (0.0, 0.7))
    about_z = Pose.from_xyz_rpy((0, 0, 0), (0, 0, 0.7))
    assert (about_z @ start).is_close(turned)
    assert np.linalg.det(start.rotation_matrix) == pytest.approx(1)
    assert start.rotation_matrix[2, 0] == pytest.approx(0)  # jaws stay level


@pytest.mark.parametrize("bad", [{"turns": 0}, {"approach_m": float("nan")}, {"retreat_m": -1.0}])
def test_bad_numbers_are_refused(bad):
    with pytest.raises(OutOfRange):
        find_grasps(PARTS.get("bottle"), WSG, **bad)


@pytest.mark.parametrize("gear", ["small_gear", "medium_gear", "large_gear"])
@pytest.mark.parametrize("tool", ["robotiq_2f_85", "wsg_50"])
def test_long_pads_take_a_gear_by_its_peg_above_its_disc(gear, tool):
    part, figures = PARTS.get(gear), TOOLS.get(tool)
    best = find_grasps(part, figures)[0]
    tips_m = best.pose_tcp.position[2] - figures.pad_offset_m - figures.pad_size_m[2] / 2
    assert best.kind is GraspKind.TOP
    assert best.width_m == pytest.approx(part.grasp_width_m)
    assert tips_m == pytest.approx(part.disc_top_m + 0.004)  # 3 mm more than nothing: no camera measures heights


def test_fingers_stay_out_of_the_table():
    """A flat block is taken by the lower ends of the pads, 5 mm above what it lies on, or in its upper half."""
    cube = PARTS.get("cube")
    flat = replace(cube, size_m=(0.04, 0.04, 0.012))
    best = find_grasps(flat, WSG)[0]
    tips_m = best.pose_tcp.position[2] - WSG.pad_offset_m - WSG.pad_size_m[2] / 2
    assert tips_m - flat.bottom_m == pytest.approx(0.005)
    flatter = replace(cube, size_m=(0.04, 0.04, 0.006))
    tips_m = find_grasps(flatter, WSG)[0].pose_tcp.position[2] - WSG.pad_offset_m - WSG.pad_size_m[2] / 2
    assert tips_m - flatter.bottom_m == pytest.approx(0.003)
    sheet = find_grasps(replace(cube, size_m=(0.04, 0.04, 0.002)), WSG, impossible_too=True)
    assert {g.reason for g in sheet if g.kind is GraspKind.TOP} == {"only 1.0 mm of the pads would touch it"}
