"""`cellwright crcl send, status, record, conform` against a server on a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cellwright.crcl import (
    CRCLCommandInstance,
    CRCLProgram,
    CrclServer,
    CRCLStatus,
    Dwell,
    EndCanon,
    ExampleArm,
    InitCanon,
    LoopBlockEnd,
    LoopBlockStart,
    Message,
    MoveTo,
    Point,
    Pose,
    SetTransSpeed,
    TransSpeedAbsolute,
    Vector,
    WallClock,
    decode,
    encode,
)
from cellwright.crcl.xml_log import read_xml_log
from cellwright.record import read_log


class Served:
    """A practice arm behind a socket, and what was sent to it."""

    def __init__(self):
        self.loop, self.sent = asyncio.new_event_loop(), []
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self._call(self._start())

    async def _start(self):
        self.arm = ExampleArm(WallClock())
        self._server = CrclServer(self.arm, on_command=self.sent.append)
        await self._server.start(port=0)
        self.address = "{}:{}".format(*self._server.address)

    def kinds(self):
        """The commands that came, without the questions."""
        commands = [type(decode(text, CRCLCommandInstance).crcl_command).__name__ for text in self.sent]
        return [kind for kind in commands if kind != "GetStatus"]

    def close(self):
        self._call(self._server.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def _call(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(10)


@pytest.fixture
def served():
    server = Served()
    yield server
    server.close()


def pose(x, z=300.0):
    return Pose(Point(x, 0.0, z), Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, -1.0))


def save(name, document):
    Path(name).write_bytes(encode(document, indent="  "))
    return name


def program(*middle):
    return CRCLProgram(init_canon=InitCanon(1), middle_command=middle, end_canon=EndCanon(99))


def start(*arguments):
    """The command in a process of its own, which can be interrupted."""
    command = [sys.executable, "-m", "cellwright", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_send_runs_a_program_in_its_units(cellwright, served):
    inside = (MoveTo(3, True, pose(410.0)), MoveTo(4, True, pose(400.0)))
    loop = (LoopBlockStart(0, "twice"), *inside, LoopBlockEnd(0, "twice", 2))
    file = save("p.xml", program(SetTransSpeed(2, TransSpeedAbsolute(500.0)), *loop))
    ended = cellwright("crcl", "send", file, "--to", served.address, "--units", "mm,degree")
    assert ended.code == 0, ended
    assert ended.out.startswith("done: 9 commands of p.xml in ")
    assert "3/5 MoveTo: done" in ended.err
    assert "twice 2" in ended.err
    setup = ["InitCanon", "SetLengthUnits", "SetAngleUnits", "SetTransSpeed"]
    assert served.kinds() == [*setup, *["MoveTo"] * 4, "EndCanon"]


def test_send_a_program_that_fails_exits_1_with_the_robots_reason(cellwright, served):
    file = save("p.xml", program(MoveTo(2, True, pose(9000.0))))
    ended = cellwright("crcl", "send", file, "--to", served.address, "--units", "mm", "--json")
    assert ended.code == 1
    assert ended.json["state"] == "error"
    assert "X at 9000.0 greater than limit 1000.0 millimeter" in ended.json["reason"]
    ended = cellwright("crcl", "send", file, "--to", served.address, "--units", "mm")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1].startswith("cellwright: command 1 of 1, MoveTo")


def test_send_a_command_from_stdin(cellwright, served, monkeypatch):
    for command in (InitCanon(1), Message(5, "hello")):
        text = encode(CRCLCommandInstance(command))
        reader, writer = os.pipe()
        os.write(writer, text)
        os.close(writer)
        with os.fdopen(reader, "r") as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            ended = cellwright("crcl", "send", "-", "--to", served.address, "--json")
        assert ended.code == 0, ended
        assert ended.json["command"] == type(command).__name__
    assert served.arm.messages == ["hello"]


@pytest.mark.slow
def test_ctrl_c_stops_the_robot_and_exits_130(served, tmp_path):
    file = tmp_path / "p.xml"
    file.write_bytes(encode(program(SetTransSpeed(2, TransSpeedAbsolute(0.005)), MoveTo(3, True, pose(0.6, 0.3)))))
    running = start("crcl", "send", str(file), "--to", served.address)
    until_s = time.monotonic() + 60
    while served.arm.read().pose_tool_in_base.position[0] < 0.401 and time.monotonic() < until_s:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert running.returncode == 130, err
    assert "StopMotion" in served.kinds()
    assert out == ""
    assert "the robot was stopped" in err
    assert err.splitlines()[-1] == "cellwright: interrupted"
    assert "Traceback" not in err
    at = served.arm.read().pose_tool_in_base.position[0]
    time.sleep(0.2)
    assert 0.4 < at < 0.6
    assert served.arm.read().pose_tool_in_base.position[0] == at


def test_status_for_people_as_json_and_as_xml(cellwright, served):
    ended = cellwright("crcl", "status", served.address)
    assert ended.code == 0
    assert ended.out.startswith("command 0: CRCL_Ready")
    assert "at 0.4, 0, 0.3 (meter)" in ended.out
    assert "practice_gripper" in ended.out
    ended = cellwright("crcl", "status", served.address, "--json")
    assert ended.json["pose_status"]["pose"]["point"] == {"x": 0.4, "y": 0.0, "z": 0.3}
    ended = cellwright("crcl", "status", served.address, "--xml")
    assert decode(ended.out, CRCLStatus).pose_status.pose.point.x == 0.4
    assert served.kinds() == [], "asking changes nothing"


@pytest.mark.slow
def test_record_writes_both_ways_to_mcap_and_to_text(cellwright, served):
    port = free_port()
    file = save("c.xml", program(Dwell(2, 0.05)))
    recording = start("crcl", "record", served.address, "--listen", f"127.0.0.1:{port}", "--robot", "fanuc", "--json")
    first = recording.stderr.readline()
    assert first.startswith(f"clients of {served.address} connect to 127.0.0.1:{port}")
    assert cellwright("crcl", "send", file, "--to", f"127.0.0.1:{port}").code == 0
    recording.send_signal(signal.SIGINT)
    out, err = recording.communicate(timeout=30)
    assert recording.returncode == 0, err
    result = json.loads(out)
    texts = list(read_xml_log(Path("out/crcl.xml")))
    assert result["documents"] == len(texts)
    assert result["connections"] == 2
    assert result["trouble"] == ""
    log = read_log("out/crcl.mcap")
    assert set(log.topics) == {"/fanuc/crcl_command", "/fanuc/crcl_status"}
    assert log.metadata["server"] == served.address
    recorded = [(entry.time_ns, entry.message.document.encode()) for entry in log.entries()]
    assert sorted(recorded) == sorted((passed.time_ns, passed.data) for passed in texts)
    there = [decode(passed.data, CRCLCommandInstance) for passed in texts if passed.to_robot]
    kinds = [type(instance.crcl_command).__name__ for instance in there]
    assert [kind for kind in kinds if kind != "GetStatus"] == served.kinds()
    assert abs(texts[0].time_ns / 1e9 - time.time()) < 120


def test_conform_reports_and_exits_0_or_1(cellwright, served):
    choice = ("--only", "init-canon", "--only", "reports")
    ended = cellwright("crcl", "conform", served.address, *choice, "--html", "r/page.html")
    assert ended.code == 0, ended
    assert "init-canon: done after" in ended.out
    assert "EndCanon done" in ended.out
    assert "pass" in Path("r/page.html").read_text()
    ended = cellwright("crcl", "conform", served.address, "--only", "motion", "--no-motion", "--json")
    assert ended.code == 1, "nothing was tried"
    assert ended.json["counts"]["skipped"] == len(ended.json["checks"]) > 10
    assert served.kinds()[-1] == "EndCanon"


def test_conform_says_what_it_will_do_without_connecting(cellwright):
    ended = cellwright("crcl", "conform", "127.0.0.1:1", "--plan", "--reach-mm", 5)
    assert ended.code == 0
    assert "at most 5 mm straight up" in ended.out
    assert "move-to (moves):" in ended.out
    ended = cellwright("crcl", "conform", "127.0.0.1:1", "--plan", "--json")
    assert len(ended.json["checks"]) > 90


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["send", "no.xml", "--to", "h:1"], "cannot read no.xml: No such file or directory"),
        (["send", ".", "--to", "h:1"], "Is a directory"),
        (["send", "bad.xml", "--to", "h:1"], "bad.xml: line 1: is not well-formed XML"),
        (["send", "status.xml", "--to", "h:1"], "status.xml is a status (allowed: CRCLCommandInstance, CRCLProgram)"),
        (["send", "loop.xml", "--to", "h"], "'h' is no address (allowed: HOST:PORT"),
        (["send", "loop.xml", "--to", "h:1", "--units", "mm,furlong"], "unknown unit 'furlong'"),
        (["send", "loop.xml", "--to", "h:1", "--units", "mm,inch"], "'mm' and 'inch' are units of the same kind"),
        (["send", "loop.xml"], "--to"),
        (["status", "host"], "'host' is no address"),
        (["record", "host"], "'host' is no address"),
        (["record", "h:1", "--out", "a", "--xml", "a"], "log and text cannot both be written to a"),
        (["record", "h:1", "--out", "bad.xml/x"], "cannot write bad.xml/x"),
        (["record", "h:1", "--listen", "203.0.113.7:1"], "cannot listen on 203.0.113.7:1"),
        (["conform", "host:port"], "'host:port' is no address"),
        (["conform", "h:1", "--reach-mm", "500"], "reach is 500 mm, allowed 1 to 200 mm"),
        (["conform", "h:1", "--only", "move-too"], "unknown check 'move-too'; did you mean 'move-to'?"),
        (["conform", "h:1", "--html", "bad.xml/x"], "cannot write bad.xml/x"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(refused, tmp_path, arguments, words):
    (tmp_path / "bad.xml").write_text("<CRCLProgram><InitCanon></CRCLProgram>")
    (tmp_path / "loop.xml").write_bytes(encode(program()))
    (tmp_path / "status.xml").write_text(
        "<CRCLStatus><CommandStatus><CommandID>1</CommandID><StatusID>1</StatusID>"
        "<CommandState>CRCL_Done</CommandState></CommandStatus></CRCLStatus>"
    )
    assert words in refused("crcl", *arguments)


def test_a_program_whose_loops_do_not_match_is_refused_before_anything_is_sent(refused, served):
    file = save("p.xml", program(LoopBlockStart(2, "a")))
    assert "starts a loop that does not end" in refused("crcl", "send", file, "--to", served.address)
    assert served.kinds() == []


TALKING = [["status", "PEER"], ["send", "p.xml", "--to", "PEER"], ["conform", "PEER", "--only", "answers"]]


@pytest.mark.parametrize("command", TALKING, ids=lambda command: command[0])
def test_nobody_there_is_one_line_and_exit_1(cellwright, command):
    save("p.xml", program())
    peer = f"127.0.0.1:{free_port()}"
    ended = cellwright("crcl", *[peer if word == "PEER" else word for word in command])
    assert (ended.code, ended.out) == (1, "")
    assert f"cannot connect to {peer}: connection refused" in ended.err.splitlines()[-1]


@pytest.mark.parametrize("command", TALKING, ids=lambda command: command[0])
def test_a_peer_that_does_not_speak_crcl(cellwright, command):
    save("p.xml", program())
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer():
            with contextlib.suppress(OSError):
                while True:
                    peer, _ = other.accept()
                    peer.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        threading.Thread(target=answer, daemon=True).start()
        peer = f"127.0.0.1:{other.getsockname()[1]}"
        ended = cellwright("crcl", *[peer if word == "PEER" else word for word in command])
        assert ended.code == 1
        assert "does not speak CRCL: no message begins with 'SSH-'" in ended.err + ended.out
