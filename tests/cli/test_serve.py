"""`cellwright serve` as a process: both robots answer and see, it ends when asked to, and says what is wrong."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from cellwright.crcl import BlockingCrclClient
from cellwright.crcl import messages as m
from cellwright.interfaces import BlockingVisionClient
from cellwright.record import read_log

ANY_PORTS = ("--any-port",)


@contextlib.contextmanager
def served(*options, cell="aprs"):
    """The process, and what it printed first."""
    command = [sys.executable, "-m", "cellwright", "serve", str(cell), *ANY_PORTS, *map(str, options)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, env=environment) as process:
        try:
            assert select.select([process.stdout], [], [], 60.0)[0], "it says nothing"
            yield process, process.stdout.readline()
        finally:
            process.kill()


def ended(process, with_signal):
    """Exit code and what it said, after a signal."""
    process.send_signal(with_signal)
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def lowered(client, by_m):
    here = client.status().pose_status.pose
    there = replace(here, point=replace(here.point, z=here.point.z - by_m))
    client.execute(m.MoveTo(0, move_straight=True, end_position=there)).check()
    return here.point.z - client.status().pose_status.pose.point.z


@pytest.mark.slow
def test_both_robots_move_and_sigterm_ends_it_with_0(cell_file, tmp_path):
    log = tmp_path / "served.mcap"
    with served("--json", "--pace", 5, "--record", log, cell=cell_file()) as (process, first):
        doors = json.loads(first)
        addresses = doors["crcl"]
        assert sorted(addresses) == sorted(doors["vision"]) == ["fanuc", "motoman"]
        for address in doors["vision"].values():
            with BlockingVisionClient(address) as vision:
                assert len(vision.next_frame()) >= 15  # of its own table, and what its camera sees of the other
        for address in addresses.values():
            with BlockingCrclClient(address) as client:
                client.execute(m.InitCanon(0)).check()
                assert lowered(client, 0.02) == pytest.approx(0.02, abs=1e-4)
        code, out, err = ended(process, signal.SIGTERM)
    assert (code, out, err) == (0, "", "")
    recorded = read_log(log)
    for robot in addresses:
        texts = [entry.message.document for entry in recorded.entries([f"/{robot}/crcl_command"])]
        assert sum("MoveToType" in text for text in texts) == 1
        assert recorded.topic(f"/{robot}/crcl_status").count == sum("GetStatusType" in text for text in texts)


def test_sigint_ends_it_with_130_even_in_mid_motion(cell_file):
    with served("--profile", "aprs-lab", cell=cell_file()) as (process, first):
        lines = [first, *(process.stdout.readline() for _ in range(4))]
        doors = ["fanuc: crcl at ", "motoman: crcl at ", "fanuc: vision at ", "motoman: vision at ", "until Ctrl-C"]
        assert [line[: len(door)] for line, door in zip(lines, doors, strict=True)] == doors
        address = first.strip().removeprefix(doors[0])
        with BlockingCrclClient(address) as client:
            client.execute(m.InitCanon(0)).check()
            here = client.status().pose_status.pose
            assert here.point.z > 50  # millimetres
            there = replace(here, point=replace(here.point, z=here.point.z - 100))
            assert client.execute(m.MoveTo(0, move_straight=True, end_position=there), timeout_s=0.3).state == "timeout"
            code, _, err = ended(process, signal.SIGINT)
    assert code == 130
    assert err.strip() == "cellwright: interrupted"


@pytest.mark.slow
def test_sigterm_ends_it_in_the_middle_of_a_plan_that_takes_long(cell_file):
    with (
        served("--json", cell=cell_file()) as (process, first),
        BlockingCrclClient(json.loads(first)["crcl"]["fanuc"]) as client,
    ):
        client.execute(m.InitCanon(0)).check()
        screw = m.MoveScrew(0, axial_distance_screw=0.01, turn=150.0)  # a quarter of a minute to reckon
        assert client.execute(screw, timeout_s=0.5).state == "timeout"
        assert client.status().command_status.command_state == "CRCL_Working"
        code, out, err = ended(process, signal.SIGTERM)
    assert (code, out, err) == (0, "", "")


@pytest.mark.slow
def test_truth_is_served_when_asked_for_and_told(cell_file, tmp_path):
    log = tmp_path / "served.mcap"
    with served("--json", "--usartruth", "0", "--record", log, cell=cell_file()) as (process, first):
        address = json.loads(first)["usartruth"]["truth"]
        host, _, port = address.partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as client, client.makefile("rb") as lines:
            client.sendall(b"{class large_gear} {name large_gear_1}\r\n")
            told, end = next(lines).decode(), next(lines)
        code, _, err = ended(process, signal.SIGTERM)
    assert (host, end) == ("127.0.0.1", b"{End}\r\n")
    assert told.startswith("{Name large_gear_1} {Class large_gear} {Time ")
    assert (code, err.strip()) == (0, "truth was served by USARTruth: 1 query")
    assert read_log(log).metadata["usartruth.truth"] == "served"


@pytest.mark.slow
def test_bad_input_is_one_line(refused, cell_file):
    cell = cell_file()
    assert "fanuc, motoman" in refused("serve", cell, "--port", "ur5=0")
    assert "--port takes ROBOT=PORT" in refused("serve", cell, "--port", "fanuc=99999")
    assert "--vision-port takes ROBOT=PORT" in refused("serve", cell, "--vision-port", "5001")
    assert "fanuc, motoman" in refused("serve", cell, "--vision-port", "ur5=0")
    blind = cell_file(("detector: detector_fanuc", "detector: detector_fanux"), name="blind.yaml")
    assert "detector_fanuc, detector_motoman" in refused("serve", blind)
    assert "aprs-lab" in refused("serve", cell, "--profile", "nist")
    assert "base or world" in refused("serve", cell, "--frame", "table")
    assert "push period" in refused("serve", cell, *ANY_PORTS, "--push", "0")
    for pace in ("0", "quick", "nan", "1e9"):
        assert "0.001 to 1000, or max" in refused("serve", cell, "--pace", pace)
    assert "(available: ros1, rosbridge)" in refused("serve", cell, "--bridge", "ros3")
    assert "--bridge rosbridge is given twice" in refused(
        "serve", cell, "--bridge", "rosbridge", "--bridge", "rosbridge=1"
    )
    assert "--bridge rosbridge takes HOST:PORT" in refused("serve", cell, "--bridge", "rosbridge=1:x")
    assert "at least 8" in refused("serve", cell, "--bridge", "rosbridge", "--token", "short")
    assert "add --bridge" in refused("serve", cell, "--truth")
    assert "--usartruth takes HOST:PORT or PORT" in refused("serve", cell, "--usartruth=somewhere:else")
    assert "no-such" in refused("serve", "no-such")
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        for option in ("--port", "--vision-port"):
            line = refused("serve", cell, *ANY_PORTS, option, f"fanuc={port}")
            assert f"cannot listen on 127.0.0.1:{port}" in line
