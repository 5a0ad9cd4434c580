"""Components with state of their own beside MuJoCo's."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["StatefulComponent"]


class StatefulComponent(Protocol):
    """A component whose state decides, beside MuJoCo's, what happens next; part of the world's snapshots.

    Parts are referred to by name, so that the state outlives a model that was replaced.
    """

    def save(self) -> Any:
        """Returns the state, as data that later changes leave alone; part of every snapshot."""

    def load(self, state: Any) -> None:
        """Restores a state; also called with its own one when model and data have been replaced."""

    def let_go(self, part: str) -> None:
        """Releases a part that is being removed or put elsewhere."""
