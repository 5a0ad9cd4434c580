"""A command under way, and its outcome by a status."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from cellwright.crcl.messages import CommandStateEnum, CRCLCommandInstance, CRCLStatus
from cellwright.crcl.outcome import OutcomeState

__all__ = ["PendingCommand"]


@dataclass
class PendingCommand:
    """A command that was sent and is not known to have ended.

    Attributes:
        instance: As it was sent.
        before_ids: The commands that the robot reports as long as this one was not taken up.
        sent_s: When it was sent.
        seen: Whether the robot has reported it.
        refused_since_s: Since when the robot reports an error over another command.
    """

    instance: CRCLCommandInstance
    before_ids: set[int]
    sent_s: float
    seen: bool = False
    refused_since_s: float | None = None

    @property
    def command_id(self) -> int:
        """Its number."""
        return self.instance.crcl_command.command_id

    def judge(
        self, status: CRCLStatus, now_s: float, refusal_s: float, last_id: int, stop_ids: Collection[int]
    ) -> tuple[OutcomeState, str] | None:
        """Returns the outcome of the command and the reason, if this status decides it; else None.

        Statuses about other commands may be older than this one, since servers may report by themselves. So an error
        over another command counts only once it has lasted.

        Args:
            status: Any status that came after it was sent.
            now_s: When.
            refusal_s: How long an error over another command must last.
            last_id: The highest number that the client has given or seen.
            stop_ids: Those of the client's own stops.
        """
        reported = status.command_status
        reason = reported.state_description or ""
        if reported.command_id == self.command_id:
            self.seen = True
            if reported.command_state is CommandStateEnum.CRCL_DONE:
                return OutcomeState.DONE, ""
            if reported.command_state is CommandStateEnum.CRCL_ERROR:
                return OutcomeState.ERROR, reason or "the robot gives no reason"
            return None
        if reported.command_id in stop_ids and reported.command_id > self.command_id:
            return OutcomeState.ABORTED, f"stopped by command {reported.command_id}"
        if self.seen or self.command_id < reported.command_id <= last_id:
            went_on = f"the robot went on to command {reported.command_id}"
            if reported.command_id > last_id:
                went_on += ", which is not of this client: another one commands it, too"
            elif reported.command_id < self.command_id:
                went_on += ", an earlier one: it has begun anew"
            return OutcomeState.SUPERSEDED, went_on
        if reported.command_state is not CommandStateEnum.CRCL_ERROR:
            self.refused_since_s = None
        elif self.refused_since_s is None:
            self.refused_since_s = now_s
        elif now_s - self.refused_since_s >= refusal_s:
            return OutcomeState.REFUSED, reason or "the robot is in error and gives no reason"
        return None
