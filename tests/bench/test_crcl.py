"""`cellwright bench crcl`, part by part in small, and once as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from cellwright.bench import BENCHES, MeasurementFailed, crcl_block, crcl_codec, crcl_fast, crcl_status
from cellwright.bench import crcl as bench
from cellwright.crcl import check, encode


def test_it_is_registered():
    assert "crcl" in BENCHES.names()


@pytest.mark.long
def test_statuses_of_a_moving_arm_over_sockets():
    said = []
    metrics = crcl_status.measure((1, 3), 0.6, seed=0, say=said.append)
    kinds = ("rate", "p99_ms", "real_time")
    assert set(metrics) == {f"status.{kind}_{clients}" for kind in kinds for clients in (1, 3)}
    assert all(value > 0 for value in metrics.values())
    assert metrics["status.rate_3"] > 50
    assert said == ["1 client asking for 0.6 s", "3 clients asking for 0.6 s"]


@pytest.mark.slow
def test_what_one_robot_is_given_does_not_delay_the_other():
    said = []
    metrics = crcl_block.measure(0.5, seed=0, say=said.append)
    assert set(metrics) == {f"block.{kind}_ms" for kind in ("idle_p99", "far_move", "waypoints_1000", "guards")}
    assert all(0 < value < 500 for value in metrics.values())  # on a machine that has other things to do, too
    assert "fanuc is given 5 of far_move" in said[1]


def test_an_arm_that_stands_is_noticed():
    status = crcl_codec.full_status()
    first, *others = status.joint_statuses.joint_status
    moved = replace(status.joint_statuses, joint_status=(replace(first, joint_position=1.0), *others))
    stands, moves = encode(status), encode(replace(status, joint_statuses=moved))
    assert crcl_status._share_moving([stands, stands, stands]) == 0
    assert crcl_status._share_moving([stands, moves, stands]) == 1
    assert crcl_status._share_moving([stands]) == 0


@pytest.mark.long
def test_a_laboratory_that_ends_is_no_measurement():
    with pytest.raises(MeasurementFailed, match="the rate of statuses could not be measured: the laboratory"):
        crcl_status.measure((1,), 0.1, seed=-1, say=lambda _text: None)


def test_the_messages_that_are_timed_are_valid():
    assert check(encode(crcl_codec.move())) == []
    assert check(encode(crcl_codec.full_status())) == []
    metrics = crcl_codec.measure(1, lambda _text: None)
    kinds = ("parse_us", "serialise_us", "status_parse_us", "status_serialise_us")
    assert set(metrics) == {f"codec.{kind}" for kind in kinds}
    assert all(1 < value < 1e5 for value in metrics.values())
    assert metrics["codec.status_parse_us"] > metrics["codec.parse_us"]


@pytest.mark.parametrize("runs", [1, pytest.param(3, marks=pytest.mark.long)])
def test_commands_in_memory_take_the_same_simulated_time_in_every_run(runs):
    measured = [crcl_fast.measure(4, 0, lambda _text: None) for _ in range(runs)]
    assert len({metrics["fast.commands_per_sim_s"] for metrics in measured}) == 1
    assert 1 < measured[0]["fast.commands_per_sim_s"] < 100
    assert measured[0]["fast.real_time_factor"] > 0


@pytest.mark.long
def test_the_whole_bench_in_its_quick_form():
    command = [sys.executable, "-m", "cellwright", "bench", "crcl", "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert set(bench.TARGETS) <= set(result["metrics"])
    assert set(result["targets"]) == set(bench.TARGETS)
    assert "8 clients asking" in done.stderr
