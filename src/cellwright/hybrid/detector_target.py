"""A detector of a running laboratory that is simulated or external, switched between two frames."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from cellwright.cells import DetectorTargetCfg
from cellwright.cells.fields import Vector
from cellwright.core.errors import BadInput, JobFailed, UnknownName
from cellwright.core.messages import Detections, Message, TargetStatus
from cellwright.crcl import SwitchRefused
from cellwright.hybrid.detector_link import DetectorLink, ExternalFrame, joined, rows_of
from cellwright.hybrid.mirror import Mirror
from cellwright.lab import Lab

__all__ = ["DetectorTarget"]

LOG = logging.getLogger(__name__)

LATE_S = 0.5  # by which a frame is later than others when it is told
AGAIN_S = 0.2  # between attempts to reach one that was lost
PROBATION_S = 0.5  # for which one that was lost must send what it should, before it counts again


class DetectorTarget:
    """One detector, wherever it is.

    While it is external the simulated one is mute: frames from its vision socket come on `/NAME/detections` instead, in
    simulated time, and as they were received on `/NAME/external/detections`.

    Attributes:
        name: The detector.
        cfg: Where it is.
        lost: Why it was given up; nothing as long as there is hope. It stays so until it is switched.

    Args:
        lab: The laboratory; its event loop must be the one that runs, and be paced.
        name: The detector.
        cfg: Where it is.
        tell: Told of events: a change, as `TargetEvent` has them, and a reason.
        mirror: Puts things where it sees them; one for all detectors of a laboratory.

    Raises:
        UnknownName: The laboratory has no such detector.
    """

    def __init__(
        self,
        lab: Lab,
        name: str,
        cfg: DetectorTargetCfg,
        tell: Callable[[str, str], None],
        mirror: Mirror | None = None,
    ) -> None:
        detectors = {sensor.source: sensor for sensor in lab.sensors if sensor.message_type is Detections}
        if name not in detectors:
            raise UnknownName("detector", name, detectors, lab.cell.where)
        self.name, self.cfg, self.lost = name, cfg, ""
        self._lab, self._sensor, self._tell, self._mirror = lab, detectors[name], tell, mirror
        self._external_topic = f"/{name}/external/detections"
        lab.bus.declare(self._external_topic, Detections)
        self._link: DetectorLink | None = None
        self._reading: asyncio.Task[None] | None = None
        self._delivers = False
        self._statuses = 0
        self._simulated: Detections | None = None  # the last frame that was not let out

    @property
    def is_external(self) -> bool:
        """Whether it is at an address."""
        return self.cfg.is_external

    async def start(self) -> None:
        """Connects, where it is external, and waits for its first frame.

        Raises:
            JobFailed: Nobody is there, or speaks another protocol, or sends frames of another detector.
        """
        self._sensor.filters.append(self._mute)
        if self.is_external:
            try:
                self._take_over(await self._opened(self.cfg))
            except BaseException:
                self._sensor.filters.remove(self._mute)
                raise

    async def switch(self, cfg: DetectorTargetCfg) -> None:
        """Switches between two frames; the old one stays until the new one sees.

        Raises:
            SwitchRefused: The new one cannot be reached, or its frames are of another detector or in another frame.
        """
        if cfg == self.cfg and not self.lost:
            return
        link = None
        if cfg.is_external:
            try:
                link = await self._opened(cfg)
            except (BadInput, JobFailed) as error:
                self._tell("refused", str(error))
                raise SwitchRefused(str(error)) from None
        await self._leave()
        self.cfg, self.lost = cfg, ""
        if link is not None:
            self._take_over(link)
        else:
            self._sensor.under_way.clear()  # frames that were taken while the external one spoke
            self._tell("simulated", "")

    async def close(self) -> None:
        """Ends the connection; the simulated detector speaks again."""
        await self._leave()
        if self._mute in self._sensor.filters:
            self._sensor.filters.remove(self._mute)

    def status(self) -> TargetStatus:
        """Returns how late its frames are."""
        link, clock = self._link, self._lab.clock
        latency_s, jitter_s, uncertainty_s = link.times if link is not None else (0.0, 0.0, 0.0)
        number, self._statuses = self._statuses, self._statuses + 1
        return TargetStatus(
            round(clock.time_s * 1e9),
            number,
            self.name,
            target=self.name,
            at=self.cfg.at,
            latency_s=latency_s,
            jitter_s=jitter_s,
            uncertainty_s=uncertainty_s,
            error_rad=0.0,
            messages=link.messages if link is not None else 0,
        )

    async def _opened(self, cfg: DetectorTargetCfg) -> DetectorLink:
        link = DetectorLink(self._lab, self.name, cfg, self._sensor.cfg.delay_s)
        await link.open()
        return link

    def _take_over(self, link: DetectorLink) -> None:
        self._link, self._simulated = link, None
        self._reading = asyncio.get_running_loop().create_task(self._read(link))
        self._reading.add_done_callback(self._note_failure)
        self._tell("external", f"its frames come from {self.cfg.at}")

    async def _leave(self) -> None:
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        link, self._link = self._link, None
        if link is not None:
            await link.close()
        if self._mirror is not None:
            self._mirror.forget(self.name)

    def _note_failure(self, reading: asyncio.Task[None]) -> None:
        """Gives it up when what takes its frames fails: it must not be silent without a word."""
        error = None if reading.cancelled() else reading.exception()
        if error is not None:
            LOG.error("frames of %s", self.name, exc_info=error)
            self.lost = " ".join(f"{self.name} at {self.cfg.at} failed: {type(error).__name__}: {error}".split())
            self._tell("lost", self.lost)

    def _mute(self, message: Message) -> Message | None:
        if self._delivers or not self.is_external:
            return message
        self._simulated = message if isinstance(message, Detections) else None
        return None

    def _with_ours(self, real: Detections) -> Detections:
        """Returns what an external frame tells inside its region with what the simulated detector tells outside."""
        ours, region_m = self._simulated, self.cfg.region_m
        return real if ours is None or region_m is None else joined(real, rows_of(ours, ~_inside(ours, region_m)))

    async def _read(self, link: DetectorLink) -> None:
        """Publishes frames until it is given up; a link that was silent is made anew, others do that themselves."""
        is_late = False
        while True:
            frame = await link.next(self.cfg.stalled_s)
            if frame is None:
                self._tell("lost", f"{self.cfg.at}: {link.problem}")
                found = await self._find(link)
                if found is None:
                    return
                link = found
                continue
            self._publish(frame)
            if (link.age_s > LATE_S) != is_late:
                is_late = not is_late
                if is_late:
                    self._tell("late", f"frames of {self.cfg.at} are {link.age_s:.2f} s older than usual")

    async def _find(self, old: DetectorLink) -> DetectorLink | None:
        """Tries to reach one that was lost, for as long as it is worth it; returns a link that has frames again."""
        clock, reason = self._lab.clock, old.problem
        end_s = clock.time_s + self.cfg.reconnect_s
        await old.close()
        while (left_s := end_s - clock.time_s) > 0.0:
            try:
                async with asyncio.timeout(left_s):
                    link = await self._opened(self.cfg)
            except (JobFailed, TimeoutError):
                await clock.sleep(min(AGAIN_S, left_s))
                continue
            if await self._is_sound(link):
                self._link = link
                self._tell("found", f"{self.cfg.at} sends frames again")
                return link
            await link.close()
        self.lost = f"{self.name} at {self.cfg.at} was lost: {reason}"
        return None

    async def _is_sound(self, link: DetectorLink) -> bool:
        """Returns whether a link that was made again has more than a first good frame; these are not published."""
        end_s = self._lab.clock.time_s + PROBATION_S
        try:
            while await link.next(self.cfg.stalled_s) is not None:
                if self._lab.clock.time_s >= end_s:
                    return True
        except asyncio.CancelledError:
            await link.close()
            raise
        return False

    def _publish(self, frame: ExternalFrame) -> None:
        self._lab.bus.publish(self._external_topic, frame.received)
        latest = self._sensor.latest
        if frame.seen is None or (latest is not None and frame.seen.time_ns <= latest.time_ns):
            return
        _, sequence, _ = self._sensor.header()
        seen = replace(frame.seen, sequence=sequence)
        if self.cfg.region_m is not None:
            seen = rows_of(seen, _inside(seen, self.cfg.region_m))
        if self.cfg.mirror and self._mirror is not None:
            self._mirror.take(self._sensor, seen, self._tell, self.cfg.region_m)
        assert self._sensor.deliver is not None
        self._delivers = True
        try:
            self._sensor.deliver(self._with_ours(seen), ())
        finally:
            self._delivers = False


def _inside(frame: Detections, region_m: tuple[Vector, Vector]) -> npt.NDArray[np.bool_]:
    """Returns for each thing in a frame whether it is in a box; its height does not count where it is not measured."""
    low, high = np.minimum(*region_m), np.maximum(*region_m)
    is_known = np.isfinite(frame.variances[:, :3])
    is_inside = ((frame.positions >= low) & (frame.positions <= high)) | ~is_known
    return np.asarray(is_inside.all(axis=1), bool)
