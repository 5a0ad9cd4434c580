"""The live page and its server, in a real browser: what comes, what is pressed, what happens when the server goes."""

import importlib.util
import json
import queue
import shutil
import threading
from http import HTTPStatus
from pathlib import Path

import numpy as np
import pytest
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Response
from websockets.sync.server import serve

from cellwright.viewing.packet import pack
from cellwright.viewing.page import PAGE_FILE, viewer_page

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
        "--disable-sync", "--no-first-run", "--disable-quic", "--disable-3d-apis"]  # fmt: skip

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="chromium is missing"),
    pytest.mark.skipif(not PAGE_FILE.exists(), reason="the viewer's page is not built: make viewer"),
]
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing")

_spec = importlib.util.spec_from_file_location("small_trace", Path(__file__).with_name("small_trace.py"))
SMALL = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(SMALL)


class Server:
    """Serves the bare page and one socket: what a test puts into `out` is sent, what the page says is in `said`."""

    def __init__(self, port: int = 0) -> None:
        self.out: queue.Queue = queue.Queue()
        self.said: queue.Queue = queue.Queue()
        self.server = serve(self._talk, "127.0.0.1", port, process_request=self._page, compression=None)
        self.port = self.server.socket.getsockname()[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def _page(self, connection, request):
        if request.path.startswith("/live"):
            return None
        body = viewer_page().encode()
        headers = Headers({"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))})
        return Response(HTTPStatus.OK, "OK", headers, body)

    def _talk(self, socket):
        socket.send(SMALL.small_scene())
        threading.Thread(target=self._listen, args=(socket,), daemon=True).start()
        while (packet := self.out.get()) is not None:
            socket.send(packet)
        socket.close()

    def _listen(self, socket):
        try:
            for words in socket:
                self.said.put((socket.request.path, json.loads(words)))
        except ConnectionClosed:
            pass

    def tell(self, status: str, **lists) -> None:
        self.out.put(pack("rows", {"about": {"cell": "small", "status": status}, **lists}))

    def pose(self, time_s: float, x: float) -> None:
        row = np.array([x, 0, 0.85, 1, 0, 0, 0], dtype=np.float32)
        self.out.put(pack("poses", {"time_s": time_s, "count": 1}, row.tobytes()))

    def close(self) -> None:
        self.out.put(None)
        self.server.shutdown()
        self.thread.join(10)


@pytest.fixture
def page():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser.new_context(bypass_csp=True).new_page()
        browser.close()


def test_a_live_page_shows_what_comes_and_says_what_is_pressed(page):
    server = Server()
    page.goto(f"http://127.0.0.1:{server.port}/?token=secret")
    server.tell("running", **{name: rows for name, rows in json.loads(SMALL.small_run()).items() if name == "actions"})
    for step in range(11):
        server.pose(step * 0.1, 0.1 + step * 0.01)
    server.out.put(pack("state", {"paused": False, "speed": 1.0, "time_s": 1.0, "lag": 0.0}))
    page.wait_for_function("cellwright.time === 1")
    assert page.evaluate("cellwright.bodyPose('gear_1')[0]") == pytest.approx(0.2)
    page.click("#hold")
    page.click("#step")
    page.get_by_role("button", name="Fast").click()
    said = [server.said.get(timeout=10) for _ in range(3)]
    assert said == [("/live?token=secret", words) for words in
                    ({"do": "pause"}, {"do": "step"}, {"do": "speed", "value": None})]  # fmt: skip
    page.evaluate("cellwright.seek(0.5)")  # back, while new poses come
    server.pose(1.5, 0.9)
    page.wait_for_function("cellwright.state.end === 1.5")
    assert page.evaluate("[cellwright.time, cellwright.bodyPose('gear_1')[0]]") == pytest.approx([0.5, 0.15])
    server.close()


def test_a_page_whose_server_goes_tries_again_and_one_whose_run_ended_does_not(page):
    first = Server()
    page.goto(f"http://127.0.0.1:{first.port}/")
    first.tell("running")
    first.pose(1.0, 0.3)
    page.wait_for_selector("body[data-ready]")
    first.close()
    page.wait_for_selector("body[data-line=lost]")
    assert "Trying again" in page.inner_text(".banner")
    assert page.evaluate("cellwright.bodyPose('gear_1')[0]") == pytest.approx(0.3)
    second = Server(first.port)
    page.wait_for_selector("body[data-line=open]")
    second.tell("done")
    second.pose(2.0, 0.4)
    page.wait_for_function("cellwright.time === 2")
    page.wait_for_function("cellwright.document.about.status === 'done'")
    second.close()
    page.wait_for_selector("body[data-line=ended]")
    assert "The run has ended" in page.inner_text(".banner")
    assert page.evaluate("cellwright.bodyPose('gear_1')[0]") == pytest.approx(0.4)


def test_a_packet_that_is_none_is_told_and_the_rest_goes_on(page):
    server = Server()
    page.goto(f"http://127.0.0.1:{server.port}/")
    server.out.put(b"\xff\xff\xff\xff")
    server.pose(1.0, 0.3)
    page.wait_for_selector("body[data-ready]")
    assert "cut off" in page.inner_text(".banner")
    server.close()
