"""The live page in a real browser: it shows the run under way, and does to time what its buttons say."""

import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

import cellwright as cw
from cellwright.core.messages import ActionEvent
from cellwright.viewing.live import LiveView
from cellwright.viewing.page import PAGE_FILE

pytestmark = pytest.mark.peer

BROWSER = shutil.which("chromium")
OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--use-gl=angle", "--use-angle=swiftshader",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--disable-quic",
]  # fmt: skip
PATIENCE_MS = 120_000
ROBOT = "ePuck0"


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api")
    if BROWSER is None:
        pytest.skip("there is no /usr/bin/chromium")
    if not PAGE_FILE.is_file():
        pytest.skip("not in Debian: the viewer's page, which `make viewer` builds")
    with api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=BROWSER, args=OPTIONS)
        yield opened
        opened.close()


class Driven:
    """A laboratory that runs on a thread while the test looks at its page."""

    def __init__(self, lab, log, speed=1.0):
        self.lab, self.log = lab, log
        self.recorder = lab.record(log)
        self.view = LiveView(lab, "0", speed=speed)
        self.over = False
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        async def work():
            self.lab.mobile(ROBOT).move(0.02, 0.4)
            while not self.over:
                await self.lab.clock.sleep(0.05)

        with self.view.during_run():
            self.lab.perform(work())

    def end(self):
        self.over = True
        self.lab.loop.pacing.speed = None
        self.lab.loop.pacing.resume()
        self.thread.join(60)
        self.recorder.close()
        self.view.close()


@pytest.fixture
def driven(tmp_path):
    with cw.Lab.from_cell("epucks", seed=7) as lab:
        made = Driven(lab, tmp_path / "log.mcap")
        yield made
        made.end()


def opened(browser, url):
    page = browser.new_page(viewport={"width": 700, "height": 500}, bypass_csp=True)  # waiting evaluates text
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto(url)
    page.wait_for_selector("body[data-ready=live]", timeout=PATIENCE_MS)
    return page


def place(page):
    """Returns a time and where the robot is on the page then."""
    return page.evaluate(f"[cellwright.time, cellwright.bodyPose('{ROBOT}')]")


def test_the_page_shows_the_run_that_is_under_way_and_its_buttons_hold_time(browser, driven):
    first, second = opened(browser, driven.view.url), opened(browser, driven.view.url)
    first.wait_for_function("cellwright.time > 0.5", timeout=PATIENCE_MS)
    first.click("#hold")
    for page in (first, second):
        page.wait_for_function("cellwright.state.live?.paused", timeout=PATIENCE_MS)
    before_s = driven.lab.clock.time_s
    time.sleep(1.0)
    assert driven.lab.clock.time_s == before_s
    for page in (first, second):  # both see the same moment
        page.wait_for_function(f"Math.abs(cellwright.time - {before_s}) < 1e-3", timeout=PATIENCE_MS)
    seen = [place(page) for page in (first, second)]
    assert seen[0][1] == pytest.approx(seen[1][1], abs=1e-5)
    first.get_by_role("button", name="0.1×").click()
    first.click("#hold")
    first.wait_for_function(
        "cellwright.state.live?.paused === false && cellwright.state.live.speed === 0.1", timeout=PATIENCE_MS
    )
    slow_s, start_s = driven.lab.clock.time_s, time.monotonic()
    time.sleep(1.0)
    assert 0.0 < driven.lab.clock.time_s - slow_s <= 0.1 * (time.monotonic() - start_s) + 0.06
    assert first.errors == second.errors == []
    driven.end()
    told = [
        (time_ns / 1e9, message.positions[message.names.index(ROBOT)])
        for _, time_ns, message in cw.read_log(driven.log).entries(["/truth/poses"])
        if ROBOT in message.names
    ]
    nearest_s, true = min(told, key=lambda item: abs(item[0] - before_s))
    assert abs(nearest_s - before_s) <= 0.051
    assert seen[0][1][:3] == pytest.approx(true, abs=2e-3)  # 20 poses in a second, at 20 mm/s


def test_a_tab_that_is_stopped_or_closed_slows_nothing(browser, driven):
    page = opened(browser, driven.view.url)
    stopped = _renderers()
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        before_s, start_s = driven.lab.clock.time_s, time.monotonic()
        time.sleep(3.0)
        simulated_s, wall_s = driven.lab.clock.time_s - before_s, time.monotonic() - start_s
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    assert simulated_s > 0.7 * wall_s
    assert driven.view.is_open
    page.close()
    before_s = driven.lab.clock.time_s
    time.sleep(1.0)
    assert driven.lab.clock.time_s > before_s + 0.5


