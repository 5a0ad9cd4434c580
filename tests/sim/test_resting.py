"""Where other parts than gears come to rest without forces."""

import pytest

from cellwright.cells import load_cell
from cellwright.core import Pose
from cellwright.sim import World
from cellwright.sim.resting import resting_pose


@pytest.fixture(scope="module")
def rovi():
    return World(load_cell("rovi").model_copy(update={"fidelity": "kinematic"}), seed=0)


@pytest.mark.parametrize(("x_m", "y_m", "height_m"), [(0.40, 1.05, 0.750), (0.70, 0.11, 0.750), (0.62, 0.35, 0.740)])
def test_a_bottle_stands_on_what_is_below_it(rovi, x_m, y_m, height_m):
    bottle = next(name for name in rovi.objects if "bottle" in name)
    rovi.place(bottle, Pose.from_xyz_rpy([x_m, y_m, 0.9], [0, 0, 0.3]))
    rest = resting_pose(rovi, bottle)
    assert rest.position[2] == pytest.approx(height_m, abs=1e-3)
    assert rest.position[:2] == pytest.approx([x_m, y_m])
