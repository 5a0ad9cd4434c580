from __future__ import annotations

import errno
import importlib
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import fields, replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader

from cellwright.core import Bus, Clock, Role
from cellwright.core.errors import OutputError
from cellwright.core.messages import Beam, CrclStatus, Depth, Image, IoState, JointState, Wrench
from cellwright.record import LostMessages, Recorder, read_log


def test_what_was_published_is_in_the_log(tmp_path, run_on):
    bus, path = Bus(), tmp_path / "run.mcap"
    published = []
    with Recorder(bus, path, metadata={"seed": "7"}) as recorder:
        bus.subscribe(None, lambda topic, message: published.append((topic, message)), subscriber="t", role=Role.JUDGE)
        run_on(bus, seconds=2.5)
    assert recorder.lost == LostMessages()
    assert recorder.recorded == len(published) == 2 * 2 * 125 + 3 * 25
    log = read_log(path)
    assert (log.problem, log.metadata) == ("", {"seed": "7"})
    entries = list(log.entries())
    assert [entry.topic for entry in entries] == [topic for topic, _ in published]
    for entry, (_, message) in zip(entries, published, strict=True):
        assert type(entry.message) is type(message)
        for field in fields(message):
            assert np.array_equal(getattr(entry.message, field.name), getattr(message, field.name)), field.name


def test_the_same_run_gives_the_same_bytes_in_another_process(log_bytes, tmp_path):
    program = (
        "import sys, importlib.util as u\n"
        f"s = u.spec_from_file_location('c', {str(Path(__file__).with_name('conftest.py'))!r})\n"
        "c = u.module_from_spec(s); s.loader.exec_module(c)\n"
        "bus = c.Bus()\n"
        "with c.Recorder(bus, sys.argv[1], metadata=c.METADATA): c.publish_run(bus)\n"
    )
    path = tmp_path / "again.mcap"
    subprocess.run([sys.executable, "-c", program, path], check=True, env={**os.environ, "PYTHONHASHSEED": "99"})
    assert path.read_bytes() == log_bytes


def test_only_the_topics_asked_for(tmp_path, run_on):
    bus = Bus()
    with Recorder(bus, tmp_path / "some.mcap", topics=["/truth/poses", "/fanuc/wrench"]):
        run_on(bus, seconds=1)
    assert set(read_log(tmp_path / "some.mcap").topics) == {"/truth/poses", "/fanuc/wrench"}
    assert not bus.subscriptions


def test_the_clock_tells_when_a_late_message_came(tmp_path):
    bus, clock = Bus(), Clock(0.002)
    with Recorder(bus, tmp_path / "late.mcap", clock=clock):
        clock.tick = 50
        bus.publish("/beam", Beam(40_000_000, 0, "b", frame="gate", interrupted=True))
    (entry,) = read_log(tmp_path / "late.mcap").entries()
    assert (entry.time_ns, entry.message.time_ns) == (100_000_000, 40_000_000)


def test_sources_that_a_standard_type_cannot_carry_are_kept(tmp_path):
    bus = Bus()
    with Recorder(bus, tmp_path / "two.mcap"):
        for number, source in enumerate(("left", "right", "left")):
            bus.publish(
                "/wrench", Wrench(number, number + 7, source, frame="flange", force=np.zeros(3), torque=np.ones(3))
            )
    log = read_log(tmp_path / "two.mcap")
    assert [(e.message.source, e.message.sequence) for e in log.entries()] == [("left", 7), ("right", 8), ("left", 9)]
    assert log.topics["/wrench"].count == 3


