"""Tables as a robot has touched them: a plane above or below the drawn one, and how well it is known."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.pose import Pose
from cellwright.crcl import messages
from cellwright.crcl.outcome import Outcome, OutcomeState
from cellwright.execution.arm import ArmClient, ArmFailed, tool_down
from cellwright.execution.settings import Recipe
from cellwright.execution.surface_heights import NEAR_M, FeltSurface, SurfaceHeights, drawn_surfaces

DONE = Outcome(OutcomeState.DONE, messages.InitCanon(0), "", None, 0.0)


def table(name="table", top_m=0.9, middle=(0.0, 0.0), size=(1.0, 0.6)):
    middle, half = np.array(middle), np.array(size) / 2
    return FeltSurface(name, top_m, middle - half, middle + half)


@given(st.floats(-0.008, 0.008), st.floats(-0.005, 0.005), st.floats(-0.005, 0.005))
def test_three_touches_tell_height_and_tilt_of_a_table(middle_m, along_x, along_y):
    found = table()
    for x, y in ((-0.3, -0.2), (0.3, -0.2), (0.0, 0.25)):
        found.note(np.array([x, y]), middle_m + along_x * x + along_y * y)
    for x, y in ((0.2, 0.1), (-0.2, 0.2)):
        assert found.above_m(np.array([x, y])) == pytest.approx(middle_m + along_x * x + along_y * y, abs=3e-4)
    assert found.sd_m(np.array([0.0, 0.0])) < 0.0005


def test_one_touch_is_known_well_where_it_was_and_worse_farther_off():
    found = table()
    assert found.above_m(np.array([0.1, 0.1])) == 0.0
    found.note(np.array([0.1, 0.1]), 0.005)
    assert found.above_m(np.array([0.1, 0.1])) == pytest.approx(0.005, abs=2e-5)
    assert found.above_m(np.array([0.3, 0.1])) == pytest.approx(0.005, abs=0.0015)
    assert found.sd_m(np.array([0.1, 0.1])) < 0.0004 < 0.001 < found.sd_m(np.array([0.4, 0.1]))
    assert found.is_touched(np.array([0.1 + NEAR_M / 2, 0.1]))
    assert not found.is_touched(np.array([0.1 + 2 * NEAR_M, 0.1]))


@pytest.mark.parametrize(
    ("above_m", "words"), [(0.0021, "2.1 mm higher than drawn"), (-0.004, "4.0 mm lower"), (0.0004, "as high as drawn")]
)
def test_what_was_felt_is_said_with_how_well_it_is_known(above_m, words):
    found = SurfaceHeights([table("fanuc_cart"), table("other", middle=(3.0, 0.0))])
    assert found.texts() == []
    found.at(np.array([0.0, 0.0])).note(np.array([0.0, 0.0]), above_m)
    (text,) = found.texts()
    assert text.startswith("fanuc_cart is")
    assert words in text
    assert "known to 0.3 mm" in text


def test_a_box_is_taken_for_itself_and_what_is_beside_all_tables_is_as_drawn():
    box = table("box", 0.904, (0.2, 0.0), (0.2, 0.2))
    heights = SurfaceHeights([table(), box])
    assert heights.at(np.array([0.2, 0.05, 1.0])).name == "box"
    assert heights.at(np.array([-0.2, 0.05, 1.0])).name == "table"
    assert heights.at(np.array([2.0, 0.0, 1.0])) is None
    heights.at(np.array([-0.2, 0.0])).note(np.array([-0.2, 0.0]), 0.004)
    assert heights.above_m(np.array([0.2, 0.05])) == pytest.approx(0.004, abs=0.002)  # it stands on that table
    assert heights.above_m(np.array([2.0, 0.0])) == 0.0


def test_tables_and_boxes_are_known_from_the_drawings(still):
    surfaces = {surface.name: surface for surface in drawn_surfaces(still().belief.state)}
    assert surfaces.keys() == {"fanuc_cart", "shared_table"}
    assert surfaces["fanuc_cart"].top_m == pytest.approx(0.916)
    assert surfaces["fanuc_cart"].covers(np.array([0.16, -1.0]))
    assert not surfaces["fanuc_cart"].covers(np.array([0.0, -0.63]))


@given(st.floats(-0.01, 0.01), st.floats(-0.4, 0.4))
def test_what_a_robot_is_told_and_what_it_reports_differ_by_the_height_of_the_table(above_m, x):
    arm = ArmClient("fanuc", None, Pose.identity(), Recipe())
    heights = SurfaceHeights([table()])
    heights.at(np.zeros(2)).note(np.zeros(2), above_m)
    arm.above_m = heights.above_m
    pose = tool_down(np.array([x, 0.1, 1.0]), 0.3)
    told = arm._lifted(pose, 1.0)
    assert told.position[2] - 1.0 == pytest.approx(heights.above_m(pose.position), abs=1e-12)
    assert arm._lifted(told, -1.0).distance_m(pose) < 1e-12


@pytest.mark.parametrize("way", ["move", "press", "step"])
def test_all_motions_of_an_arm_go_higher_where_the_table_is_higher(way):
    sent = []

    class Client:
        async def execute(self, command, **_):
            sent.append(command)
            return Outcome(OutcomeState.ERROR, command, "", None, 0.0) if hasattr(command, "end_position") else DONE

    arm = ArmClient("fanuc", Client(), Pose.identity(), Recipe(), force_sensor="wrist")
    arm.above_m = lambda _point: 0.006
    pose = tool_down(np.array([0.1, 0.2, 1.0]))
    arguments = {"move": (0.1,), "press": (0.1, 6.0), "step": (0.1, 6.0)}[way]
    with pytest.raises(ArmFailed):
        asyncio.run(getattr(arm, way)(pose, *arguments))
    assert sent[-1].end_position.point.z == pytest.approx(1.006)
