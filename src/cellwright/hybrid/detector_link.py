"""The link to an external detector: frames from its vision socket, checked, in simulated time, and in the world."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from cellwright.cells import DetectorTargetCfg
from cellwright.core.errors import BadInput, JobFailed
from cellwright.core.messages import Detections
from cellwright.hybrid.lab_lines import LabLines, figures_of
from cellwright.hybrid.times import TimeMap
from cellwright.interfaces import DetectionsClient, VisionClient, VisionGroup
from cellwright.interfaces.vision_client import Frame, FrameClient
from cellwright.lab import Lab

__all__ = ["DetectorLink", "ExternalFrame", "joined", "rows_of"]

FIRST_S = 5.0  # to connect, and for the first frame
MOST_HZ = 200.0  # frames in a second of wall time; it is a flood that sends more
MOST_OBJECTS, FARTHEST_M = 1000, 100.0
LONGEST_NS = 2**31 * 1_000_000_000  # what a time stamp of a log can say
ANEW_FRAMES = 5  # with time stamps that went back, until the other clock is taken to have begun anew
KEPT_ARRIVALS = 100
LINE_BYTES = 256 * 1024
F = TypeVar("F")


@dataclass(frozen=True)
class ExternalFrame:
    """A frame of an external detector.

    Attributes:
        received: As it was received, with the time stamp of its sender.
        seen: The same in simulated time, without what no catalogue knows; None when it tells nothing new.
    """

    received: Detections
    seen: Detections | None


class _Limited(FrameClient[F]):
    """A client that hangs up on a server that floods it.

    Attributes:
        flooded_s: Simulated time when it last did.
    """

    flooded_s = -np.inf
    _allowed, _asked_s = MOST_HZ, -np.inf

    def _take(self, line: bytes) -> None:
        now_s = time.monotonic()
        self._allowed = min(self._allowed + MOST_HZ * (now_s - self._asked_s), MOST_HZ) - 1.0
        self._asked_s = now_s
        if self._allowed < 0.0:
            self.flooded_s = asyncio.get_running_loop().time()
            raise BadInput(f"it sends more than {MOST_HZ:g} frames a second")
        super()._take(line)


class _Detections(_Limited[Detections], DetectionsClient):
    pass


class _Lines(_Limited[Frame], VisionClient):
    def _decode(self, line: bytes) -> Frame:
        text = line.decode(errors="replace")
        if text.strip() and text.count(",") < 5:
            raise BadInput("it sends lines that are no frames")
        return super()._decode(line)


class DetectorLink:
    """Connects to a vision socket, and gives its frames.

    Attributes:
        cfg: Where it is.
        problem: Why its last frame did not count, or none came.
        age_s: How old its last frame was when it came, beyond the least.
        messages: Counts the frames that counted.

    Args:
        lab: The laboratory, whose event loop runs.
        name: The detector.
        cfg: Where it is, and what it speaks.
        delay_s: From a picture to the arrival of its frame, at the least.

    Raises:
        JobFailed: The frame of reference of its frames is not known.
    """

    def __init__(self, lab: Lab, name: str, cfg: DetectorTargetCfg, delay_s: float) -> None:
        self.cfg, self.problem, self.age_s, self.messages = cfg, "", 0.0, 0
        self._lab, self._name, self._delay_s = lab, name, delay_s
        self._times = TimeMap(delay_s)
        self._arrivals_s: deque[float] = deque(maxlen=KEPT_ARRIVALS)
        self._stamp_ns, self._anew_ns, self._anew, self._told_ns = -1, -1, 0, -1
        self._first: ExternalFrame | None = None
        self._lines = LabLines(lab, name, cfg) if cfg.protocol == "aprs" else None
        self._client: _Limited[Any]
        if self._lines is not None:
            self._client = _Lines(cfg.at, connect_s=FIRST_S, max_line_bytes=LINE_BYTES)
            self._client.rotation_unit = cfg.rotation
        else:
            self._client = _Detections(cfg.at, connect_s=FIRST_S, max_line_bytes=LINE_BYTES)

    async def open(self) -> None:
        """Connects and waits for the first frame.

        Raises:
            JobFailed: Nobody is there, or speaks another protocol, or sends frames of something else.
        """
        try:
            await self._client.open()
            received = await self._next(FIRST_S)
            if received is None:
                raise JobFailed(self._client.problem or f"{self.cfg.at} sends no frames")
            self._first = self._checked(received)
            if self._first is None:
                raise JobFailed(f"{self.cfg.at}: {self.problem}")
        except BaseException as error:
            await self.close()
            if isinstance(error, JobFailed):
                raise JobFailed(f"{self._name}: {error}") from None
            raise

    async def close(self) -> None:
        """Ends the connection; harmless when there is none."""
        await self._client.close()

    async def next(self, timeout_s: float) -> ExternalFrame | None:
        """Returns the next frame that counts; None when none comes in time, and `problem` says why."""
        if self._first is not None:
            first, self._first = self._first, None
            return first
        clock = self._lab.clock
        end_s = clock.time_s + timeout_s
        self.problem = ""
        while (received := await self._next(end_s - clock.time_s)) is not None:
            if (frame := self._checked(received)) is not None:
                return frame
        if self._is_flooded:
            self.problem = f"it sends more than {MOST_HZ:g} frames a second"
        self.problem = self.problem or self._client.problem or f"no frame for {timeout_s:g} s"
        return None

    @property
    def _is_flooded(self) -> bool:
        return self._lab.clock.time_s - self._client.flooded_s < self.cfg.stalled_s

    @property
    def times(self) -> tuple[float, float, float]:
        """Latency beyond the least, its standard deviation, and by which time stamps may be wrong."""
        if self._lines is None:
            return self._times.latency_s, self._times.jitter_s, self._times.uncertainty_s
        gaps_s = np.diff(self._arrivals_s) if len(self._arrivals_s) > 1 else np.zeros(1)
        return 0.0, float(gaps_s.std()), float(gaps_s.mean())

    async def _next(self, timeout_s: float) -> Any:
        if timeout_s <= 0.0:
            return None
        try:
            async with asyncio.timeout(timeout_s):
                return await anext(self._client, None)
        except TimeoutError:
            return None

    def _checked(self, received: Detections | list[VisionGroup]) -> ExternalFrame | None:
        """Returns a frame that counts; None, with the problem, for one that does not."""
        now_s = self._lab.clock.time_s
        at = f"{self._name}@{self.cfg.at}"
        if self._is_flooded:
            return None
        if isinstance(received, list):
            assert self._lines is not None
            self._arrivals_s.append(now_s)
            seen_ns = round((now_s - self._delay_s) * 1e9)
            received = self._lines.detections(received, seen_ns, self.messages, at)
            self.problem = _nonsense(received)
        else:
            self.problem = _foreign(received, self._name) or _nonsense(received) or self._old(received.time_ns)
            if not self.problem:
                stamp_s = received.time_ns / 1e9
                time_s = self._times.take(stamp_s, now_s)
                self.age_s = max(now_s - time_s - self._delay_s, 0.0)
                seen_ns = round(time_s * 1e9)
        if self.problem:
            return None
        self.messages += 1
        received = replace(received, source=at)
        if seen_ns <= max(self._told_ns, 0):
            return ExternalFrame(received, None)
        self._told_ns = seen_ns
        return ExternalFrame(received, replace(_known(received), time_ns=seen_ns, source=self._name))

    def _old(self, time_ns: int) -> str:
        """Returns what is wrong with a time stamp; a clock that begins anew is believed after some frames."""
        if time_ns == self._stamp_ns:
            return "it repeats a frame"
        if time_ns < self._stamp_ns:
            self._anew = self._anew + 1 if time_ns > self._anew_ns and self._anew else 1
            self._anew_ns = time_ns
            if self._anew < ANEW_FRAMES:
                return "its time stamps go back"
        self._stamp_ns, self._anew = time_ns, 0
        return ""


def _foreign(frame: Detections, name: str) -> str:
    """Returns why a frame is not that detector's, or nobody knows where its things are."""
    if frame.source != name:
        return f"its frames are of '{_shown(frame.source)}', not of '{name}'"
    if frame.frame != "world":
        return f"its frames are in the frame '{_shown(frame.frame)}', which is not known (allowed: world)"
    return ""