def test_a_stranger_s_message_class_needs_no_registration(tmp_path, monkeypatch):
    (tmp_path / "smoke_package.py").write_text(
        "from dataclasses import dataclass\nimport numpy as np\nimport numpy.typing as npt\n"
        "from cellwright.core.messages import Message\n"
        "@dataclass(slots=True)\nclass Smoke(Message):\n"
        "    room: str\n    density: float\n    levels: npt.NDArray[np.float64]\n    alarms: tuple[bool, ...]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    smoke = importlib.import_module("smoke_package").Smoke
    bus = Bus()
    with Recorder(bus, tmp_path / "smoke.mcap") as recorder:
        bus.publish("/smoke", smoke(5, 1, "hall", "north", 0.5, np.array([1.0, 2.0]), (True, False)))
    assert recorder.lost == LostMessages()
    (entry,) = read_log(tmp_path / "smoke.mcap").entries()
    assert type(entry.message) is smoke
    assert (entry.message.room, entry.message.levels.tolist(), entry.message.alarms) == ("north", [1, 2], (True, False))


class FullDisk:
    """Takes some bytes, then has no space left."""

    def __init__(self, capacity: int) -> None:
        self.capacity, self.data = capacity, bytearray()

    def write(self, data: memoryview) -> int:
        if len(self.data) + len(data) > self.capacity:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.data += data
        return len(data)


@pytest.mark.parametrize("part", [0.0, 0.001, 0.02, 0.3, 0.5, 0.8, 0.99])
def test_a_full_disk_ends_the_recording_and_not_the_job(part, tmp_path, run_on, log_bytes):
    bus, disk, heard = Bus(), FullDisk(int(part * len(log_bytes))), []
    recorder = Recorder(bus, disk)
    bus.subscribe("/fanuc/wrench", lambda topic, message: heard.append(message), subscriber="job")
    run_on(bus)
    lost = recorder.close()
    assert len(heard) == 175, "the job went on"
    (tmp_path / "part.mcap").write_bytes(disk.data)
    kept = read_log(tmp_path / "part.mcap").count if disk.data else 0
    assert lost.reason == "No space left on device"
    assert lost.messages == 2 * 2 * 175 + 3 * 35 - kept
    assert recorder.recorded == kept
    assert kept > 0 or part < 0.3


def test_really_full(run_on):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    bus = Bus()
    with Recorder(bus, "/dev/full") as recorder:
        run_on(bus, seconds=1)
    assert recorder.lost == LostMessages(2 * 2 * 50 + 3 * 10, "No space left on device")


def test_a_closed_file_is_no_trouble_for_the_job_either():
    bus, out = Bus(), BytesIO()
    recorder = Recorder(bus, out, chunk_s=0.01)
    out.close()
    for step in range(3):
        bus.publish("/beam", Beam(step * 20_000_000, step, "b", frame="gate", interrupted=True))
    assert recorder.close() == LostMessages(3, "I/O operation on closed file.")


def test_a_message_that_cannot_be_encoded_is_left_out_and_told(tmp_path):
    bus, path = Bus(), tmp_path / "odd.mcap"
    with Recorder(bus, path) as recorder:
        bus.publish("/io", IoState(0, 0, "r", names=("a",), values=(True,)))
        bus.publish("/io", IoState(1, 1, "r", names=["a"], values=(True,)))
        bus.publish("/io", IoState(2, 2, "r", names=("a",), values=(False,)))
        bus.publish("/crcl", CrclStatus(3, 2**32, "r", document="sequence out of range"))
        bus.publish("/crcl", CrclStatus(-5, 0, "r", document="time out of range"))
    assert recorder.lost.messages == 3
    assert recorder.lost.reason.startswith("/io: IoState.names cannot be encoded as string[]")
    log = read_log(path)
    assert [entry.message.sequence for entry in log.entries()] == [0, 2]
    assert log.problem == ""
    assert (log.metadata["lost.messages"], log.metadata["lost.reason"]) == ("3", recorder.lost.reason)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("missing/run.mcap", "No such file or directory"),
        (".", "Is a directory"),
        ("plain.txt/run.mcap", "Not a directory"),
        ("zero\0.mcap", "embedded null"),
    ],
)
def test_a_path_that_cannot_be_written_is_refused_at_once(tmp_path, target, reason):
    (tmp_path / "plain.txt").touch()
    bus = Bus()
    with pytest.raises(OutputError, match=reason) as caught:
        Recorder(bus, tmp_path / target)
    assert str(caught.value).startswith("cannot write ")
    assert not bus.subscriptions


def test_closing_twice_is_harmless(tmp_path):
    bus, path = Bus(), tmp_path / "twice.mcap"
    recorder = Recorder(bus, path)
    bus.publish("/beam", Beam(0, 0, "b", frame="gate", interrupted=True))
    recorder.close()
    before = path.read_bytes()
    bus.publish("/beam", Beam(1, 1, "b", frame="gate", interrupted=True))
    assert recorder.close() == LostMessages()
    assert path.read_bytes() == before


