"""The figures of bridges are of messages that really arrive, in a process outside."""

import pytest

from cellwright.bench.bridges import _Bridged
from cellwright.bench.bridges_client import LAST, JointListener
from cellwright.bench.result import BENCHES
from cellwright.lab import Lab


@pytest.mark.slow
def test_joint_states_arrive_at_500_hz_and_speeds_get_to_the_bus():
    lines = []
    with Lab.from_cell("epucks", pace=1.0) as lab:
        found = lab.perform(_Bridged(lab, "rosbridge", "0", lines.append).measure(0.5, 400))
    assert "bridges" in BENCHES
    assert found["rosbridge.lost_at_500_hz"] == 0
    assert found["rosbridge.msgs_per_s"] > 100
    assert 0 < found["rosbridge.p50_ms"] <= found["rosbridge.p99_ms"]
    assert 0 < found["rosbridge.cmd_vel_ms"] <= found["rosbridge.cmd_vel_p99_ms"]
    assert len(lines) == 3


def test_a_listener_counts_what_came_and_says_so_every_hundred(monkeypatch):
    acknowledged, now_s = [], iter(range(1, 1000))
    monkeypatch.setattr("cellwright.bench.bridges_client.time.monotonic", lambda: float(next(now_s)))
    listener = JointListener(acknowledged.append)
    for number in range(201):
        listener.take(["a"], float(number + 1) - 0.002)
    listener.take([LAST], 0.0)
    assert listener.is_done
    assert acknowledged == [100, 200]
    result = listener.result()
    assert (result["count"], result["per_s"]) == (201, 1.0)
    assert result["p50_ms"] == pytest.approx(2.0)
