"""The base class of messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Message"]

Array = npt.NDArray[np.float64]


@dataclass(slots=True)
class Message:
    """Base of all messages: simulation time, sequence number, source; SI units and radians.

    A subclass is a plain dataclass of numbers, strings, arrays and tuples; the recorder and the ROS mapping follow
    from its fields. Messages are values: a subscriber must not change them.

    Attributes:
        time_ns: Simulation time to which the content belongs.
        sequence: Counts the messages of one source from 0.
        source: Its publisher, such as `fanuc` or `detector_fanuc`.
    """

    time_ns: int
    sequence: int
    source: str

    TRUTH: ClassVar[bool] = False
    """Whether the content is the simulator's own state, which no controller may see."""

    ROS_TYPE: ClassVar[str | None] = None
    """The standard ROS type it maps to; None generates `cellwright_msgs/msg/<class>` from the fields."""

    ROS_TEXT: ClassVar[str | None] = None
    """The text of that type, where no standard package has it."""

    @property
    def time_s(self) -> float:
        """Simulation time in seconds."""
        return self.time_ns / 1e9
