"""Parts that were set down are touched: those in their seats are told from those that only seem to be there."""

from importlib.resources import files

import numpy as np
import pytest
import yaml
from tests.execution.test_upright import manipulator_of, tilt_deg

from cellwright.catalogue import seated_pose
from cellwright.core.pose import Pose
from cellwright.execution.seat_touch import is_seat_height, rim_height_m, touch_height_m
from cellwright.execution.tray_group import is_seen_aside, part_in_group
from cellwright.lab import Lab

TRAYS = {"medium_gear_1": "fanuc_medium_tray", "large_gear_1": "fanuc_large_tray", "small_gear_1": "fanuc_small_tray"}


def touched(lab, belief, gear, off_m, hand_off_m=(0.003, -0.003)):
    """Lets a gear go aside from its slot and touches it; returns the felt height, and how it is by the truth."""
    tray = lab.world.object(TRAYS[gear]).figures
    figures = lab.world.object(gear).figures
    seat = lab.world.pose_of(TRAYS[gear]) @ seated_pose(tray, tray.slots[0], figures)
    if off_m is None:
        lab.world.place(gear, Pose.from_xyz_rpy([1.2, -1.4, 0.1]))
    else:
        lab.world.place(gear, Pose.from_xyz_rpy([0.0, off_m, off_m + 0.002]) @ seat)
    lab.advance(1.0)
    before = lab.world.pose_of(gear)

    async def touch():
        worker = await manipulator_of(lab, "fanuc", belief)
        return await touch_height_m(worker, figures, seat.position, seat.position[:2] + hand_off_m)

    height_m = lab.perform(touch())
    off = lab.world.pose_of(gear).position - seat.position
    is_seated = np.hypot(*off[:2]) < 0.001 and abs(off[2]) < 0.001 and tilt_deg(lab, gear) < 2.0
    return height_m, before, is_seated


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gear", "turned_deg", "least_m", "most_m"),
    [
        ("medium_gear_1", 0, 0.0, 0.0),
        ("medium_gear_1", 180, 0.001, 0.020),
        pytest.param("large_gear_1", 0, 0.0, 0.0, marks=pytest.mark.slow),
        pytest.param("large_gear_1", 180, 0.001, 0.020, marks=pytest.mark.slow),
        pytest.param("small_gear_1", 180, 0.001, 0.020, marks=pytest.mark.slow),
    ],
)
def test_beside_the_peg_a_seated_gear_is_not_met_and_one_on_its_head_is(still, gear, turned_deg, least_m, most_m):
    with Lab.from_cell("aprs", 0) as lab:
        tray, figures = lab.world.object(TRAYS[gear]).figures, lab.world.object(gear).figures
        seat = lab.world.pose_of(TRAYS[gear]) @ seated_pose(tray, tray.slots[0], figures)
        up_m = 0.038 if turned_deg else 0.002
        turned = Pose.from_xyz_rpy([0.0, 0.0, 0.0], np.radians([turned_deg, 0.0, 0.0]))
        lab.world.place(gear, Pose.from_xyz_rpy([0.0, 0.0, up_m]) @ seat @ turned)
        lab.advance(1.0)
        before = lab.world.pose_of(gear)

        async def touch():
            worker = await manipulator_of(lab, "fanuc", still().belief)
            return await rim_height_m(worker, figures, seat.position)

        assert least_m <= lab.perform(touch()) <= most_m
        assert least_m > 0.0 or lab.world.pose_of(gear).distance_m(before) < 0.0005


@pytest.mark.parametrize("gear", ["medium_gear_1", pytest.param("large_gear_1", marks=pytest.mark.slow)])
def test_a_seated_gear_is_felt_in_its_seat_and_stays_there(still, gear):
    with Lab.from_cell("aprs", 0) as lab:
        height_m, before, is_seated = touched(lab, still().belief, gear, 0.0)
        assert is_seated
        assert is_seat_height(height_m)
        assert lab.world.pose_of(gear).distance_m(before) < 0.0005


@pytest.mark.parametrize(
    ("gear", "off_m"),
    [("medium_gear_1", 0.012)]
    + [
        pytest.param(*row, marks=pytest.mark.slow)
        for row in (("large_gear_1", 0.009), ("large_gear_1", 0.016), ("small_gear_1", 0.014))
    ],
)
def test_a_gear_that_lies_askew_is_not_felt_in_its_seat_unless_it_was_pushed_in(still, gear, off_m):
    with Lab.from_cell("aprs", 0) as lab:
        height_m, before, is_seated = touched(lab, still().belief, gear, off_m)
        assert before.rotation_matrix[2, 2] < np.cos(np.radians(3.0))  # it was askew
        assert not is_seat_height(height_m) or is_seated


def test_what_is_not_there_is_not_felt(still):
    with Lab.from_cell("aprs", 0) as lab:
        height_m, _, _ = touched(lab, still().belief, "medium_gear_1", None)
        assert not is_seat_height(height_m)


def test_parts_that_are_usually_seen_beside_their_slots_are_where_the_tray_and_all_of_them_have_them(still):
    cell = still()
    believed, name = cell.belief.state, "medium_gear_1"
    assert not is_seen_aside(believed, {})
    assert part_in_group(believed, believed.part(name), {}) is believed.part(name)
    rng = np.random.default_rng(4)
    true = believed.part(name).position.copy()
    errors_m = []
    for part in believed.of_kind("Part"):
        off = rng.normal(0.0, 0.003, 2)
        errors_m.append(np.hypot(*off))
        pose = Pose.from_xyz_rpy([*off, 0.0]) @ believed.pose(part.name)
        cell.belief.note_placed(part.name, pose, 1.0, "fanuc", 0.0005)
    assert is_seen_aside(believed, {})
    found = part_in_group(believed, believed.part(name), {})
    assert np.hypot(*(found.position - true)[:2]) < 0.003 < max(errors_m)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3])
def test_a_kit_is_built_in_the_usual_number_of_actions_with_detectors_that_see_things_lastingly_aside(tmp_path, seed):
    path = tmp_path / "aside.yaml"
    cell = yaml.safe_load((files("cellwright.cells") / "aprs.yaml").read_text(encoding="utf-8"))
    for sensor in cell["sensors"]:
        if "camera" in sensor:
            sensor["bias_sd_m"] = 0.003
    path.write_text(yaml.safe_dump(cell), encoding="utf-8")
    with Lab.from_cell(path, seed) as lab:
        report = lab.run("kit_m2l1", robots=["fanuc"])
    assert report.done, report.reason
    assert len(report.order.actions) <= 20  # 15 without errors
