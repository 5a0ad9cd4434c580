"""The frame of a notebook in a real browser: it draws the cell as it is, offline, without an error."""

from __future__ import annotations

import shutil

import pytest

import cellwright as cw
from cellwright.viewing.page import PAGE_FILE

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--use-gl=angle", "--use-angle=swiftshader"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]


@pytest.mark.peer
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is missing")
@pytest.mark.skipif(
    not PAGE_FILE.is_file(), reason="not in Debian: Node.js 20, with which `make viewer` builds the page"
)
def test_a_frame_in_a_notebook_draws_the_cell_as_it_is(tmp_path):
    api = pytest.importorskip("playwright.sync_api", reason="playwright is missing: requirements/peers.txt")
    file = tmp_path / "notebook.html"
    with cw.Lab.from_cell("aprs", seed=7, fidelity="kinematic") as lab:
        lab.sensor("detector_fanuc")
        lab.advance(0.2)
        file.write_text(f"<!doctype html><p>Out[1]:</p>{lab.show()._repr_html_()}", encoding="utf-8")
        where = lab.world.pose_of("large_gear_1").position
    said = []
    with (
        api.sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser,
    ):
        context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(file.as_uri())
        frame = page.frame_locator("iframe")
        frame.locator("body[data-ready=trace]").wait_for(timeout=60_000, state="attached")
        pose = frame.locator("body").evaluate("() => window.cellwright.bodyPose('large_gear_1')")
        assert [pose[str(n)] if isinstance(pose, dict) else pose[n] for n in range(3)] == pytest.approx(where, abs=1e-4)
        assert frame.locator("canvas").first.bounding_box()["width"] > 900
        assert not frame.locator(".timeline").is_visible(), "one moment has no timeline"
        assert not frame.locator(".side").is_visible()
    assert said == []
