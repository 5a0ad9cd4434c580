"""Events between hands and objects, and the object that a hand holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from cellwright.core.pose import Pose

__all__ = ["HandEvent", "HandEventKind", "HeldObject"]


class HandEventKind(StrEnum):
    """Kinds of events between a hand and a part or a tray."""

    APPROACH = "approach"
    GRASP = "grasp"
    TRANSFER = "transfer"
    RELEASE = "release"
    LOSS = "loss"


@dataclass(frozen=True, kw_only=True)
class HandEvent:
    """One event between a hand and an object.

    Attributes:
        moment: An empty hand comes to a part or tray; holds it; carries it; opens and lets it go; has lost it. A part
            that falls off a tray in a hand is lost, too.
        robot: The robot of the hand.
        part: Which object.
        time_s: When.
        position_m: Of the object, in the world; of one that left, where the hand last touched it.
        lifted: Whether it had been lifted before it left the hand.
        parts_in_tray: The parts that lie in a held tray.
        tray: The tray that a lost part lay in.
    """

    moment: HandEventKind
    robot: str
    part: str
    time_s: float
    position_m: tuple[float, float, float]
    lifted: bool = False
    parts_in_tray: tuple[str, ...] = ()
    tray: str = ""


@dataclass
class HeldObject:
    """A part or a tray in a hand, since it was taken.

    Attributes:
        part: Which.
        start_m: The position at which it was taken.
        last_m: Its position when the hand last touched it.
        lifted: Whether it has been lifted.
        carried: Whether it is, or was, under way.
        way_m: How far it has come sideways.
        parts_in_tray: Part in a held tray -> its pose in the tray.
    """

    part: str
    start_m: Any
    last_m: Any
    lifted: bool = False
    carried: bool = False
    way_m: float = 0.0
    parts_in_tray: dict[str, Pose] = field(default_factory=dict)
    looks_without: int = 0
