"""An arm over CRCL: touching by the force at its wrist."""

import numpy as np
import pytest
from tests.execution.test_upright import manipulator_of

from cellwright.catalogue import TOOLS
from cellwright.cells import load_cell
from cellwright.cells.actual import ActualCfg
from cellwright.core.pose import Pose
from cellwright.execution.arm import ArmClient, tool_down
from cellwright.execution.failure import StepFailed
from cellwright.execution.settings import Recipe
from cellwright.lab import Lab

FREE_M = {"fanuc": (0.262, -1.30), "motoman": (-0.36, -0.60)}  # nothing stands on their tables there


@pytest.mark.parametrize("robot", ["fanuc", pytest.param("motoman", marks=pytest.mark.slow)])
def test_a_touch_tells_where_the_table_is_and_only_where_it_is(still, robot):
    exact = load_cell("aprs").model_copy(update={"actual": ActualCfg()})  # arm and tool as drawn
    with Lab(exact, 0) as lab:
        x, y = FREE_M[robot]
        table_m = 1.5 - lab.world.ray([x, y, 1.5], [0.0, 0.0, -1.0])

        async def touch():
            worker = await manipulator_of(lab, robot, still().belief)
            await worker.hand.close()
            tool = TOOLS.get((await worker.hand.read()).gripper)
            tips_m = tool.pad_offset_m + tool.pad_size_m[2] / 2
            down = [tool_down(np.array([x, y, table_m + tips_m + up_m])) for up_m in (0.05, 0.004, 0.002, -0.003)]
            await worker.go_above(down[0])
            await worker.arm.move(down[1], 0.1)
            nothing = await worker.arm.touch(down[2])
            met = await worker.arm.touch(down[3])
            stopped = (await worker.hand.read()).pose_tool_in_world
            await worker.rise()
            return nothing, met, stopped, tips_m

        nothing, met, stopped, tips_m = lab.perform(touch())
    assert nothing is None
    assert met.position[2] - tips_m == pytest.approx(table_m, abs=0.0001)
    assert stopped.distance_m(met) < 0.0005


def test_a_measured_tool_is_moved_and_read_where_it_is():
    base, offset = tool_down(np.array([0.1, 0.2, 0.3]), 0.4), Pose.from_xyz_rpy([0.002, -0.001, 0.0])
    drawn, measured = (ArmClient("fanuc", None, base, Recipe(), tool_offset=one) for one in (None, offset))
    wanted = tool_down(np.array([0.5, -0.1, 0.2]), 1.0)
    assert drawn._in_world(drawn._in_base(wanted)).is_close(wanted)
    assert measured._in_world(measured._in_base(wanted)).is_close(wanted)
    assert (base @ measured._in_base(wanted) @ offset).is_close(wanted)
    assert measured._in_base(wanted).distance_m(drawn._in_base(wanted)) == pytest.approx(np.hypot(0.002, 0.001))


def test_an_arm_without_a_sensor_cannot_touch():
    arm = ArmClient("fanuc", None, tool_down(np.zeros(3)), Recipe())
    with pytest.raises(StepFailed, match="no sensor at its wrist"):
        arm.touch(tool_down(np.zeros(3))).send(None)
