"""Tables that objects show in notebooks."""

from __future__ import annotations

from lxml import etree

from cellwright.core.rich_text import MOST_ROWS, html_note, html_table


def test_text_is_escaped_wherever_it_comes_from():
    bad = "<script>alert('x')</script> & more"
    for html in (html_table(bad, [bad], [[bad]]), html_note(bad)):
        assert "<script" not in html
        assert bad in "".join(etree.fromstring(html).itertext())


def test_numbers_are_to_the_right_and_a_long_table_says_how_much_is_left_out():
    html = html_table("head", ["name", "far [m]", "n []"], [(f"row {n}", 0.5, n) for n in range(MOST_ROWS + 7)])
    tree = etree.fromstring(html)
    assert [cell.text for cell in tree.iter("th")] == ["name", "far [m]", "n"]
    assert [cell.get("style").split(";")[0] for cell in list(tree.iter("td"))[:3]] == [
        "text-align:left",
        "text-align:right",
        "text-align:right",
    ]
    assert len(list(tree.iter("tr"))) == MOST_ROWS + 1
    assert "... and 7 more" in html
    assert "<table" not in html_table("nothing", ["name"], [])
