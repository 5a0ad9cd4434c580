"""Whether a part touches a tray is a matter of its outline as it leans."""

import asyncio

import numpy as np
import pytest

from cellwright.catalogue import GearFigures, part_of_sku
from cellwright.core.pose import Pose
from cellwright.execution.outline import is_over, tray_gap_m
from cellwright.execution.surroundings import extras

from .conftest import small_kit

DESIGN = small_kit("mml").lines[0].design
SIZE_M = (0.16, 0.19, 0.017)
GEAR = part_of_sku("sku_part_medium_gear")
assert isinstance(GEAR, GearFigures)


def leaning(x, z, deg=0.0, y=0.0):
    return Pose.from_xyz_rpy([x, y, z], [0.0, np.radians(deg), 0.0])


def test_a_gear_beside_a_tray_is_as_far_away_as_its_rim():
    for gap_m in (0.0, 0.0005, 0.004):
        pose = leaning(SIZE_M[0] / 2 + GEAR.radius_m + gap_m, 0.0)
        assert tray_gap_m(GEAR.sku, pose, SIZE_M) == pytest.approx(gap_m, abs=1e-4)
        assert not is_over(GEAR.sku, pose, SIZE_M)


def test_a_gear_whose_disc_hangs_over_a_tray_is_as_far_away_as_its_underside():
    """The disc is level, above the tray's edge; only its underside can touch."""
    pose = leaning(SIZE_M[0] / 2 + GEAR.cone_top_radius_m + 0.002, SIZE_M[2] - GEAR.cone_height_m + 0.003)
    assert tray_gap_m(GEAR.sku, pose, SIZE_M) == pytest.approx(0.003, abs=1e-4)


def beside_the_kit(lower_m=0.0, further_m=0.0):
    """As a gear lay in its tray after a drop: it leans away from the kit's tray, its disc 1.6 mm over that."""
    axis = np.array([-0.37510971, -0.11168309, 0.92022801])
    x = np.cross([0.0, 1.0, 0.0], axis)
    x /= np.linalg.norm(x)
    matrix = np.eye(4)
    matrix[:3, :3] = np.column_stack([x, np.cross(axis, x), axis])
    matrix[:3, 3] = [-0.08328739 + further_m, 0.04502038, 0.01973709 - lower_m]
    return Pose.from_matrix(matrix)


def test_a_gear_that_leans_away_from_a_tray_is_clear_of_it_and_one_that_leans_on_it_is_not():
    assert tray_gap_m(GEAR.sku, beside_the_kit(), SIZE_M) == pytest.approx(0.0016, abs=0.0005)
    assert not is_over(GEAR.sku, beside_the_kit(), SIZE_M)
    assert tray_gap_m(GEAR.sku, beside_the_kit(0.002), SIZE_M) < 0.0005
    assert is_over(GEAR.sku, beside_the_kit(further_m=0.02), SIZE_M)


def test_only_what_touches_a_kit_is_an_extra_there(still):
    cell = still()
    asyncio.run(cell.sleep(0.3))
    kit = cell.belief.state.pose("fanuc_kit_m2l1")
    for pose, wanted in ((beside_the_kit(), []), (beside_the_kit(0.002), ["medium_gear_1"])):
        cell.moved["medium_gear_1"] = (kit @ pose).matrix
        asyncio.run(cell.sleep(0.3))
        view = cell.belief.state
        assert [part.name for part in extras(view, "fanuc_kit_m2l1", DESIGN, view.parts())] == wanted


def test_a_gear_over_the_rim_of_a_kit_whose_height_nobody_measured_may_lie_on_it(still):
    cell = still()
    asyncio.run(cell.sleep(0.3))
    kit = cell.belief.state.pose("fanuc_kit_m2l1")
    x_m = -SIZE_M[0] / 2 - GEAR.cone_top_radius_m - 0.002
    cell.moved["medium_gear_1"] = (kit @ Pose.from_xyz_rpy([x_m, 0.0, SIZE_M[2]])).matrix  # its disc high above the rim
    asyncio.run(cell.sleep(0.3))
    view = cell.belief.state
    assert extras(view, "fanuc_kit_m2l1", DESIGN, view.parts()) == []
    view.model.variances[view.tree.index["medium_gear_1"], 2] = 0.01**2
    assert [part.name for part in extras(view, "fanuc_kit_m2l1", DESIGN, view.parts())] == ["medium_gear_1"]
