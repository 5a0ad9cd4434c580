"""`cellwright targets check, show, switch`: what they print, and their exit codes."""

from __future__ import annotations

import json
import socket
import threading

import pytest

TARGETS = {
    "robots": {
        "fanuc": {"at": "a:1", "lost": "", "latency_s": 0.012, "jitter_s": 0.003, "uncertainty_s": 0.1, "messages": 9},
        "motoman": {"at": "simulated", "lost": ""},
    },
    "detectors": {},
    "slip": 0.021,
    "stopped": "",
}


@pytest.fixture
def answering():
    """Serves one client with lines: for each that comes, those that are given; returns the address and what came."""
    listeners = []

    def serve(*answers):
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        came = []

        def run():
            link, _ = listener.accept()
            with link, link.makefile("rwb") as lines:
                for some in answers:
                    came.append(json.loads(lines.readline()))
                    for line in some:
                        lines.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
                    lines.flush()

        threading.Thread(target=run, daemon=True).start()
        return f"127.0.0.1:{listener.getsockname()[1]}", came

    yield serve
    for listener in listeners:
        listener.close()


def test_check_lists_what_a_file_says_and_refuses_mistakes(cellwright, refused, tmp_path):
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(
        "robots: {fanuc: '10.0.0.1:64444', motoman: simulated}\ndetectors: {detector_fanuc: '10.0.0.1:5001'}\n"
    )
    ended = cellwright("targets", "check", "aprs", good)
    assert ended.code == 0
    assert ended.out.splitlines() == [
        "robot fanuc: 10.0.0.1:64444",
        "robot motoman: simulated",
        "detector detector_fanuc: 10.0.0.1:5001",
    ]
    bad.write_text("robots: {fanucc: '10.0.0.1:64444'}\ndetectors: {camera: '10.0.0.1:5001'}\n")
    lines = refused("targets", "check", "aprs", bad).splitlines()
    assert len(lines) == 2
    assert "unknown robot 'fanucc'; did you mean 'fanuc'" in lines[0]
    assert "unknown detector 'camera'" in lines[1]
    assert "nothing.yaml" in refused("targets", "check", "aprs", "nothing.yaml")


def test_show_tells_where_everything_is(cellwright, answering):
    address, came = answering([{"targets": TARGETS}])
    ended = cellwright("targets", "show", address)
    assert ended.code == 0
    assert came == [{"ask": "targets"}]
    assert "fanuc" in ended.out
    assert "a:1" in ended.out
    assert "out of pace 2.1 % of the time" in ended.out
    address, _ = answering([{"targets": TARGETS | {"stopped": "fanuc was lost"}}])
    assert "stopped: fanuc was lost" in cellwright("targets", "show", address).out
    address, _ = answering([{"targets": TARGETS}])
    assert cellwright("targets", "show", address, "--json").json == TARGETS


def test_switch_waits_for_its_end_and_tells_it(cellwright, answering):
    question = {"switch": "fanuc", "to": "simulated", "align": True}
    ended = {"switched": "motoman", "to": "b:1"}, {"switched": "fanuc", "to": "simulated"}
    address, came = answering([{"switching": "fanuc", "to": "simulated"}, *ended])
    told = cellwright("targets", "switch", "fanuc", "simulated", "--control", address, "--align")
    assert (told.code, told.out, came) == (0, "fanuc is simulated\n", [question])


def test_a_switch_that_is_refused_is_exit_1_and_one_line(cellwright, answering):
    why = "fanuc stays simulated, it was not switched to a:1: joint 1 is 5.0 deg apart (allowed 1)"
    lines = [{"switching": "fanuc", "to": "a:1"}, {"refused": "fanuc", "to": "a:1", "why": why}]
    address, _ = answering(lines)
    ended = cellwright("targets", "switch", "fanuc", "a:1", "--control", address)
    assert (ended.code, ended.out, ended.err) == (1, "", f"cellwright: {why}\n")
    address, _ = answering(lines)
    ended = cellwright("targets", "switch", "fanuc", "a:1", "--control", address, "--json")
    assert (ended.code, ended.json["refused"]) == (1, "fanuc")


def test_bad_names_and_addresses_are_exit_2(refused, answering):
    address, _ = answering([{"error": "unknown robot or detector 'fanucc'; did you mean 'fanuc'"}])
    line = refused("targets", "switch", "fanucc", "a:1", "--control", address)
    assert line == "cellwright: unknown robot or detector 'fanucc'; did you mean 'fanuc'\n"
    assert "99999" in refused("targets", "show", "host:99999")
    assert "'blah' has no port (allowed: HOST:PORT or PORT" in refused("targets", "show", "blah")
    assert "'nowhere' is no address" in refused("targets", "switch", "fanuc", "nowhere", "--control", address)


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ([b"HTTP/1.1 400 Bad Request\r\n"], "does not speak the control protocol"),
        ([b"[1, 2]\n"], "does not speak the control protocol"),
        ([{"announced": "something else"}], "hung up"),
        ([], "hung up"),
    ],
)
def test_somebody_else_at_the_address_is_named_in_one_line(cellwright, answering, answer, line):
    address, _ = answering(answer)
    ended = cellwright("targets", "show", address)
    assert ended.code == 1
    assert ended.err.startswith(f"cellwright: {address}")
    assert line in ended.err
    assert ended.err.count("\n") == 1


def test_nobody_at_the_address(cellwright):
    ended = cellwright("targets", "show", "127.0.0.1:1")
    assert (ended.code, ended.err) == (1, "cellwright: 127.0.0.1:1: Connection refused\n")
