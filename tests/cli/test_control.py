"""`cellwright control`: errors of the user and servers that are not there are one line each."""

import socket

import pytest


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["aprs"], "say what is to be built: --order NAME_OR_FILE, or --trial HOST:PORT"),
        (["aprs", "--order", "kit_m2l1", "--trial", "127.0.0.1:1"], "say what is to be built"),
        (["nowhere", "--order", "kit_m2l1"], "nowhere"),
        (["aprs", "--order", "kit_x"], "kit_x"),
        (["aprs", "--order", "kit_m2l1", "--crcl", "fanuc"], "--crcl takes NAME=HOST:PORT, not 'fanuc'"),
        (["aprs", "--order", "kit_m2l1", "--crcl", "fanuc=nowhere"], "nowhere"),
        (["aprs", "--order", "kit_m2l1", "--crcl", "ur5=127.0.0.1:1"], "--crcl: unknown robot 'ur5'"),
        (["aprs", "--order", "kit_m2l1", "--vision", "eye=127.0.0.1:1"], "--vision: unknown detector 'eye'"),
        (["aprs", "--order", "kit_m2l1", "--robots", "ur5"], "unknown robot 'ur5'"),
        (["aprs", "--order", "kit_m2l1", "--recovery", "some"], "some"),
        (["aprs", "--order", "kit_m2l1", "--planner", "nobody"], "nobody"),
        (["aprs", "--trial", "nowhere"], "nowhere"),
    ],
)
def test_what_makes_no_sense_is_refused(refused, arguments, told):
    assert told in refused("control", *arguments)


def test_a_trial_that_is_not_there_is_one_line(cellwright):
    ended = cellwright("control", "aprs", "--trial", "127.0.0.1:1")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("cellwright: no control interface at 127.0.0.1:1: ")
    assert ended.err.count("\n") == 1


def test_a_detector_that_never_speaks_is_one_line(cellwright, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        at = f"127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setattr("cellwright.trials.socket_ports.CONNECT_S", 0.5)
        ended = cellwright("control", "aprs", "--order", "kit_m2l1", "--vision", f"detector_fanuc={at}")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"cellwright: no vision server at {at} within 0.5 s: ")
    assert ended.err.count("\n") == 1
