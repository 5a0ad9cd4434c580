"""The clients that people use: roslibpy, roslib from npm under Node, and a page with roslib in Chromium."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.interfaces.ros.test_bridge import Listener

pytestmark = pytest.mark.peer

PROGRAM = Path(__file__).with_name("roslib_program.mjs")
ROSLIB = "roslib@2.1.0"
PATIENCE_S = 30.0
ROBOT = "ePuck0"
PAGE = """<!doctype html><title>starting</title><script type="importmap">{"imports": {
  "roslib": "./node_modules/roslib/dist/RosLib.js", "cbor2": "./node_modules/cbor2/lib/index.js",
  "eventemitter3": "./node_modules/eventemitter3/dist/eventemitter3.esm.js",
  "fast-png": "./node_modules/fast-png/lib/index.js",
  "uuid": "./node_modules/uuid/dist/index.js", "bson": "./node_modules/bson/lib/bson.mjs",
  "iobuffer": "./node_modules/iobuffer/lib/iobuffer.js", "fflate": "./node_modules/fflate/esm/browser.js",
  "@cto.af/wtf8": "./node_modules/@cto.af/wtf8/lib/index.js"}}</script>
<canvas width="52" height="39"></canvas><script type="module">
  import { Ros, Topic } from "roslib";
  const ros = new Ros({ url: "%s" });
  ros.on("error", () => (document.title = "refused"));
  const topic = (name, messageType) => new Topic({ ros, name, messageType, compression: "cbor" });
  const speeds = topic("/ePuck2/cmd_vel", "geometry_msgs/Twist");
  const ink = document.querySelector("canvas").getContext("2d");
  let first, isSeen = false;
  ros.on("connection", () => speeds.publish({ linear: { x: 0.05 }, angular: { z: 0 } }));
  topic("/ePuck2/camera", "sensor_msgs/Image").subscribe(({ width, height, data }) => {
    const picture = ink.createImageData(width, height);
    for (let i = 0; i < width * height; i++)
      picture.data.set([data[3 * i], data[3 * i + 1], data[3 * i + 2], 255], 4 * i);
    ink.putImageData(picture, 0, 0);
    isSeen = new Set(data).size > 10;
  });
  topic("/ePuck2/odom", "nav_msgs/Odometry").subscribe(({ pose: { pose: { position } } }) => {
    first ??= position;
    if (isSeen && Math.hypot(position.x - first.x, position.y - first.y) > 0.01) {
      speeds.publish({});
      document.title = "driven";
    }
  });
</script>"""
KILLED = """
import sys, time, roslibpy
ros = roslibpy.Ros(sys.argv[1])
ros.run(10)
roslibpy.Topic(ros, "/ePuck0/odom", "nav_msgs/Odometry").subscribe(lambda message: print("got", flush=True))
time.sleep(60)
"""


class Served:
    """A cell that is served to clients of rosbridge."""

    def __init__(self, process):
        self._process = process
        self.url = json.loads(process.stdout.readline())["bridges"]["rosbridge"]
        self.lines = []
        threading.Thread(target=lambda: self.lines.extend(process.stderr), daemon=True).start()

    @property
    def bridge_pid(self):
        """The number of the bridge's process."""
        (pid,) = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        return int(pid)

    @property
    def is_running(self):
        return self._process.poll() is None


@contextmanager
def serving(cell, *options):
    command = [sys.executable, "-m", "cellwright", "serve", cell, "--bridge", "rosbridge=0", "--any-port", "--json"]
    with subprocess.Popen([*command, *options], stdout=-1, stderr=-1, text=True) as process:
        try:
            assert select.select([process.stdout], [], [], PATIENCE_S)[0], "it says nothing"
            yield Served(process)
            assert process.poll() is None
            process.terminate()
            assert process.wait(PATIENCE_S) == 0
        finally:
            process.kill()


@pytest.fixture(scope="module")
def cell():
    with serving("epucks") as served:
        yield served


@pytest.fixture
def roslibpy():
    return pytest.importorskip("roslibpy", reason="not in Debian: roslibpy is of the extra peers")


