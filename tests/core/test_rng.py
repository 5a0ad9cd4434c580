"""Named random streams."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.core import RandomStreams
from cellwright.core.errors import OutOfRange


def test_golden_numbers():
    """A change of these changes every recorded run: it needs a new major version, not a new test."""
    rng = RandomStreams(7).stream("sensors/camera_fanuc")
    assert rng.random(3).tolist() == [0.47492756559424176, 0.3636946606043723, 0.288801806687942]
    assert rng.integers(0, 1000, 4).tolist() == [860, 22, 868, 567]


@given(st.permutations(["a", "b", "sensors/camera", "sensors/camera2", ""]), st.integers(0, 2**63 - 1))
def test_a_stream_depends_on_seed_and_name_only(names, seed):
    alone = {name: RandomStreams(seed).stream(name).random(4).tolist() for name in names}
    together = RandomStreams(seed)
    for name in names:
        together.stream("other").random(3)
        assert together.stream(name).random(4).tolist() == alone[name]
    assert len({tuple(numbers) for numbers in alone.values()}) == len(names)


def test_another_seed_gives_other_numbers():
    assert RandomStreams(1).stream("a").random() != RandomStreams(2).stream("a").random()


def test_one_name_is_one_generator():
    streams = RandomStreams(3)
    assert streams.stream("a") is streams.stream("a")
    assert streams.stream("a").random() != streams.stream("a").random()


def test_streams_are_not_correlated():
    streams = RandomStreams(0)
    rows = np.array([streams.stream(f"sensor_{i}").standard_normal(2000) for i in range(12)])
    correlation = np.corrcoef(rows) - np.eye(12)
    assert np.abs(correlation).max() < 0.1  # 4.5 standard deviations


def test_restore_puts_back_what_the_holders_of_the_generators_see():
    streams = RandomStreams(5)
    early = streams.stream("early")
    early.standard_normal(3)
    early.integers(0, 2**16, dtype=np.uint16)  # leaves half a word buffered, which belongs to the state
    snapshot = streams.snapshot()
    kept = copy.deepcopy(snapshot)
    late = streams.stream("late")
    first = (early.random(5).tolist(), late.random(5).tolist())
    streams.restore(snapshot)
    assert (early.random(5).tolist(), late.random(5).tolist()) == first
    assert streams.stream("late") is late
    assert snapshot == kept


def test_restore_in_a_fresh_set_of_streams():
    streams = RandomStreams(5)
    streams.stream("a").random(7)
    snapshot = streams.snapshot()
    other = RandomStreams(5)
    other.restore(snapshot)
    assert other.stream("a").random() == streams.stream("a").random()


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_seeds_have_a_range(seed):
    with pytest.raises(OutOfRange, match=f"seed is {seed}, allowed 0 to 9223372036854775807"):
        RandomStreams(seed)
