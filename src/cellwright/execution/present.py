"""The cell as predicates see it, without parts that looks have found to be gone: those do not count as there."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cellwright.execution.predicates import BelievedCell, Sight, ToolState
from cellwright.execution.view import CellView

__all__ = ["PresentCell"]


class PresentCell(BelievedCell):
    """What is believed and was not found to be gone.

    Args:
        view: Knows what is gone.
        now_s: The cell's clock.
        report: Robot -> what it reported of its tool last.
    """

    def __init__(self, view: CellView, now_s: Callable[[], float], report: Callable[[str], ToolState | None]) -> None:
        self._view = view
        super().__init__(view.belief, now_s, report)

    def names(self) -> Iterable[str]:
        """All solid objects that are there."""
        return [name for name in super().names() if name not in self._view.gone]

    def sight(self, name: str) -> Sight | None:
        """Where an object is; nobody knows of what is gone."""
        return None if name in self._view.gone else super().sight(name)
