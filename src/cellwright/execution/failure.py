"""Ways in which a step fails, and what each of them allows."""

from __future__ import annotations

from enum import StrEnum

from cellwright.core.errors import JobFailed

__all__ = ["FailureKind", "StepFailed"]


class FailureKind(StrEnum):
    """Kinds of failure, as far as the robot's own sensors and the detectors tell."""

    NOT_THERE = "not there"
    """No part that can be taken is where it should be."""
    MISSED = "missed"
    """The fingers closed on nothing, or not on a peg."""
    LOST = "lost"
    """A part was in the hand and is not any more."""
    BLOCKED = "blocked"
    """The hand met something before it was where it should be."""
    WEIGHT = "weight"
    """What is in the hand does not weigh what it should."""
    OCCUPIED = "occupied"
    """Something is in the slot already."""
    NOT_SEATED = "not seated"
    """The part was let go and is not as it should be."""
    DOUBT = "doubt"
    """Whether a condition is fulfilled cannot be told."""
    UNSEEN = "unseen"
    """Nothing is reported any more of what stands still."""
    HIDDEN = "hidden"
    """Something that must be seen is in no camera's view, wherever the arms stand."""
    CHANGED = "changed"
    """Something that the plan relies on is seen to be otherwise."""
    ARM = "arm"
    """The robot did not do a command: out of reach, stopped by something, or not answering."""
    WRONG = "wrong"
    """A condition of the action is not fulfilled."""
    UNABLE = "unable"
    """The cell has not what the action needs."""


class StepFailed(JobFailed):
    """A step that was not done.

    Args:
        kind: What went wrong.
        reason: In one line.
        part: The part that it went wrong with.
        is_lost_robot: The robot does not answer any more.
    """

    def __init__(self, kind: FailureKind, reason: str, part: str = "", *, is_lost_robot: bool = False) -> None:
        super().__init__(reason)
        self.kind = kind
        self.part = part
        self.is_lost_robot = is_lost_robot
