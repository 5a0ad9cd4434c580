"""Limits of one message to a server: what is beyond them is refused before it costs other clients time.

A robot reports names, files, options and guards that one client gave it to all clients. So these are bounded as well.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

from lxml import etree

__all__ = ["LONGEST_TEXT", "MOST_REPEATED", "MOST_TAGS", "MOST_WAYPOINTS", "beyond_bounds", "has_too_many_tags"]

MOST_WAYPOINTS = 1000
MOST_REPEATED = 50
"""Of one command's guards, parameters, options, joints."""
LONGEST_TEXT = 500
"""Characters of a text that is reported to other clients: all but a Message and the text of a program."""
MOST_TAGS = 200_000

_TOO_LONG = etree.XPath(f"(//*[string-length(text()) > {LONGEST_TEXT}][not(self::Message or self::ProgramText)])[1]")


def has_too_many_tags(data: bytes) -> bool:
    """Returns whether a document would take long to parse, however short it is."""
    return len(data) > MOST_TAGS and data.count(b"<") > MOST_TAGS


def beyond_bounds(root: Any, length: int) -> tuple[Any, str, str] | None:
    """Returns the first element that is too much, what is wrong with it, and what is allowed; None if there is none.

    Args:
        root: The root of a parsed document.
        length: The length of the document in bytes: a short one needs no look.
    """
    if length <= LONGEST_TEXT:
        return None
    for element in (root, *islice(root, 10)):
        if len(element) > MOST_REPEATED:
            seen = Counter(child.tag for child in islice(element, 2 * MOST_WAYPOINTS))
            tag, times = seen.most_common(1)[0]
            most = MOST_WAYPOINTS if tag == "Waypoint" else MOST_REPEATED
            if times > most:
                return element, f"has {sum(1 for _ in element.iterchildren(tag))} of {tag}", f"{most} or fewer"
            if len(element) > 2 * MOST_WAYPOINTS:
                return element, f"has {len(element)} elements", f"{2 * MOST_WAYPOINTS} or fewer"
    for element in _TOO_LONG(root):
        return element, f"{element.tag} has {len(element.text)} characters", f"{LONGEST_TEXT} or fewer"
    return None
