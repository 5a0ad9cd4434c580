"""`cellwright bench motion`, part by part in small, and once as a user calls it."""

import json
import os
import subprocess
import sys

import pytest

from cellwright.bench import BENCHES, MeasurementConditions
from cellwright.bench import motion as bench
from cellwright.core import extras
from cellwright.core.errors import MissingExtra

pytestmark = pytest.mark.slow

CONTROLLERS = ("pid", "computed_torque", "cartesian")
needs_extra = pytest.mark.skipif(
    not extras.has_extra("numba", "ompl"), reason="not installed: pip install 'cellwright[motion]'"
)


@needs_extra
def test_inverse_kinematics_has_all_its_figures_for_each_arm():
    from cellwright.bench.motion_kinematics import ARMS, measure

    said = []
    metrics = measure(repeats=1, seed=3, say=said.append)
    kinds = ("us", "many_us", "nearest_us", "uncompiled_us", "solutions")
    assert set(metrics) == {f"ik.{arm}_{kind}" for arm in ARMS for kind in kinds}
    assert all(value > 0 for value in metrics.values())
    assert all(metrics[f"ik.{arm}_us"] < metrics[f"ik.{arm}_uncompiled_us"] for arm in ARMS)
    assert len(said) == len(ARMS)


def test_a_wrong_configuration_is_no_measurement():
    from cellwright.bench import MeasurementFailed
    from cellwright.bench.motion_kinematics import _verify
    from cellwright.catalogue import ROBOTS
    from cellwright.motion import ArmKinematics

    arm = ArmKinematics(ROBOTS.get("ur5"))
    pose = arm.forward(arm.arm.home_rad)
    _verify(arm, [pose], [arm.inverse(pose)])
    for wrong in ([arm.inverse(pose)[0] + 1e-4], []):
        with pytest.raises(MeasurementFailed, match="the inverse kinematics of ur5"):
            _verify(arm, [pose], [wrong])


@needs_extra
def test_both_arms_move_under_a_controller_and_physics_alone_does_the_same():
    import numpy as np

    from cellwright.bench.motion_control import _patrol_once, _Plain, arms_alone, patrolled
    from cellwright.cells import load_cell

    cell = arms_alone(load_cell("aprs"))
    assert patrolled(cell, "computed_torque", 2, 0).shape == (2, 2)
    _, world, before, _ = _patrol_once(cell, "computed_torque", 1, 0, _Plain)
    for robot in world.robots.values():
        assert np.abs(world.data.qpos[robot.qpos] - before.qpos[robot.qpos]).max() > 0.2
    assert not world.objects


def test_without_the_extra_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"cellwright\[motion\]"):
        BENCHES.get("motion")(MeasurementConditions())


@needs_extra
@pytest.mark.long
def test_the_whole_bench_in_its_quick_form():
    command = [sys.executable, "-m", "cellwright", "bench", "motion", "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ}, timeout=280)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(bench.TARGETS) <= set(result["metrics"])
    assert set(result["targets"]) == set(bench.TARGETS)
    kinds = ("", "_physics", "_cell", "_cell_physics")
    assert {f"control.{name}{kind}_rtf" for name in CONTROLLERS for kind in kinds} <= set(result["metrics"])
    assert result["metrics"]["plan.success"] == 1
    assert "two arms under 'pid'" in done.stderr
