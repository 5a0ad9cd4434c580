"""The laboratory's side of a bridge, with the real process of rosbridge: it waits for nothing, and nothing ends it."""

import asyncio
import json
import os
import signal
import socket
import threading
import time
from collections import Counter

import pytest
from websockets.sync.client import connect

from cellwright.core.errors import BadInput
from cellwright.interfaces.ros import BRIDGES, BridgeOptions, bridge
from cellwright.interfaces.ros.laboratory import graph_of
from cellwright.lab import Lab

PATIENCE_S = 15.0
TOPICS = ("/ePuck0/odom", "/ePuck0/encoders", "/ePuck0/proximity0", "/tf", "/clock")


def bridged(lab, address="0", **options):
    return BRIDGES.get("rosbridge")(lab, graph_of(lab), address, BridgeOptions(**options))


class Listener:
    """A client in a thread's hands."""

    def __init__(self, url, topics=TOPICS):
        self._websocket = connect(url, compression=None, max_size=None, max_queue=None)
        for topic in topics:
            self.send(op="subscribe", topic=topic)
        self.call("/rosapi/get_time")

    def send(self, **operation):
        self._websocket.send(json.dumps(operation))

    def receive(self):
        return json.loads(self._websocket.recv(PATIENCE_S))

    def call(self, service, **args):
        self.send(op="call_service", id="1", service=service, args=args)
        while (answer := self.receive())["op"] != "service_response":
            pass
        return answer["values"]

    def close(self):
        self._websocket.close()


