"""Options of a client: its waiting times; and the place of a command in a program."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from cellwright.crcl.command_timeouts import CommandTimeouts

__all__ = ["ClientOptions", "ProgramPlace"]


@dataclass(frozen=True)
class ClientOptions:
    """The waiting times of a client, and its connections.

    Attributes:
        poll_s: The time between two requests for the status.
        quiet_s: The longest time without a request, once a command is under way that cannot be done sooner.
        watch_s: The same while somebody watches whether the command is still wanted.
        status_s: How long an answer may take; a server that says nothing for so long counts as stalled.
        take_up_s: How long statuses may be about the command before, until this one counts as lost on its way.
        refusal_s: How long an error over another command must last before this one counts as refused.
        reconnect_s: How long to try after a connection was lost; 0: not at all.
        retry_s: Between two tries.
        settle_s: After a reconnect, how long a command may still arrive by the old connection.
        timeouts: How long commands may take, by kind.
        first_id: The number of the first command; None: one more than the server's last one.
        with_stop_connection: Whether a second connection stands ready for `abort`.
    """

    poll_s: float = 0.05
    quiet_s: float = 0.5
    watch_s: float = 0.1
    status_s: float = 5.0
    take_up_s: float = inf
    refusal_s: float = 0.5
    reconnect_s: float = 10.0
    retry_s: float = 0.25
    settle_s: float = 0.3
    timeouts: CommandTimeouts = field(default_factory=CommandTimeouts)
    first_id: int | None = None
    with_stop_connection: bool = True


@dataclass(frozen=True, slots=True)
class ProgramPlace:
    """The place of a command in a program; servers show it in their status."""

    file: str | None = None
    index: int | None = None
    length: int | None = None