KILLED = """
import os, signal, sys
import numpy as np
from cellwright.core import Bus
from cellwright.core.messages import JointState
from cellwright.record import Recorder
bus = Bus()
recorder = Recorder(bus, sys.argv[1])
for step in range(1000):
    if step == 175:
        os.kill(os.getpid(), signal.SIGKILL)
    zero = np.zeros(1)
    values = {"names": ("a",), "position": zero, "velocity": zero, "effort": zero}
    bus.publish("/robot", JointState(step * 20_000_000, step, "r", **values))
"""


def test_a_killed_process_loses_at_most_a_simulated_second(tmp_path):
    path = tmp_path / "killed.mcap"
    ended = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert ended.returncode == -signal.SIGKILL
    log = read_log(path)
    assert [entry.message.sequence for entry in log.entries()] == list(range(150)), "3 of 3.5 s"
    assert log.problem == "the file was cut off, or is still being written: its last messages are missing"


def test_an_interrupt_at_any_point_leaves_a_sound_log(tmp_path):
    """KeyboardInterrupt may come between any two opcodes of the writer, here in a run that writes a chunk too."""
    path = tmp_path / "interrupted.mcap"
    message = JointState(0, 0, "r", names=("a",), position=np.zeros(1), velocity=np.zeros(1), effort=np.zeros(1))
    outcomes = set()
    for target in range(2000):
        reached = 0

        def trace(frame, event, argument, target=target):
            nonlocal reached
            frame.f_trace_opcodes = frame.f_code.co_filename.endswith("writer.py")
            if event == "opcode":
                reached += 1
                if reached == target + 1:
                    raise KeyboardInterrupt
            return trace

        bus = Bus()
        with Recorder(bus, path, chunk_s=0) as recorder:
            bus.publish("/robot", message)
            sys.settrace(trace)
            with suppress(KeyboardInterrupt):
                bus.publish("/robot", replace(message, time_ns=1, sequence=1))
            sys.settrace(None)
            bus.publish("/robot", replace(message, time_ns=2, sequence=2))
        log = read_log(path)
        sequences = [entry.message.sequence for entry in log.entries()]
        assert sequences == sorted(set(sequences)), target
        assert "damaged" not in log.problem, target
        assert recorder.recorded <= len(sequences), target
        if not log.problem:
            outcomes.add(len(sequences))
            assert recorder.recorded == len(sequences), target
            with path.open("rb") as file:
                assert len(list(make_reader(file, validate_crcs=True).iter_messages())) == len(sequences), target
        if reached < target + 1:
            break
    else:
        pytest.fail("the end was not reached")
    assert outcomes >= {2, 3}


def picture(number: int) -> Image:
    pixels = np.full((20, 30, 3), number, np.uint8)
    return Image(number * 10**8, number, "eye", frame="eye/optical", encoding="rgb8", pixels=pixels)


def test_pictures_and_depths_come_back_as_what_they_were(tmp_path):
    bus, path = Bus(), tmp_path / "run.mcap"
    depth = Depth(0, 0, "deep", frame="deep/optical", depth_m=np.array([[1.5, np.nan]], np.float32))
    with Recorder(bus, path):
        bus.publish("/eye/image_raw", picture(0))
        bus.publish("/deep/depth", depth)
    entries = {entry.topic: entry.message for entry in read_log(path).entries()}
    assert type(entries["/eye/image_raw"]) is Image
    assert type(entries["/deep/depth"]) is Depth
    assert np.array_equal(entries["/eye/image_raw"].pixels, picture(0).pixels)
    assert np.array_equal(entries["/deep/depth"].depth_m, depth.depth_m, equal_nan=True)
    assert entries["/deep/depth"].source == "deep"
    assert path.stat().st_size < 5000  # compressed


def test_beyond_their_limit_pictures_are_left_out_and_counted(tmp_path):
    bus, path = Bus(), tmp_path / "run.mcap"
    with Recorder(bus, path, max_picture_bytes=4500) as recorder:
        for number in range(5):
            bus.publish("/eye/image_raw", picture(number))
            bus.publish("/x", Beam(number * 10**8, number, "x", frame="f", interrupted=False))
    reason = "/eye/image_raw: pictures have filled the limit of 4500 bytes"
    assert recorder.lost == LostMessages(3, reason)
    log = read_log(path)
    assert (log.topics["/eye/image_raw"].count, log.topics["/x"].count) == (2, 5)
    assert (log.metadata["lost.messages"], log.metadata["lost.reason"]) == ("3", reason)