async def in_thread(work, *args):
    """Does something that takes wall time; no simulation time passes meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(None, work, *args)


def drive(robot):
    robot.move(0.08, 0.6)


@pytest.mark.slow
@pytest.mark.parametrize("fidelity", ["physics", "kinematic"])
def test_a_run_with_a_bridge_and_its_client_is_logged_to_the_same_bytes(tmp_path, fidelity):
    logs, counts = [], Counter()
    for is_bridged in (False, True):
        log = tmp_path / f"{is_bridged}.mcap"
        with Lab.from_cell("epucks", 5, fidelity=fidelity) as lab:

            async def run(is_bridged=is_bridged, lab=lab):
                made = await bridged(lab).start() if is_bridged else None
                listener = await in_thread(Listener, made.address) if made else None
                drive(lab.mobile("ePuck0"))
                await lab.clock.sleep(1.7)
                if listener:
                    await in_thread(listener.call, "/rosapi/get_time")
                    counts["heard"] = made._subscriptions.keys() >= {"/ePuck0/odom"}
                    listener.close()
                    assert not made.dropped
                    await made.close()

            lab.record(log)
            lab.perform(run())
        logs.append(log.read_bytes())
    assert counts["heard"]
    assert logs[0] == logs[1]


@pytest.mark.slow
def test_what_the_laboratory_refuses_is_told_to_who_sent_it():
    def mistake(listener):
        listener.send(op="publish", topic="/ePuck0/cmd_vel", msg={"linear": {"x": None}})
        while (answer := listener.receive())["op"] != "status":
            pass
        return answer

    lines = []
    with Lab.from_cell("epucks", pace=1.0) as lab:

        async def run():
            made = await bridged(lab, say=lines.append).start()
            listener = await in_thread(lambda: Listener(made.address, ()))
            told = asyncio.ensure_future(in_thread(mistake, listener))
            while not told.done():
                await lab.clock.sleep(0.05)
            listener.close()
            await made.close()
            return told.result(), made.refused

        answer, refused = lab.perform(run())
    assert answer["level"] == "error"
    assert "/ePuck0/cmd_vel: a speed of ePuck0 is six finite numbers, not [nan" in answer["msg"]
    assert refused == {"/ePuck0/cmd_vel": 1}
    assert any("refused: /ePuck0/cmd_vel" in line for line in lines)


@pytest.mark.slow
def test_what_nobody_listens_to_any_more_is_not_encoded():
    with Lab.from_cell("epucks", pace=1.0) as lab:

        async def run():
            made = await bridged(lab).start()
            listener = await in_thread(Listener, made.address)
            heard = lab.bus.is_waited_for("/ePuck0/odom")
            listener.close()
            for _ in range(round(PATIENCE_S / 0.05)):
                if not lab.bus.is_waited_for("/ePuck0/odom"):
                    break
                await lab.clock.sleep(0.05)
            ended = not lab.bus.is_waited_for("/ePuck0/odom")
            await made.close()
            return heard, ended

        assert lab.perform(run()) == (True, True)


@pytest.mark.slow
def test_its_process_is_killed_and_comes_back_at_the_same_address_while_the_simulation_goes_on():
    lines, clocks = [], []

    async def run():
        made = await bridged(lab, say=lines.append).start()
        address = made.address
        listener = await in_thread(Listener, address)
        await lab.clock.sleep(0.2)
        assert (await in_thread(listener.receive))["op"] == "publish"
        os.kill(made.pid, signal.SIGKILL)
        end_s = time.monotonic() + PATIENCE_S
        while not any("there again" in line for line in lines) and time.monotonic() < end_s:
            await lab.clock.sleep(0.05)
            clocks.append(lab.clock.time_s)
        assert made.address == address
        again = await in_thread(Listener, address)
        await lab.clock.sleep(0.2)
        assert (await in_thread(again.receive))["op"] == "publish"
        assert (await in_thread(lambda: again.call("/rosapi/get_time")))["time"]["secs"] >= 1
        again.close()
        await made.close()

    with Lab.from_cell("epucks", pace=1.0) as lab:
        lab.perform(run())
    assert clocks[-1] - clocks[0] > 0.8  # it went on meanwhile
    assert "the process of rosbridge has gone; another one is started, the simulation goes on" in lines[0]
    assert lines[1].startswith("rosbridge is there again, at ws://127.0.0.1:")


@pytest.mark.slow
def test_a_process_that_hangs_loses_messages_which_are_counted_and_nothing_waits_for_it(monkeypatch):
    monkeypatch.setattr(bridge, "ROOM_BYTES", 50_000)
    lines = []

    async def run():
        made = await bridged(lab, say=lines.append).start()
        listener = await in_thread(Listener, made.address)
        process = made.pid
        os.kill(process, signal.SIGSTOP)
        try:
            await lab.clock.sleep(40.0)
        finally:
            os.kill(process, signal.SIGCONT)
        assert sum(made.dropped.values()) > 100
        listener.send(op="publish", topic="/ePuck0/cmd_vel", msg={"linear": {"x": None}})
        while not made.refused["/ePuck0/cmd_vel"]:
            await lab.clock.sleep(0.01)
            await in_thread(time.sleep, 0.005)
        assert made.pid == process
        dropped = made.dropped.copy()
        await lab.clock.sleep(0.5)
        assert made.dropped == dropped
        listener.close()
        await made.close()

    with Lab.from_cell("epucks") as lab:
        lab.perform(run())
    told = [line for line in lines if "/ePuck0/odom had no room" in line]
    assert len(told) > 3
    assert told[1].endswith("(2 times)")
    assert any("refused: /ePuck0/cmd_vel: a speed" in line for line in lines)


@pytest.mark.slow
def test_at_full_pace_clients_have_the_simulated_time():
    async def run():
        lab.loop.pacing.speed = None
        made = await bridged(lab).start()
        listener = await in_thread(Listener, made.address, ("/clock",))

        def watch():
            first, start_s, ticks = listener.receive()["msg"]["clock"], time.monotonic(), 0
            while time.monotonic() < start_s + 0.5:
                last, ticks = listener.receive()["msg"]["clock"], ticks + 1
            return last["secs"] - first["secs"], ticks

        watching = threading.Thread(target=lambda: seen.extend(watch()))
        watching.start()
        while watching.is_alive():
            await lab.clock.sleep(0.1)
        listener.close()
        await made.close()

    seen = []
    with Lab.from_cell("epucks", pace=1.0) as lab:
        lab.perform(run())
    seconds, ticks = seen
    assert seconds >= 2
    assert ticks >= 20  # a busy machine serves the process of the bridge seldom


def test_a_port_that_is_taken_is_bad_input():
    async def run():
        await bridged(lab, str(taken.getsockname()[1])).start()

    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        Lab.from_cell("epucks") as lab,
        pytest.raises(BadInput, match="the port is taken; name another one, or take a free one with --bridge"),
    ):
        lab.perform(run())
