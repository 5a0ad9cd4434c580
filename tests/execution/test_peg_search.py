"""Gears that are not where they are seen: felt for round the place, and the report says how far they are missed."""

import numpy as np
import pytest
from tests.execution.test_height_touch import shifted, worker_of

from cellwright.execution.peg_search import MissedPeg, feel_peg
from cellwright.lab import Lab

GEAR = "medium_gear_1"


def test_a_finding_says_how_far_and_what_to_do():
    text = str(MissedPeg(GEAR, "detector_fanuc", "fanuc", (0.006, -0.008), 0.02))
    assert text.startswith("medium_gear_1 is felt about 10 mm (6, -8) from where detector_fanuc sees it")
    assert "cellwright calibrate" in text
    assert "not felt within 22 mm" in str(MissedPeg(GEAR, "eye", "fanuc", None, 0.0225))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("x_m", "y_m"), [(0.012, 0.0)] + [pytest.param(*row, marks=pytest.mark.slow) for row in ((0.0, -0.009), (0, 0))]
)
def test_a_gear_is_felt_as_far_off_as_it_is_seen_aside(still, x_m, y_m):
    cell = still()
    with Lab(shifted(exact=True), 0) as lab:
        true = lab.world.pose_of(GEAR).position
        drawn = cell.drawn[GEAR][:3, 3]
        cell.shift(GEAR, *(true - drawn)[:2] + [x_m, y_m])
        cell.show()
        cell.show()
        part = cell.belief.state.part(GEAR)
        assert part.position[0] - true[0] == pytest.approx(x_m, abs=1e-4)

        async def feel():
            return await feel_peg(await worker_of(lab, cell.belief), part, "eye")

        found = lab.perform(feel())
    if x_m == y_m == 0.0:
        assert found is None
    else:
        assert np.hypot(found.offset_m[0] + x_m, found.offset_m[1] + y_m) < 0.005


@pytest.mark.slow
def test_a_cell_whose_cameras_and_robots_do_not_agree_fails_and_the_report_says_by_how_much():
    with Lab(shifted(camera={"x_m": 0.013, "y_m": 0.004}), 1) as lab:
        report = lab.run("kit_m2l1", robots=["fanuc"], recovery="retry")
    assert not report.done
    assert "cellwright calibrate" in report.reason
    assert "shifted alike by" in report.reason
    assert "mm" in report.reason
