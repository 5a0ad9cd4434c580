"""The live view, seen by programs that read its socket as a page does; with browsers: test_live_page.py."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from tests.viewing.watching import PATIENCE_S, Watcher, socket_url
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import cellwright as cw
from cellwright.core import Role
from cellwright.core.errors import BadInput
from cellwright.core.messages import ActionEvent, CrclCommand, CrclStatus
from cellwright.viewing.live import LiveView
from cellwright.viewing.live_process import LiveProcess

pytestmark = pytest.mark.slow  # each runs a laboratory and a process that serves it

ROBOT = "ePuck0"
RUN_S = 3.0
STATUS = "<CRCLStatus><CommandStatus><CommandState>CRCL_{}</CommandState></CommandStatus></CRCLStatus>"


@pytest.fixture
def lab():
    with cw.Lab.from_cell("epucks", seed=7) as lab:
        yield lab


async def drive(lab, duration_s=RUN_S):
    """Drives a robot in a curve."""
    mobile = lab.mobile(ROBOT)
    mobile.move(0.05, 0.5)
    await lab.clock.sleep(duration_s)


def log_of(path, seed=7, **view):
    """Returns the bytes of a log, and what a viewer did to it."""
    with cw.Lab.from_cell("epucks", seed=seed) as lab:
        lab.record(path)
        if not view:
            lab.perform(drive(lab))
        else:
            with LiveView(lab, "0", speed=view.get("speed")) as live:
                clients = view["clients"](live)
                lab.perform(drive(lab))
                live.finish({"status": "done"})
            for client in clients:
                client.join()
    return path.read_bytes()


@pytest.fixture(scope="module")
def unviewed(tmp_path_factory):
    return log_of(tmp_path_factory.mktemp("unviewed") / "log.mcap")


def test_a_program_sees_the_run_that_is_under_way(lab):
    true = []
    lab.bus.subscribe("/truth/poses", lambda _t, message: true.append(message), subscriber="test", role=Role.JUDGE)
    with LiveView(lab, "0", speed=2.0, about={"order": "a drive"}) as view:
        first = Watcher(view.url)
        first.until(lambda w: w.of("scene"))
        lab.perform(drive(lab))
        late = Watcher(view.url)
        late.until(lambda w: w.of("poses"))
        view.finish({"status": "done", "reason": "it was there"})
    for watcher in (first.join(), late.join()):
        assert watcher.end.code == 1001
        assert [header["kind"] for header in watcher.packets[:2]] == ["scene", "rows"]
        about = {}
        for rows in watcher.of("rows"):
            about |= rows.get("about", {})
        assert (about["cell"], about["seed"], about["order"]) == ("epucks", 7, "a drive")
        assert (about["status"], about["reason"]) == ("done", "it was there")
        assert f"{ROBOT} speed" in {one["name"] for rows in watcher.of("rows") for one in rows.get("series", [])}
    bodies = first.of("scene")[0]["bodies"]
    column = first.of("scene")[0]["moving"].index([body["name"] for body in bodies].index(ROBOT))
    told = [
        (message.time_s, *message.positions[message.names.index(ROBOT)]) for message in true if ROBOT in message.names
    ]
    times_s, *places = np.array(told).T
    frames = first.poses()
    assert len(frames) > 20
    for time_s, poses in frames:
        if times_s[0] <= time_s <= times_s[-1]:
            expected = [np.interp(time_s, times_s, place) for place in places]
            assert poses[column, :3] == pytest.approx(expected, abs=2e-4)
    assert np.ptp([poses[column, 0] for _, poses in frames]) > 0.02  # it was under way
    assert late.poses()[-1][1] == pytest.approx(frames[-1][1])


def test_pause_pauses_and_slow_motion_slows(lab):
    with LiveView(lab, "0", speed=1.0) as view:
        watcher = Watcher(view.url)
        seen = {}

        def person():
            watcher.until(lambda w: w.poses() and w.poses()[-1][0] > 0.1)
            watcher.ask("pause")
            stopped = watcher.until(lambda w: [s for s in w.of("state") if s["paused"]])[0]
            time.sleep(1.0)
            seen["paused_s"] = stopped["time_s"], watcher.poses()[-1][0], lab.clock.time_s
            watcher.ask("speed", value=0.1)
            watcher.ask("resume")
            watcher.until(lambda w: [s for s in w.of("state") if not s["paused"] and s["speed"] == 0.1])
            before_s, start_s = lab.clock.time_s, time.monotonic()
            watcher.until(lambda _: lab.clock.time_s > before_s + 0.05)
            seen["slow"] = (lab.clock.time_s - before_s) / (time.monotonic() - start_s)
            watcher.ask("speed", value=None)

        thread = threading.Thread(target=person)
        thread.start()
        lab.perform(drive(lab, 30.0))
        thread.join(PATIENCE_S)
    assert len(set(seen["paused_s"])) == 1
    assert 0.02 < seen["slow"] < 0.35
    assert lab.clock.time_s == pytest.approx(30.0)


@pytest.mark.parametrize("told", ["actions", "commands"])
def test_a_step_ends_with_the_next_action(lab, told):
    ends_s = []

    def publish(number, is_end):
        header = (lab.world.clock.time_ns, 2 * number + is_end, "robot")
        if told == "actions":
            phase = ("start", "end" if number % 2 else "fail")[is_end]
            event = ActionEvent(
                *header, robot="r", action="(act r)", phase=phase, reason="", predicates=(), values=(), evidence=()
            )
            lab.bus.publish("/execution/actions", event)
        lab.bus.publish("/robot/crcl_command", CrclCommand(*header, document="<CRCLCommandInstance/>"))
        lab.bus.publish(
            "/robot/crcl_status", CrclStatus(*header, document=STATUS.format("Done" if is_end else "Working"))
        )

    async def work():
        for number in range(12):
            await lab.clock.sleep(0.1)
            publish(number, False)
            await lab.clock.sleep(0.2)
            publish(number, True)
            ends_s.append(lab.clock.time_s)

    with LiveView(lab, "0", speed=20.0) as view:
        watcher = Watcher(view.url)
        steps = []

        def person():
            watcher.until(lambda w: w.of("scene"))
            for _ in range(3):
                before_s = max(steps, default=0.0)  # a state from before the step may still be on its way
                watcher.ask("step")
                states = watcher.until(
                    lambda w, before_s=before_s: [s for s in w.of("state") if s["paused"] and s["time_s"] > before_s]
                )
                steps.append(states[0]["time_s"])
            watcher.ask("resume")

        view.pause()
        thread = threading.Thread(target=person)
        thread.start()
        lab.perform(work())
        thread.join(PATIENCE_S)
    assert steps == pytest.approx(ends_s[:3], abs=1e-9)


def test_the_log_of_a_viewed_run_is_that_of_an_unviewed_one(tmp_path, unviewed):
    def meddle(watcher, header):
        if header["kind"] == "state" and header["paused"]:
            watcher.ask("resume")
        elif header["kind"] == "poses" and len(watcher.packets) % 4 == 0:
            watcher.ask(("pause", "step")[len(watcher.packets) % 8 // 4])
            watcher.ask("speed", value=(2, 5, 50)[len(watcher.packets) % 3])

    def clients(view):
        meddling, quick = Watcher(view.url, meddle), Watcher(view.url)
        quick.socket.socket.shutdown(socket.SHUT_RDWR)  # a tab that is closed in the middle
        stalled = connect(socket_url(view.url), max_size=None)  # nobody reads it
        clients.kept = stalled
        for junk in ("x" * 5000, "not json", b"\0" * 100):
            with connect(socket_url(view.url)) as one:
                one.send(junk)
                with pytest.raises(ConnectionClosed):
                    list(one)
        return [meddling]

    assert log_of(tmp_path / "viewed.mcap", speed=1.0, clients=clients) == unviewed


@pytest.mark.slow
def test_a_flood_of_commands_is_cut_and_counted(lab):
    with LiveView(lab, "0", speed=None) as view:
        watcher, flood = Watcher(view.url), Watcher(view.url)
        watcher.until(lambda w: w.of("scene"))

        def person():
            with suppress(ConnectionClosed):
                while True:
                    flood.ask("resume")
            flood.join()
            watcher.ask("resume")

        view.pause()
        thread = threading.Thread(target=person)
        thread.start()
        lab.perform(drive(lab, 20.0))
        thread.join(PATIENCE_S)
        assert flood.end.code == 1008
        assert watcher.end is None
        assert "too many commands in a second" in view.refused


def test_a_run_goes_on_when_the_process_of_the_page_is_killed(tmp_path, unviewed):
    said = []
    with cw.Lab.from_cell("epucks", seed=7) as lab:
        lab.record(tmp_path / "log.mcap")
        with LiveView(lab, "0", say=said.append) as view:
            view.pause()
            os.kill(view.pid, signal.SIGKILL)
            lab.perform(drive(lab))
            assert not view.is_open
    assert said == ["the live page has ended, its process is gone; the run goes on"]
    assert (tmp_path / "log.mcap").read_bytes() == unviewed


def test_its_process_ends_with_the_one_that_simulates():
    """Soon, whatever a page still has to read that never reads; a busy machine takes its time."""
    code = """if True:
        import time
        from cellwright.viewing.live_channel import PacketKind
        from cellwright.viewing.live_process import LiveProcess
        from cellwright.viewing.packet import pack
        process = LiveProcess("0")
        process.channel.send(PacketKind.SCENE, pack("scene", {}, bytes(30_000_000)))
        process.channel.flush(20)
        print(process.pid, process.url, flush=True)
        time.sleep(600)
    """
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid, url = parent.stdout.readline().split()
    assert urllib.request.urlopen(url).status == 200
    host = url.split("/")[2]
    stalled = socket.create_connection(host.split(":"))
    stalled.sendall(
        f"GET /live HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
    )
    assert stalled.recv(12) == b"HTTP/1.1 101"
    parent.kill()
    parent.wait()
    end_s = time.monotonic() + 20.0
    while _is_running(int(pid)) and time.monotonic() < end_s:
        time.sleep(0.05)
    assert not _is_running(int(pid))
    stalled.close()


def _is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def process():
    process = LiveProcess("0")
    yield process
    process.close()


@pytest.fixture(scope="module")
def guarded(module_token):
    process = LiveProcess("0")
    yield process
    process.close()


@pytest.fixture(scope="module")
def module_token():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CELLWRIGHT_VIEW_TOKEN", "a-token-for-tests")
        yield "a-token-for-tests"


def status_of(url, **headers):
    """Returns status and text of a page."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_a_page_comes_with_a_strict_policy(process):
    assert status_of(process.url)[0] == status_of(process.url + "index.html")[0] == 200
    assert status_of(process.url + "etc/passwd")[0] == 404
    with urllib.request.urlopen(process.url) as answer:
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Referrer-Policy"] == "no-referrer"


