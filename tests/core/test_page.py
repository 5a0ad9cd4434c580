"""The one design of all pages: whole without anything from elsewhere, well formed, told without colours."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from cellwright.core.page import Page, PageFigure, PageSection
from cellwright.core.page_parts import badge, bullets, code, drawing, folded, image, table, yes_no

VOID = {"meta", "img", "br", "link", "input", "hr"}


class Checker(HTMLParser):
    """Fails on tags that are not closed in order; collects anchors and links."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.images = [], [], [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[name] for name in ("src", "href") if name in given]
        if tag == "img":
            assert given.get("alt"), "a picture without words"
        if tag == "svg":
            assert given.get("aria-label")
        if tag == "th":
            assert given.get("scope") in ("col", "row")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        given = dict(attributes)
        self.links += [value for name, value in given.items() if name.endswith("href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def checked(html: str) -> Checker:
    """Returns what a page holds, after it was found to be well formed and to need nothing from elsewhere."""
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    assert len(set(checker.ids)) == len(checker.ids)
    for link in checker.links:
        assert link.startswith(("data:", "#")) or "://" not in link, link
        if link.startswith("#"):
            assert link[1:] in checker.ids
    assert not re.search(r"@import|url\((?!#)", html)
    return checker


def page(**changes) -> Page:
    given = {
        "kind": "trial", "heading": "Trial `<mine>`", "origin": "Cell `aprs`", "verdict": "Not done", "tone": "bad",
        "reason": ["slot_1 & `slot_2`"], "figures": [PageFigure("success", "0.97", "0.91 to 0.99 of 100")],
        "sections": [PageSection("Data", table(("name", "x [m]"), [("<a>", "0.5")]))],
        "versions": {"cellwright": "1"}, "command": "cellwright trial 'a b.yaml'",
    }  # fmt: skip
    return Page(**given | changes)


def test_a_page_is_well_formed_escaped_and_needs_nothing():
    text = page().html()
    checked(text)
    assert "<title>Trial &lt;mine&gt;: Not done</title>" in text
    assert "<h1>Trial <code>&lt;mine&gt;</code></h1>" in text
    assert "slot_1 &amp; <code>slot_2</code>" in text
    assert "cellwright trial &#x27;a b.yaml&#x27;" in text
    assert "http" not in text.replace('a[href^="http"]', "")


@pytest.mark.parametrize(("tone", "sign"), [("good", "✓"), ("bad", "✗"), ("warn", "!")])
def test_a_verdict_is_told_without_colours(tone, sign):
    assert f'<span aria-hidden="true">{sign} </span>Not done' in page(tone=tone).html()
    assert sign in badge("word", tone).text


def test_numbers_stand_to_the_right_and_rows_have_a_head():
    text = table(("name", "x [m]", "ours"), [("a", "1.0", yes_no(True))], numbers=("ours",))
    assert '<th scope="col" class="number">x [m]</th><th scope="col" class="number">ours</th>' in text
    assert '<tr><th scope="row">a</th><td class="number">1.0</td>' in text


def test_sections_without_content_are_left_out_and_many_are_linked():
    many = [PageSection(f"Part {number}", "<p>x</p>") for number in range(4)]
    text = page(sections=[*many, PageSection("Nothing", "")]).html()
    assert len(checked(text).links) == 4
    assert "Nothing" not in text
    assert "<nav" not in page(sections=many[:3]).html()


def test_drawings_of_one_page_do_not_share_anchors():
    svg = (
        '<?xml version="1.0"?><!DOCTYPE svg>\n<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://x">'
        '<metadata>http://purl.org</metadata><defs><path id="m1"></path></defs>'
        '<g clip-path="url(#c)"><use xlink:href="#m1"></use></g><clipPath id="c"></clipPath></svg>'
    )
    text = page(sections=[PageSection("P", drawing(svg, "one", "A `b`") + drawing(svg, "two", "c"))]).html()
    assert checked(text).ids[-4:] == ["one-m1", "one-c", "two-m1", "two-c"]
    assert 'href="#two-m1"' in text
    assert "url(#one-c)" in text
    assert "purl" not in text


def test_parts_are_escaped():
    for html in (bullets(["<a>"]), folded("<a>", ""), image(b"", "<a>"), code("<a>").text, table(("<a>",), [("<a>",)])):
        assert "<a>" not in html
        assert "&lt;a&gt;" in html
