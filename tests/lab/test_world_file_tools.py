"""The world on disk with tools that robots change, and with mobile robots: what was locked stays locked."""

import json

import numpy as np
import pytest

from cellwright.cells import Cell
from cellwright.core.errors import BadInput
from cellwright.lab import Lab
from cellwright.lab.world_file import WorldFile, WorldState

CELL = {
    "name": "bench",
    "title": "One arm, two tools",
    "robots": {
        "arm": {
            "model": "lr_mate_200id",
            "base": {"xyz_m": [0, 0, 0]},
            "changer": "tool_changer",
            "home_deg": [0, 0, 0, 0, -90, 0],
        }
    },
    "fixtures": {
        "floor": {"model": "floor", "pose": {"xyz_m": [0, 0, 0]}},
        "holder": {"model": "tool_holder", "pose": {"xyz_m": [0.45, 0.3, 0]}},
    },
    "tools": {
        "pincher": {"model": "pincher", "holder": "holder"},
        "cup": {"model": "small_vacuum", "robot": "arm"},
    },
}


@pytest.mark.parametrize("dropped", [False, True])
def test_what_is_locked_is_remembered(tmp_path, dropped):
    path, cell = tmp_path / "run.world", Cell.model_validate(CELL)
    with Lab(cell, seed=1) as lab:
        file = WorldFile(path, lab, dict)
        if dropped:
            lab.perform(lab.robots["arm"].tool_changer.open())
        else:
            lab.world.data.ctrl[lab.world.vacuums["cup"].power] = 1.0
        lab.advance(1.0)
        file.write()
        before = lab.world.data.xpos[lab.world.loose_tools["cup"].body].copy()
    assert set(json.loads(path.read_text())["tools"]) == {"pincher", "cup"}
    with Lab(cell, seed=1) as lab:
        WorldState.read(path).restore(lab)
        arm = lab.robots["arm"]
        assert arm.tool_changer.tool == (None if dropped else "cup")
        lab.advance(0.5)
        assert np.abs(lab.world.data.xpos[lab.world.loose_tools["cup"].body] - before).max() < 1e-3
        assert dropped or arm.vacuum.powered


def test_mobile_robots_stand_where_they_stood_and_believe_what_they_believed(tmp_path):
    path = tmp_path / "run.world"
    with Lab.from_cell("epucks", seed=3) as lab:
        file = WorldFile(path, lab, dict)
        robot = lab.mobile("ePuck2")
        robot.set_led(4)
        robot.drive(4, 5)
        lab.advance(2.02)
        file.write()
        pose, steps, believed = lab.world.pose_of("ePuck2"), robot.steps, robot.odometry
    with Lab.from_cell("epucks", seed=3) as lab:
        WorldState.read(path).restore(lab)
        robot = lab.mobile("ePuck2")
        lab.advance(1.0)
        assert lab.world.pose_of("ePuck2").is_close(
            pose, tolerance_m=1e-4, tolerance_rad=4e-3
        )  # it leant on bumps while it drove
        assert np.abs(np.subtract(robot.steps, steps)).max() <= 2  # counters begin where the wheels are
        found = robot.odometry
        assert (found.x_m, found.y_m) == pytest.approx((believed.x_m, believed.y_m), abs=2e-4)
        assert [number for number, lit in enumerate(robot.leds) if lit] == [4]
    with pytest.raises(BadInput, match="not that of"), Lab.from_cell("epucks@one", seed=3) as lab:
        WorldState.read(path).restore(lab)
