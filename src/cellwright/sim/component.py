"""What ties parts to grippers other than contact forces."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["StatefulComponent"]


class StatefulComponent(Protocol):
    """Decides, beside MuJoCo's state, what happens next; the world keeps it in step with itself.

    What is held is plain data by the names of parts, so that it outlives a model that was replaced.
    """

    def save(self) -> Any:
        """Returns what is held, as data that later changes leave alone; part of every snapshot."""

    def load(self, state: Any) -> None:
        """Holds what it held; also called with its own state when model and data have been replaced."""

    def let_go(self, part: str) -> None:
        """The part is being taken away or put elsewhere."""
