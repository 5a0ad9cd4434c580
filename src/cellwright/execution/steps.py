"""The implementation of each verb of a plan: a look, a decision, or CRCL commands as in the lab's recipes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
import numpy.typing as npt

from cellwright.catalogue import GearFigures
from cellwright.core.pose import Pose
from cellwright.execution.action_questions import ActionQuestions
from cellwright.execution.arm import HandReading
from cellwright.execution.binding import open_slot, wrong_part
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.grasps import GraspChoice, free_grasps, release_pose
from cellwright.execution.insertion_way import InsertionWay, straight_fit
from cellwright.execution.look_planner import LookPlanner
from cellwright.execution.look_questions import ObservationTimeout
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.overhead_way import OverheadWay
from cellwright.execution.pick_place import Hold, PickPlace
from cellwright.execution.scene_watch import gone_failure, moved_text
from cellwright.execution.touch_steps import TouchSteps
from cellwright.execution.tray_group import part_in_group
from cellwright.execution.tray_steps import TraySteps
from cellwright.knowledge import BelievedPart, BelievedSlot, SlotContent
from cellwright.knowledge.held_pose import gripper_figures
from cellwright.orders import KitDesign
from cellwright.planning import MOVES, Action, Verb

__all__ = ["StepRunner"]

Array = npt.NDArray[np.float64]

KNOWN_SDS = 2.0  # standard deviations of a tray's place within which its slots are counted on to be
STUCK_M = 0.001  # fingers that are so near to fully open when they should close stand on something
MOST_GONE = 8  # parts that turn out to be gone before a look for one ends


@dataclass
class StepRunner:
    """The steps of one robot.

    Attributes:
        manipulator: The robot.
        looks: Looks at what must be seen.
        designs: Kit -> what it shall become.
        left_out: Parts that are not to be taken.
        turned: How often the grip itself has failed; changes the grasp.
        upcoming: The steps of the plan that come next: one look serves them, too.
        flat_detectors: Detectors that measure neither heights nor leans.
    """

    manipulator: Manipulator
    looks: LookPlanner
    designs: Mapping[str, KitDesign]
    left_out: Collection[str]
    turned: int = 0
    upcoming: Sequence[Action] = ()
    flat_detectors: Collection[str] = ()

    @property
    def attempt(self) -> int:
        """1 for the first try of an action; the second is slower, the third takes another part."""
        return self.asking.attempt

    @attempt.setter
    def attempt(self, number: int) -> None:
        self.asking.attempt = number

    @cached_property
    def pick_place(self) -> PickPlace:
        """The pick and place of its hand."""
        return PickPlace(self.manipulator.hand, self.manipulator.note_phase)

    @cached_property
    def trays(self) -> TraySteps:
        """The steps with kit trays and kits."""
        return TraySteps(self.manipulator, self.asking, self.designs, self.pick_place)

    @cached_property
    def asking(self) -> ActionQuestions:
        """The questions of its steps."""
        return ActionQuestions(self.manipulator, self.looks, self.designs, self.left_out)

    @cached_property
    def touch(self) -> TouchSteps:
        """The touches about what its hand reached for last."""
        return TouchSteps(self.manipulator, self.looks, self.asking, self.flat_detectors)

    async def do(self, action: Action) -> str:
        """Does a step; says what was done.

        Raises:
            StepFailed: It could not be done.
        """
        handlers: dict[Verb, Callable[[Action], Awaitable[str]]] = {
            Verb.LOOK_PART: self._look_part,
            Verb.SET_GRASP: self._set_grasp,
            Verb.TAKE_PART: self._take_part,
            Verb.LOOK_SLOT: self._look_slot,
            Verb.PLACE_PART: self._place_part,
            Verb.RETURN_PART: self._return_part,
            Verb.REMOVE_PART: self._remove_part,
        }
        try:
            return await (handlers | self.trays.handlers())[action.verb](action)
        except ObservationTimeout as error:
            raise StepFailed(FailureKind.UNSEEN, str(error), self.manipulator.held) from None
        finally:
            if action.verb in MOVES and self.manipulator.hand.reading is not None:
                self.looks.note_touched(self.manipulator.hand.reading.pose_tool_in_world.position)

    # ------------------------------------------------------------ looking and deciding

    async def _look_part(self, action: Action) -> str:
        for _ in range(MOST_GONE):  # whatever turns out to be gone gives way to the next
            found = await self.asking.look(self.asking.before(action), self.upcoming)
            if not found.unseen:
                break
        parts, reasons = self.asking.candidates(action)
        if not parts:
            why = "; ".join(reasons)
            raise StepFailed(FailureKind.NOT_THERE, f"nothing to take at {action.place}: {why}", self.manipulator.found)
        self.manipulator.found = parts[0].name
        x, y, _ = parts[0].position
        return f"{parts[0].name} at ({x:.4f}, {y:.4f}) m, known to {parts[0].sd_m * 1000:.2f} mm"

    async def _set_grasp(self, action: Action) -> str:
        manipulator = self.manipulator
        if not manipulator.found:
            raise StepFailed(FailureKind.NOT_THERE, f"no {action.sku} was found before")
        manipulator.grasp = await self._grasp(manipulator.believed.part(manipulator.found))
        return f"fingers turned by {manipulator.grasp.yaw_rad:.2f} rad"

    async def _look_slot(self, action: Action) -> str:
        manipulator = self.manipulator
        found = await self.asking.look(self.asking.before(action))
        hidden = sorted(str(question) for question in found.hidden)
        if hidden:  # what is not in view is not empty
            raise StepFailed(FailureKind.HIDDEN, f"{hidden[0]} is in no camera's view", manipulator.held)
        slot, why = open_slot(manipulator.believed, action.kit, self.designs[action.kit], action.sku)
        if slot is None:
            raise StepFailed(
                FailureKind.OCCUPIED, f"{action.kit} has no open slot for {action.sku}: {why}", manipulator.held
            )
        seen = manipulator.believed.slot_view(action.kit, slot.name, self.asking.of_slot(action.kit, slot).since_s)
        if seen.content is not SlotContent.EMPTY:  # something is there that is not known yet
            why = seen.reason or f"{slot.name} of {action.kit} is not seen to be empty"
            raise StepFailed(FailureKind.OCCUPIED, why, manipulator.held)
        manipulator.slot = slot
        return f"{slot.name} of {action.kit}"

    async def _grasp(self, part: BelievedPart) -> GraspChoice:
        reading = self.manipulator.hand.reading or await self.manipulator.hand.read()
        grasps = free_grasps(part, self.manipulator.believed.parts(), reading.gripper, self.manipulator.turned_rad)
        if not grasps:
            raise StepFailed(
                FailureKind.NOT_THERE, f"fingers do not fit between {part.name} and its neighbours", part.name
            )
        return grasps[self.turned % len(grasps)]

    # ------------------------------------------------------------ taking

    async def _take_part(self, action: Action) -> str:
        manipulator = self.manipulator
        if not manipulator.found or manipulator.grasp is None:
            raise StepFailed(FailureKind.NOT_THERE, f"no {action.sku} was found and no grasp set before")
        return await self._take(manipulator.believed.part(manipulator.found), manipulator.grasp)

    async def _remove_part(self, action: Action) -> str:
        manipulator = self.manipulator
        await self.asking.look(self.asking.before(action))
        part, slot = wrong_part(manipulator.believed, action.kit, self.designs[action.kit], action.sku)
        if part is None or slot is None:
            raise StepFailed(FailureKind.NOT_THERE, f"no {action.sku} is in a wrong slot of {action.kit}")
        manipulator.found = part.name
        return f"out of {slot.name}: " + await self._take(part, await self._grasp(part))

    async def _take(self, part: BelievedPart, grasp: GraspChoice) -> str:
        manipulator, recipe = self.manipulator, self.manipulator.recipe
        self.touch.tried = part
        is_careful = self.attempt > 1 or manipulator.misses > 0
        slow_mps = recipe.careful_mps if is_careful else recipe.slow_mps

        def gone(_reading: HandReading | None = None) -> StepFailed | None:
            believed = manipulator.believed
            return gone_failure(believed, part.name, believed.part(part.name).across_m(part.position))

        async def above() -> Pose:
            await manipulator.hand.read()
            if failure := gone():
                raise failure
            nearest, now = grasp.nearest(manipulator.turned_rad), self._aimed(manipulator.believed.part(part.name))
            near, manipulator.half_turn = nearest.pose_tool(now), nearest.half_turn
            await manipulator.approach(near)
            return near

        manipulator.belief.watch([part.name], manipulator.hand.clock.time_s)
        lift_mps = slow_mps if is_careful else recipe.fast_mps
        pose = grasp.pose_tool(self._aimed(part))
        way = OverheadWay(
            manipulator,
            pose,
            above,
            slow_mps,
            slow_mps,
            lift_mps,
            part.name,
            below_m=self._tips_above_m(part, pose),
            check=gone,
        )
        self.touch.aim = way.pose.position
        try:
            reading = await self.pick_place.pick(way, self._hold(part))
        except StepFailed as failure:
            self.touch.aim = way.pose.position
            if failure.kind is FailureKind.MISSED:
                raise StepFailed(failure.kind, f"{failure}{self._contact_hint(way)}", failure.part) from None
            raise
        self.touch.taken = way.pose.position, manipulator.heights.above_m(way.pose.position)
        return f"{part.name}, fingers at {reading.width_m * 1000:.1f} mm"

    def _contact_hint(self, way: OverheadWay) -> str:
        """Returns what fingers that missed a part tell about its height; empty for nothing."""
        missed = self.pick_place.missed
        tool = gripper_figures(missed.gripper) if missed else None
        if way.short_m > 0.0:
            return f"; contact {way.short_m * 1000:.0f} mm above it{way.height_hint()}"
        if missed is not None and tool is not None and missed.width_m > 2 * tool.open_m - STUCK_M:
            return f"; they stand on something{way.height_hint()}"
        return ""

    def _tips_above_m(self, part: BelievedPart, pose: Pose) -> float:
        """Returns how far the finger tips are above the disc of a gear when they take it; 0 for other parts."""
        reading = self.manipulator.hand.reading
        tool = gripper_figures(reading.gripper) if reading else None
        if tool is None or not isinstance(part.figures, GearFigures):
            return 0.0
        tips_m = float(pose.position[2]) - tool.pad_offset_m - tool.pad_size_m[2] / 2
        return tips_m - float(part.position[2]) - part.figures.disc_top_m

    def _aimed(self, part: BelievedPart) -> BelievedPart:
        """Returns a part where it is reached for."""
        return part_in_group(self.manipulator.believed, part, self.designs, self.flat_detectors)

    def _hold(self, part: BelievedPart) -> Hold:
        reading, recipe = self.manipulator.hand.reading, self.manipulator.recipe
        return Hold.of_part(part, reading.gripper if reading else "", recipe.grip_tolerance_m)

    # ------------------------------------------------------------ putting

    async def _place_part(self, action: Action) -> str:
        manipulator = self.manipulator
        if manipulator.slot is None:
            raise StepFailed(FailureKind.OCCUPIED, f"no slot of {action.kit} was found before", manipulator.held)
        slots = manipulator.believed.slots_of_kit(action.kit, self.designs[action.kit])
        slot = next(slot for slot in slots if slot.name == manipulator.slot.name)
        return await self._put(slot, action.kit)

    async def _return_part(self, action: Action) -> str:
        manipulator = self.manipulator
        await self.asking.look(self.asking.before(action))
        slot = self.asking.free_slot(action)
        if slot is None:
            raise StepFailed(FailureKind.OCCUPIED, f"{action.place} has no empty slot", manipulator.held)
        return await self._put(slot, action.place.partition("/")[0])

    async def _put(self, slot: BelievedSlot, where: str) -> str:
        manipulator, recipe, believed = self.manipulator, self.manipulator.recipe, self.manipulator.believed
        if not manipulator.held:
            raise StepFailed(FailureKind.LOST, f"{manipulator.name} holds nothing to put into {where}")
        part = believed.part(manipulator.held)
        hold = self._hold(part)

        def dropped(reading: HandReading) -> StepFailed | None:
            is_lost = hold.is_dropped(reading)
            return StepFailed(FailureKind.LOST, hold.lost(reading, "on the way"), part.name) if is_lost else None

        async def above() -> Pose:
            if believed.is_missing(where):
                raise StepFailed(FailureKind.NOT_THERE, f"{where} is not seen any more", part.name)
            now = self._slot_now(where, slot)  # the tray may have been moved on the way
            there = believed.part_in(now)
            if there is not None:
                raise StepFailed(FailureKind.OCCUPIED, f"{there.name} is in {slot.name} of {where}", part.name)
            manipulator.goes_to = now.pose_part_in_world
            pose = await self._release(now)
            if moved_text(slot.pose_part_in_world, now.pose_part_in_world):
                with manipulator.arm.watched(dropped):
                    await manipulator.go_above(pose)
            await manipulator.approach(pose)
            return pose

        slow_mps = recipe.slow_mps if self.attempt == 1 else recipe.careful_mps
        release, fast_mps = await self._release(slot), recipe.fast_mps
        place = f"{slot.name} of {where}"
        give_m = part.figures.height_m / 2  # on another part it would stand higher
        down = (manipulator, release, above, slow_mps, fast_mps, fast_mps, place)
        below_m, design, note = recipe.release_m, self.designs.get(where), ""
        fit = straight_fit(believed.sku(where) if design is None else design.tray_sku, slot.name, part.figures)
        if fit is None or not (recipe.inserts_by_force and manipulator.arm.feels_force):
            way = OverheadWay(*down, give_m=give_m, below_m=below_m, check=dropped)
            note = "" if fit is None else ", let go in the slot: not inserted by the forces at a wrist"
        else:
            error_m = KNOWN_SDS * believed.sd_m(where) if self.attempt == 1 else inf
            way = InsertionWay(*down, give_m=give_m, below_m=below_m, check=dropped, fit=fit, error_m=error_m)
        manipulator.goes_to = slot.pose_part_in_world
        self.touch.aim = slot.position
        hung_m = manipulator.hang_m
        await self.pick_place.place(way, hold)
        self.touch.let_go = way.pose, way.short_m
        if hung_m != 0.0:
            await self.touch.learn_heights(slot.position, hung_m)
        manipulator.grasp = None
        if isinstance(way, InsertionWay) and way.done is not None:
            note = f", inserted ({', '.join(way.done.how)}) in {way.done.duration_s:.1f} s with {way.done.push_n:.1f} N"
        return f"{part.name} into {slot.name} of {where}{note}"

    def _slot_now(self, where: str, slot: BelievedSlot) -> BelievedSlot:
        """Returns a slot of a kit or a tray where that is now."""
        believed = self.manipulator.believed
        design = self.designs.get(where)
        slots = believed.slots_of_tray(where) if design is None else believed.slots_of_kit(where, design)
        return next((each for each in slots if each.name == slot.name), slot)

    async def _release(self, slot: BelievedSlot) -> Pose:
        """Returns the pose at which the tool releases the held part."""
        manipulator, reading = self.manipulator, await self.manipulator.hand.read()
        point = slot.position + np.array([0.0, 0.0, manipulator.recipe.release_m])
        return release_pose(reading.pose_tool_in_world, manipulator.part_in_hand(reading), point)
