"""Messages with the simulator's truth, for the judge and the recorder alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cellwright.core.messages.base import Array, Message

__all__ = ["FaultEvent", "JointTruth", "JudgeEvent", "LookTruth", "Verdict", "WorldTruth"]


@dataclass(slots=True, kw_only=True)
class WorldTruth(Message):
    """True poses of loose bodies (those that moved since the last message) and what touches what.

    Attributes:
        names: Body names.
        positions: (n, 3) in the world.
        quaternions: (n, 4), w first.
        contact_pairs: Pairs of touching bodies as `a|b`.
        contact_forces: Normal force of each pair in N.
    """

    TRUTH: ClassVar[bool] = True

    names: tuple[str, ...]
    positions: Array
    quaternions: Array
    contact_pairs: tuple[str, ...]
    contact_forces: Array


@dataclass(slots=True, kw_only=True)
class JointTruth(Message):
    """True positions of joints: of all of an arm, a hand or a mobile robot of which one moved since the last message.

    Attributes:
        names: Joint names.
        positions: rad, or m where a joint slides.
    """

    TRUTH: ClassVar[bool] = True

    names: tuple[str, ...]
    positions: Array


@dataclass(slots=True, kw_only=True)
class LookTruth(Message):
    """All that changes the looks of a world without moving; complete each time.

    Attributes:
        objects: Loose objects that are there.
        models: The catalogue model of each.
        lamps: LEDs that are lit, as `<mobile robot>/<number>`, with `#rrggbb` after it for another colour than its own.
        projectors: Projectors that are on.
    """

    TRUTH: ClassVar[bool] = True

    objects: tuple[str, ...]
    models: tuple[str, ...]
    lamps: tuple[str, ...]
    projectors: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class FaultEvent(Message):
    """A fault that was injected into the world."""

    TRUTH: ClassVar[bool] = True

    fault: str
    subject: str
    detail: str


@dataclass(slots=True, kw_only=True)
class JudgeEvent(Message):
    """A collision as it begins, or a drop once it has come to rest, as the judge sees it.

    Attributes:
        kind: `hit` or `drop`.
        subject: The part, or what belongs to a robot.
        text: One line.
    """

    TRUTH: ClassVar[bool] = True

    kind: str
    subject: str
    text: str


@dataclass(slots=True, kw_only=True)
class Verdict(Message):
    """Scored items with reasons."""

    TRUTH: ClassVar[bool] = True

    items: tuple[str, ...]
    passed: tuple[bool, ...]
    reasons: tuple[str, ...]
    score: float
