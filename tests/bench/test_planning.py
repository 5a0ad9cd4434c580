"""`cellwright bench planning` in small."""

import random

import pytest

from cellwright.bench import BENCHES, MeasurementConditions
from cellwright.bench import planning as bench
from cellwright.planning import plan


@pytest.fixture(scope="module")
def station():
    with bench._Station(3) as made:
        yield made


def test_it_is_registered():
    assert BENCHES.get("planning") is bench.planning
    assert {"replan.k100_p99_ms", "duo.k100_ratio", "plan.k100"} <= set(bench.TARGETS)


def test_planning_anew_is_measured_from_states_with_a_part_less(station):
    request = station.request()
    result = bench._plan_checked(station)
    assert result.ratio == 1
    said = []
    took_ms = bench._replanning_ms(request, result, MeasurementConditions(quick=True, seed=1, say=said.append))
    assert (len(took_ms), len(said)) == (30, 1)
    assert all(ms >= 0 for ms in took_ms)


def test_exactly_one_part_is_lost(station):
    request, rng = station.request(), random.Random(2)
    result = plan(request)

    def parts(state):
        held = sum(robot.hand is not None and robot.hand.kind == "part" for robot in state.robots)
        kits = sum(sku is not None for kit in state.kits for sku in kit.filled)
        return held + kits + sum(tray.count for tray in state.parts_trays)

    for done in range(0, len(result.actions), 11):
        state = bench.state_after(request, result.actions[:done])
        assert parts(bench._lose_part(state, rng)) == parts(state) - 1


def test_a_plan_that_does_not_hold_is_no_measurement(station):
    request = station.request()
    result = plan(request)
    broken = bench.replace(result, actions=result.actions[1:])
    with pytest.raises(bench.MeasurementFailed, match="sequencer"):
        bench._checked(request, broken)
