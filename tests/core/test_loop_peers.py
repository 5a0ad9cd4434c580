"""The event loop with others: threads, sockets, processes, the wall clock."""

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
import time

import pytest

from cellwright.core.errors import SimulationError
from cellwright.core.loop import LAG_S

# Threads


def test_time_stands_still_while_a_thread_works(bench):
    async def main():
        background = asyncio.create_task(bench.clock.sleep(1))
        await bench.clock.sleep(0.1)
        results = [await bench.loop.run_in_executor(None, time.sleep, 0.05), await asyncio.to_thread(sum, [1, 2])]
        assert bench.tick == 50
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 / 0)
        assert bench.tick == 50
        both = asyncio.gather(asyncio.to_thread(time.sleep, 0.02), asyncio.to_thread(time.sleep, 0.03))
        await asyncio.wait_for(both, 0.002)  # simulated: cannot run out
        assert bench.tick == 50
        await background
        return results

    assert bench.run(main()) == [None, 3]
    assert bench.tick == 500


def test_a_cancelled_thread_does_not_hold_time_for_ever(bench):
    release = threading.Event()

    async def main():
        work = asyncio.create_task(asyncio.to_thread(release.wait, 10))
        await asyncio.sleep(0)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await bench.clock.sleep(0.1)
        release.set()
        return bench.tick

    assert bench.run(main()) == 50


@pytest.mark.parametrize("pace", [None, 1.0])
def test_a_thread_wakes_a_task(make, pace):
    bench = make(pace=pace, horizon_s=1e8)
    caller = []

    async def main():
        future = bench.loop.create_future()

        def later():
            caller.append(threading.get_ident())
            bench.loop.call_soon_threadsafe(future.set_result, "from a thread")

        thread = threading.Timer(0.1, later)
        thread.start()
        result = await future
        thread.join()
        return result

    assert bench.run(main()) == "from a thread"
    assert caller != [threading.get_ident()]


def test_a_thread_ends_a_stretch_of_simulation(make):
    bench = make(wall_s_per_tick=0.002)  # a stretch to the next look at the sockets would take a second

    async def main():
        future = bench.loop.create_future()
        thread = threading.Timer(0.05, bench.loop.call_soon_threadsafe, (future.set_result, None))
        thread.start()
        await future
        thread.join()
        return bench.tick

    assert bench.run(main()) < 450


# Sockets


async def echo(reader, writer):
    with contextlib.closing(writer):
        while line := await reader.readline():
            writer.write(line.upper())
            await writer.drain()


def test_a_local_socket_at_full_speed_takes_no_simulated_time(bench):
    async def main():
        background = asyncio.create_task(bench.clock.sleep(100))
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            ticks = []
            for n in range(20):
                writer.write(b"gear %d\n" % n)
                assert await reader.readline() == b"GEAR %d\n" % n
                ticks.append(bench.tick)
                await bench.clock.sleep(0.01)
            writer.close()
            await writer.wait_closed()
        background.cancel()
        return ticks

    first = bench.run(main())
    assert first == [first[0] + 5 * n for n in range(20)]


def test_an_external_peer_is_heard_at_full_speed(bench):
    async def main():
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            peer = threading.Timer(0.05, theirs.sendall, [b"x"])
            peer.start()
            data = await bench.loop.sock_recv(ours, 10)
            peer.join()
        return data

    assert bench.run(main()) == b"x"
    assert bench.tick < 43_000_000  # long before the horizon


def test_peers_that_talk_for_ever_without_time_are_an_error(bench, short_patience):
    async def main():
        ours, theirs = socket.socketpair()
        with ours, theirs:
            for end in (ours, theirs):
                bench.loop.add_reader(end, lambda end=end: end.send(end.recv(10)))
            ours.send(b"ping")
            try:
                await asyncio.Event().wait()
            finally:
                bench.loop.remove_reader(ours)
                bench.loop.remove_reader(theirs)

    with pytest.raises(SimulationError, match="stands still"):
        bench.run(main())


