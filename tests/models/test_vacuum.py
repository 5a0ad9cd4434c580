"""Suction cups as models: what holds is a force, as strong as the rating says, and only while the lip seals."""

from __future__ import annotations

from typing import Any

import mujoco
import pytest

from cellwright.bench.tools_rig import CupRig, break_load_kg
from cellwright.catalogue import TOOLS, VacuumFigures
from cellwright.models import build
from cellwright.sim.suction import closed

CUPS = ("small_vacuum", "big_vacuum", "tray_vacuum")


def _figures(name: str) -> VacuumFigures:
    figures = TOOLS.get(name)
    assert isinstance(figures, VacuumFigures)
    return figures


@pytest.mark.parametrize(("name", "diameter_m", "load_kg"), [("small_vacuum", 0.040, 0.4), ("big_vacuum", 0.080, 0.5)])
def test_figures_are_those_of_the_kitting_workstation(name: str, diameter_m: float, load_kg: float) -> None:
    figures = _figures(name)
    assert (figures.cup_diameter_m, figures.load_kg) == (diameter_m, load_kg)
    model: Any = build(figures).compile()
    assert model.body_mass.sum() == pytest.approx(figures.mass_kg)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    lips = [data.geom(f"lip_{k}").xpos for k in range(figures.lip_points)]
    assert max(lip[0] for lip in lips) + 0.0015 == pytest.approx(diameter_m / 2)
    assert all(lip[2] + 0.0015 == pytest.approx(figures.tcp_xyz_m[2]) for lip in lips)


def test_a_tray_tool_has_two_cups_and_one_pump() -> None:
    figures = _figures("tray_vacuum")
    model: Any = build(figures).compile()
    assert model.body_mass.sum() == pytest.approx(figures.mass_kg)
    assert [model.actuator(k).name for k in range(model.nu)] == ["power", "suck_1", "suck_2"]
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.body("cup_1").xpos == pytest.approx([0.063, 0.0, 0.104])
    assert data.body("cup_2").xpos == pytest.approx([-0.063, 0.0, 0.104])


@pytest.mark.parametrize(
    ("points", "tight"),
    [
        (range(12), True),
        ((0, 3, 6, 9), True),
        ((0, 4, 8), False),
        ((0, 3, 6), False),
        ((0, 1), False),
        ((), False),
        ([k for k in range(12) if k not in (4, 5)], True),
        ([k for k in range(12) if k not in (4, 5, 6)], False),
    ],
)
def test_a_lip_is_closed_when_no_stretch_of_it_is_open(points: Any, tight: bool) -> None:
    assert closed(points, 12, 1.5707963267948966) is tight


@pytest.mark.parametrize("name", CUPS)
def test_it_lifts_half_its_rating_and_lets_go_when_told(name: str) -> None:
    figures = _figures(name)
    rig = CupRig(figures, 0.5 * figures.load_kg)
    assert rig.take()
    rig.lift(2.0)
    assert rig.holds
    before_m = rig.height_m
    rig.power = 0.0
    rig.wait(0.2)
    assert not rig.holds
    assert rig.height_m < before_m - 0.1


@pytest.mark.parametrize("name", CUPS)
def test_an_overload_comes_off_by_itself(name: str) -> None:
    figures = _figures(name)
    rig = CupRig(figures, 1.2 * figures.load_kg)
    assert rig.take()
    rig.lift(0.1)
    assert not rig.holds
    assert rig.power == 1.0, "nobody switched it off"
    assert rig.height_m < rig.start_m + 0.002


@pytest.mark.parametrize("name", CUPS[:2])
def test_it_breaks_where_its_rating_says(name: str) -> None:
    figures = _figures(name)
    assert break_load_kg(figures, 0.2, steps=6) == pytest.approx(figures.load_kg * 9.81 / 10.01, rel=0.1)


def test_nothing_is_held_beside_the_edge() -> None:
    """A part that covers only half the cup is not drawn: air gets in."""
    figures = _figures("small_vacuum")
    rig = CupRig(figures, 0.05, offset_m=0.035)
    assert not rig.take()
    rig.lift(1.0)
    assert rig.height_m < rig.start_m + 0.002


def test_a_tool_of_two_cups_holds_with_both_or_not_at_all() -> None:
    """The disc is under one cup and half under the other: the first draws, the tool's vacuum is that of the second."""
    rig = CupRig(_figures("tray_vacuum"), 0.1, radius_m=0.09, offset_m=0.035)
    assert not rig.take()
    assert sorted(rig.data.act) == [0.0, pytest.approx(1.0, abs=0.01)]


def test_a_part_that_is_levered_off_peels() -> None:
    """Half the rated load, pulled down at the part's rim: the lip opens on one side, and the rest comes off."""
    figures = _figures("small_vacuum")
    rig = CupRig(figures, 0.05, radius_m=0.1)
    assert rig.take()
    rig.lift(1.0)
    assert rig.holds
    rig.pull(0.09, 0.5 * figures.holding_force_n)
    rig.wait(0.4)
    assert not rig.holds
    assert rig.height_m < rig.lifted_m - 0.05