def test_other_sites_and_names_are_refused(process):
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
        code, text = status_of(process.url, **headers)
        assert code == 403
        assert text.count("\n") == 1
    with pytest.raises(InvalidStatus, match="403"):
        connect(socket_url(process.url), origin="http://evil.example")


def test_without_its_token_it_is_refused(guarded, module_token):
    bare = guarded.url.partition("?")[0]
    assert status_of(guarded.url)[0] == 200
    assert guarded.url.endswith(f"?token={module_token}")
    for url in (bare, f"{bare}?token=", f"{bare}?token=b-token-for-tests"):
        code, text = status_of(url)
        assert (code, text.count("\n")) == (403, 1)
        with pytest.raises(InvalidStatus, match="403"):
            connect(socket_url(url))
    connect(socket_url(guarded.url)).close()


def test_a_port_in_use_is_told_in_one_line(process):
    port = process.url.rstrip("/").rpartition(":")[2]
    with pytest.raises(BadInput, match=f"127.0.0.1:{port}: the port is taken; .* --view 0"):
        LiveProcess(port)
    with pytest.raises(BadInput, match=r"cannot show the run at 203\.0\.113\.1:0"):
        LiveProcess("203.0.113.1:0")


def test_half_a_request_hurts_nobody(process):
    host, port = process.url.rstrip("/").rpartition("/")[2].split(":")
    opened = []
    for junk in (b"", b"GET /live HTTP/1.1\r\n", b"\x16\x03\x01" * 1000, b"GET / HTTP/1.1\r\nHost: " + b"a" * 100_000):
        opened.append(socket.create_connection((host, int(port))))
        opened[-1].sendall(junk)
    assert status_of(process.url)[0] == 200
    for one in opened:
        one.close()
