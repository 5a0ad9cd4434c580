"""Questions of the steps of a plan: all that must be seen before one, after it, and for those that come next."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cellwright.core.pose import Pose
from cellwright.execution.binding import candidates, is_touched, open_slot, wrong_part
from cellwright.execution.grasps import free_grasps
from cellwright.execution.look_planner import LookPlanner
from cellwright.execution.look_questions import Observation, Question
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.surroundings import is_movable
from cellwright.execution.trays import kit_tray_of, top_trays
from cellwright.knowledge import BelievedPart, BelievedSlot
from cellwright.orders import KitDesign
from cellwright.planning import Action, Verb

__all__ = ["ActionQuestions"]

_TAKES = (Verb.LOOK_PART, Verb.TAKE_PART, Verb.REMOVE_PART, Verb.TAKE_TRAY, Verb.TAKE_KIT)
_PUTS = (Verb.LOOK_SLOT, Verb.PLACE_PART, Verb.RETURN_PART)


@dataclass
class ActionQuestions:
    """The questions of one robot's steps.

    Attributes:
        manipulator: The robot.
        looks: Knows since when something may have changed, and looks.
        designs: Kit -> what it shall become.
        left_out: Parts that are not to be taken.
        attempt: 1 for the first try of an action; the third takes another part.
    """

    manipulator: Manipulator
    looks: LookPlanner
    designs: Mapping[str, KitDesign]
    left_out: Collection[str]
    attempt: int = 1

    async def look(self, asked: Sequence[Question], upcoming: Sequence[Action] = ()) -> Observation:
        """Looks for what is asked, and in the same look for what the next steps need; what is gone is noted as missing.

        Returns:
            What was found out about what is asked.

        Raises:
            ObservationTimeout: Nothing is seen any more of what stands still.
        """
        following = next((action for action in upcoming if action.verb in (*_TAKES, *_PUTS)), None)
        ahead = [] if following is None else self.before(following)
        place = self.looks.place_of(ahead[0]) if ahead else self.manipulator.arm.rest_point
        toward = None if place is None else Pose.from_xyz_rpy(place)
        if self.looks.is_known(asked):
            ahead = []  # for what comes next there is another look, when it comes
        found = await self.looks.look([*asked, *ahead], [self.manipulator], toward)
        gone = [question.name for question in found.unseen if not question.slot]
        seen = [question.name for question in found.seen if not question.slot]
        self.manipulator.belief.note_missing(gone, found=seen)
        return found.about(asked)

    def before(self, action: Action) -> list[Question]:
        """Returns what must be known before a step."""
        believed = self.manipulator.believed
        if action.verb in (Verb.LOOK_PART, Verb.TAKE_PART):
            parts, _ = self.candidates(action)
            return [*self.of_tray(action.place), *(self.of(part.name) for part in parts[:1])]
        if action.verb is Verb.REMOVE_PART and action.kit in believed.tree.index:
            wrong, _ = wrong_part(believed, action.kit, self.designs[action.kit], action.sku)
            return [*self.of_tray(action.kit), *([self.of(wrong.name)] if wrong else [])]
        if action.verb in (Verb.LOOK_SLOT, Verb.PLACE_PART) and action.kit in believed.tree.index:
            slot, _ = open_slot(believed, action.kit, self.designs[action.kit], action.sku)
            return [*self.of_tray(action.kit), *([self.of_slot(action.kit, slot)] if slot else [])]
        if action.verb is Verb.RETURN_PART:
            free = self.free_slot(action)
            tray = action.place.partition("/")[0]
            return [*self.of_tray(tray), *([self.of_slot(tray, free)] if free else [])]
        if action.verb is Verb.TAKE_TRAY:
            return [self.of(tray) for tray in top_trays(believed, action.place)[:1]]
        if action.verb in (Verb.TAKE_KIT, Verb.CREATE_KIT) and action.kit in believed.tree.index:
            return [self.of(kit_tray_of(believed, action.kit))]
        return []

    def candidates(self, action: Action) -> tuple[list[BelievedPart], list[str]]:
        """Returns parts that a step may take, those first that fingers get at and nothing leans on; why others not."""
        manipulator = self.manipulator
        good, reasons = candidates(manipulator.believed, action.sku, action.place, manipulator.recipe, self.left_out)
        if (reading := manipulator.hand.reading) is not None:
            others = manipulator.believed.parts()
            good.sort(key=lambda part: (not free_grasps(part, others, reading.gripper), is_touched(part, others)))
        first = (self.attempt - 1) % len(good) if good and self.attempt > 2 else 0
        return [*good[first:], *good[:first]], reasons

    def free_slot(self, action: Action) -> BelievedSlot | None:
        """Returns an empty slot of the tray that a part is returned to."""
        believed = self.manipulator.believed
        tray, _, name = action.place.partition("/")  # one slot of a tray for other parts, when nothing else is left
        parts = believed.parts()
        slots = [slot for slot in believed.slots_of_tray(tray) if name in ("", slot.name)]
        return next((slot for slot in slots if believed.part_in(slot, parts) is None), None)

    def of_tray(self, place: str) -> list[Question]:
        """Returns the question where a tray or a kit is; none for a part that lies by itself."""
        believed = self.manipulator.believed
        tray = believed.detected_as(place)
        if tray not in believed.objects or believed.objects[tray].kind not in ("PartsTray", "KitTray"):
            return []
        return [self.of(tray)] if tray not in believed.held.values() and place not in believed.held.values() else []

    def of(self, name: str) -> Question:
        """Returns the question where an object is."""
        believed = self.manipulator.believed
        is_tray = believed.objects[name].kind in ("PartsTray", "KitTray")
        is_fixed = is_tray and not is_movable(believed, name)
        return Question(name, self.looks.since_s(believed.pose(name).position, is_tray=is_tray), is_fixed=is_fixed)

    def of_slot(self, owner: str, slot: BelievedSlot) -> Question:
        """Returns the question what is in a slot."""
        return Question(owner, self.looks.since_s(slot.position), slot.name)
