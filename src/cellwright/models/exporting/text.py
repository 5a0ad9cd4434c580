"""XML as it is written to files: the same bytes for the same content, numbers that read back to the last bit."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from cellwright.core.pose import Pose

__all__ = ["MOMENTS", "add", "number", "numbers", "pretty", "rpy", "xyz"]

MOMENTS = (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2))
"""What URDF and SDF call the entries of an inertia tensor: name, row, column."""


def number(value: float) -> str:
    """Returns a number by the fewest digits that read back as the same."""
    return repr(float(value) + 0.0).removesuffix(".0")  # + 0.0: no -0


def numbers(values: Iterable[float]) -> str:
    """Returns numbers with blanks between."""
    return " ".join(number(value) for value in values)


def xyz(pose: Pose) -> str:
    """Returns the position of a pose."""
    return numbers(pose.position.tolist())


def rpy(pose: Pose) -> str:
    """Returns roll, pitch and yaw of a pose."""
    return numbers(pose.rpy.tolist())


def add(parent: ET.Element, tag: str, text: str | None = None, /, **attributes: str) -> ET.Element:
    """Appends a new element to another and returns it."""
    child = ET.SubElement(parent, tag, attributes)
    child.text = text
    return child


def pretty(root: ET.Element) -> str:
    """Returns a document as indented text."""
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
