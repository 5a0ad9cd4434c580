from __future__ import annotations

import _thread
import asyncio
import subprocess
import sys
import threading
import time

import pytest

from cellwright.crcl import CRCLProgram, EndCanon, InitCanon, StopMotion
from cellwright.crcl.blocking import BlockingCrclClient
from cellwright.crcl.connection import ConnectionFailed
from cellwright.crcl.options import ClientOptions
from cellwright.crcl.outcome import OutcomeState

QUICK = ClientOptions(poll_s=0.01, status_s=1.0, refusal_s=0.1)


@pytest.fixture
def served(other_server):
    """A server on a thread of its own, and its address."""
    server, loop = other_server(), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    address = asyncio.run_coroutine_threadsafe(server.start(), loop).result(5)
    yield server, address
    asyncio.run_coroutine_threadsafe(server.stop(), loop).result(5)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_the_same_calls_without_await(served, move_to):
    server, address = served
    with BlockingCrclClient(address, options=QUICK) as robot:
        assert robot.status().command_status.command_id == -1
        assert robot.execute(InitCanon(0)).done
        assert robot.execute(move_to(0.25)).check().status.pose_status.pose.point.x == pytest.approx(0.25)
        program = CRCLProgram(init_canon=InitCanon(1), middle_command=(move_to(0.5),), end_canon=EndCanon(2))
        told = []
        assert robot.run(program, on_progress=told.append).done
        assert len(told) == 6
        part = CRCLProgram(
            init_canon=InitCanon(1), middle_command=tuple(map(move_to, (0.1, 0.6, 0.2))), end_canon=EndCanon(2)
        )
        assert robot.run(part, start=2, until=2).executed == 3
    assert server.x_m == pytest.approx(0.6)
    assert not [thread for thread in threading.enumerate() if thread.name == "crcl client"]


def test_abort_from_another_thread(served, move_to):
    server, address = served
    server.move_s = 5.0
    with BlockingCrclClient(address, options=QUICK) as robot:
        robot.execute(InitCanon(0))
        threading.Timer(0.2, robot.abort).start()
        started_s = time.monotonic()
        assert robot.execute(move_to(1.0)).state is OutcomeState.ABORTED
        assert time.monotonic() - started_s < 2.0
        robot.close()
        with pytest.raises(RuntimeError, match="not open"):
            robot.status()


def test_an_interrupt_stops_the_robot(served, move_to):
    server, address = served
    server.move_s = 5.0
    with BlockingCrclClient(address, options=QUICK) as robot:
        robot.execute(InitCanon(0))
        threading.Timer(0.3, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            robot.execute(move_to(1.0))
    assert isinstance(server.executed[-1], StopMotion)
    assert 0.0 < server.x_m < 0.5


def test_nobody_there():
    with pytest.raises(ConnectionFailed):
        BlockingCrclClient("127.0.0.1:1").open()
    assert not [thread for thread in threading.enumerate() if thread.name == "crcl client"]


def test_a_program_that_forgets_to_close_ends_without_a_word(served):
    program = f"""
import cellwright as cw
robot = cw.BlockingCrclClient({served[1]!r}).open()
print(robot.status().command_status.command_id)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr, done.returncode) == ("-1\n", "", 0)
