"""The interface of all tool controllers."""

from __future__ import annotations

from typing import Protocol

__all__ = ["ToolController"]


class ToolController(Protocol):
    """A tool on a robot. It knows the readings of its own sensors, and not what it holds."""

    @property
    def name(self) -> str:
        """The tool's name: its model, or the name that the cell gives it."""

    @property
    def kind(self) -> str:
        """`gripper` or `vacuum`, as in `ToolStatus`."""

    @property
    def holding(self) -> bool:
        """Whether it holds something."""

    async def open(self) -> float:
        """Releases; returns its width, or its vacuum."""

    async def close(self) -> float:
        """Grasps; returns its width, or its vacuum."""

    async def set(self, fraction: float) -> None:
        """Applies a setting as CRCL has it, 0 to 1: the opening of the jaws, or the power of the pump."""
