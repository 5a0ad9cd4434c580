"""The implementation of each verb of a plan: a look, a decision, or CRCL commands as in the lab's recipes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
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
from cellwright.execution.height_touch import touch_hanging_m, touch_table
from cellwright.execution.insertion_way import InsertionWay, straight_fit
from cellwright.execution.look_planner import LookPlanner
from cellwright.execution.look_questions import ObservationTimeout
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.overhead_way import OverheadWay
from cellwright.execution.peg_search import feel_peg
from cellwright.execution.pick_place import Hold, PickPlace
from cellwright.execution.scene_watch import gone_failure, moved_text
from cellwright.execution.seat_touch import is_seat_height, touch_height_m
from cellwright.execution.surface_heights import AS_DRAWN_M
from cellwright.execution.tray_group import part_in_group
from cellwright.execution.tray_steps import TraySteps
from cellwright.execution.upright import press_upright
from cellwright.knowledge import BelievedPart, BelievedSlot, SlotContent, Unknown
from cellwright.knowledge.held_pose import gripper_figures
from cellwright.orders import KitDesign
from cellwright.planning import MOVES, Action, Verb

__all__ = ["StepRunner"]

Array = npt.NDArray[np.float64]

FELT_SD_M = 0.0005  # of a part that was felt in its seat
KNOWN_SDS = 2.0  # standard deviations of a tray's place within which its slots are counted on to be
HUNG_SD_M = 0.001  # of a height that follows from how a part hung in the hand
STUCK_M = 0.001  # fingers that are so near to fully open when they should close stand on something
MISSED_TWICE = 2
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
        tried: The part that the hand reached for last, where it was believed to be.
        let_go: The place of the hand where it let go of a part last, and how far something stopped it short of that.
        aim: The place that the hand went to last, to take something or to set it down.
        taken: The place where it took a part last, and how much higher than drawn that was known to be then.
        asides: What was felt elsewhere than it is seen, a line each.
    """

    manipulator: Manipulator
    looks: LookPlanner
    designs: Mapping[str, KitDesign]
    left_out: Collection[str]
    turned: int = 0
    upcoming: Sequence[Action] = ()
    flat_detectors: Collection[str] = ()
    tried: BelievedPart | None = None
    let_go: tuple[Pose, float] | None = None
    aim: Array | None = None
    taken: tuple[Array, float] | None = None
    asides: list[str] = field(default_factory=list)
    _misses: dict[str, int] = field(default_factory=dict)

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
        self.tried = part
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
        self.aim = way.pose.position
        try:
            reading = await self.pick_place.pick(way, self._hold(part))
        except StepFailed as failure:
            self.aim = way.pose.position
            if failure.kind is FailureKind.MISSED:
                raise StepFailed(failure.kind, f"{failure}{self._contact_hint(way)}", failure.part) from None
            raise
        self.taken = way.pose.position, manipulator.heights.above_m(way.pose.position)
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
        self.aim = slot.position
        hung_m = manipulator.hang_m
        await self.pick_place.place(way, hold)
        self.let_go = way.pose, way.short_m
        if hung_m != 0.0:
            await self._learn_heights(slot.position, hung_m)
        manipulator.grasp = None
        if isinstance(way, InsertionWay) and way.done is not None:
            note = f", inserted ({', '.join(way.done.how)}) in {way.done.duration_s:.1f} s with {way.done.push_n:.1f} N"
        return f"{part.name} into {slot.name} of {where}{note}"

    # ------------------------------------------------------------ heights

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

    async def _learn_heights(self, point: Array, hung_m: float) -> None:
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
