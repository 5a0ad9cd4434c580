"""Friction in the simulation against Coulomb's law."""

import pytest

from cellwright.bench.holding import DROP_M, SLIP_M, HeldGear, creep_um_per_s, limit_force_n


@pytest.fixture(scope="module")
def held():
    return HeldGear()


def test_theory_is_the_weight_over_twice_the_friction(held):
    assert held.theory_force_n == pytest.approx(0.020 * 9.81 / (2 * 0.8))


def test_a_gear_slips_where_coulomb_says(held):
    assert limit_force_n(held, SLIP_M) == pytest.approx(held.theory_force_n, rel=0.02)


@pytest.mark.parametrize("gear", ["small_gear", "large_gear"])
def test_so_do_the_others(gear):
    other = HeldGear(gear=gear)
    assert limit_force_n(other, SLIP_M) == pytest.approx(other.theory_force_n, rel=0.02)


def test_with_half_the_force_it_drops(held):
    assert held.sinking_m(1.0, held.theory_force_n / 2) > DROP_M


def test_at_the_rated_force_it_hardly_creeps(held):
    assert creep_um_per_s(held, 2.0) < 20.0
