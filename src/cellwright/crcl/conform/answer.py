"""Options of the conformance checks, and the reactions of a server to a command."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from cellwright.crcl.messages import CRCLStatus

__all__ = ["Answer", "ConformOptions", "Reaction"]


@dataclass(frozen=True)
class ConformOptions:
    """Options of the conformance checks.

    Attributes:
        may_move: Whether the robot may be moved at all.
        reach_m: How far from where it stands its controlled point may be moved, upwards.
        turn_rad: How far a joint may be turned.
        tool_changer: Whether the tool changer may be opened and closed.
        poll_s: The time between two requests for the status.
        answer_s: How long an answer may take.
        cold_s: How long the first one may take, and the next one after a silence.
        done_s: How long what takes no time may take to be done.
        init_s: How long InitCanon may take.
        check_s: How long a check may take in all.
    """

    may_move: bool = True
    reach_m: float = 0.02
    turn_rad: float = 0.02
    tool_changer: bool = False
    poll_s: float = 0.02
    answer_s: float = 2.0
    cold_s: float = 5.0
    done_s: float = 3.0
    init_s: float = 30.0
    check_s: float = 120.0

    def with_answer_time(self, answer_s: float) -> ConformOptions:
        """Returns the options for a server whose answers may take so long: no timeout is shorter."""
        return replace(
            self,
            answer_s=answer_s,
            cold_s=max(self.cold_s, answer_s),
            done_s=max(self.done_s, 1.5 * answer_s),
            check_s=max(self.check_s, 20.0 * answer_s),
        )

    @property
    def speed_mps(self) -> float:
        """The speed of the controlled point: the whole reach in one second."""
        return self.reach_m


class Reaction(StrEnum):
    """The reactions of a server to a command."""

    DONE = "done"
    ERROR = "error"
    """CRCL_Error with the command's number."""
    REFUSED = "refused"
    """CRCL_Error, and the number of another command."""
    SILENT = "silent"
    """Nothing of it shows in the status."""
    WORKING = "working"
    """It was taken up, and has not ended."""


@dataclass(frozen=True)
class Answer:
    """A reaction, the number of the command, the last status, and after how long."""

    reaction: Reaction
    command_id: int
    status: CRCLStatus
    took_s: float

    @property
    def done(self) -> bool:
        """Whether the server reports it as done."""
        return self.reaction is Reaction.DONE

    @property
    def is_error(self) -> bool:
        """Whether the server signals an error, under whichever number."""
        return self.reaction in (Reaction.ERROR, Reaction.REFUSED)

    @property
    def text(self) -> str:
        """The observation, for reports."""
        reported = self.status.command_status
        description = f", '{reported.state_description[:200]}'" if reported.state_description else ""
        return f"{self.reaction} (status: command {reported.command_id}, {reported.command_state}{description})"