def _nonsense(frame: Detections) -> str:
    """Returns what in a frame cannot be; nothing when all can."""
    if not (0 <= frame.time_ns < LONGEST_NS and 0 <= frame.sequence < 2**31):
        return f"its time {str(frame.time_ns)[:30]} or its number {str(frame.sequence)[:30]} cannot be"
    if len(frame.skus) > MOST_OBJECTS:
        return f"a frame has {len(frame.skus)} objects, allowed {MOST_OBJECTS}"
    norms = np.linalg.norm(frame.quaternions, axis=1)
    poses = np.abs(frame.positions) <= FARTHEST_M
    if not (poses.all() and (np.abs(norms - 1.0) <= 0.05).all() and (frame.variances >= 0.0).all()):
        return "a frame has poses or variances that cannot be"
    if not ((frame.scores >= 0.0) & (frame.scores <= 1.0)).all():
        return "a frame has scores outside 0 to 1"
    return ""


def _known(frame: Detections) -> Detections:
    """Returns a frame without what no catalogue knows."""
    return rows_of(frame, np.array([figures_of(sku) is not None for sku in frame.skus], bool))


def rows_of(frame: Detections, wanted: npt.NDArray[np.bool_]) -> Detections:
    """Returns a frame with some of its rows alone."""
    if wanted.all():
        return frame
    return replace(
        frame,
        skus=tuple(np.array(frame.skus, object)[wanted]),
        positions=frame.positions[wanted],
        quaternions=frame.quaternions[wanted],
        variances=frame.variances[wanted],
        scores=frame.scores[wanted],
    )


def joined(frame: Detections, other: Detections) -> Detections:
    """Returns a frame with the rows of another one behind its own."""
    return replace(
        frame,
        skus=(*frame.skus, *other.skus),
        positions=np.vstack([frame.positions, other.positions]),
        quaternions=np.vstack([frame.quaternions, other.quaternions]),
        variances=np.vstack([frame.variances, other.variances]),
        scores=np.concatenate([frame.scores, other.scores]),
    )


def _shown(word: str) -> str:
    return "".join(filter(str.isprintable, word))[:40]
