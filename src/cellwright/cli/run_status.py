"""The status line of a run or a trial: simulated time, and what each robot is at."""

from __future__ import annotations

from time import monotonic

from cellwright.cli.progress import StatusLine, duration_text
from cellwright.core.messages import ActionEvent
from cellwright.lab import Lab
from cellwright.planning import short_action
from cellwright.trials.kitting_controller import ACTIONS_TOPIC

__all__ = ["status_of"]


def status_of(lab: Lab) -> StatusLine:
    """Returns the line; it reads what is published, and the laboratory does not know of it."""
    started_s = monotonic()
    doing: dict[str, str] = {}

    def note(_topic: str, event: ActionEvent) -> None:
        if event.phase in ("start", "check"):
            doing[event.robot] = short_action(event.action, event.part)
        else:
            doing.pop(event.robot, None)

    def text() -> str:
        work = "; ".join(f"{robot}: {action}" for robot, action in list(doing.items()))
        return f"{lab.clock.time_s:.1f} s simulated, {duration_text(monotonic() - started_s)} · {work}".rstrip(" ·")

    lab.bus.subscribe(ACTIONS_TOPIC, note, subscriber="status line")
    return StatusLine(text)
