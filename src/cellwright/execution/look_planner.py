"""Looks: finds the cheapest place of an arm from which all that is asked is in view, and waits there for frames.

Nobody sees through an arm. What was seen since it could last have changed is not looked at again; what is not in view
from anywhere stays unknown, and is never taken for empty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.execution.arm import ArmFailed
from cellwright.execution.arm_capsules import gap_m
from cellwright.execution.async_clock import AsyncClock
from cellwright.execution.failure import StepFailed
from cellwright.execution.look_poses import capsules_there, look_poses, way_s
from cellwright.execution.look_questions import Observation, ObservationTimeout, Question, SightPoints
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.outcome import LookRecord
from cellwright.execution.settings import ExecutionSettings
from cellwright.knowledge import Belief
from cellwright.perception import ViewModel

__all__ = ["LookPlanner"]

Array = npt.NDArray[np.float64]
POLL_S = 0.02
PATIENCE = 8  # clear frames without something before it counts as gone; a detector misses one in twenty
GLANCES = 2  # frames for which something is waited for that may be hidden in part
ROUNDS = 3  # arm configurations that are tried in one look
TOUCHED_M, TOUCHED_TRAY_M = 0.10, 0.20  # so near to where a hand worked, a part or a tray may have been moved by it
TRUSTED_S = 15.0  # for so long nobody is expected to move what no hand was near; estimated
KEPT = 50  # places where hands worked last
APART_M = 0.10  # that arms keep from each other on a way to look


class LookPlanner:
    """Looks for all robots of a cell.

    Args:
        belief: Takes in the detections.
        clock: Time to wait by.
        manipulators: All robots.
        view: What cameras can see; None when nobody knows: then arms hide nothing.
        settings: How long to wait.

    Attributes:
        records: The looks that cost time.
    """

    def __init__(
        self,
        belief: Belief,
        clock: AsyncClock,
        manipulators: Mapping[str, Manipulator],
        view: ViewModel | None,
        settings: ExecutionSettings,
    ) -> None:
        self.belief = belief
        self.records: list[LookRecord] = []
        self._clock = clock
        self._manipulators = manipulators
        self._sight = SightPoints(belief.state, view)
        self._settings = settings
        self._touched: list[tuple[float, Array]] = []

    # ------------------------------------------------------------ what may have changed

    def note_touched(self, point: Array) -> None:
        """Notes that a hand has worked somewhere until now: what is about there may have been moved by it."""
        self._touched.append((self._clock.time_s, point[:2].copy()))
        del self._touched[:-KEPT]

    def since_s(self, point: Array, *, is_tray: bool = False) -> float:
        """Returns the time since which something must have been seen: since a hand was near, or not long ago."""
        near_m = TOUCHED_TRAY_M if is_tray else TOUCHED_M
        times = [time_s for time_s, at in self._touched if float(np.hypot(*(point[:2] - at))) <= near_m]
        return max(*times, self._clock.time_s - TRUSTED_S) if times else self._clock.time_s - TRUSTED_S

    def is_known(self, questions: Iterable[Question]) -> bool:
        """Returns whether all is known that is asked."""
        return all(self._sight.answer(question) is not None for question in questions)

    def place_of(self, question: Question) -> Array:
        """Returns where something is believed to be."""
        return self._sight.place_of(question)

    # ------------------------------------------------------------ looking

    async def look(
        self,
        questions: Iterable[Question],
        robots: Sequence[Manipulator] = (),
        toward: Pose | None = None,
    ) -> Observation:
        """Answers what can be answered; looks only for what was not seen since it could last have changed.

        Args:
            questions: What must be known.
            robots: Those that may move aside for it, and have nothing else to do; the first is the one that asks.
            toward: Where the first goes next: above that, the tool is on its way.

        Raises:
            ObservationTimeout: No detector reports anything any more, or not what stands still; says which.
        """
        asked, start_s = list(dict.fromkeys(questions)), self._clock.time_s
        before_s = self._left_way_s(robots, toward)
        closed: dict[Question, bool] = {}
        names, tried = list[str](), set[str]()
        for _ in range(1 + ROUNDS * max(len(robots), 1)):
            await self._wait(self._left(asked, closed), closed, start_s)
            left = self._left(asked, closed)
            if not left:
                break
            moved = [
                await self._move_aside(robot, left, toward if robot is robots[0] else None, tried) for robot in robots
            ]
            names += filter(None, moved)
            if not any(moved) and not await self._ask_others(left, robots, start_s):
                break
        hidden = self._left(asked, closed)
        answers = {question: closed.get(question, self._sight.answer(question)) for question in asked}
        found = Observation(
            frozenset(question for question, answer in answers.items() if answer),
            frozenset(question for question, answer in answers.items() if answer is False),
            frozenset(hidden),
        )
        if self._clock.time_s > start_s:
            gained_s = max(before_s - self._left_way_s(robots, toward), 0.0)
            self._record(robots, start_s, asked, found, names, gained_s)
        return found

    def _left(self, asked: Iterable[Question], closed: Collection[Question]) -> list[Question]:
        return [question for question in asked if question not in closed and self._sight.answer(question) is None]

    def _record(
        self,
        robots: Sequence[Manipulator],
        start_s: float,
        asked: Sequence[Question],
        found: Observation,
        names: Sequence[str],
        gained_s: float,
    ) -> None:
        self.records.append(
            LookRecord(
                robots=tuple(robot.name for robot in robots),
                start_s=start_s,
                end_s=self._clock.time_s,
                asked=tuple(str(question) for question in asked),
                unseen=tuple(str(question) for question in asked if question in found.unseen),
                hidden=tuple(str(question) for question in asked if question in found.hidden),
                where=tuple(names),
                on_way_s=min(gained_s, self._clock.time_s - start_s),
            )
        )

    def _left_way_s(self, robots: Sequence[Manipulator], toward: Pose | None) -> float:
        """Returns about how long the robot that asks is still under way to where it goes next."""
        reading = robots[0].hand.reading if robots and toward is not None else None
        if reading is None or toward is None:
            return 0.0
        return way_s(robots[0], reading.pose_tool_in_world.position[:2], toward.position[:2])

    async def _wait(self, asked: Sequence[Question], closed: dict[Question, bool], start_s: float) -> None:
        """Waits for frames of what is in view; for a moment also of what may be hidden in part."""
        counts, frames, sight = dict.fromkeys(asked, 0), dict(self.belief.frames_s), self._sight
        until_s, glances = start_s + self._settings.look_limit_s, 0
        while True:
            left = self._left(asked, closed)
            in_view = [question for question, is_clear in zip(left, sight.clear_with(left), strict=True) if is_clear]
            if not in_view and (glances >= GLANCES or not any(sight.clear_with(left, partly=True))):
                return
            now_s = self._clock.time_s
            is_asking = self.belief.on_wait is not None  # frames are made on demand: few, where they help
            self.belief.watch_all(now_s, sight.helpful(left) if is_asking and glances <= GLANCES else None)
            fresh = [
                (name, time_s) for name, time_s in self.belief.frames_s.items() if time_s > frames.get(name, start_s)
            ]
            glances += bool(fresh)
            for detector, time_s in fresh:
                frames[detector] = time_s
                for question in sight.clear_in_frame(in_view, detector, time_s):
                    counts[question] += 1
                    patience = GLANCES if is_asking and sight.is_seen(question) else PATIENCE
                    if counts[question] >= patience and (sight.is_seen(question) or not question.is_fixed):
                        closed[question] = sight.is_seen(question) or bool(question.slot)
            if now_s >= until_s:
                raise ObservationTimeout(sight.unseen_reason(in_view or left, now_s))
            await self._clock.sleep(POLL_S)

    # ------------------------------------------------------------ moving for it

    async def _move_aside(
        self, robot: Manipulator, asked: Sequence[Question], toward: Pose | None, tried: set[str]
    ) -> str:
        """Moves a robot to where more of what is asked is in view, if that is so anywhere; says where."""
        now = self._sight.clear_with(asked)
        hidden = [question for question, is_clear in zip(asked, now, strict=True) if not is_clear]
        if not hidden or robot.out_of_service or robot.capsules is None:
            return ""
        if not any(self._sight.clear_with(hidden, {robot.name: None})):
            return ""  # it is not this arm that is in the way
        best, most = None, len(asked) - len(hidden)
        for option in sorted(look_poses(robot, toward), key=lambda each: each.cost_s):
            name = f"{robot.name} {option.name}"
            rows = None if name in tried else capsules_there(robot, option)
            count = 0 if rows is None else sum(self._sight.clear_with(asked, {robot.name: rows}))
            if rows is None or count <= most or not self._keeps_off(robot, rows):
                continue
            best, most = option, count
            if count == len(asked):
                break
        if best is None:
            return ""
        tried.add(f"{robot.name} {best.name}")
        try:
            await robot.rise()
            await (robot.withdraw() if best.pose is None else robot.move_freely(best.pose, robot.travel_mps))
        except ArmFailed as error:
            if error.is_lost_robot:
                raise
            await robot.arm.prepare()
        return f"{robot.name} {best.name}"

    def _keeps_off(self, robot: Manipulator, rows: Array) -> bool:
        """Returns whether an arm would keep off the others, as they stand."""
        others = [other.stands for other in self._manipulators.values() if other is not robot]
        return all(gap_m(rows, stands) >= APART_M for stands in others if stands is not None)

    async def _ask_others(self, asked: Sequence[Question], robots: Sequence[Manipulator], start_s: float) -> bool:
        """Asks a robot that has nothing to do to make way, or waits for one that has; false when none is in the way."""
        for other in self._manipulators.values():
            if other in robots or other.out_of_service or not any(self._sight.clear_with(asked, {other.name: None})):
                continue
            until_s = start_s + self._settings.look_limit_s
            while other.busy.locked() and not any(self._sight.clear_with(asked)) and self._clock.time_s < until_s:
                await self._clock.sleep(10 * POLL_S)
            if any(self._sight.clear_with(asked)) or other.busy.locked():
                return not other.busy.locked() or self._clock.time_s < until_s
            async with other.busy:
                try:
                    return bool(await self._move_aside(other, asked, None, set()))
                except StepFailed as failure:
                    other.out_of_service = str(failure)
        return False
