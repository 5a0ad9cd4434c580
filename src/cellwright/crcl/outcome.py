"""The outcome of a command, as far as the client can know."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cellwright.core.errors import JobFailed
from cellwright.crcl.messages import CRCLCommand, CRCLStatus

__all__ = ["CommandFailed", "Outcome", "OutcomeState"]


class CommandFailed(JobFailed):
    """A command that was not done; carries its outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.text)
        self.outcome = outcome


class OutcomeState(StrEnum):
    """The ways in which a command ends."""

    DONE = "done"
    ERROR = "error"
    """The robot reports CRCL_Error for this command."""
    REFUSED = "refused"
    """The robot is in error over something else and never took this command up."""
    ABORTED = "aborted"
    """This client stopped it."""
    SUPERSEDED = "superseded"
    """Another command came before it was done."""
    TIMEOUT = "timeout"
    """It is not done and not in error; the robot may still be moving."""
    LOST = "lost"
    """The connection broke, and what became of the command cannot be known; it was not repeated."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a command.

    Attributes:
        state: In which way.
        command: As it was sent, with its number.
        reason: Why it was not done, in the text of the robot where it gave any.
        status: The last status that was received.
        took_s: From sending to knowing.
    """

    state: OutcomeState
    command: CRCLCommand
    reason: str
    status: CRCLStatus | None
    took_s: float

    @property
    def done(self) -> bool:
        """Whether the robot did it."""
        return self.state is OutcomeState.DONE

    @property
    def text(self) -> str:
        """One line for people."""
        what = f"{type(self.command).__name__} (command {self.command.command_id})"
        return f"{what}: {self.state}" + (f": {self.reason}" if self.reason else "")

    def check(self) -> Outcome:
        """Returns itself if the robot did it; raises CommandFailed otherwise."""
        if not self.done:
            raise CommandFailed(self)
        return self
