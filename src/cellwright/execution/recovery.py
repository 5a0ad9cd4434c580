"""The recovery policy: which parts are left out, which robots are in service, and whether to go on after failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cellwright.execution.failure import FailureKind
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.plan_runner import ActionFailure
from cellwright.execution.settings import ExecutionSettings, RecoveryMode
from cellwright.planning import Verb

__all__ = ["RecoveryPolicy"]

_AT_ONCE = (FailureKind.MISSED, FailureKind.ARM, FailureKind.BLOCKED, FailureKind.WEIGHT)  # another part may do
_CHOICES = (Verb.LOOK_PART, Verb.SET_GRASP, Verb.TAKE_PART)  # of which another part may be the subject next time
MOST_MISSES = 6  # grasps in a row that fail before a robot's hand is given up
MOST_OF_A_KIND = 3  # failures of one kind with one part or place before that is left alone


@dataclass
class RecoveryPolicy:
    """The failures of one order and what follows from them.

    Attributes:
        settings: What is allowed.
        left_out: Part -> why it is not taken any more.
        failures: All of them.
    """

    settings: ExecutionSettings
    left_out: dict[str, str] = field(default_factory=dict)
    failures: list[ActionFailure] = field(default_factory=list)
    _tried_again: set[str] = field(default_factory=set)
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def conclude(self, failures: Sequence[ActionFailure], manipulators: Mapping[str, Manipulator]) -> str:
        """Evaluates failures; returns why the work ends, or an empty text when it goes on with a new plan."""
        self.failures += failures
        if not failures:
            return ""
        last = failures[-1]
        reason = f"{last.action.verb} by {last.robot}: {last.reason}"
        if self.settings.recovery is not RecoveryMode.FULL:
            return reason
        for failure in failures:
            self._attribute(failure, manipulators[failure.robot])
        unable = [failure for failure in failures if failure.kind in (FailureKind.UNABLE, FailureKind.UNSEEN)]
        if unable:
            return f"{unable[0].action.verb} by {unable[0].robot}: {unable[0].reason}"
        for failure in failures:
            robot = manipulators[failure.robot]
            often = self._counts[_subject(failure, robot), failure.kind]
            other_may_do = failure.action.verb in _CHOICES and failure.part != robot.held
            is_hopeless = failure.kind is FailureKind.HIDDEN and often > self.settings.retries and not other_may_do
            if is_hopeless or (failure.kind is FailureKind.WRONG and failure.action.verb is Verb.TAKE_KIT):
                return f"{failure.action.verb} by {failure.robot}: {failure.reason}"
        if all(manipulator.out_of_service for manipulator in manipulators.values()):
            return "; ".join(
                f"{manipulator.name}: {manipulator.out_of_service}" for manipulator in manipulators.values()
            )
        return ""

    def second_chance(self) -> bool:
        """Lets parts that failed be tried once more, when nothing else is left to do; returns whether there are any.

        The gripper may have been weak for a while, and the part may lie otherwise by now.
        """
        if self.settings.recovery is not RecoveryMode.FULL:
            return False
        parts = self.left_out.keys() - self._tried_again
        self._tried_again |= parts
        for part in parts:
            del self.left_out[part]
        return bool(parts)

    def _attribute(self, failure: ActionFailure, manipulator: Manipulator) -> None:
        if failure.is_lost_robot:
            manipulator.out_of_service = failure.reason
        if failure.is_lost_robot or failure.kind is FailureKind.CHANGED:  # no robot is to blame for the latter
            return
        if manipulator.misses >= MOST_MISSES:
            manipulator.out_of_service = f"{manipulator.misses} grasps in a row failed; the last: {failure.reason}"
        is_about_place = _is_about_place(failure, manipulator)
        subject = _subject(failure, manipulator)
        self._counts[subject, failure.kind] += 1
        often = self._counts[subject, failure.kind]
        at_once = failure.kind in _AT_ONCE
        if failure.part and not is_about_place and (at_once or often >= MOST_OF_A_KIND):
            self.left_out[failure.part] = failure.reason
        if often > 2 * MOST_OF_A_KIND:  # also with a part in its hand, which cannot be left out
            manipulator.out_of_service = f"{failure.action.verb} failed {often} times: {failure.reason}"


def _subject(failure: ActionFailure, manipulator: Manipulator) -> str:
    """Returns the part or the place that failures are counted of."""
    return failure.action.place if _is_about_place(failure, manipulator) else failure.part or failure.action.place


def _is_about_place(failure: ActionFailure, manipulator: Manipulator) -> bool:
    """Returns whether nothing is wrong with what was to be put there."""
    is_held = bool(failure.part) and failure.part == manipulator.held
    return failure.kind is FailureKind.OCCUPIED or (failure.kind is FailureKind.BLOCKED and is_held)
