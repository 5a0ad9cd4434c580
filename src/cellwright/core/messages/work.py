"""Orders, plans, actions, and the CRCL documents between executor and robot."""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.core.messages.base import Message

__all__ = ["ActionEvent", "BeliefChange", "CrclCommand", "CrclStatus", "Order", "Plan"]


@dataclass(slots=True, kw_only=True)
class Order(Message):
    """An announced order: kits to build, how many, how urgent."""

    order: str
    kits: tuple[str, ...]
    quantities: tuple[int, ...]
    priority: int


@dataclass(slots=True, kw_only=True)
class Plan(Message):
    """A plan as text, one action a line, with its cost and the planner that made it."""

    planner: str
    actions: tuple[str, ...]
    cost: float


@dataclass(slots=True, kw_only=True)
class ActionEvent(Message):
    """An action that started, was checked, ended or failed, with the predicates evaluated so far and their evidence.

    Attributes:
        robot: The robot that does it.
        action: The step of the plan.
        phase: `start`; `check`, each time that predicates were evaluated while it is under way; `end` or `fail`.
        reason: How it ended.
        predicates: Each with its arguments.
        values: `true`, `false` or `unknown`.
        evidence: What each value was decided by.
        part: The part or tray that was chosen for it, as it is believed in; empty while there is none.
    """

    robot: str
    action: str
    phase: str
    reason: str
    predicates: tuple[str, ...]
    values: tuple[str, ...]
    evidence: tuple[str, ...]
    part: str = ""


@dataclass(slots=True, kw_only=True)
class BeliefChange(Message):
    """A change of the world model, its evidence, and whether the state is marked stable."""

    subject: str
    change: str
    evidence: str
    stable: bool


@dataclass(slots=True, kw_only=True)
class CrclCommand(Message):
    """A CRCL command document."""

    document: str


@dataclass(slots=True, kw_only=True)
class CrclStatus(Message):
    """A CRCL status document."""

    document: str
