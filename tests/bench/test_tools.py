"""The bench of tools: trials that can fail, and a cup's load against its rating."""

import pytest

from cellwright.bench import BENCHES, tools_trays
from cellwright.bench.tools import _break_errors
from cellwright.bench.tools_changes import try_change
from cellwright.bench.tools_grasps import ROBOTIQ_CASES, VACUUM_CASES, GraspCase, try_case
from cellwright.bench.tools_trays import CASES, TrayCase, try_tray


def test_it_is_listed():
    assert "tools" in BENCHES


@pytest.mark.parametrize("case", [ROBOTIQ_CASES[0], ROBOTIQ_CASES[3], VACUUM_CASES[0]], ids=lambda case: case.part)
def test_a_trial_succeeds(case):
    assert try_case(0, 0, case) == ""


def test_a_trial_with_too_heavy_a_load_fails():
    """A cube of 1.4 kg on the small cup: it is not lost on the way, it never comes along."""
    assert "cube was lost while it was lifted" in try_case(0, 0, GraspCase("small_vacuum", "cube", 0.5))


def test_loads_come_off_near_the_rating():
    errors = _break_errors([0.5])
    assert set(errors) == {f"vacuum.break_error_{name}" for name in ("small_vacuum", "big_vacuum", "tray_vacuum")}
    assert max(errors.values()) < 0.15


def test_an_empty_tray_is_taken_from_its_stack():
    assert CASES[0] == TrayCase("kit_m2l1_tray", "m2l1_tray_box", full=False)
    assert try_tray(0, 0) == ""


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 3])
def test_trays_of_both_kinds_are_carried_empty_and_full(number):
    assert try_tray(0, number) == ""


def test_a_tray_that_is_gripped_beside_its_place_is_not_carried(monkeypatch):
    """Three centimetres off, one cup is over the edge: the tool says that it holds nothing."""
    monkeypatch.setattr(tools_trays, "OFF_M", 0.03)
    assert "tray_vacuum finds no hold on" in try_tray(0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(7))
def test_tools_are_changed_in_both_laboratories(number):
    assert try_change(0, number) == ""
