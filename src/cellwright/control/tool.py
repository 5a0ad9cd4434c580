"""What every tool's controller has, whatever the tool is."""

from __future__ import annotations

from typing import Protocol

__all__ = ["ToolController"]


class ToolController(Protocol):
    """A tool on a robot. It knows what its own sensors say, and not what it holds."""

    @property
    def name(self) -> str:
        """What the tool is called: its model, or the name that the cell gives it."""

    @property
    def kind(self) -> str:
        """`gripper` or `vacuum`, as in `ToolStatus`."""

    @property
    def holding(self) -> bool:
        """Whether it has something."""

    async def open(self) -> float:
        """Lets go; returns its width, or its vacuum."""

    async def close(self) -> float:
        """Takes what is there; returns its width, or its vacuum."""

    async def set(self, fraction: float) -> None:
        """Its setting as CRCL has it, 0 to 1: how far the jaws are open, how much the pump draws."""
