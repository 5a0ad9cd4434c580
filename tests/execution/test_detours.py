"""Robots over CRCL that go round a post, and round another arm that is parked in their way."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from cellwright.catalogue import FURNITURE, ROBOTS
from cellwright.cells import Cell, load_cell
from cellwright.cells.schema import FixtureCfg, PoseCfg
from cellwright.core.pose import Pose
from cellwright.crcl import CrclClient
from cellwright.drawings.prior import Drawings
from cellwright.execution import ExecutionSettings, way_finder
from cellwright.execution.arm import tool_down
from cellwright.execution.failure import StepFailed
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.robot_team import make_manipulators
from cellwright.interfaces import CrclInterface
from cellwright.judge.collision import CollisionMonitor
from cellwright.judge.kitting_contacts import allowed_kitting_contacts
from cellwright.lab import Lab

POST = replace(
    FURNITURE.get("pedestal"), name="test_post", size_m=(0.05, 0.05), top_m=1.12, leg_m=0.02, leg_inset_m=0.0
)
FROM, TO = tool_down(np.array([0.16, -1.0, 1.03])), tool_down(np.array([0.41, -1.0, 1.03]))
PARKED = Pose.from_xyz_rpy([0.26, -1.02, 1.08], [np.pi / 2, 0.0, 0.0])  # the Motoman's tool, pointing at the Fanuc


@pytest.fixture(autouse=True)
def post_in_library(monkeypatch):
    """The post is among the furniture for these tests alone."""
    monkeypatch.setattr(FURNITURE, "_entries", {**FURNITURE._entries, "test_post": POST})


def with_post() -> Cell:
    cell = load_cell("aprs")
    post = FixtureCfg.model_validate({"model": "test_post", "pose": {"xyz_m": [0.29, -1.0, 0.0]}})
    kit = cell.trays["fanuc_kit_m2l1"].model_copy(update={"pose": PoseCfg(xyz_m=(0.41, -1.0, 0.916))})
    trays = {**cell.trays, "fanuc_kit_m2l1": kit}
    return cell.model_copy(update={"fixtures": {**cell.fixtures, "post": post}, "trays": trays})


def with_motoman_parked() -> Cell:
    cell = load_cell("aprs")
    robot = cell.robots["motoman"]
    with Lab.from_cell(cell, 0) as lab:
        motoman = lab.robots["motoman"]
        joints = motoman.kinematics.nearest(motoman.ring.flange_for_tool(PARKED), np.radians(robot.home_deg))
    parked = robot.model_copy(update={"home_deg": tuple(np.degrees(joints).tolist())})
    return cell.model_copy(update={"robots": {**cell.robots, "motoman": parked}})


def moved(cell: Cell, belief) -> tuple[Manipulator, list, float]:
    """Has the Fanuc move from beside one tray to beside another; returns it, its hits and the time it took."""
    drawings = Drawings.of(cell)
    with Lab.from_cell(cell, 0) as lab:
        judge = CollisionMonitor(lab.world, lab.stepper, allowed_kitting_contacts(lab.world))

        async def work() -> tuple[Manipulator, float]:
            async with AsyncExitStack() as stack:
                crcl = CrclInterface(lab)
                clients = {
                    name: await stack.enter_async_context(CrclClient(partial(crcl.connect, name), peer=name))
                    for name in cell.robots
                }
                models = {name: ROBOTS.get(robot.model) for name, robot in cell.robots.items()}
                team = make_manipulators(
                    belief, clients, lab.clock, ExecutionSettings(), models, fixtures=drawings.fixtures
                )
                for robot in team.values():
                    robot.hand.reading = await robot.arm.prepare()
                fanuc = team["fanuc"]
                await fanuc.move_freely(FROM, 0.4)
                start_s = lab.clock.time_s
                await fanuc.move_freely(TO, 0.4)
                await fanuc.hand.read()
                return fanuc, lab.clock.time_s - start_s

        fanuc, took_s = lab.perform(work())
    return fanuc, judge.hits, took_s


@pytest.mark.slow
@pytest.mark.parametrize("make", [with_post, with_motoman_parked])
def test_an_arm_goes_round_what_is_in_its_way(still, make):
    pytest.importorskip("numba", reason="planning needs the extra 'motion'")
    fanuc, hits, _ = moved(make(), still().belief)
    assert hits == []
    assert np.allclose(fanuc.hand.reading.pose_tool_in_world.position, TO.position, atol=0.002)


def test_an_arm_takes_the_straight_way_when_it_is_free(still):
    fanuc, hits, took_s = moved(load_cell("aprs"), still().belief)
    assert hits == []
    assert np.allclose(fanuc.hand.reading.pose_tool_in_world.position, TO.position, atol=0.002)
    assert took_s < 1.5  # 0.2 m at 0.4 m/s
    assert not fanuc.detours.finder._checkers


def test_without_the_extra_an_arm_stops_before_the_post_and_says_which_extra_would_help(still, monkeypatch):
    monkeypatch.setattr(way_finder, "has_extra", lambda *_modules: False)
    with pytest.raises(StepFailed, match=r"fanuc is blocked: .*post; pip install 'cellwright\[motion\]' finds a way"):
        moved(with_post(), still().belief)
