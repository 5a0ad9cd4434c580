"""The pages in a real browser: dark, narrow, on paper, and a table that is copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from cellwright.core.page import Page, PageFigure, PageSection
from cellwright.core.page_parts import folded, table

pytestmark = pytest.mark.peer
CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--disable-quic",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    if not Path(CHROMIUM).exists():
        pytest.skip("no Chromium")
    with sync_api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    wide = table(tuple(f"column_{n} [m]" for n in range(12)), [[f"{n}.25" for n in range(12)]] * 3)
    text = Page(
        kind="trial", heading="Trial `mine`", origin="Cell `aprs`", verdict="Not done", tone="bad",
        reason=["why " * 60],
        figures=[PageFigure(f"figure {n}", "12.5 s", "of 100") for n in range(7)],
        sections=[
            PageSection("Wide", wide),
            PageSection("Folded", folded("more", "<p id='inside'>on paper</p><p id='long' class='screen'>not</p>")),
        ],
        versions={"cellwright": "1"}, command="cellwright trial " + "x" * 200,
    ).html()  # fmt: skip
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(text, encoding="utf-8")
    return file.as_uri()


CONTRAST = """() => {
  const light = (css) => {
    const [r, g, b] = css.match(/[\\d.]+/g).map(Number).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const worst = {ratio: 99};
  for (const node of document.querySelectorAll("body *")) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
    if (["SCRIPT", "STYLE"].includes(node.tagName)) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(ground(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < worst.ratio) Object.assign(worst, {ratio, what: node.outerHTML.slice(0, 80)});
  }
  return worst;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280, 1920])
def test_it_is_read_in_light_and_dark_at_every_width(browser, address, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    worst = page.evaluate(CONTRAST)
    assert worst["ratio"] >= 4.5, worst
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    page.close()


def test_a_table_is_copied_as_tab_separated_text(browser, address):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(address)
    page.get_by_role("button", name="Copy table").click()
    page.get_by_role("button", name="Copied").wait_for()
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0].split("\t")[:2] == ["column_0 [m]", "column_1 [m]"]
    assert lines[1].split("\t") == [f"{n}.25" for n in range(12)]
    assert len(lines) == 4
    context.close()


def test_on_paper_it_is_black_on_white_whole_and_without_buttons(browser, address):
    page = browser.new_page(viewport={"width": 700, "height": 900}, color_scheme="dark")
    page.goto(address)
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('.verdict strong')).color") == "rgb(0, 0, 0)"
    assert page.locator("button.copy").is_hidden()
    assert page.locator("#inside").is_visible(), "what is folded is printed"
    assert page.locator("#long").is_hidden()
    frame = page.locator(".table").first
    assert frame.evaluate("node => node.scrollWidth <= node.clientWidth + 1"), "a table is cut"
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()


def test_without_scripts_it_is_whole(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("button").count() == 0
    assert page.get_by_text("Not done").is_visible()
    context.close()
