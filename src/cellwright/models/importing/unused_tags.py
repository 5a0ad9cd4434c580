"""Elements of a description that are not used here: one note for each tag."""

from __future__ import annotations

from typing import Any

from cellwright.models.importing.notes import Notes

__all__ = ["UnusedTags"]

OLD_XACRO = {"insert_block", "include", "macro", "property", "if", "unless", "call", "arg"}
"""Tags of xacro, which once went without a prefix."""


class UnusedTags:
    """Collects unused tags, and notes each of them once, for any number of joints or links that have it."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[str, None]] = {}  # tag and what it is in -> whose

    def collect(self, element: Any, name: str, known: set[str]) -> None:
        """Collects the tags inside an element that are not known.

        Args:
            element: A joint, a link, or a shape of a link.
            name: Of the joint or link.
            known: Tags that are read.
        """
        for tag in (str(inner.tag) for inner in element if inner.tag not in known):
            self._found.setdefault((tag, str(element.tag)), {})[name] = None

    def note(self, file: str, notes: Notes) -> None:
        """Notes the tags that were found."""
        for (tag, inside), names in self._found.items():
            shape = inside in ("visual", "collision")
            kind = "link" if shape else inside
            whose = f"{kind} '{next(iter(names))}'" if len(names) == 1 else f"{len(names)} {kind}s"
            what = "is not used"
            if tag in OLD_XACRO:
                what = "is xacro without its prefix xacro:, and does nothing: what it stands for is missing"
            notes.dropped(file, f"<{tag}> in {f'<{inside}> of {whose}' if shape else whose} {what}")
