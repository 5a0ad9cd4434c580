"""Tables that are higher or lower than drawn: touched beside what stands on them, and kits built all the same."""

import numpy as np
import pytest
from tests.execution.test_upright import manipulator_of

from cellwright.cells import load_cell
from cellwright.cells.actual import ActualCfg, PoseErrorCfg
from cellwright.execution.height_touch import believed_top_m, free_spots, touch_hanging_m, touch_table
from cellwright.execution.surface_heights import SurfaceHeights, drawn_surfaces
from cellwright.lab import Lab

TRAY_M = np.array([0.16, -1.0])


def shifted(exact=False, **errors):
    """The APRS cell with errors of these objects, and no others or the usual ones."""
    cell = load_cell("aprs")
    usual = ActualCfg() if exact else cell.actual
    update = {name: PoseErrorCfg(**figures) for name, figures in errors.items()}
    return cell.model_copy(update={"actual": usual.model_copy(update=update)})


async def worker_of(lab, belief):
    worker = await manipulator_of(lab, "fanuc", belief)
    worker.heights = SurfaceHeights(drawn_surfaces(belief.state))
    worker.arm.above_m = worker.heights.above_m
    return worker


def test_spots_to_touch_are_bare_and_near(still):
    believed = still().belief.state
    surface = SurfaceHeights(drawn_surfaces(believed)).at(TRAY_M)
    spots = free_spots(believed, surface, TRAY_M, 0.01)
    assert spots
    apart = [np.linalg.norm(spot - part.position[:2]) - part.reach_m for spot in spots for part in believed.parts()]
    assert min(apart) >= 0.02
    for tray in believed.trays():
        inside = [np.abs((believed.pose(tray).inverse().apply(np.array([*spot, 0.916])))[:2]) for spot in spots]
        assert all((offset > 0.03).any() for offset in inside)  # trays are larger than that
    assert all(surface.covers(spot) for spot in spots)
    far = [float(np.linalg.norm(spot - TRAY_M)) for spot in spots]
    assert np.diff(far).min() > -1e-12, "nearest first"
    assert far[0] < 0.15


def test_a_table_is_believed_as_high_as_trays_are_seen_on_it(still):
    cell = still()
    believed = cell.belief.state
    surface = SurfaceHeights(drawn_surfaces(believed)).at(TRAY_M)
    cell.show()
    assert believed_top_m(believed, surface) == pytest.approx(0.916)
    for tray in believed.trays():
        cell.shift(tray, z_m=-0.003)
    cell.show()
    assert believed_top_m(believed, surface) == pytest.approx(0.913)


def test_no_spot_is_found_where_everything_is_full(still):
    believed = still().belief.state
    surface = SurfaceHeights(drawn_surfaces(believed)).at(TRAY_M)
    assert free_spots(believed, surface, TRAY_M, 0.3) == []


@pytest.mark.slow
@pytest.mark.parametrize("above_m", [0.005, pytest.param(-0.008, marks=pytest.mark.slow)])
def test_a_table_is_touched_where_it_is_and_believed_to_be_there(still, above_m):
    with Lab(shifted(exact=True, table={"z_m": above_m}), 0) as lab:

        async def touch():
            worker = await worker_of(lab, still().belief)
            before_m = await touch_table(worker, TRAY_M)
            return worker, before_m, await touch_table(worker, TRAY_M)

        worker, first_m, again_m = lab.perform(touch())
    assert first_m == pytest.approx(above_m, abs=0.0002)
    assert again_m == pytest.approx(0.0, abs=0.0002)  # no news
    assert worker.heights.above_m(np.array([0.36, -1.0])) == pytest.approx(above_m, abs=0.001)
    assert worker.heights.above_m(np.array([0.0, -0.6])) == 0.0  # of another table nothing is known
    assert "fanuc_cart is" in worker.heights.texts()[0]


def test_bare_fingers_are_needed_to_touch_a_table_and_a_part_to_touch_with_it(still):
    with Lab(shifted(exact=True), 0) as lab:

        async def touch():
            worker = await worker_of(lab, still().belief)
            nothing = await touch_hanging_m(worker, TRAY_M)
            worker.held = "medium_gear_1"
            return nothing, await touch_table(worker, TRAY_M)

        assert lab.perform(touch()) == (None, None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("errors", "robot", "words"),
    [
        ({"table": {"z_m": 0.003}}, "fanuc", ""),
        ({"table": {"z_m": 0.006}}, "fanuc", "mm higher than drawn"),
        ({"table": {"z_m": -0.004}}, "fanuc", ""),
        ({"table": {"z_m": -0.006, "roll_deg": 0.3, "pitch_deg": -0.3}}, "motoman", ""),
        ({"table": {"z_m": 0.006, "roll_deg": -0.3, "pitch_deg": 0.3}}, "motoman", "mm higher than drawn"),
        ({"table": {"z_m": -0.014}}, "fanuc", "mm lower than drawn"),
        ({"robot_base": {"z_m": -0.005}}, "fanuc", "mm higher than drawn"),
        ({"table": {"pitch_deg": -1.5}}, "fanuc", "mm higher than drawn"),
    ],
)
def test_kits_are_built_on_tables_that_are_not_as_high_as_drawn(errors, robot, words):
    with Lab(shifted(**errors), 1) as lab:
        report = lab.run("kit_m2l1", robots=[robot])
    assert report.done, report.reason
    assert report.order.retries <= 3
    assert any(words in note for note in report.order.notes) == bool(words)


@pytest.mark.slow
def test_a_cell_as_drawn_is_touched_nowhere():
    with Lab(shifted(), 1) as lab:
        report = lab.run("kit_m2l1", robots=["fanuc"])
    assert report.done, report.reason
    assert not [note for note in report.order.notes if "drawn" in note]


@pytest.mark.slow
def test_without_recovery_a_contact_names_the_height():
    with Lab(shifted(table={"z_m": 0.008}), 1) as lab:
        report = lab.run("kit_m2l1", robots=["fanuc"], recovery="none")
    assert not report.done
    assert "fanuc_cart seems 7 mm higher than drawn" in report.reason or "8 mm higher" in report.reason


@pytest.mark.slow
def test_a_kit_is_built_on_a_table_that_a_detector_sees_lower_than_drawn():
    cell = load_cell("kitting")
    errors = cell.actual.model_copy(update={"table": PoseErrorCfg(z_m=-0.002)})
    with Lab(cell.model_copy(update={"actual": errors}), 0) as lab:
        report = lab.run("kit_m2l1")
    assert report.done, report.reason
