"""`cellwright crcl send` in parts, with pauses, and in another frame."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from cellwright.crcl import (
    ActuateJoint,
    ActuateJoints,
    CRCLCommandInstance,
    CRCLProgram,
    CRCLStatus,
    EndCanon,
    InitCanon,
    JointSpeedAccel,
    LengthUnitEnum,
    LoopBlockEnd,
    LoopBlockStart,
    Message,
    MoveTo,
    Point,
    Pose,
    SetLengthUnits,
    SetTransSpeed,
    TransSpeedAbsolute,
    Vector,
    decode,
    encode,
)
from cellwright.crcl.xml_log import read_xml_log

SERVER = Path(__file__).parent.parent / "crcl" / "foreign_server.py"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Files are made in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def address():
    """A server in a process of its own."""
    command = [sys.executable, str(SERVER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield f"127.0.0.1:{int(process.stdout.readline())}"
        process.stdin.close()


def at(z, x=100.0):
    return Pose(Point(x, 0.0, z), Vector(1.0, 0.0, 0.0), Vector(0.0, 0.0, 1.0))


def save(*middle, name="p.xml"):
    program = CRCLProgram(init_canon=InitCanon(1), middle_command=middle, end_canon=EndCanon(99))
    Path(name).write_bytes(encode(program, indent="  "))
    return name


MILLIMETRES = SetLengthUnits(2, LengthUnitEnum.MILLIMETER)
FAST = SetTransSpeed(3, TransSpeedAbsolute(5000.0))


def pose_of(cellwright, address):
    point = decode(cellwright("crcl", "status", address, "--xml").out, CRCLStatus).pose_status.pose.point
    return point.x, point.y, point.z


def done(ended):
    """The commands that were done, as the progress tells them."""
    return [line.split(":")[0].split() for line in ended.err.splitlines() if ": done" in line]


def test_from_and_until_send_the_settings_before_and_nothing_after(cellwright, address):
    file = save(MILLIMETRES, FAST, MoveTo(4, True, at(310.0)), MoveTo(5, True, at(320.0)), MoveTo(6, True, at(330.0)))
    ended = cellwright("crcl", "send", file, "--to", address, "--from", 4, "--until", 4)
    assert ended.code == 0, ended
    assert done(ended) == [
        ["InitCanon"],
        ["1/5", "SetLengthUnits"],
        ["2/5", "SetTransSpeed"],
        ["4/5", "MoveTo"],
        ["EndCanon"],
    ]
    assert "starts at command 4: of those before it only settings are sent" in ended.err
    assert pose_of(cellwright, address)[2] == pytest.approx(0.32), "millimetres, though the unit was set before"


def test_a_program_moves_into_another_frame(cellwright, address):
    joints = ActuateJoints(5, (ActuateJoint(1, 0.5, JointSpeedAccel()),))
    file = save(FAST, MoveTo(4, True, at(50.0, 0.0)), joints)
    way = ("--to", address, "--units", "mm", "--move-frame", "0.1,0,0.26")
    ended = cellwright("crcl", "send", file, *way)
    assert ended.code == 0, ended
    assert pose_of(cellwright, address) == pytest.approx((0.1, 0.0, 0.31))
    assert "command 3, ActuateJoints: joint positions are not moved" in ended.err
    Path("c.xml").write_bytes(encode(CRCLCommandInstance(InitCanon(1))))
    assert cellwright("crcl", "send", "c.xml", "--to", address).code == 0
    Path("c.xml").write_bytes(encode(CRCLCommandInstance(MoveTo(1, True, at(60.0, 0.0)))))
    ended = cellwright("crcl", "send", "c.xml", *way)
    assert ended.code == 0, ended
    assert pose_of(cellwright, address) == pytest.approx((0.1, 0.0, 0.32))


@pytest.mark.slow
def test_a_frame_turns_what_is_sent(cellwright, address):
    save(MILLIMETRES, MoveTo(4, True, at(300.0, 200.0)))
    command = [sys.executable, "-m", "cellwright", "crcl", "record", address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as recording:
        proxy = recording.stderr.readline().split(" connect to ")[1].split(";")[0]
        ended = cellwright("crcl", "send", "p.xml", "--to", proxy, "--move-frame", "0,0,0,0,0,90")
        recording.send_signal(signal.SIGINT)
        recording.communicate(timeout=30)
    assert ended.code == 0
    sent = [decode(passed.data) for passed in read_xml_log(Path("out/crcl.xml")) if passed.to_robot]
    (move,) = [each.crcl_command.end_position for each in sent if isinstance(each.crcl_command, MoveTo)]
    assert (move.point.x, move.point.y, move.point.z) == pytest.approx((0.0, 200.0, 300.0))
    assert (move.x_axis.i, move.x_axis.j, move.x_axis.k) == pytest.approx((0.0, 1.0, 0.0))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--from", "0"], "the command to start at is 0, allowed 1 to 6"),
        (["--from", "4", "--until", "3"], "the command to stop at is 3, allowed 4 to 6"),
        (["--pause-at", "7"], "the command to pause at is 7, allowed 1 to 6"),
        (["--move-frame", "1,2"], "--move-frame takes 3 or 6 numbers, got 2"),
        (["--move-frame", "1,2,x"], "--move-frame takes numbers separated by commas"),
        (["--move-frame", "1,2,nan"], "--move-frame takes finite numbers"),
        (["--move-frame", "1,0,0"], "p.xml, command 2: the unit of its poses is not known"),
        (["--from", "x"], "--from"),
    ],
)
def test_mistakes_are_one_line_exit_2_and_nothing_is_sent(refused, options, words):
    save(
        LoopBlockStart(1, "l"),
        MoveTo(2, True, at(1.0)),
        MILLIMETRES,
        LoopBlockEnd(1, "l", 10**9),
        Message(5, "a"),
        FAST,
    )
    assert words in refused("crcl", "send", "p.xml", "--to", "127.0.0.1:1", *options)


@pytest.mark.parametrize("options", [["--step"], ["--from", "1"], ["--until", "1"], ["--pause-at", "1"]])
def test_one_command_has_no_parts(refused, options):
    Path("c.xml").write_bytes(encode(CRCLCommandInstance(Message(1, "a"))))
    assert "c.xml is one command" in refused("crcl", "send", "c.xml", "--to", "127.0.0.1:1", *options)


def send(address, *options, stdin=subprocess.DEVNULL):
    command = [sys.executable, "-m", "cellwright", "crcl", "send", "p.xml", "--to", address, *options]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read_until(process, words):
    """Lines of progress until one holds the words."""
    lines = []
    while not lines or words not in lines[-1]:
        line = process.stderr.readline()
        assert line, lines
        lines.append(line)
    return lines


@pytest.mark.slow
def test_a_script_pauses_and_goes_on_by_signals(address):
    save(*(Message(index, "a") for index in range(2, 6)))
    with send(address, "--pause-at", "2", "--pause-at", "4") as process:
        lines = read_until(process, "paused before command 2 of 4, Message")
        assert f"kill -USR2 {process.pid} goes on" in lines[-1]
        assert "Enter" not in lines[-1]
        assert not select.select([process.stderr], [], [], 0.3)[0], "nothing is sent meanwhile"
        process.send_signal(signal.SIGUSR2)
        lines = read_until(process, "paused before command 4 of 4")
        assert [line.split(":")[0].split()[0] for line in lines[:-1]] == ["2/4", "3/4"]
        process.send_signal(signal.SIGUSR2)
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out.startswith("done: 6 commands of p.xml")


@pytest.mark.slow
def test_a_signal_pauses_after_the_command_in_progress(address):
    save(SetTransSpeed(2, TransSpeedAbsolute(0.02)), MoveTo(3, True, at(0.31, 0.1)), Message(4, "a"))
    with send(address, "--units", "m") as process:
        read_until(process, "SetTransSpeed: done")
        process.send_signal(signal.SIGUSR1)
        lines = read_until(process, "paused before command")
        assert "pausing after this command" in "".join(lines)
        process.send_signal(signal.SIGUSR2)
        process.communicate(timeout=20)
    assert process.returncode == 0


@pytest.mark.slow
def test_ctrl_c_ends_a_pause_and_stops_the_robot(address):
    save(Message(2, "a"))
    with send(address, "--step") as process:
        read_until(process, "paused before command 1 of 1")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "the robot was stopped" in err
    assert "Traceback" not in err


def test_keys_step_pause_go_on_and_end(address):
    save(*(Message(index, "a") for index in range(2, 8)))
    terminal, inside = pty.openpty()
    before = os.ttyname(inside)
    # The terminal must be the process's own, as in a shell.
    starter = (
        "import fcntl, os, sys, termios; os.setsid(); fd = os.open(sys.argv[1], os.O_RDWR); os.dup2(fd, 0); "
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, [sys.executable, *sys.argv[2:]])"
    )
    words = ["-m", "cellwright", "crcl", "send", "p.xml", "--to", address, "--step"]
    command = [sys.executable, "-c", starter, before, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert "Enter: this command, s: one command, c: goes on, q: ends" in read_until(process, "command 1 of 6")[-1]
        os.write(terminal, b"\n")
        read_until(process, "paused before command 2 of 6")
        os.write(terminal, b"s")
        read_until(process, "paused before command 3 of 6")
        os.write(terminal, b"q")
        _, err = process.communicate(timeout=20)
    os.close(inside)
    os.close(terminal)
    assert process.returncode == 1
    assert err.splitlines()[-1] == "cellwright: ended before command 3 of 6"


@pytest.mark.slow
def test_a_pause_keeps_the_connection_alive(address, cellwright):
    save(Message(2, "a"), Message(3, "b"))
    listening = [sys.executable, "-m", "cellwright", "crcl", "record", address]
    with subprocess.Popen(listening, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as recording:
        proxy = recording.stderr.readline().split(" connect to ")[1].split(";")[0]
        with send(proxy, "--pause-at", "2") as process:
            read_until(process, "paused before command 2")
            time.sleep(2.3)
            process.send_signal(signal.SIGUSR2)
            process.communicate(timeout=20)
        recording.send_signal(signal.SIGINT)
        recording.communicate(timeout=30)
    stamps = [passed.time_ns for passed in read_xml_log(Path("out/crcl.xml")) if passed.to_robot]
    assert max(later - earlier for earlier, later in pairwise(stamps)) < 1.8e9
