"""Reports about robots and detectors that are somewhere else, at addresses."""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.core.messages.base import Message

__all__ = ["ShadowReport", "TargetEvent", "TargetStatus"]


@dataclass(slots=True, kw_only=True)
class TargetEvent(Message):
    """A change of where a robot or a detector is, or something that went wrong with one.

    Attributes:
        target: The robot or detector.
        at: Its endpoint now: `simulated`, or an address.
        change: `external`, `simulated`, `refused`, `aligned`, `lost`, `found`, `stopped`, `late`, `targets refused`;
            `held` and `goes on`: a robot waits between two commands while the laboratory does not keep pace; `hand`:
            its hand and that of its twin tell different things; `mirrored`: things of the simulated cell were put
            where a detector sees them, or one is not seen there.
        reason: More about that, in one line.
    """

    target: str
    at: str
    change: str
    reason: str


@dataclass(slots=True, kw_only=True)
class TargetStatus(Message):
    """The times of the messages of an external robot or detector, and how far its twin is behind.

    Attributes:
        target: The robot or detector.
        at: Its endpoint.
        latency_s: From its measurement to its arrival, as far as that is known: half of a question and its answer, or
            the mean age of frames beyond the least.
        jitter_s: The standard deviation of that.
        uncertainty_s: By which its time stamps may be wrong.
        error_rad: The largest angle by which a joint of the twin differs from what was reported; 0 for detectors.
        messages: Counts those that arrived.
    """

    target: str
    at: str
    latency_s: float
    jitter_s: float
    uncertainty_s: float
    error_rad: float
    messages: int


@dataclass(slots=True, kw_only=True)
class ShadowReport(Message):
    """One command that an external robot and its simulated shadow both did.

    Attributes:
        target: The robot.
        command: What was commanded.
        external_s: How long the external robot took.
        simulated_s: How long the simulated one took.
        external: How it ended there: `done`, or why not.
        simulated: The same of the simulated robot.
        joint_rad: The largest difference of a joint meanwhile.
        end_m: The distance between the tools at its end.
        end_rad: The angle between them.
    """

    target: str
    command: str
    external_s: float
    simulated_s: float
    external: str
    simulated: str
    joint_rad: float
    end_m: float
    end_rad: float
