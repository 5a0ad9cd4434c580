"""The watch over what a plan relies on: parts in their slots, trays where they were; and what is otherwise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cellwright.core.pose import Pose
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.knowledge import Belief, BeliefState
from cellwright.orders import KitDesign
from cellwright.perception.yaw import period_of
from cellwright.planning import Action, Verb

__all__ = ["SceneWatch", "gone_failure", "moved_text"]

MOVED_M = 0.004  # what is seen farther than this from where it was has been moved; four deviations of a new track
TURNED_RAD = 0.1  # a tray that is seen turned by more has been turned
_MOVES_TRAYS = (Verb.PLACE_TRAY, Verb.RETURN_TRAY, Verb.PLACE_KIT, Verb.CREATE_KIT)


class SceneWatch:
    """Compares what is believed with what a plan relies on; made when the plan is begun.

    Args:
        belief: What is believed; detectors update it while robots work.
        designs: Kit -> what it shall become.
    """

    def __init__(self, belief: Belief, designs: Mapping[str, KitDesign]) -> None:
        self._belief = belief
        self._designs = designs
        self._seats: dict[str, tuple[str, str]] = {}
        self._trays: dict[str, Pose] = {}
        self._note_seats()
        self._note_trays()

    def note_done(self, action: Action) -> None:
        """Notes what an action has changed on purpose; what else has changed meanwhile is still a change."""
        if action.verb is Verb.PLACE_PART:
            self._note_seats()
        elif action.verb in _MOVES_TRAYS:
            self._note_trays(action.place)

    def change(self) -> str:
        """Returns what is seen to be otherwise than the plan relies on; empty when nothing is."""
        believed = self._belief.state
        held = {believed.detected_as(thing) for thing in believed.held.values()}
        self._trays = {tray: pose for tray, pose in self._trays.items() if tray not in held}
        for tray, pose in self._trays.items():
            if believed.is_missing(tray):
                return f"{tray} is not seen any more"
            if text := moved_text(pose, believed.pose(tray), period_of(believed.sku(tray))):
                return f"{tray} was {text}"
        self._seats = {part: seat for part, seat in self._seats.items() if part not in held}
        for part, (kit, name) in self._seats.items():
            if kit not in self._designs or believed.detected_as(kit) in held:
                continue
            if believed.is_missing(part):
                return f"{part} is not seen in {name} of {kit} any more"
            slots = believed.slots_of_kit(kit, self._designs[kit])
            slot = next((slot for slot in slots if slot.name == name), None)
            if slot is not None and not slot.holds(believed.part(part)):
                far_mm = believed.part(part).across_m(slot.position) * 1000
                return f"{part} was moved out of {name} of {kit}, by {far_mm:.0f} mm"
        return ""

    def _note_seats(self) -> None:
        believed, parts = self._belief.state, self._belief.state.parts()
        for kit, design in self._designs.items():
            if kit in believed.tree.index and not believed.is_missing(kit):
                for slot in believed.slots_of_kit(kit, design):
                    if (part := believed.part_in(slot, parts)) is not None:
                        self._seats.setdefault(part.name, (kit, slot.name))

    def _note_trays(self, place: str = "") -> None:
        """Notes where trays are; after an action at a place, those that it was about: they lie there now."""
        believed = self._belief.state
        for tray in believed.trays():
            kit = next((kit for kit, its in believed.tray_of.items() if its == tray), tray)
            is_about = not place or place in (believed.objects[tray].reference, believed.objects[kit].reference)
            if is_about and believed.has_pose(tray) and not believed.is_missing(tray):
                self._trays[tray] = believed.pose(tray)


def gone_failure(believed: BeliefState, name: str, moved_m: float, thing: str = "") -> StepFailed | None:
    """Returns why a hand need not reach for a part or a tray any more; None when it is where it was.

    Args:
        believed: What is believed.
        name: The part, or the tray.
        moved_m: How far it is from where it was.
        thing: What the failure is about, if that is more, such as the kit on the tray.
    """
    if believed.is_missing(name):
        return StepFailed(FailureKind.NOT_THERE, f"{name} is not seen any more", thing or name)
    if moved_m <= MOVED_M:
        return None
    return StepFailed(FailureKind.NOT_THERE, f"{name} was moved by {moved_m * 1000:.0f} mm", thing or name)


def moved_text(before: Pose, now: Pose, period_rad: float = 2 * np.pi) -> str:
    """Returns by how much something was moved or turned in the plane; empty when it was not.

    Args:
        before: Its pose then.
        now: Its pose now.
        period_rad: The turn after which it looks the same.
    """
    moved_m = float(np.hypot(*(now.position - before.position)[:2]))
    if moved_m > MOVED_M:
        return f"moved by {moved_m * 1000:.0f} mm"
    turn_rad = float(now.rpy[2] - before.rpy[2])
    turn_rad -= period_rad * round(turn_rad / period_rad)
    return f"turned by {np.degrees(turn_rad):.0f} deg" if abs(turn_rad) > TURNED_RAD else ""