CLIENT = """
import socket, sys, time
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
    file = connection.makefile("rwb")
    for n in range(int(sys.argv[2])):
        start = time.monotonic()
        file.write(b"gear %d\\n" % n)
        file.flush()
        assert file.readline() == b"GEAR %d\\n" % n
        time.sleep(float(sys.argv[3]))
print("all answered")
"""


@pytest.mark.parametrize("pace", [1.0, 5.0])
def test_paced_with_a_client_in_another_process(make, pace):
    bench = make(pace=pace)

    async def main():
        done = asyncio.Event()

        async def serve(reader, writer):
            await echo(reader, writer)
            done.set()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            command = [sys.executable, "-c", CLIENT, str(port), "20", "0.01"]
            client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            ticking = asyncio.create_task(bench.clock.sleep(1e6))
            try:
                start_tick, start_s = bench.tick, time.monotonic()
                await asyncio.wait_for(done.wait(), 60 * pace)
                elapsed_s, simulated_s = time.monotonic() - start_s, (bench.tick - start_tick) * 0.002
            finally:
                output = client.communicate(timeout=30)[0]
            ticking.cancel()
        return output, elapsed_s, simulated_s

    output, elapsed_s, simulated_s = bench.run(main())
    assert output == "all answered\n"
    # Time never runs ahead of the wall, and what it lacks has been counted as slipped (or is still within the lag).
    assert simulated_s <= (elapsed_s + LAG_S + 0.05) * pace  # what it may have been late by, it may catch up
    assert simulated_s >= (elapsed_s - bench.loop.pacing.slipped_s - 0.15) * pace


def test_paced_time_follows_the_wall(make):
    bench = make(pace=10.0)
    start_s = time.monotonic()
    bench.run(bench.clock.sleep(2.0))
    assert time.monotonic() - start_s >= 0.19  # never ahead; a busy machine may be behind
    assert bench.tick == 1000


@pytest.mark.slow
def test_time_slips_when_the_stepper_is_too_slow(make):
    bench = make(pace=1.0, wall_s_per_tick=0.006)
    start_s = time.monotonic()
    bench.run(bench.clock.sleep(0.4))
    elapsed_s = time.monotonic() - start_s
    assert bench.tick == 200  # every tick was taken
    assert bench.loop.pacing.slipped_s > 0.3
    assert 0.4 + bench.loop.pacing.slipped_s <= elapsed_s + 0.01  # what slipped is wall time that was not simulated


def test_a_fast_stepper_does_not_slip_for_itself(make):
    bench = make(pace=1.0)
    start_s = time.monotonic()
    bench.run(bench.clock.sleep(0.3))
    late_s = time.monotonic() - start_s - 0.3
    assert bench.loop.pacing.slipped_s <= max(0.0, late_s)


def test_a_paced_clock_goes_on_under_tasks_that_are_always_ready(make):
    bench = make(pace=10.0)

    async def busy():
        while True:
            await asyncio.sleep(0)

    async def main():
        bench.busy = asyncio.create_task(busy())
        await bench.clock.sleep(2)

    bench.run(main())
    assert bench.tick >= 1000


def test_an_interrupt_wakes_at_its_tick_in_slow_motion_too(make):
    bench = make(pace=0.02)  # a tick takes 0.1 s of wall time

    async def main():
        future = bench.loop.create_future()
        bench.stepper.at(2, lambda: future.set_result(time.monotonic()))
        set_s = await future
        return bench.tick, time.monotonic() - set_s

    tick, delay_s = bench.run(main())
    assert tick == 2
    assert delay_s < 0.08  # at once, not when the next tick is due


def test_a_paced_run_has_a_horizon(make):
    bench = make(pace=100.0, horizon_s=1.0)
    with pytest.raises(SimulationError, match="horizon"):
        bench.run(asyncio.Event().wait())
    assert bench.tick == 500
