"""Commands of the live page: the four things that a person who watches may do to time."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from cellwright.core.errors import BadInput
from cellwright.core.pacing import FASTEST, SLOWEST

__all__ = ["MAX_COMMAND_BYTES", "ViewCommand"]

MAX_COMMAND_BYTES = 1024
VERBS = ("pause", "resume", "step", "speed")


@dataclass(frozen=True)
class ViewCommand:
    """A wish of somebody who watches.

    Attributes:
        do: `pause`, `resume`, `step` or `speed`.
        speed: Simulated seconds per wall second; None is as fast as possible.
    """

    do: str
    speed: float | None = None

    @classmethod
    def of(cls, text: str | bytes) -> ViewCommand:
        """Returns the command in a message of a page.

        Raises:
            BadInput: It is none.
        """
        try:
            asked: Any = json.loads(text) if isinstance(text, str) else None
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict):
            raise BadInput("a command is a JSON object in a text message")
        do = asked.get("do")
        if not (isinstance(do, str) and do in VERBS) or set(asked) != ({"do", "value"} if do == "speed" else {"do"}):
            raise BadInput(f"a command is one of {', '.join(VERBS)}; speed has a value")
        value = asked.get("value")
        if value is None:
            return cls(do)
        if isinstance(value, bool) or not isinstance(value, int | float) or not SLOWEST <= value <= FASTEST:
            raise BadInput(f"a speed is {SLOWEST:g} to {FASTEST:g}, or null")
        return cls(do, float(value))

    def as_line(self) -> bytes:
        """Returns it as a line, for the process that simulates."""
        assert self.speed is None or math.isfinite(self.speed)
        asked = {"do": self.do, **({"value": self.speed} if self.do == "speed" else {})}
        return json.dumps(asked).encode() + b"\n"
