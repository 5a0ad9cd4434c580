from __future__ import annotations

import pytest

from cellwright.core import Bus, Role
from cellwright.core.errors import OutOfRange, TruthLeak
from cellwright.record import Recorder, ReplaySummary, compare, read_log, replay
from cellwright.record.writer import LogWriter


class WallClock:
    """A clock that only sleeping, and work, moves."""

    def __init__(self) -> None:
        self.time_s, self.slept = 100.0, []

    def now(self) -> float:
        return self.time_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time_s += seconds


def test_a_replay_recorded_again_is_the_same_log(log_file, tmp_path):
    bus, again = Bus(), tmp_path / "again.mcap"
    log = read_log(log_file)
    with Recorder(bus, again, metadata=log.metadata):
        assert replay(log, bus) == ReplaySummary(log.count, 0)
    assert again.read_bytes() == log_file.read_bytes()
    assert compare(log_file, again).equal


def test_paced_by_the_clock(log_file):
    clock, heard = WallClock(), []

    def listen(topic, message):
        heard.append((clock.time_s - 100, message.time_ns / 1e9))
        clock.time_s += 0.001  # the listener takes its time

    replay(read_log(log_file), listen, 2.0, topics=["/fanuc/wrench"], sleep=clock.sleep, now=clock.now)
    assert len(heard) == 175
    for wall_s, sim_s in heard:
        assert wall_s == pytest.approx(sim_s / 2, abs=1e-9), "no drift"
    assert clock.slept[0] == pytest.approx(0.009)


def test_without_speed_nobody_sleeps(log_file):
    clock = WallClock()
    replay(read_log(log_file), lambda topic, message: None, sleep=clock.sleep, now=clock.now)
    assert clock.slept == []


def test_a_slow_listener_is_not_waited_for_twice(log_file):
    clock = WallClock()

    def listen(topic, message):
        clock.time_s += 1.0

    replay(read_log(log_file), listen, 1.0, topics=["/fanuc/wrench"], sleep=clock.sleep, now=clock.now)
    assert clock.slept == []


def test_truth_stays_guarded(log_file):
    bus = Bus()
    seen = []
    bus.subscribe(None, lambda topic, message: seen.append(topic), subscriber="controller")
    bus.subscribe("/truth/poses", lambda topic, message: None, subscriber="judge", role=Role.JUDGE)
    replay(read_log(log_file), bus)
    assert "/fanuc/wrench" in seen
    assert "/truth/poses" not in seen
    with pytest.raises(TruthLeak):
        bus.subscribe("/truth/poses", lambda topic, message: None, subscriber="controller")


def test_types_without_a_class_cannot_go_over_a_bus(tmp_path):
    with (tmp_path / "foreign.mcap").open("wb") as file:
        writer = LogWriter(file, {})
        writer.add_message(
            writer.add_channel("/x", writer.add_schema("p/msg/X", "bool b\n"), {}), 0, 0, 0, b"\0\1\0\0\1"
        )
        writer.finish()
    log, heard = read_log(tmp_path / "foreign.mcap"), []
    assert replay(log, Bus()) == ReplaySummary(0, 1)
    assert replay(log, lambda topic, message: heard.append(message.b)) == ReplaySummary(1, 0)
    assert heard == [True]


@pytest.mark.parametrize("speed", [-1.0, float("nan"), float("inf")])
def test_impossible_speeds(log_file, speed):
    with pytest.raises(OutOfRange, match="replay speed"):
        replay(read_log(log_file), Bus(), speed)
