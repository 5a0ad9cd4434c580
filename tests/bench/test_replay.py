"""Raw physics must do to the last bit what the laboratory does; otherwise the comparison means nothing."""

import numpy as np
import pytest

from cellwright.bench.lab_speed import measure_awake, measure_pairs
from cellwright.bench.replay import capture, replay
from cellwright.bench.result import MeasurementFailed
from cellwright.cells import load_cell
from cellwright.sim import World


@pytest.fixture(scope="module")
def cell():
    return load_cell("aprs")


@pytest.fixture(scope="module")
def segments(cell):
    return capture(cell, 5, 2)


def test_a_segment_is_a_second_of_both_arms_moving(cell, segments):
    assert [sum(count for count, _ in segment) for segment in segments] == [500, 500]
    rows = np.array([row for _, row in segments[0]])
    world = World(cell, 5)
    for robot in world.robots.values():
        assert np.ptp(rows[:, robot.ctrl_position], axis=0).max() > 0.3
    assert len(segments[0]) >= 250  # a row for every turn of the servos


def test_the_replay_ends_in_the_laboratory_s_state(cell, segments, tmp_path):
    pairs = measure_pairs(cell, 5, segments, tmp_path / "log.mcap")  # compares the last bit itself, or raises
    assert (pairs.lab_s > 0).all()
    assert (pairs.raw_s > 0).all()
    assert pairs.raw_steps.tolist() == [500, 500]
    assert (tmp_path / "log.mcap").stat().st_size > 1000


def test_a_replay_with_one_other_number_is_noticed(cell, segments):
    count, row = segments[1][-3]  # servos forget what was long ago
    other = [segments[0], [*segments[1][:-3], (count, row + 1e-9), *segments[1][-2:]]]
    with pytest.raises(MeasurementFailed, match="another state"):
        measure_pairs(cell, 5, other)


def test_replay_takes_all_steps(cell, segments):
    world = World(cell, 5)
    replay(world.engine.step, world.data, segments[0])
    assert world.data.time == pytest.approx(1.0)


def test_awake_nothing_sleeps(cell, monkeypatch):
    seen = []
    step = World.settle
    monkeypatch.setattr(World, "settle", lambda self, limit_s: seen.append(self) or step(self, limit_s))
    times = measure_awake(cell, 5, 1)
    assert times.shape == (1,)
    assert (np.asarray(seen[0].data.tree_asleep) < 0).all()
    assert seen[0].data.ncon > 50
