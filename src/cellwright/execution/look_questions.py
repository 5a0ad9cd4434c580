"""Questions for a look: objects and slots that must have been seen since a moment; whether they were, and can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import JobFailed
from cellwright.knowledge import BeliefState, BelievedSlot, SlotContent, Unknown
from cellwright.perception import ViewModel, Visibility
from cellwright.perception.sight_lines import extent_of

__all__ = ["Observation", "ObservationTimeout", "Question", "SightPoints"]

Array = npt.NDArray[np.float64]
ENOUGH_SD_M = 0.0006  # of a place in the plane that is known well enough: a third of what counts as seated
SHARE, PARTLY = 0.75, 0.4  # of the points of a tray that are to be in view, and that may be enough
GRID = np.array([[x, y] for x in (-0.8, 0.0, 0.8) for y in (-0.8, 0.0, 0.8)])


class ObservationTimeout(JobFailed):
    """An object that must be seen was not, within the time limit."""


@dataclass(frozen=True)
class Question:
    """Something that must have been seen since a moment.

    Attributes:
        name: An object; of a slot, the tray or kit that has it.
        since_s: What was seen earlier does not count.
        slot: The slot that is asked about: what is in it, if anything.
        is_fixed: Whether it cannot be gone: that it is not seen is no answer.
        within_m: How well its place in the plane must be known: standard deviation.
    """

    name: str
    since_s: float = field(default=-np.inf, compare=False)
    slot: str = ""
    is_fixed: bool = False
    within_m: float = field(default=ENOUGH_SD_M, compare=False)

    def __str__(self) -> str:
        return f"{self.slot} of {self.name}" if self.slot else self.name


@dataclass(frozen=True)
class Observation:
    """The answers of a look.

    Attributes:
        seen: What was seen.
        unseen: What was in view and was not seen: it is gone.
        hidden: What was not in view: nothing is known of it.
    """

    seen: frozenset[Question]
    unseen: frozenset[Question]
    hidden: frozenset[Question]

    def about(self, questions: Iterable[Question]) -> Observation:
        """Returns the answers to some of the questions."""
        some = frozenset(questions)
        return Observation(self.seen & some, self.unseen & some, self.hidden & some)


class SightPoints:
    """The points of objects and slots that must be in view, and those that are.

    Args:
        believed: Where they are.
        view: What cameras can see; None: everything.
    """

    def __init__(self, believed: BeliefState, view: ViewModel | None) -> None:
        self._believed = believed
        self._view = view

    def answer(self, question: Question) -> bool | None:
        """Returns whether something is there; None when that was not seen well enough."""
        believed, name = self._believed, question.name
        if question.slot:
            view = believed.slot_view(name, question.slot, question.since_s)
            return None if view.content is SlotContent.UNKNOWN else True
        if believed.is_missing(name):
            return None if question.is_fixed else False
        return True if self.is_seen(question) and believed.sd_m(name) <= question.within_m else None

    def is_seen(self, question: Question) -> bool:
        """Returns whether an object was seen since the moment in question, however well."""
        seen_s = self._believed.seen_s(question.name)
        return not question.slot and not isinstance(seen_s, Unknown) and seen_s >= question.since_s

    def place_of(self, question: Question) -> Array:
        """Returns where something is believed to be."""
        if question.slot:
            return self._slot(question).position
        return self._believed.pose(question.name).position

    def clear_with(
        self, questions: Sequence[Question], arms: Mapping[str, Array | None] | None = None, *, partly: bool = False
    ) -> list[bool]:
        """Returns of each question whether some camera has it in view; one whose frames do not count helps nobody.

        Args:
            questions: What is asked.
            arms: Arm -> how it were to stand; None: were it not there. The others as they stand.
            partly: Whether it is enough that its middle is in view, so that a detector may see it.
        """
        view = self._view
        if view is None or not view.detectors:
            return [True] * len(questions)
        given = {arm: np.empty((0, 7)) if rows is None else rows for arm, rows in (arms or {}).items()}

        def visibility(detector: str, points: Array, radii: Array, by_parts: Array) -> npt.NDArray[np.int8]:
            return view.visibility_from(detector, points, 0.0 if partly else radii, given, by_parts=by_parts)

        states = self._believed.detectors
        good = [name for name in view.detectors if name not in states or str(states[name].state) == "good"]
        return self._clear(questions, good or view.detectors, visibility, PARTLY if partly else SHARE)

    def helpful(self, questions: Sequence[Question]) -> list[str] | None:
        """Returns few detectors that have all of this in view, as far as any has; None when that cannot be told."""
        view = self._view
        if view is None or not view.detectors:
            return None
        left, chosen = set(range(len(questions))), list[str]()
        shares = self._shares(questions, view.detectors, self._now)
        for share in (SHARE, PARTLY):
            seen = {name: [in_view >= share for in_view in rows] for name, rows in shares.items()}
            while left:
                gains = {name: sum(seen[name][row] for row in left) for name in view.detectors}
                best = max(gains, key=gains.__getitem__)
                if not gains[best]:
                    break
                chosen += [best] if best not in chosen else []
                left -= {row for row in left if seen[best][row]}
        return chosen or None

    def _now(self, detector: str, points: Array, _radii: Array, by_parts: Array) -> npt.NDArray[np.int8]:
        assert self._view is not None
        return self._view.visibility_from(detector, points, 0.0, {}, by_parts=by_parts)

    def clear_in_frame(self, questions: Sequence[Question], detector: str, time_s: float) -> list[Question]:
        """Returns the questions that one frame of a detector could answer."""
        view = self._view
        if view is None or not view.has(detector):
            return list(questions)

        def visibility(detector: str, points: Array, radii: Array, by_parts: Array) -> npt.NDArray[np.int8]:
            return view.visibility(detector, time_s, points, radii, by_parts=by_parts)

        clear = self._clear(questions, [detector], visibility, SHARE)
        return [question for question, is_clear in zip(questions, clear, strict=True) if is_clear]

    def _clear(
        self,
        questions: Sequence[Question],
        detectors: Iterable[str],
        visibility: Callable[[str, Array, Array, Array], npt.NDArray[np.int8]],
        share: float,
    ) -> list[bool]:
        """Returns of each question whether enough of its points are in view of one of the detectors."""
        shares = self._shares(questions, detectors, visibility).values()
        return [any(rows[number] >= share for rows in shares) for number in range(len(questions))]

    def _shares(
        self,
        questions: Sequence[Question],
        detectors: Iterable[str],
        visibility: Callable[[str, Array, Array, Array], npt.NDArray[np.int8]],
    ) -> dict[str, list[float]]:
        """Returns the share of each question's points that is in view of each detector."""
        if not questions:
            return {name: [] for name in detectors}
        points = [self._points(question) for question in questions]
        places = np.concatenate([rows for rows, _, _ in points])
        radii = np.concatenate([np.full(len(rows), radius_m) for rows, radius_m, _ in points])
        parts = np.concatenate([np.full(len(rows), by_parts) for rows, _, by_parts in points])
        ends = np.cumsum([len(rows) for rows, _, _ in points])[:-1]
        found = {}
        for detector in detectors:
            clear = visibility(detector, places, radii, parts) == Visibility.CLEAR
            found[detector] = [float(rows.mean()) for rows in np.split(clear, ends)]
        return found

    def _points(self, question: Question) -> tuple[Array, float, bool]:
        """Returns points of what is to be seen, how much about each, and whether parts may hide them."""
        if question.slot:
            slot = self._slot(question)
            extent = extent_of(slot.sku)
            return slot.position[None] + [0.0, 0.0, extent.top_m], extent.radius_m, True
        pose, extent = self._believed.pose(question.name), extent_of(self._believed.sku(question.name))
        if not extent.is_tray:
            return pose.position[None] + [0.0, 0.0, extent.top_m], extent.radius_m, True
        on_top = np.column_stack([GRID * [extent.half_x_m, extent.half_y_m], np.full(len(GRID), extent.top_m)])
        return pose.apply(on_top), 0.0, False

    def _slot(self, question: Question) -> BelievedSlot:
        return self._believed.slot(question.name, question.slot)

    def unseen_reason(self, questions: Sequence[Question], now_s: float) -> str:
        """Returns since when the first of some objects was not seen, and what is wrong with detectors, in words."""
        name = self._believed.detected_as(questions[0].name)
        seen_s = self._believed.seen_s(name)
        since = "ever" if isinstance(seen_s, Unknown) else f"for {now_s - seen_s:.1f} s"
        wrong = [f"{own} {found.state}" for own, found in self._believed.detectors.items() if found.reason]
        return f"{name} was not seen {since}" + (f" ({', '.join(wrong)})" if wrong else "")
