"""Gears taken by grippers that were not made for them: with long pads, high on the peg."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from cellwright.catalogue import tool_grasp_xyz_m
from cellwright.cells import Cell
from cellwright.core.pose import Pose
from cellwright.judge import judge_recoverable
from cellwright.lab import Lab
from cellwright.motion import LineSpeed
from cellwright.orders import DESIGNS
from cellwright.trials import TrialStatus

LINKAGE = Path(__file__).parents[1] / "models" / "importing" / "data" / "gripper.urdf"
CELL = {
    "name": "own",
    "title": "A UR5 and gears",
    "robots": {
        "ur": {
            "model": "ur5",
            "base": {"xyz_m": [-0.169, -1.14, 0.934]},
            "home_deg": [0, -100, 100, -90, -90, 0],
        }
    },
    "fixtures": {
        "floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}},
        "cart": {"model": "fanuc_cart", "pose": {"xyz_m": [0.04, -1.16, 0]}},
    },
    "trays": {
        "mediums": {"model": "medium_gear_tray", "pose": {"xyz_m": [0.16, -1.0, 0.916]}},
        "larges": {"model": "large_gear_tray", "pose": {"xyz_m": [0.16, -1.26, 0.916]}},
        "kit": {"model": "kit_m2l1_tray", "pose": {"xyz_m": [0.36, -1.0, 0.916]}},
    },
    "populations": [
        {"model": "medium_gear", "count": 4, "trays": ["mediums"]},
        {"model": "large_gear", "count": 2, "trays": ["larges"]},
    ],
    "sensors": [
        {
            "type": "logical_detector",
            "name": "eye",
            "rate_hz": 10,
            "noise": {"roll_deg": 0, "pitch_deg": 0},
        },
        {"type": "tool_status", "robot": "ur", "rate_hz": 25},
    ],
}


def cell_with(tool: str, fidelity: str = "physics") -> Cell:
    robot = {**CELL["robots"]["ur"], "tool": tool}
    return Cell.model_validate({**CELL, "robots": {"ur": robot}, "fidelity": fidelity})


@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
@pytest.mark.parametrize("tool", ["robotiq_2f_85", "wsg_50"])
def test_a_gear_is_lifted_by_its_peg_and_its_neighbours_stay(tool, fidelity):
    with Lab(cell_with(tool, fidelity)) as lab:
        robot, world = lab.robot("ur"), lab.world
        before = {name: world.pose_of(name) for name in world.objects}
        gear = world.objects["medium_gear_2"].figures
        point = before["medium_gear_2"].apply(tool_grasp_xyz_m(gear, world.robots["ur"].gripper.figures))
        grasp = Pose.from_xyz_rpy(point, [np.pi, 0, 0])
        above = Pose(grasp.position + [0, 0, 0.1], grasp.quaternion)

        async def work() -> float:
            await robot.gripper.open()
            await robot.move_tool(above)
            await robot.move_tool_straight(grasp, LineSpeed(0.12))
            width_m = await robot.gripper.close()
            await robot.move_tool_straight(above, LineSpeed(0.12))
            return width_m

        assert lab.perform(work()) == pytest.approx(0.008, abs=0.0015)
        assert robot.gripper.holding
        moved_m = {name: world.pose_of(name).distance_m(pose) for name, pose in before.items()}
        assert moved_m.pop("medium_gear_2") == pytest.approx(0.1, abs=0.003)
        assert max(moved_m.values()) < 0.001


def test_the_judge_asks_for_reach_where_the_tool_takes_a_gear_and_not_elsewhere():
    """Long pads take a gear higher than its own grasp point is: what the judge holds recoverable is reached there."""
    asked: list[float] = []

    def reaches(robot: str, point_in_world_m: np.ndarray, tool: str = "", **_: object) -> bool:
        asked.append(float(point_in_world_m[2]))
        return True

    with Lab(cell_with("robotiq_2f_85", "kinematic")) as lab:
        world = lab.world
        judge_recoverable(world, {"kit": DESIGNS.get("kit_m2l1")}, reaches)
        tool = world.robots["ur"].gripper.figures
        parts = {name: item.figures for name, item in world.objects.items() if not item.is_tray}
        taken = [world.pose_of(name).apply(tool_grasp_xyz_m(part, tool))[2] for name, part in parts.items()]
        own = [world.pose_of(name).apply(part.grasp_xyz_m)[2] for name, part in parts.items()]
    assert (min(asked), max(asked)) == pytest.approx((min(taken), max(taken)), abs=1e-4)
    assert max(own) < min(asked)


@pytest.mark.slow
@pytest.mark.usefixtures("own_models")
def test_a_whole_kit_is_built_with_a_gripper_from_a_file(tmp_path):
    """Which the robot calls by the cell's name for it, and the catalogue by another."""
    cell = CELL | {
        "models": {"hand": {"file": str(LINKAGE)}},
        "robots": {"ur": CELL["robots"]["ur"] | {"tool": "hand"}},
    }
    (tmp_path / "cell.yaml").write_text(yaml.safe_dump(cell))
    with Lab.from_cell(tmp_path / "cell.yaml", seed=3) as lab:
        report = lab.run("kit_m2l1")
    assert report.status is TrialStatus.DONE, report.reason
    assert report.hits == ()


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["robotiq_2f_85", "wsg_50"])
def test_a_whole_kit_is_built_with_them(tool):
    with Lab(cell_with(tool), seed=3) as lab:
        report = lab.run("kit_m2l1")
    assert report.status is TrialStatus.DONE, report.reason
    assert (report.score, report.hits) == (pytest.approx(1.0, abs=0.05), ())
