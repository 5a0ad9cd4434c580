"""Ways round what is in the way: a post between two trays, another arm that is parked there; by drawings alone."""

import re
from dataclasses import replace
from itertools import pairwise
from time import process_time

import numpy as np
import pytest

from cellwright.catalogue import FURNITURE, PARTS, ROBOTS, TOOLS
from cellwright.cells import load_cell
from cellwright.core.pose import Pose
from cellwright.core.ring import KinematicRing
from cellwright.drawings.prior import Drawings
from cellwright.execution import way_finder
from cellwright.execution.arm_room import ArmPosture
from cellwright.execution.failure import StepFailed
from cellwright.execution.way_finder import WayFinder
from cellwright.motion.kinematics import ArmKinematics
from cellwright.motion.planning import (
    AttachedObject,
    Box,
    CatalogueModel,
    ExactChecker,
    Obstacle,
    Scene,
    SceneRobot,
)
from cellwright.motion.planning.checker import between

FANUC, GRIPPER = ROBOTS.get("lr_mate_200id"), "aprs_fanuc_gripper"
BASE = Pose.identity()
LEFT = Pose.from_xyz_rpy([0.45, 0.25, 0.15], [np.pi, 0.0, 0.0])
RIGHT = Pose.from_xyz_rpy([0.45, -0.25, 0.15], [np.pi, 0.0, 0.0])
SLENDER = replace(FURNITURE.get("pedestal"), name="post", size_m=(0.06, 0.06), top_m=0.45, leg_m=0.02, leg_inset_m=0.0)
POST = ("post", SLENDER, Pose.from_xyz_rpy([0.45, 0.0, 0.0]))
FLOOR = ("floor", FURNITURE.get("floor"), Pose.from_xyz_rpy([0.0, 0.0, 0.0]))
GEAR = AttachedObject("gear", CatalogueModel(PARTS.get("large_gear")), Pose.from_xyz_rpy([0, 0, 0.027], [np.pi, 0, 0]))


def joints_at(pose: Pose) -> np.ndarray:
    ring = KinematicRing(BASE, Pose.from_xyz_rpy(TOOLS.get(GRIPPER).tcp_xyz_m))
    return ArmKinematics(FANUC).nearest(ring.flange_for_tool(pose), np.radians([0, 0, 0, 0, -90, 0]))


def is_free(start: np.ndarray, corners: list[tuple[float, ...]], obstacles: list[Obstacle], held=None) -> bool:
    scene = Scene(SceneRobot(FANUC, BASE, TOOLS.get(GRIPPER)), tuple(obstacles), held)
    return ExactChecker(scene).first_blocked(between(np.array([start, *corners]), 0.01)) is None


def obstacle(name: str, figures, pose: Pose) -> Obstacle:
    return Obstacle(name, CatalogueModel(figures), pose)


@pytest.mark.parametrize("held", [None, GEAR], ids=["empty", "laden"])
def test_a_post_between_two_trays_is_gone_round(held):
    pytest.importorskip("numba", reason="planning needs the extra 'motion'")
    finder, start = WayFinder("fanuc", FANUC, BASE, [POST]), joints_at(LEFT)
    corners = finder.find(start, RIGHT, tool=GRIPPER, held=held)
    assert len(corners) >= 2
    assert is_free(start, corners, [obstacle(*POST)], held)
    assert not is_free(start, [tuple(joints_at(RIGHT))], [obstacle(*POST)], held)  # evenly turned joints would hit
    reached = (
        BASE @ ArmKinematics(FANUC).forward(np.array(corners[-1])) @ Pose.from_xyz_rpy(TOOLS.get(GRIPPER).tcp_xyz_m)
    )
    assert reached.distance_m(RIGHT) < 1e-6
    again = WayFinder("fanuc", FANUC, BASE, [POST]).find(start, RIGHT, tool=GRIPPER, held=held)
    assert again == corners  # the same request, the same way


def test_a_straight_way_beside_the_post_is_taken():
    finder, start = WayFinder("fanuc", FANUC, BASE, [POST, FLOOR]), joints_at(LEFT)
    beside = Pose.from_xyz_rpy([0.30, 0.35, 0.15], [np.pi, 0.0, 0.0])
    assert finder.find(start, beside, tool=GRIPPER, held=GEAR) == []
    assert finder.find(start, tuple(joints_at(beside)), tool=GRIPPER) == []


def test_what_blocks_the_straight_way_is_told_without_looking_for_another():
    finder, start = WayFinder("fanuc", FANUC, BASE, [POST]), joints_at(LEFT)
    assert re.fullmatch(
        "the straight way of fanuc is blocked: .* touches post", finder.blocked(start, RIGHT, tool=GRIPPER)
    )
    assert finder.blocked(start, Pose.from_xyz_rpy([0.30, 0.35, 0.15], [np.pi, 0.0, 0.0]), tool=GRIPPER) == ""