def test_next_action_goes_on_to_its_end_and_predicates_are_shown_before_that(browser):
    """A controller tells of actions of 0.4 s, and what it finds out 0.1 s after each has begun."""
    ends_s = []
    found, evidence = (
        ("part-is-found(gear_1, ePuck0)", "robot-has-endEffector(ePuck0, tool)"),
        ("seen at 0.1, 0.2", "the fingers tell nothing"),
    )

    with cw.Lab.from_cell("epucks", seed=7) as lab:

        def tell(number, phase):
            has_rows = phase != "start"
            lab.bus.publish(
                "/execution/actions",
                ActionEvent(
                    lab.world.clock.time_ns, number, "execution", robot=ROBOT, action="(take-part ePuck0 tool sku box)",
                    phase=phase, reason="", part="gear_1" if has_rows else "", predicates=found if has_rows else (),
                    values=("true", "unknown") if has_rows else (), evidence=evidence if has_rows else (),
                ),
            )  # fmt: skip

        async def work():
            for number in range(1000):
                tell(3 * number, "start")
                lab.mobile(ROBOT).set_led(0, number % 2 == 0)
                await lab.clock.sleep(0.1)
                tell(3 * number + 1, "check")
                await lab.clock.sleep(0.3)
                tell(3 * number + 2, "end")
                ends_s.append(lab.clock.time_s)
                if over:
                    return

        over = []
        view = LiveView(lab, "0", speed=0.5)
        thread = threading.Thread(target=lambda: _watched(view, lab, work()))
        thread.start()
        try:
            page = opened(browser, view.url)
            page.click("#hold")
            page.wait_for_function("cellwright.state.live?.paused", timeout=PATIENCE_MS)
            paused_s = lab.clock.time_s
            for _ in range(3):
                before_s = lab.clock.time_s
                page.click("#step")
                page.wait_for_function(
                    f"cellwright.state.live.paused && cellwright.state.live.time_s > {before_s}", timeout=PATIENCE_MS
                )
                at_s = lab.clock.time_s
                assert at_s == pytest.approx(ends_s[-1])
                assert at_s - before_s <= 0.4 + 1e-6
                assert page.evaluate("cellwright.state.live.time_s") == pytest.approx(at_s)
            assert lab.clock.time_s - paused_s > 0.8
            lit = len(ends_s) % 2 == 0  # by the action that has begun at the end of the last
            page.wait_for_function(f"(cellwright.colourOf('{ROBOT}/led0')[3] > 0) === {str(lit).lower()}")
            page.get_by_role("button", name="0.1×").click()
            page.click("#hold")
            page.wait_for_selector(".card.running .predicate", timeout=PATIENCE_MS)
            card = page.inner_text(".card.running")
            page.wait_for_function(f"(cellwright.colourOf('{ROBOT}/led0')[3] > 0) === {str(not lit).lower()}")
            assert "take part gear_1 at box" in card
            assert "robot-has-endEffector(ePuck0, tool)" in card
            assert "the fingers tell nothing" in card  # unknown, and so open
            assert "1 ✓" in card
            assert "1 ?" in card
            assert page.errors == []
        finally:
            over.append(True)
            lab.loop.pacing.speed = None
            lab.loop.pacing.resume()
            thread.join(60)
            view.close()


def test_the_timeline_grows_while_nothing_is_told(browser):
    with cw.Lab.from_cell("epucks", seed=7) as lab, LiveView(lab, "0") as view:
        over = []

        async def work():
            while not over:
                await lab.clock.sleep(0.05)

        thread = threading.Thread(target=lambda: _watched(view, lab, work()))
        thread.start()
        try:
            page = opened(browser, view.url)
            page.wait_for_function("cellwright.time > 6", timeout=PATIENCE_MS)
            ticks = "[...document.querySelectorAll('.ticks span')].map((tick) => Number(tick.textContent))"
            page.wait_for_function(f"Math.max(...{ticks}) > 0.6 * cellwright.time", timeout=5000)
        finally:
            over.append(True)
            thread.join(60)


def _watched(view, lab, work):
    with view.during_run():
        lab.perform(work)


def _renderers():
    """Returns the browser's renderers that are this process's own descendants."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()[1:]]
    mine = {os.getpid()}
    for _ in range(8):
        mine |= {int(pid) for pid, parent, _ in rows if int(parent) in mine}
    return [int(pid) for pid, _, args in rows if int(pid) in mine and "--type=renderer" in args]


def test_the_log_of_a_run_with_a_page_is_that_of_one_without(browser, tmp_path):
    logs = []
    for is_watched in (False, True):
        path = Path(tmp_path / f"{is_watched}.mcap")
        with cw.Lab.from_cell("epucks", seed=7) as lab:
            lab.record(path)

            async def work(lab=lab):
                lab.mobile(ROBOT).move(0.02, 0.4)
                await lab.clock.sleep(2.0)

            if is_watched:
                with LiveView(lab, "0", speed=1.0) as view:
                    page = opened(browser, view.url)
                    lab.perform(work())
                    page.close()
            else:
                lab.perform(work())
        logs.append(path.read_bytes())
    assert logs[0] == logs[1]
