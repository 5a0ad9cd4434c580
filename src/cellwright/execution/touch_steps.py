"""Touches of a robot where a step failed or was done: heights, places aside, parts in their seats."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GearFigures
from cellwright.core.pose import Pose
from cellwright.execution.action_questions import ActionQuestions
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.height_touch import touch_hanging_m, touch_table
from cellwright.execution.look_planner import LookPlanner
from cellwright.execution.look_questions import ObservationTimeout
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.peg_search import feel_peg
from cellwright.execution.seat_touch import is_seat_height, touch_height_m
from cellwright.execution.surface_heights import AS_DRAWN_M
from cellwright.execution.upright import press_upright
from cellwright.knowledge import BelievedPart, BelievedSlot, Unknown

__all__ = ["TouchSteps"]

Array = npt.NDArray[np.float64]
FELT_SD_M = 0.0005  # of a part that was felt in its seat
HUNG_SD_M = 0.001  # of a height that follows from how a part hung in the hand
MISSED_TWICE = 2


@dataclass
class TouchSteps:
    """The touches of one robot, about what its hand reached for last.

    Attributes:
        manipulator: The robot.
        looks: Looks at what must be seen.
        asking: The questions of its steps.
        flat_detectors: Detectors that measure neither heights nor leans.
        tried: The part that the hand reached for last, where it was believed to be.
        let_go: The place of the hand where it let go of a part last, and how far something stopped it short of that.
        aim: The place that the hand went to last, to take something or to set it down.
        taken: The place where it took a part last, and how much higher than drawn that was known to be then.
        asides: What was felt elsewhere than it is seen, a line each.
    """

    manipulator: Manipulator
    looks: LookPlanner
    asking: ActionQuestions
    flat_detectors: Collection[str] = ()
    tried: BelievedPart | None = None
    let_go: tuple[Pose, float] | None = None
    aim: Array | None = None
    taken: tuple[Array, float] | None = None
    asides: list[str] = field(default_factory=list)
    _misses: dict[str, int] = field(default_factory=dict)

    async def set_upright(self, name: str) -> None:
        """Presses a gear upright that was not taken and still is where it was: that it leans, no detector above tells.

        A look comes first: a gear that was taken away or pushed aside need not be pressed.
        """
        if self._is_flat_gear(name) and (part := await self._seen_again()) is not None:
            await press_upright(self.manipulator, part)
            self.looks.note_touched(part.position)

    async def is_gone(self, name: str) -> bool:
        """Looks whether a gear that was missed is not where it was any more, which explains the miss."""
        return self._is_flat_gear(name) and await self._seen_again() is None

    def _is_flat_gear(self, name: str) -> bool:
        """Returns whether what a hand tried to take is a gear of which detectors tell neither height nor lean."""
        believed, tried = self.manipulator.believed, self.tried
        if tried is None or tried.name != name or name not in believed.objects:
            return False
        return isinstance(tried.figures, GearFigures) and believed.source(name) in self.flat_detectors

    async def _seen_again(self) -> BelievedPart | None:
        """Looks, and returns the gear that is seen where the hand tried to take one; None without such."""
        believed, tried = self.manipulator.believed, self.tried
        if tried is None or not isinstance(tried.figures, GearFigures):
            return None
        self.looks.note_touched(tried.position)
        with suppress(ObservationTimeout):  # the next step looks again, and tells
            await self.asking.look([self.asking.of(tried.name)])
        since_s = self.looks.since_s(tried.position)
        for part in believed.parts():
            seen_s = believed.seen_s(part.name)
            if (
                part.sku != tried.sku
                or isinstance(seen_s, Unknown)
                or seen_s < since_s
                or believed.is_missing(part.name)
            ):
                continue
            if part.across_m(tried.position) < 2 * tried.figures.peg_radius_m:  # farther away, that explains the miss
                return part
        return None

    async def feel_height(self, failure: StepFailed) -> bool:
        """Touches the tables where a step failed, unless that was done before; returns whether one is news.

        A hand that met something early, or nothing where a part is seen, or that let go of a part which does not lie as
        it should, may have the height wrong. With a part in the hand it is told how high that hangs above the table.
        """
        worker, aim = self.manipulator, self.aim
        if aim is None:
            return False
        if worker.held:
            if failure.kind is not FailureKind.BLOCKED or worker.hang_m != 0.0 or worker.carries_tray:
                return False
            early_m = await touch_hanging_m(worker, aim)
            if early_m is None or abs(early_m) < AS_DRAWN_M:
                return False
            worker.hang_m = -early_m
            return True
        points = [aim]
        if failure.kind is FailureKind.NOT_SEATED and self.taken is not None:
            points.append(self.taken[0])
        is_news = False
        for point in points:
            surface = worker.heights.at(point)
            if surface is not None and not surface.is_touched(point):
                found_m = await touch_table(worker, point)
                is_news |= found_m is not None and abs(found_m) >= AS_DRAWN_M
        return is_news

    async def feel_aside(self, name: str) -> bool:
        """Feels how far a gear is from where it is seen, when parts of a table were missed twice; once for each table.

        Returns:
            Whether it was felt for, and is elsewhere: cameras and robot do not agree.
        """
        worker, tried, believed = self.manipulator, self.tried, self.manipulator.believed
        surface = None if tried is None else worker.heights.at(tried.position)
        if tried is None or surface is None or tried.name != name or believed.is_missing(name):
            return False
        self._misses[surface.name] = self._misses.get(surface.name, 0) + 1
        if self._misses[surface.name] != MISSED_TWICE or not surface.touches or name not in believed.objects:
            return False
        found = await feel_peg(worker, believed.part(name), believed.source(name) or "the camera")
        self.looks.note_touched(tried.position)
        if found is not None:
            self.asides.append(str(found))
        return found is not None

    async def learn_heights(self, point: Array, hung_m: float) -> None:
        """Touches the table where a part was set down that hung otherwise than planned: so both tables are known."""
        worker = self.manipulator
        surface = worker.heights.at(point)
        if surface is None or surface.is_touched(point):
            return
        found_m = await touch_table(worker, point)
        self.looks.note_touched(point)
        source = worker.heights.at(self.taken[0]) if self.taken is not None else None
        if found_m is None or self.taken is None or source is None or source is surface:
            return
        source.note(self.taken[0], self.taken[1] + found_m + hung_m, HUNG_SD_M)

    async def feel_seat(self, part: BelievedPart, slot: BelievedSlot) -> float | None:
        """Touches the part that was set down last; when it is in its seat, detectors see it aside from now on.

        Returns:
            How far its top is above that of a seated one; None when that could not be felt.
        """
        if self.let_go is None or not isinstance(part.figures, GearFigures):
            return None  # only gears are drawn into one place by their slots, and stand there at one height
        worker, (pose, _) = self.manipulator, self.let_go
        height_m = await touch_height_m(worker, part.figures, slot.position, pose.position)
        self.looks.note_touched(pose.position)
        if is_seat_height(height_m):
            now_s = worker.hand.clock.time_s
            worker.belief.note_placed(part.name, slot.pose_part_in_world, now_s, worker.name, FELT_SD_M, "felt")
        return height_m