def test_what_is_believed_to_stand_there_is_gone_round_too():
    pytest.importorskip("numba", reason="planning needs the extra 'motion'")
    finder, start = WayFinder("fanuc", FANUC, BASE, [POST]), joints_at(LEFT)
    wall = Obstacle("stack", Box((0.2, 0.2, 0.1)), Pose.from_xyz_rpy([0.45, 0.0, 0.75]))
    asked = []

    def things() -> list[Obstacle]:
        asked.append(1)
        return [wall]

    corners = finder.find(start, RIGHT, tool=GRIPPER, things=things)
    assert asked == [1]
    assert is_free(start, corners, [obstacle(*POST), wall])


def test_another_arm_that_is_parked_in_the_way_is_gone_round():
    pytest.importorskip("numba", reason="planning needs the extra 'motion'")
    parked = ArmPosture("other", FANUC, Pose.from_xyz_rpy([0.95, 0.0, 0.0], [0, 0, np.pi]),
                        tuple(np.radians([0.0, 40.0, -10.0, 0.0, -80.0, 0.0])), GRIPPER)  # fmt: skip
    finder, start = WayFinder("fanuc", FANUC, BASE), joints_at(LEFT)
    corners = finder.find(start, RIGHT, tool=GRIPPER, others=[parked])
    arms = way_finder._obstacles(parked)
    assert corners
    assert is_free(start, corners, arms)
    away = ArmPosture(
        "other", FANUC, parked.pose_base_in_world, tuple(np.radians([120.0, -40, 30, 0, -90, 0])), GRIPPER
    )
    assert finder.find(start, RIGHT, tool=GRIPPER, others=[away]) == []


def test_without_the_extra_it_says_which_one_would_find_a_way(monkeypatch):
    monkeypatch.setattr(way_finder, "has_extra", lambda *_modules: False)
    finder = WayFinder("fanuc", FANUC, BASE, [POST])
    with pytest.raises(
        StepFailed,
        match=r"^the straight way of fanuc is blocked: .*post.*; pip install 'cellwright\[motion\]' finds a way round$",
    ):
        finder.find(joints_at(LEFT), RIGHT, tool=GRIPPER)


def test_where_there_is_no_way_it_says_so():
    pytest.importorskip("numba", reason="planning needs the extra 'motion'")
    cage = Obstacle("cage", Box((0.02, 3.0, 3.0)), Pose.from_xyz_rpy([0.45, 0.0, 0.0]))
    shut = Pose.from_xyz_rpy([0.60, 0.0, 0.3], [np.pi, 0.0, 0.0])
    start = joints_at(Pose.from_xyz_rpy([0.30, 0.25, 0.3], [np.pi, 0.0, 0.0]))
    finder = WayFinder("fanuc", FANUC, BASE, [POST])
    with pytest.raises(StepFailed, match=r"blocked: x; no way round was found: "):
        finder._plan(
            finder._scene(GRIPPER, None, (), [cage]), start, shut, None, "the straight way of fanuc is blocked: x", 0
        )


def test_free_ways_of_the_agility_laboratory_cost_next_to_nothing():
    """Between all trays, laden: nothing is near, and true shapes are never asked."""
    cell = load_cell("aprs")
    drawings = Drawings.of(cell)
    fixtures = [(n, FURNITURE.get(f.model), drawings.layout.fixtures[n]) for n, f in cell.fixtures.items()]
    postures = {
        n: ArmPosture(n, ROBOTS.get(r.model), drawings.layout.bases[n], tuple(np.radians(r.home_deg)), r.tool)
        for n, r in cell.robots.items()
    }
    took_s, moves = 0.0, 0
    for name, posture in postures.items():
        finder = WayFinder(name, posture.arm, posture.pose_base_in_world, fixtures)
        ring = KinematicRing(posture.pose_base_in_world, Pose.from_xyz_rpy(TOOLS.get(posture.tool).tcp_xyz_m))
        trays = [p.pose_in_world.position for n, p in drawings.layout.objects.items() if n.startswith(name)]
        goals = [Pose.from_xyz_rpy(p + [0.0, 0.0, 0.11], [np.pi, 0.0, 0.0]) for p in trays]
        others = [other for other in postures.values() if other is not posture]
        for first, second in pairwise(goals):
            start = ArmKinematics(posture.arm).nearest(ring.flange_for_tool(first), np.array(posture.joints_rad))
            begin_s = process_time()
            assert finder.find(start, second, tool=posture.tool, held=GEAR, others=others) == []
            took_s, moves = took_s + process_time() - begin_s, moves + 1
        assert not finder._checkers
    assert moves >= 6
    assert took_s / moves < 0.03  # seconds; a few milliseconds on an idle machine
