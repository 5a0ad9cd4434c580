"""The base of every entry of the catalogue: a name, figures, and the source of each figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

__all__ = ["Figures"]


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Base of all catalogue entries.

    Attributes:
        name: The key under which cells refer to it, such as `lr_mate_200id` or `medium_gear`.
        title: The name for people.
        sources: Field name -> where its figures come from, or `estimated:` and how; every field of a model that ships
            must have one.
    """

    name: str
    title: str
    sources: Mapping[str, str] = field(repr=False, default_factory=dict)

    def unsourced(self) -> list[str]:
        """Returns fields without a source; the tests keep this list empty for every entry."""
        own = {f.name for f in fields(self) if not f.name.startswith("_")} - {"name", "title", "sources"}
        return sorted(own - set(self.sources))