@pytest.fixture
def connected(roslibpy):
    """A function that connects."""
    clients = []

    def connect(url):
        clients.append(roslibpy.Ros(url))
        clients[-1].run(PATIENCE_S)
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


@pytest.fixture(scope="session")
def roslib(tmp_path_factory):
    """A folder with roslib in it."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("not in Debian: Node 20 with npm")
    folder = tmp_path_factory.mktemp("roslib")
    command = [
        "npm",
        "install",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--no-package-lock",
        "--prefix",
        folder,
        ROSLIB,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        pytest.skip(f"not in Debian: npm cannot install {ROSLIB}: {done.stderr.strip().splitlines()[:1]}")
    shutil.copy(PROGRAM, folder)
    return folder


def until(is_so):
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s, "it does not happen"
        time.sleep(0.01)


def test_roslibpy_drives_an_epuck_and_two_clients_see_the_same(cell, roslibpy, connected):
    driver, looker = connected(cell.url), connected(cell.url)
    seen = {client: [] for client in (driver, looker)}
    for client, messages in seen.items():
        roslibpy.Topic(client, f"/{ROBOT}/odom", "nav_msgs/Odometry").subscribe(messages.append)
    speeds = roslibpy.Topic(driver, f"/{ROBOT}/cmd_vel", "geometry_msgs/Twist")
    speeds.advertise()
    until(lambda: all(seen.values()))
    first = seen[driver][0]["pose"]["pose"]["position"]
    speeds.publish(roslibpy.Message({"linear": {"x": 0.05}, "angular": {"z": 0.0}}))
    until(lambda: abs(seen[driver][-1]["pose"]["pose"]["position"]["x"] - first["x"]) > 0.01)
    speeds.publish(roslibpy.Message({}))
    until(lambda: len(seen[looker]) > 20)
    by_time = [{str(m["header"]["stamp"]): m for m in list(messages)} for messages in seen.values()]
    both = by_time[0].keys() & by_time[1].keys()
    assert len(both) > 10
    assert all(by_time[0][stamp] == by_time[1][stamp] for stamp in both)


def test_roslibpy_asks_what_there_is_calls_and_is_called(cell, roslibpy, connected):
    one, two = connected(cell.url), connected(cell.url)
    assert f"/{ROBOT}/odom" in one.get_topics()
    assert one.get_topic_type(f"/{ROBOT}/cmd_vel") == "geometry_msgs/Twist"
    assert f"/{ROBOT}/odom" in one.get_topics_for_type("nav_msgs/Odometry")
    assert one.get_message_details("sensor_msgs/Range")["typedefs"][0]["type"] == "sensor_msgs/Range"
    assert "/rosapi/topics" in one.get_services()
    assert one.get_service_type("/rosapi/topics") == "rosapi/Topics"
    assert one.get_node_details("/cellwright")["publishing"]
    before = one.get_time()
    time.sleep(0.2)
    assert one.get_time().to_sec() > before.to_sec()
    one.set_param("/gains", {"p": [1.5, None]})
    assert two.get_param("/gains") == {"p": [1.5, None]}
    assert "/gains" in two.get_params()
    two.delete_param("/gains")
    adding = roslibpy.Service(one, "/add_here", "rospy_tutorials/AddTwoInts")

    def add(request, response):
        response["sum"] = request["a"] + request["b"]
        return True

    adding.advertise(add)
    until(lambda: "/add_here" in two.get_services())
    ask = roslibpy.Service(two, "/add_here", "rospy_tutorials/AddTwoInts")
    assert ask.call(roslibpy.ServiceRequest({"a": 1, "b": 2}), timeout=PATIENCE_S)["sum"] == 3
    with pytest.raises(Exception, match="there is no service /none"):
        roslibpy.Service(two, "/none", "std_srvs/Empty").call(roslibpy.ServiceRequest(), timeout=PATIENCE_S)
    chatter, heard = roslibpy.Topic(one, "/chatter", "std_msgs/String"), []
    roslibpy.Topic(two, "/chatter", "std_msgs/String").subscribe(heard.append)
    until(lambda: two.get_topics())
    chatter.publish(roslibpy.Message({"data": "hello"}))
    until(lambda: heard)
    assert heard == [{"data": "hello"}]


def test_roslib_of_npm_drives_looks_and_calls_a_service_of_roslibpy(cell, roslib, roslibpy, connected):
    client = connected(cell.url)
    client.set_param("/set_by_roslibpy", [1, "two"])
    adding = roslibpy.Service(client, "/add_two_ints", "rospy_tutorials/AddTwoInts")

    def add(request, response):
        response["sum"] = request["a"] + request["b"]
        return True

    adding.advertise(add)
    until(lambda: "/add_two_ints" in client.get_services())
    command = ["node", Path(roslib) / PROGRAM.name, cell.url, "ePuck1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["moved_m"] > 0.02
    assert told["covariance"] == ["Float64Array", 36]
    assert told["stamp"] == ["secs", "nsecs"]
    assert told["hertz"] > 2 * told["throttled"] > 0
    assert told["throttled"] <= 5
    assert told["image"][0] == "Uint8Array"
    assert told["image"][1] == told["image"][2] > 0
    assert told["base64"] == "string"
    assert "/ePuck1/odom" in told["topics"]
    assert told["type"] == "nav_msgs/Odometry"
    assert told["details"]["linear"].keys() == {"x", "y", "z"}
    assert "/set_by_roslibpy" in told["parameters"]
    assert "/cellwright" in told["nodes"]
    assert told["parameter"] == [1, "two"]
    assert told["sum"] == {"sum": 42}
    assert told["refusal"].startswith("there is no service /none")


@contextmanager
def page_server(folder):
    """A site on a port of this machine, as somebody's own page has it while it is written."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_a_page_with_roslib_drives_an_epuck_and_draws_its_camera(cell, roslib):
    playwright = pytest.importorskip("playwright.sync_api", reason="not in Debian: playwright is of the extra peers")
    if not (browser := shutil.which("chromium")):
        pytest.skip("needs chromium")
    (Path(roslib) / "drive.html").write_text(PAGE % cell.url)
    with (
        page_server(roslib) as port,
        playwright.sync_playwright() as play,
        play.chromium.launch(executable_path=browser, args=["--no-sandbox"]) as chromium,
    ):
        page, told = chromium.new_page(), []
        page.on("console", lambda line: told.append(line.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.goto(f"http://localhost:{port}/drive.html")
        with suppress(playwright.TimeoutError):
            page.wait_for_function("document.title != 'starting'", timeout=PATIENCE_S * 1e3)
        assert page.title() == "driven", told


def test_a_client_is_killed_in_mid_run_and_the_others_go_on(cell):
    with subprocess.Popen([sys.executable, "-c", KILLED, cell.url], stdout=-1, text=True) as process:
        assert process.stdout.readline() == "got\n"
        listener = Listener(cell.url, [f"/{ROBOT}/odom"])
        process.kill()
    for _ in range(20):
        assert listener.receive()["op"] == "publish"
    listener.close()
    assert cell.is_running


def test_clients_reconnect_when_the_process_of_the_bridge_was_killed(roslibpy, connected):
    with serving("epucks") as served:
        client, seen = connected(served.url), []
        roslibpy.Topic(client, f"/{ROBOT}/odom", "nav_msgs/Odometry").subscribe(seen.append)
        until(lambda: seen)
        os.kill(served.bridge_pid, signal.SIGKILL)
        until(lambda: any("there again" in line for line in served.lines))
        seen.clear()
        until(lambda: seen)
        assert seen[-1]["header"]["stamp"]["secs"] >= 1


def test_at_full_pace_a_client_has_the_simulated_time(roslibpy, connected):
    with serving("epucks", "--pace", "max") as served:
        client, ticks = connected(served.url), []
        roslibpy.Topic(client, "/clock", "rosgraph_msgs/Clock").subscribe(ticks.append)
        until(lambda: len(ticks) > 100)
        start_s, before = time.monotonic(), ticks[-1]["clock"]["secs"]
        time.sleep(1.0)
        assert ticks[-1]["clock"]["secs"] - before > 2 * (time.monotonic() - start_s)
