"""The viewer's page in a real browser: a trace from disk, with the network cut."""

import json
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.viewing.readable import unreadable

from cellwright.viewing.page import PAGE_FILE, viewer_page

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
PLAIN = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--no-first-run", "--disable-quic", "--disable-gpu"]  # fmt: skip
DRAWING = [*PLAIN, "--enable-unsafe-swiftshader", "--use-gl=angle", "--use-angle=swiftshader"]
OWN_NOISE = "GL Driver Message"  # the browser's remark on its own software drawing

pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="chromium is missing"),
    pytest.mark.skipif(
        not PAGE_FILE.exists() and shutil.which("npm") is None, reason="not in Debian 12: Node.js 20 with npm"
    ),
]
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing")


def load_small_trace():
    import importlib.util

    spec = importlib.util.spec_from_file_location("small_trace", Path(__file__).with_name("small_trace.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SMALL = load_small_trace()


@pytest.fixture(scope="module")
def built():
    if shutil.which("npm") is not None:
        subprocess.run(["make", "viewer"], cwd=ROOT, check=True, capture_output=True)


@pytest.fixture(scope="module")
def browser(built):
    with playwright.sync_playwright() as driver:
        with_browser = driver.chromium.launch(executable_path=CHROMIUM, args=DRAWING)
        yield with_browser
        with_browser.close()


@contextmanager
def opened(browser, file: Path, *, bypass_csp: bool = True):
    """A page of a file, with the network cut, and all that it asked for or said.

    Waiting for a condition compiles it in the page, which the page's own policy forbids: it is passed by, unless a
    test is about it.
    """
    context = browser.new_context(viewport={"width": 1000, "height": 700}, bypass_csp=bypass_csp)
    context.set_offline(True)
    page = context.new_page()
    page.asked, page.said = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready], body[data-error]", timeout=60_000)
    try:
        yield page
    finally:
        context.close()


@pytest.fixture
def trace(tmp_path, built):
    def write(name="run.html", **blocks):
        file = tmp_path / name
        file.write_text(viewer_page({**SMALL.small_trace(), **blocks}), encoding="utf-8")
        return file

    return write


def gear_x(page) -> float:
    return page.evaluate("cellwright.bodyPose('gear_1')[0]")


def test_a_trace_opens_from_disk_asks_for_nothing_and_says_nothing(browser, trace):
    file = trace()
    with opened(browser, file, bypass_csp=False) as page:
        assert page.evaluate("document.body.dataset.ready") == "trace"
        for tab in ("Actions", "Belief", "Cameras", "Plots", "Messages", "Events", "Score", "About", "Plan"):
            page.get_by_role("tab", name=tab).click()
        page.evaluate("cellwright.seek(1)")
        page.wait_for_selector(".card.running")
        assert [url for url in page.asked if not url.startswith(("data:", "blob:"))] == [file.as_uri()]
        assert [words for words in page.said if OWN_NOISE not in words] == []


def test_seek_shows_the_pose_of_the_keys_and_what_is_under_way(browser, trace):
    with opened(browser, trace()) as page:
        for time_s in (0.0, 1.0, 2.05, 9.0):
            page.evaluate(f"cellwright.seek({time_s})")
            assert gear_x(page) == pytest.approx(0.1 + 0.1 * min(time_s, SMALL.SECONDS), abs=2e-4)
        page.evaluate("cellwright.seek(0.5)")
        page.wait_for_selector(".card.running >> text=take gear_1")
        page.evaluate("cellwright.seek(2)")
        page.wait_for_selector(".card.running >> text=take gear_2")


def test_playing_moves_the_gear_as_the_keys_say_and_stops_at_the_end(browser, trace):
    with opened(browser, trace()) as page:
        page.evaluate("cellwright.seek(3)")
        page.keyboard.press("Space")
        page.wait_for_function("cellwright.time > 3.1")
        time_s, x = page.evaluate("[cellwright.time, cellwright.bodyPose('gear_1')[0]]")
        assert x == pytest.approx(0.1 + 0.1 * time_s, abs=2e-4)
        page.wait_for_function("!cellwright.state.playing", timeout=30_000)
        assert page.evaluate("cellwright.time") == pytest.approx(SMALL.SECONDS)


def test_keys_step_from_action_to_action(browser, trace):
    with opened(browser, trace()) as page:
        times = []
        for key in (".", ".", ",", "End", "Home", "ArrowRight"):
            page.keyboard.press(key)
            times.append(page.evaluate("cellwright.time"))
        assert times == pytest.approx([0.2, 1.5, 0.2, SMALL.SECONDS, 0.0, 0.1])


def test_a_failed_run_opens_at_its_failure_with_the_reason(browser, trace):
    with opened(browser, trace(run=SMALL.small_run(fails=True))) as page:
        assert page.evaluate("cellwright.time") == SMALL.FAILURE_S
        assert "the gear was lost" in page.inner_text(".banner")
        card = page.inner_text(".card.failed")
        assert "take gear_2" in card
        assert "holds(gear_1)" in card
        assert "fingers at 2.0 mm" in card
        assert page.locator(".block.failed").count() == 1


TABS = ("Plan", "Actions", "Belief", "Cameras", "Plots", "Messages", "Events", "Score", "About")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_of_every_panel_can_be_read_at_both_widths(browser, trace, scheme):
    run = json.loads(SMALL.small_run(fails=True))
    name = "fanuc_kit_m2l1_of_the_first_order"
    run["belief"][0] |= {"id": name, "slot": f"{name}_slot_1", "pose": [-1.2345, -1.2345, 0.9160, 0.7, 0, 0, 0.7]}
    run["detections"][0]["items"][0]["sku"] = "sku_part_" + "g" * 60
    with opened(browser, trace(run=json.dumps(run).encode())) as page:
        page.emulate_media(color_scheme=scheme)
        for width, height in ((1280, 800), (1920, 1080)):
            page.set_viewport_size({"width": width, "height": height})
            for time_s in (0.15, 0.3, SMALL.FAILURE_S):
                page.evaluate(f"cellwright.seek({time_s})")
                for tab in TABS:
                    page.get_by_role("tab", name=tab).click()
                    page.wait_for_timeout(150)  # tables follow at most ten times a second
                    assert unreadable(page) == [], f"{tab} at {time_s} s, {width} px"


def test_panels_that_have_nothing_to_show_say_why(browser, trace):
    run = json.loads(SMALL.small_run())
    for rows in ("actions", "plans", "events", "messages", "belief", "detections", "score"):
        run[rows] = []
    run["series"][0]["values"] = [[None, None, None]]
    run["about"] |= {"score": None, "status": "ended", "order": ""}
    said = {
        "Plan": "No plan was told",
        "Actions": "No actions were told",
        "Belief": "No controller has told",
        "Plots": "Nothing was measured",
        "Messages": "No message went over CRCL",
        "Events": "Nothing happened",
        "Score": "nothing to judge",
    }
    with opened(browser, trace(run=json.dumps(run).encode())) as page:
        for tab, words in said.items():
            page.get_by_role("tab", name=tab).click()
            page.wait_for_selector(f".content >> text={words}")
            assert page.locator(".content table:visible, .content .tools:visible, .content canvas").count() == 0


def test_plots_share_their_times_and_their_legend_shows_dashes(browser, trace):
    run = json.loads(SMALL.small_run())
    late = {"name": "late", "unit": "N", "labels": ["x", "y"], "times": [3.0, 3.5], "values": [[0.0, 1.0], [1.0, 0.0]]}
    run["series"].append(late)
    with opened(browser, trace(run=json.dumps(run).encode())) as page:
        page.get_by_role("tab", name="Plots").click()
        page.wait_for_selector(".u-over >> nth=1")
        middle = page.locator(".u-over").nth(1)
        box = middle.bounding_box()
        middle.click(position={"x": box["width"] / 2, "y": 20})
        assert page.evaluate("cellwright.time") == pytest.approx(SMALL.SECONDS / 2, abs=0.02)
        marks = page.locator(".u-legend .u-marker:visible").evaluate_all("all => all.map(one => one.style.background)")
        assert len(set(marks)) == 2
        assert "repeating-linear-gradient" in marks[1]


def test_texts_of_a_run_are_never_markup(browser, trace):
    with opened(browser, trace()) as page:
        page.get_by_role("tab", name="Events").click()
        assert "drop: <b>gear_1</b>" in page.inner_text(".event.fault")


def test_messages_are_filtered_and_scroll_along(browser, trace):
    with opened(browser, trace()) as page:
        page.get_by_role("tab", name="Messages").click()
        page.evaluate("cellwright.seek(3.7)")
        page.wait_for_selector(".message.current >> text=MoveTo18")
        page.get_by_placeholder("Filter by text").fill("MoveTo7")
        page.wait_for_function("document.querySelectorAll('.message').length === 1")


def test_two_runs_share_the_time(browser, trace):
    file = trace(**{"keys-2": SMALL.small_keys(), "run-2": SMALL.small_run(fails=True)})
    with opened(browser, file) as page:
        assert page.evaluate("cellwright.time") == SMALL.FAILURE_S
        first, second = page.evaluate("[cellwright.bodyPose('gear_1', 0), cellwright.bodyPose('gear_1', 1)]")
        assert first == second
        assert page.locator(".lane-run").count() == 2
        page.get_by_role("button", name="Run A").click()
        page.get_by_role("tab", name="Score").click()
        assert "Run B" in page.inner_text(".content")


def test_damaged_data_are_told_in_one_line(browser, trace):
    file = trace()
    text = file.read_text(encoding="utf-8")
    place = text.index('id="keys">') + 60
    file.write_text(text[:place] + "AAAAAAAA" + text[place + 8 :], encoding="utf-8")
    with opened(browser, file) as page:
        error = page.evaluate("document.body.dataset.error")
        assert "'keys'" in error
        assert "make the trace again" in error
        assert "\n" not in error
        assert page.inner_text(".banner") == error


def test_a_trace_without_a_part_is_told(browser, trace, tmp_path):
    blocks = SMALL.small_trace()
    del blocks["run"]
    file = tmp_path / "part.html"
    file.write_text(viewer_page(blocks), encoding="utf-8")
    with opened(browser, file) as page:
        assert "missing" in page.evaluate("document.body.dataset.error")


def test_without_webgl_one_line_says_so_and_the_panels_work(browser, trace):
    plain = browser.browser_type.launch(executable_path=CHROMIUM, args=[*PLAIN, "--disable-3d-apis"])
    try:
        with opened(plain, trace(run=SMALL.small_run(fails=True))) as page:
            assert page.evaluate("document.body.dataset.ready") == "trace"
            assert "WebGL" in page.inner_text(".no-webgl")
            assert "take gear_2" in page.inner_text(".card.failed")
            page.evaluate("cellwright.seek(1)")
            assert gear_x(page) == pytest.approx(0.2, abs=2e-4)
            page.get_by_role("tab", name="Cameras").click()
            assert "no picture" in page.inner_text(".cameras")
    finally:
        plain.close()


def test_the_timeline_zooms_about_the_cursor_and_follows_it(browser, trace):
    with opened(browser, trace()) as page:
        page.evaluate("cellwright.seek(2)")
        left = "document.querySelector('.cursor').getBoundingClientRect().left"
        width = "document.querySelector('.block').getBoundingClientRect().width"
        before, first = page.evaluate(f"[{left}, {width}]")
        for _ in range(3):
            page.get_by_role("button", name="Zoom in").click()
        after, wide = page.evaluate(f"[{left}, {width}]")
        assert after == pytest.approx(before, abs=4)  # scrolling is by whole pixels
        assert wide == pytest.approx(first * 1.6**3, rel=0.02)
        box = page.locator(".tracks").bounding_box()
        for time_s in (0.1, SMALL.SECONDS - 0.1):
            page.evaluate(f"cellwright.seek({time_s})")
            assert box["x"] < page.evaluate(left) < box["x"] + box["width"]
        page.get_by_role("button", name="Fit").click()
        assert page.evaluate(width) == pytest.approx(first, rel=0.01)


def test_paper_gets_the_picture_of_the_cell(browser, trace):
    with opened(browser, trace()) as page:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.wait_for_function("document.querySelector('.paper').naturalWidth > 300")
        colours = page.evaluate(
            """() => {
              const image = document.querySelector('.paper');
              const canvas = document.createElement('canvas');
              [canvas.width, canvas.height] = [40, 30];
              const context = canvas.getContext('2d');
              context.drawImage(image, 0, 0, 40, 30);
              return new Set(new Uint32Array(context.getImageData(0, 0, 40, 30).data.buffer)).size;
            }"""
        )
        assert colours > 20
