"""The grasp trials: what they see, that they repeat, and the whole bench in its quick form."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from cellwright.bench import grasp as bench
from cellwright.bench.grasp_gear import try_gear
from cellwright.bench.grasp_monitor import GraspMonitor, GraspOutcome
from cellwright.cells import Cell
from cellwright.core.pose import Pose
from cellwright.lab import Lab

pytestmark = pytest.mark.slow

CELL = {
    "name": "small",
    "title": "One arm, two gears",
    "robots": {
        "arm": {
            "model": "lr_mate_200id",
            "base": {"xyz_m": [0, 0, 0]},
            "tool": "aprs_fanuc_gripper",
            "home_deg": [0, 0, 0, 0, -90, 0],
        }
    },
    "fixtures": {"floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}}},
    "trays": {"tray": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.45, 0.0, 0]}}},
    "parts": {
        "gear": {"model": "medium_gear", "slot": "tray/slot_1"},
        "other": {"model": "medium_gear", "slot": "tray/slot_4"},
    },
}


@pytest.fixture
def lab():
    with Lab(Cell.model_validate(CELL)) as opened:
        yield opened


def carry(lab, watch, on_the_way=lambda: None):
    """Takes the gear, lifts it, lets something happen, holds it a while, opens the hand."""
    arm = lab.robot("arm")
    gear = lab.world.object("gear").figures
    place = lab.world.pose_of("gear").apply([0, 0, gear.grasp_height_m])

    def above(height_m):
        return Pose.from_xyz_rpy(place + [0, 0, height_m], [np.pi, 0, 0])

    async def work():
        await arm.move_tool(above(0.05))
        await arm.move_tool(above(0.0), 0.3)
        await arm.gripper.close()
        watch.close()
        await arm.move_tool(above(0.05), 0.3)
        on_the_way()
        await lab.clock.sleep(0.3)
        watch.open()

    lab.perform(work())


def test_a_gear_that_is_held_has_no_problem_and_hardly_slips(lab):
    watch = GraspMonitor(lab, "arm", "gear")
    carry(lab, watch)
    assert watch.problem() == ""
    assert 0 <= watch.slip_m < 0.001
    assert watch.turn_rad < np.radians(1)


def test_a_gear_that_is_pulled_out_of_the_hand_is_lost(lab):
    watch = GraspMonitor(lab, "arm", "gear")
    world = lab.world

    def pull():
        world.data.xfrc_applied[world.object("gear").body, 2] = -30.0

    carry(lab, watch, pull)
    assert watch.problem().startswith("it was lost from the hand at")


def test_an_empty_hand_has_grasped_nothing(lab):
    watch = GraspMonitor(lab, "arm", "gear")
    assert watch.problem() == "it was never grasped"


def test_a_neighbour_that_is_knocked_is_noticed(lab):
    watch = GraspMonitor(lab, "arm", "gear")
    start = lab.world.pose_of("other")
    moved = Pose(start.position + [0.0, 0.0, 0.01], start.quaternion)
    carry(lab, watch, lambda: lab.world.place("other", moved))
    assert watch.problem() == ""  # it fell back into its slot
    beside = Pose(start.position + [0.2, 0.0, 0.0], start.quaternion)
    lab.world.place("other", beside)
    assert watch.problem() == "other was moved by 200.0 mm and 0.0 deg"


@pytest.mark.long
def test_a_trial_follows_from_seed_and_number_alone():
    first, again = try_gear(5, 1), try_gear(5, 1)
    assert first == again
    assert first.success
    assert first.seated
    assert 0 < first.slip_m < 0.005


@pytest.mark.long
def test_a_bottle_is_carried_and_stands():
    pytest.importorskip("numba", reason="collision-free planning is an extra")
    pytest.importorskip("toppra", reason="time-optimal paths are an extra")
    from cellwright.bench.grasp_bottle import PLACE_M, try_bottle

    outcome = try_bottle(0, 24)
    assert outcome.success, outcome.problem
    assert outcome.seated
    assert outcome.place_error_m <= PLACE_M
    assert 0 < outcome.slip_m < 0.01
    json.dumps(outcome.as_dict())  # it goes from process to process as JSON


def test_the_metrics_count_all_trials():
    good = [GraspOutcome("a", "", 0.001, 0.01, 0.0005, seated=True)] * 19
    never = GraspOutcome("b", "it was never grasped", float("nan"), float("nan"), float("nan"), seated=False)
    metrics = bench._metrics("gear", [*good, never])
    assert metrics["gear.n"] == 20
    assert metrics["gear.success"] == pytest.approx(0.95)
    assert metrics["gear.success_low"] == pytest.approx(0.7639, abs=1e-4)  # Wilson, 19 of 20
    assert metrics["gear.slip_mm_p95"] == pytest.approx(1.0)
    assert metrics["gear.place_mm_p95"] == pytest.approx(0.5)


@pytest.mark.long
def test_the_whole_bench_in_its_quick_form():
    command = [sys.executable, "-m", "cellwright", "bench", "grasp", "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ}, timeout=280)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    metrics = result["metrics"]
    for kind in ("gear", "bottle"):
        assert metrics[f"{kind}.n"] == bench.QUICK_TRIALS
        assert metrics[f"{kind}.success"] == 1.0
        assert 0 < metrics[f"{kind}.success_low"] < 1
        assert metrics[f"{kind}.slip_mm_p95"] >= 0
    assert metrics["gear.seated"] == 1.0
    assert 0 <= metrics["gear.seated"] <= 1
    assert result["targets"] == {"gear.success": {"min": 0.99}, "bottle.success": {"min": 0.99}}
    assert "2 trials: bottles" in done.stderr
