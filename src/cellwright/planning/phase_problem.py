"""The problem of ordering tools for one robot, and its solution: phases with one tool each."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KitKind", "PhaseProblem", "Phases", "ToolPhase"]


@dataclass(frozen=True, order=True)
class KitKind:
    """The needs of kits of one kind: tools for the parts, a thing each, and a tool for the tray.

    Attributes:
        rank: Kits of a lower rank get their trays first.
        needs: The slots to be filled: chains of things, for each thing the tools, sorted.
        tray: Tools that can lay and clear it; empty for a tray that stays.
        clear: Tools that can clear it, where these are others.
    """

    rank: int
    needs: tuple[tuple[tuple[str, ...], ...], ...]
    tray: tuple[str, ...]
    clear: tuple[str, ...] = ()


@dataclass(frozen=True)
class PhaseProblem:
    """Kits on tables, kits waiting for one of so many tables, and the tool on the robot."""

    tool: str | None
    on_tables: tuple[KitKind, ...]
    waiting: tuple[tuple[KitKind, int], ...]
    tables: int
    tools: tuple[str, ...]


@dataclass(frozen=True)
class ToolPhase:
    """A tool, and the kinds of kits laid with it, in order."""

    tool: str | None
    lays: tuple[KitKind, ...]


@dataclass(frozen=True)
class Phases:
    """The phases, a bound on how often a tool is attached, and the search's effort."""

    phases: tuple[ToolPhase, ...]
    changes: int
    bound: int
    iterations: int
