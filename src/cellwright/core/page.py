"""One family of HTML pages: reports for people, each a file of its own that needs nothing from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from string import Template

from cellwright.core.page_parts import SIGNS, Tone, with_code

__all__ = ["Page", "PageFigure", "PageSection"]

NAV_FROM = 4  # sections


@dataclass(frozen=True)
class PageFigure:
    """A number in the strip below the verdict.

    Attributes:
        label: Its name.
        value: The number with its unit, as text.
        note: What belongs to it: an interval, out of how many.
    """

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class PageSection:
    """A part of a page: a title, and HTML made by `page_parts`."""

    title: str
    html: str


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page before it is text. All attributes but the sections' HTML are plain text and are escaped here.

    Attributes:
        kind: The kind of page, such as `trial`.
        heading: What it is about; what stands between backticks is code.
        origin: The conditions in one line: cell, seed, controller; backticks as above.
        verdict: The outcome in a few words.
        tone: Whether that is good.
        reason: Lines below the verdict; backticks as above.
        figures: The numbers that matter.
        sections: The rest.
        versions: Package -> version: what the numbers depend on.
        command: How to repeat it; empty where no command does.
        links: Text -> address of what belongs to the page, relative to it: a trace, a log.
    """

    kind: str
    heading: str
    origin: str
    verdict: str = ""
    tone: Tone = ""
    reason: Sequence[str] = ()
    figures: Sequence[PageFigure] = ()
    sections: Sequence[PageSection] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    links: Mapping[str, str] = field(default_factory=dict)

    def html(self) -> str:
        """Returns the file's text: style and script included, nothing to load."""
        sections = [section for section in self.sections if section.html]
        return Template(_file("page.html")).substitute(
            title=escape(self.heading.replace("`", "") + (f": {self.verdict}" if self.verdict else "")),
            style=_file("page.css"),
            script=_file("page.js"),
            kind=escape(f"Cellwright · {self.kind}"),
            heading=with_code(self.heading),
            origin=with_code(self.origin),
            verdict=self._verdict(),
            links=self._links(),
            strip=self._strip(),
            nav=_nav(sections) if len(sections) >= NAV_FROM else "",
            sections="\n".join(
                f'<section id="{_id(section.title)}">\n<h2>{escape(section.title)}</h2>\n{section.html}\n</section>'
                for section in sections
            ),
            footer=self._footer(),
        )

    def _verdict(self) -> str:
        if not self.verdict:
            return ""
        lines = "".join(f"<p>{with_code(line)}</p>" for line in self.reason)
        sign = f'<span aria-hidden="true">{SIGNS[self.tone]}</span>'
        return f'<div class="verdict {self.tone}"><strong>{sign}{escape(self.verdict)}</strong>{lines}</div>\n'

    def _links(self) -> str:
        links = " ".join(f'<a href="{escape(to)}">{escape(text)}</a>' for text, to in self.links.items())
        return f'<p class="links">{links}</p>' if links else ""

    def _strip(self) -> str:
        if not self.figures:
            return ""
        cells = "".join(
            f"<div><dt>{escape(one.label)}</dt><dd>{escape(one.value)}"
            + (f"<small>{escape(one.note)}</small>" if one.note else "")
            + "</dd></div>"
            for one in self.figures
        )
        return f'<dl class="strip">{cells}</dl>'

    def _footer(self) -> str:
        again = f"<p>To repeat it:</p>\n<pre><code>{escape(self.command)}</code></pre>\n" if self.command else ""
        made = ", ".join(f"{package} {version}" for package, version in self.versions.items())
        return f"{again}<p>Made with {escape(made) or 'Cellwright'}.</p>"


def _nav(sections: Sequence[PageSection]) -> str:
    links = "\n".join(f'<a href="#{_id(section.title)}">{escape(section.title)}</a>' for section in sections)
    return f'<nav aria-label="Sections">\n{links}\n</nav>'


def _id(title: str) -> str:
    """Returns a section's anchor."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _file(name: str) -> str:
    return resources.files("cellwright.core").joinpath(name).read_text(encoding="utf-8").strip()
